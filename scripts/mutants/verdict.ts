/** What became of one planted fault. */
import type { Mutant } from "./mutant.ts";
import { LIMIT_MS, tryFile } from "./trial.ts";
import type { Workspace } from "./workspace.ts";

/** `hung` counts as caught; `broken` is a mistake in the list: the fault does not even compile. */
export interface Verdict {
  readonly mutant: Mutant;
  readonly how: "caught" | "hung" | "survived" | "broken";
  /** The title of the case that caught it, or what went wrong. */
  readonly by: string;
  readonly seconds: number;
}

/** Plants one fault in a copy, and runs its tests until a case that names one of its rules fails. */
export async function judge(workspace: Workspace, mutant: Mutant): Promise<Verdict> {
  const started = performance.now();
  const verdict = (how: Verdict["how"], by: string): Verdict => ({
    mutant,
    how,
    by,
    seconds: (performance.now() - started) / 1000,
  });
  try {
    return await workspace.with(mutant, async () => {
      for (const file of mutant.tests) {
        const { failed, ran, hung, output } = await tryFile(workspace.root, file, mutant.rules);
        if (hung !== null) return verdict("hung", `after ${LIMIT_MS / 1000} s in: ${hung}`);
        if (failed.length > 0) return verdict("caught", failed[0]!);
        if (ran === 0) return verdict("broken", `${file} has no verdict: ${output.trim().slice(-600)}`);
      }
      return verdict("survived", `no case of ${mutant.tests.join(", ")} failed`);
    });
  } catch (error) {
    return verdict("broken", error instanceof Error ? error.message : String(error));
  }
}

/** One line for each case that fails in a copy without a fault: with such a case nothing is shown. */
export async function judgeSound(
  workspaces: readonly Workspace[],
  mutants: readonly Mutant[],
): Promise<string[]> {
  const rulesOf = new Map<string, Set<string>>();
  for (const { tests, rules } of mutants) {
    for (const file of tests) rulesOf.set(file, new Set([...rulesOf.get(file) ?? [], ...rules]));
  }
  const errors: string[] = [];
  await inLanes(workspaces, [...rulesOf], async (workspace, [file, rules]) => {
    const { failed, ran, hung, output } = await tryFile(workspace.root, file, [...rules]);
    if (hung !== null) errors.push(`${file} hangs: ${hung}`);
    else if (ran === 0) errors.push(`${file} has no verdict: ${output.trim().slice(-600)}`);
    errors.push(...failed.map((title) => `${file} fails: ${title}`));
  });
  return errors;
}

/** Works through a list, one item at a time in each lane. */
export async function inLanes<L, T>(
  lanes: readonly L[],
  items: readonly T[],
  work: (lane: L, item: T) => Promise<void>,
): Promise<void> {
  const left = [...items];
  await Promise.all(lanes.map(async (lane) => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(lane, item);
  }));
}
