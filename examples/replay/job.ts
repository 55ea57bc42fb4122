import type { Trace } from "./trace.ts";
import type { Limits } from "./limits.ts";

/** The accounts that every job demands, in the order of its demand. */
export const ACCOUNT_NAMES = ["model", "http", "db"] as const;

/** What is being replayed. */
export interface Replay {
  readonly trace: Trace;
  readonly limits: Limits;
}

/** What became of one request in a replay through Sluice. Instants are ticks after the first arrival. */
export interface Job {
  readonly arrivalTicks: number;
  readonly tokens: number;
  /** When it got everything it needs; null when it was refused. */
  readonly grantedTicks: number | null;
  /** When it gave everything back; null when it was refused. */
  readonly releasedTicks: number | null;
  /** Why it can never be granted; null when it was granted. */
  readonly refused: string | null;
  /** Whole milliseconds it was held up by each account that held it up. */
  readonly waits: ReadonlyMap<string, number>;
}

/** What became of one request that took its resources one after another. Instants are ticks after the first arrival. */
export interface SteppingJob {
  readonly arrivalTicks: number;
  /** When it got its HTTP place. */
  readonly httpTicks: number;
  /** When it got its tokens; null when it was refused, holding its HTTP place, because it can never have them. */
  readonly tokensTicks: number | null;
  /** When it got its database permit and began to work. */
  readonly dbTicks: number | null;
  /** When it gave everything back. */
  readonly releasedTicks: number;
}

/** Called as a run goes on, with the number of jobs that are through. */
export type Progress = (done: number) => void;
