/** How thorough a run is. */
export type EffortName = "tiny" | "quick" | "full";

/** What one child process is to do: how long to measure and, where the workload has sizes, at which. */
export interface Effort {
  readonly name: EffortName;
  readonly size: number;
  /** Milliseconds of measuring, after as many of warming up. */
  readonly measureMs: number;
  /** Milliseconds for which a stream or a saturated pool runs. */
  readonly streamMs: number;
}

/** A figure for each metric of a workload, in its unit. */
export type Reading = Readonly<Record<string, number>>;

/** Runs a contender once, in a process of its own. */
export type Run = (effort: Effort) => Reading | Promise<Reading>;

/** A contender that cannot do the job, and what it lacks. */
export interface Cannot {
  readonly cannot: string;
}

/** A contender that is only run up to a size. */
export interface Limited {
  readonly run: Run;
  readonly most: number;
}

/** What stands in a workload's table of contenders. */
export type Contender = Run | Limited | Cannot;

/** One job that is measured, and who does it. */
export interface Workload {
  readonly name: string;
  /** What somebody wants to know. */
  readonly question: string;
  /** How it is measured, in a sentence or two. */
  readonly method: string;
  /** Units by metric: costs, unless the unit ends in `/s` or is `ratio`. */
  readonly units: Readonly<Record<string, string>>;
  /** Sizes at which it is run, by effort; `[0]` for a job without a size. */
  readonly sizes: Readonly<Record<EffortName, readonly number[]>>;
  readonly contenders: Readonly<Record<string, Contender>>;
}

/** Sizes of a job that has none. */
export const NO_SIZE: Workload["sizes"] = { tiny: [0], quick: [0], full: [0] };

/** How long each effort measures. */
export const EFFORTS: Readonly<Record<EffortName, Omit<Effort, "size" | "name">>> = {
  tiny: { measureMs: 2, streamMs: 60 },
  quick: { measureMs: 100, streamMs: 500 },
  full: { measureMs: 400, streamMs: 3_000 },
};

/** The run of a contender at a size, or why there is none. */
export function runAt(contender: Contender, size: number): Run | Cannot {
  if (typeof contender === "function" || "cannot" in contender) return contender;
  if (size <= contender.most) return contender.run;
  return { cannot: `not run above ${contender.most.toLocaleString("en")}: it would take too long` };
}
