import type { Options, Runtime } from "./options.ts";
import { type Cannot, runAt, type Workload } from "./workload.ts";

/** One process to run, once a round. */
export interface Task {
  readonly runtime: Runtime;
  readonly workload: Workload;
  readonly size: number;
  readonly contender: string;
}

/** Who does not run, and why. */
export interface Absence extends Omit<Task, "runtime">, Cannot {}

/** Everything that is to be run, and what cannot be. */
export interface Plan {
  readonly tasks: readonly Task[];
  readonly absences: readonly Absence[];
}

/** What a run with these options consists of: the contenders of one question stand side by side. */
export function planOf(workloads: readonly Workload[], options: Options): Plan {
  const tasks: Task[] = [];
  const absences: Absence[] = [];
  for (const workload of workloads.filter(({ name }) => options.workloads.includes(name))) {
    for (const size of workload.sizes[options.effort]) {
      for (const [contender, how] of Object.entries(workload.contenders)) {
        const run = runAt(how, size);
        if (typeof run !== "function") absences.push({ workload, size, contender, cannot: run.cannot });
        else tasks.push(...options.runtimes.map((runtime) => ({ runtime, workload, size, contender })));
      }
    }
  }
  tasks.sort((a, b) => options.runtimes.indexOf(a.runtime) - options.runtimes.indexOf(b.runtime));
  return { tasks, absences };
}

/** A workload's name with its size, as figures are filed under: `drain/10000`. */
export function titleOf(workload: string, size: number): string {
  return size === 0 ? workload : `${workload}/${size}`;
}
