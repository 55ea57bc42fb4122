import { runChild } from "./child_process.ts";
import { faultOf, type Readings } from "./figures.ts";
import { type Task, titleOf } from "./plan.ts";
import type { EffortName, Reading } from "./workload.ts";

/** How often each task is run: whole rounds over all tasks, so that a machine that drifts slows all of them alike. */
interface Course {
  readonly mostRounds: number;
  /** No process is started after so many milliseconds, but in the first round, which is always finished. */
  readonly budgetMs: number;
  /** Processes at a time, and whether one does all that a contender has to do: only where figures do not matter. */
  readonly lanes: number;
  readonly isShared: boolean;
}

const COURSES: Readonly<Record<EffortName, Course>> = {
  tiny: { mostRounds: 1, budgetMs: Infinity, lanes: 2, isShared: true },
  quick: { mostRounds: 3, budgetMs: 95_000, lanes: 1, isShared: false },
  full: { mostRounds: 5, budgetMs: 600_000, lanes: 1, isShared: false },
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

/** Runs every task in turn, round after round. `onProgress` hears how far it is. */
export async function runRounds(
  tasks: readonly Task[],
  effort: EffortName,
  onProgress: (text: string) => void,
): Promise<Outcome> {
  const course = COURSES[effort];
  const readings = new Map<Task, Reading[]>(tasks.map((task) => [task, []]));
  const failures: Failure[] = [];
  const startMs = performance.now();
  const processes = course.isShared ? sharedProcesses(tasks) : tasks.map((task) => [task]);
  for (let round = 1; round <= course.mostRounds; round++) {
    let next = 0;
    const lane = async () => {
      for (let own = processes[next++]; own !== undefined; own = processes[next++]) {
        if (round > 1 && performance.now() - startMs > course.budgetMs) return;
        onProgress(`round ${round}, ${next} of ${processes.length}: ${named(own)}`);
        const reports = await runChild(own, effort);
        own.forEach((task, index) => {
          const report = reports[index]!;
          const message = "failure" in report ? report.failure : faultOf(report.reading, task.workload.units);
          if (message !== null) failures.push({ task, message });
          else if ("reading" in report) readings.get(task)!.push(report.reading);
        });
      }
    };
    await Promise.all(Array.from({ length: course.lanes }, lane));
  }
  return { readings, failures };
}

function named(tasks: readonly Task[]): string {
  const { runtime, contender, workload, size } = tasks[0]!;
  return `${runtime} ${tasks.length > 1 ? "" : `${titleOf(workload.name, size)} `}${contender}`;
}

/** The tasks of each contender on each runtime. */
function sharedProcesses(tasks: readonly Task[]): Task[][] {
  const byContender = new Map<string, Task[]>();
  for (const task of tasks) {
    const key = `${task.runtime} ${task.contender}`;
    const own = byContender.get(key);
    if (own === undefined) byContender.set(key, [task]);
    else own.push(task);
  }
  return [...byContender.values()];
}
