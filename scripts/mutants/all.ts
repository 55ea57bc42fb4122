/** Every fault there is to plant. */
import { BUCKET } from "./bucket.ts";
import { CLASSES } from "./classes.ts";
import { WINDOW } from "./elastic_window.ts";
import { REFUSALS } from "./faults.ts";
import { GATE } from "./gate.ts";
import { HARD_RULES } from "./hard_rules.ts";
import { COMPLETIONS, MEMORY_GATE, PENALTIES } from "./memory_gate.ts";
import type { Mutant } from "./mutant.ts";
import { SLAB } from "./records.ts";
import { SHELL } from "./shell.ts";

/** Hard rules first, then account by account, and what is left. */
export const MUTANTS: readonly Mutant[] = [
  ...HARD_RULES.flatMap((rule) => rule.mutants),
  ...REFUSALS,
  ...BUCKET,
  ...GATE,
  ...WINDOW,
  ...MEMORY_GATE.filter((mutant) => !PENALTIES.includes(mutant) && !COMPLETIONS.includes(mutant)),
  ...SLAB,
  ...CLASSES,
  ...SHELL,
];
