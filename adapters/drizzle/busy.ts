import { type Clock, systemClock } from "../../mod.ts";

/** How long a statement waits for its turn when nothing else was said, in ms. */
export const BUSY_TIMEOUT_MS = 5_000;
/** The pause before another try, in ms: doubled each time, from the first to the second. */
const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 8;

/** SQLite's code for a lock that another connection has; the other bits say which. */
const BUSY = 5;
/**
 * A transaction that has read what another has changed since: no wait makes its write possible.
 * Source of both: https://www.sqlite.org/rescode.html
 */
const BUSY_SNAPSHOT = 517;

/** Tries again while another connection has the lock, and lets the event loop run between the tries. */
export class BusyRetry {
  readonly #limitMs: number;
  readonly #clock: Clock;

  constructor(limitMs: number, clock: Clock = systemClock) {
    this.#limitMs = limitMs;
    this.#clock = clock;
  }

  /** @throws what the attempt throws; after the limit, an Error with SQLite's as cause. */
  async run<R>(attempt: () => R): Promise<R> {
    const dueMs = this.#clock.now() + this.#limitMs;
    for (let pauseMs = FIRST_PAUSE_MS;; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        return attempt();
      } catch (fault) {
        if (!isBusy(fault)) throw fault;
        if (this.#clock.now() >= dueMs) {
          throw new Error(
            `the database is still locked by another connection after ${this.#limitMs} ms`,
            { cause: fault },
          );
        }
      }
      await new Promise<void>((resolve) => void this.#clock.setTimer(pauseMs, resolve));
    }
  }
}

function isBusy(fault: unknown): boolean {
  if (!(fault instanceof Error)) return false;
  const code: unknown = Reflect.get(fault, "errcode");
  // What exec() throws on Deno 2.9 carries no code.
  if (typeof code !== "number") return fault.message === "database is locked";
  return (code & 0xff) === BUSY && code !== BUSY_SNAPSHOT;
}
