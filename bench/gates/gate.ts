/**
 * One place, handed from job to job: what every library of the bench that limits concurrency can do, each in the words of
 * its own README.
 */
export interface Gate {
  /** `count` jobs one after another, each taking the free place, doing nothing and giving it back. */
  pairs(count: number): Promise<void>;
  /** One job that waits for the place, does nothing and gives it back. */
  once(): Promise<unknown>;
  /** A job that waits for the place, and that nobody hears of again unless `signal` aborts it. */
  park(signal?: AbortSignal): Promise<unknown>;
  /** A job that joins the line and keeps the place until `end`. `onTurn` hears that it has the place. */
  join(onTurn: () => void): void;
  /** Ends the job that has the place. */
  end(): void;
  /** As `pairs`, without a promise; null where the library has no way to take a place at once or not at all. */
  readonly tryPairs: ((count: number) => void | Promise<void>) | null;
}

/** How to open a library's gate, and what it lacks. */
export interface GateMaker {
  open(): Promise<Gate>;
  /** Why one waiting job cannot be aborted alone; null where it can. */
  readonly noAbort: string | null;
  /** Why there is no `tryPairs`; null where there is. */
  readonly noTry: string | null;
  /** The longest line that is tried; what lies above takes too long. */
  readonly longestLine: number;
}

/** Nothing to do. */
export function nothing(): void {}

/**
 * A job for a library that runs functions: it has its turn once called, and ends when the promise it answers is resolved.
 */
export function endableJob(): { job: (onTurn: () => void) => Promise<void>; end: () => void } {
  let finish = nothing;
  return {
    job: (onTurn) =>
      new Promise<void>((resolve) => {
        finish = resolve;
        onTurn();
      }),
    end: () => finish(),
  };
}
