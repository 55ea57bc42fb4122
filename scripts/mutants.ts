/**
 * `npm run mutants [-- --only ID] [-- --list]`: plants one fault after another in a copy of the kernel and the shell, and
 * shows that each is caught by a test that names the rule it breaks. Survivors are printed and make the exit status 1.
 *
 * `--only` takes the beginning of an id and may be given several times. `--list` prints the faults and plants none.
 */
import process from "node:process";
import { MUTANTS } from "./mutants/all.ts";
import { HARD_RULES } from "./mutants/hard_rules.ts";
import { findErrors, type Mutant } from "./mutants/mutant.ts";
import { inLanes, judge, judgeSound, type Verdict } from "./mutants/verdict.ts";
import { closeOnInterrupt, Workspace } from "./mutants/workspace.ts";
import { ROOT } from "./support/project.ts";

/** Faults that are on trial at the same time. */
const LANES = 2;

function seconds(started: number): string {
  return `${((performance.now() - started) / 1000).toFixed(0)} s`;
}

/** The faults whose ids begin with what `--only` names; all of them without it. */
function chosen(args: readonly string[]): readonly Mutant[] {
  const wanted = args.filter((_, index) => args[index - 1] === "--only");
  if (wanted.length === 0) return MUTANTS;
  return MUTANTS.filter(({ id }) => wanted.some((start) => id.startsWith(start)));
}

function print(mutants: readonly Mutant[]): void {
  for (const { id, rules, file } of mutants) {
    console.log(`${id.padEnd(42)} ${rules.join(" ").padEnd(28)} ${file}`);
  }
  console.log(`${mutants.length} mutants`);
}

/** Puts all of them on trial, telling of each as it ends. */
async function tryAll(workspaces: readonly Workspace[], mutants: readonly Mutant[]): Promise<Verdict[]> {
  const started = performance.now();
  const verdicts: Verdict[] = [];
  await inLanes(workspaces, mutants, async (workspace, mutant) => {
    const verdict = await judge(workspace, mutant);
    verdicts.push(verdict);
    const count = `${String(verdicts.length).padStart(3)} of ${mutants.length}`;
    console.log(
      `${count}  ${seconds(started).padStart(5)}  ${verdict.how.padEnd(8)}  ${mutant.id}: ${verdict.by}`,
    );
  });
  return verdicts;
}

/** A line for each hard rule and one for the rest: how many of its faults were caught. */
function printTable(verdicts: readonly Verdict[]): void {
  const row = (name: string, mutants: readonly Mutant[], says: string): void => {
    const own = verdicts.filter(({ mutant }) => mutants.includes(mutant));
    const caught = own.filter(({ how }) => how === "caught" || how === "hung").length;
    if (own.length > 0 || mutants.length === 0) {
      console.log(
        `${name.padEnd(8)} ${String(caught).padStart(3)} of ${String(own.length).padStart(3)}  ${says}`,
      );
    }
  };
  console.log("\n         caught");
  for (const { number, mutants, says } of HARD_RULES) {
    row(`rule ${number}`, mutants, says);
  }
  const hard = new Set(HARD_RULES.flatMap((rule) => rule.mutants));
  const rest = MUTANTS.filter((mutant) => !hard.has(mutant));
  row("kernel", rest.filter(({ file }) => file.startsWith("assembly/")), "Accounts, slab, lines and border.");
  row("shell", rest.filter(({ file }) => !file.startsWith("assembly/")), "What stands around the kernel.");
}

/** Prints what the verdicts come to; the exit status. */
function close(verdicts: readonly Verdict[], started: number): number {
  printTable(verdicts);
  const of = (how: Verdict["how"]): Verdict[] => verdicts.filter((verdict) => verdict.how === how);
  for (const { mutant, by, how } of [...of("hung"), ...of("broken"), ...of("survived")]) {
    console.log(`${how.toUpperCase()}: ${mutant.id} (${mutant.rules.join(", ")}) in ${mutant.file}: ${by}`);
  }
  const caught = of("caught").length + of("hung").length;
  const failed = verdicts.length - caught;
  console.log(`${verdicts.length} mutants in ${seconds(started)}: ${caught} caught, ${failed} not`);
  return failed > 0 ? 1 : 0;
}

async function main(args: readonly string[]): Promise<number> {
  const started = performance.now();
  const mutants = chosen(args);
  if (mutants.length === 0) throw new Error(`Cannot run: no id begins as --only says; see --list.`);
  if (args.includes("--list")) {
    print(mutants);
    return 0;
  }
  const errors = findErrors(ROOT, mutants);
  if (errors.length > 0) throw new Error(errors.join("\n"));
  const workspaces: Workspace[] = [];
  closeOnInterrupt(workspaces);
  try {
    // The second copy is one of the first: both must show the same sources while somebody edits the tree.
    for (let i = 0; i < LANES; i++) workspaces.push(await Workspace.open(workspaces[0]?.root ?? ROOT));
    console.log(`${mutants.length} mutants; first the same tests without a fault ...`);
    const unsound = await judgeSound(workspaces, mutants);
    if (unsound.length > 0) throw new Error(`Cannot run: tests fail without a fault.\n${unsound.join("\n")}`);
    console.log(`they pass (${seconds(started)})`);
    return close(await tryAll(workspaces, mutants), started);
  } finally {
    for (const each of workspaces) each.close();
  }
}

if (import.meta.main) {
  try {
    process.exitCode = await main(process.argv.slice(2));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
