import { runChild } from "./child_process.ts";
import { faultOf, type Readings } from "./figures.ts";
import { type Task, titleOf } from "./plan.ts";
import type { EffortName, Reading } from "./workload.ts";

/** How often each task is run: whole rounds over all tasks, so that a machine that drifts slows all of them alike. */
interface Course {
  readonly mostRounds: number;
  /** No further round begins, and none goes on, after so many milliseconds; the first round is always finished. */
  readonly budgetMs: number;
  /** Processes at a time: more than one only where figures do not matter. */
  readonly lanes: number;
}

const COURSES: Readonly<Record<EffortName, Course>> = {
  tiny: { mostRounds: 1, budgetMs: Infinity, lanes: 3 },
  quick: { mostRounds: 3, budgetMs: 100_000, lanes: 1 },
  full: { mostRounds: 5, budgetMs: 600_000, lanes: 1 },
};

/** A task that failed, and how. */
export interface Failure {
  readonly task: Task;
  readonly message: string;
}

/** What all rounds brought. */
export interface Outcome {
  readonly readings: Readings;
  readonly failures: readonly Failure[];
}

/**
 * Runs every task in turn, round after round. A task that fails is not run again.
 * @param onProgress hears before each task how far the round is, in tasks
 */
export async function runRounds(
  tasks: readonly Task[],
  effort: EffortName,
  onProgress: (text: string) => void,
): Promise<Outcome> {
  const { mostRounds, budgetMs, lanes } = COURSES[effort];
  const readings = new Map<Task, Reading[]>(tasks.map((task) => [task, []]));
  const failures: Failure[] = [];
  const startMs = performance.now();
  for (let round = 1; round <= mostRounds; round++) {
    const left = tasks.filter((task) => !failures.some((failure) => failure.task === task));
    let next = 0;
    const lane = async () => {
      for (let task = left[next++]; task !== undefined; task = left[next++]) {
        if (round > 1 && performance.now() - startMs > budgetMs) return;
        onProgress(
          `round ${round}, ${next} of ${left.length}: ${task.runtime} ` +
            `${titleOf(task.workload.name, task.size)} ${task.contender}`,
        );
        try {
          const reading = await runChild(task, effort);
          const fault = faultOf(reading, task.workload.units);
          if (fault !== null) throw new Error(fault);
          readings.get(task)!.push(reading);
        } catch (error) {
          failures.push({ task, message: error instanceof Error ? error.message : String(error) });
        }
      }
    };
    await Promise.all(Array.from({ length: lanes }, lane));
  }
  return { readings, failures };
}
