import type { LimiterIdentity, RateLimiter } from "./account.ts";
import { type Clock, isClock, systemClock } from "./clock.ts";
import { checkContext, type JobContext } from "./context.ts";
import type { EventSink } from "./events.ts";
import { show } from "./invariant.ts";
import { type Logger, safeLogger } from "./logger.ts";

/** The account that every demand with entries meets first, at every attempt. */
export type MemoryAccount = RateLimiter<void> & LimiterIdentity;

/** What an Admission may be given. */
export interface AdmissionOptions {
  /** The memory account; `null` or left out for none. */
  memory?: MemoryAccount | null;
  /** The clock of waits and deadlines, and of every bucket used here; the system's when left out. */
  clock?: Clock;
  /** Hears of every transition on every account; nothing is built without it. */
  events?: EventSink;
  /** Hears of faults; silent when left out. */
  logger?: Logger;
}

/** What one `admit` may be given. */
export interface AdmitOptions {
  /** Aborting it ends the wait: `admit` rejects with `signal.reason`. */
  signal?: AbortSignal;
  /** The job's identity for events; cancelling it ends the wait with a CancellationError. */
  context?: JobContext;
}

/** Options with their defaults. */
export interface CheckedAdmissionOptions {
  memory: MemoryAccount | null;
  clock: Clock;
  events: EventSink | null;
  logger: Logger;
}

const MEMORY_VERBS = ["fits", "tryTake", "give", "earliestFit", "onCapacityChange"] as const;

/** @throws TypeError naming the option, its value and what would do. */
export function checkAdmissionOptions(options: AdmissionOptions): CheckedAdmissionOptions {
  if (typeof options !== "object" || options === null) {
    throw new TypeError(`Cannot make an Admission: options are ${show(options)}, they should be an object`);
  }
  const { memory = null, clock = systemClock, events = null, logger } = options;
  const what = "Cannot make an Admission:";
  if (!isClock(clock)) {
    throw new TypeError(`${what} clock is ${show(clock)}, it should be a Clock ({ now, wallNow, setTimer })`);
  }
  if (events !== null && typeof events !== "function") {
    throw new TypeError(`${what} events is ${show(events)}, it should be a function of one event`);
  }
  const missing = memory === null
    ? undefined
    : MEMORY_VERBS.find((verb) => typeof memory[verb] !== "function");
  if (missing !== undefined) {
    throw new TypeError(
      `${what} memory is ${show(memory)} without ${missing}(), it should be an account or null`,
    );
  }
  return { memory, clock, events, logger: safeLogger(logger) };
}

/** @throws TypeError naming the option, its value and what would do. */
export function checkAdmitOptions(options: AdmitOptions): void {
  if (typeof options !== "object" || options === null) {
    throw new TypeError(
      `Cannot admit: options are ${show(options)}, they should be an object such as { signal }`,
    );
  }
  const { signal, context } = options;
  if (signal !== undefined && !isSignal(signal)) {
    throw new TypeError(`Cannot admit: signal is ${show(signal)}, it should be an AbortSignal`);
  }
  if (context !== undefined) checkContext(context);
}

function isSignal(value: unknown): value is AbortSignal {
  if (typeof value !== "object" || value === null) return false;
  const { aborted, addEventListener } = value as Partial<AbortSignal>;
  return typeof aborted === "boolean" && typeof addEventListener === "function";
}
