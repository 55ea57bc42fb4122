import type { LimiterIdentity, RateLimiter } from "./account.ts";
import { type Clock, isClock, systemClock } from "./clock.ts";
import { checkContext, type JobContext } from "./context.ts";
import type { EventSink } from "./events.ts";
import { show } from "./invariant.ts";
import { type Logger, safeLogger } from "./logger.ts";
import { defaultMemory } from "./memory.ts";
import { checkOptionNames, type OptionNames } from "./option_names.ts";

/** The account that every demand with entries meets first, at every attempt. */
export type MemoryAccount = RateLimiter<void> & LimiterIdentity;

/** What an Admission may be given. */
export interface AdmissionOptions {
  /**
   * The memory account; `null` for none. Left out, it is a MemoryPressureGate on the runtime's own heap, shared by all that
   * leave it out, where that can be read: on Node, Deno, and on Bun in a container with a limit.
   */
  memory?: MemoryAccount | null;
  /** The clock of waits and deadlines, and of every bucket used here; the system's when left out. */
  clock?: Clock;
  /** Hears of every transition on every account; nothing is built without it. */
  events?: EventSink;
  /** Hears of faults; silent when left out. */
  logger?: Logger;
  /** Most callers in line, empty demands not counted: a whole number from 0; Infinity when left out. */
  maxQueue?: number;
  /**
   * What happens to work inside `run` that asks for permits that its own ancestors hold, beyond what the gate has: it is
   * refused (the default), only logged, or not looked for.
   */
  nested?: "refuse" | "warn" | "off";
}

/** What one `admit` may be given. */
export interface AdmitOptions {
  /** Aborting it ends the wait: `admit` rejects with `signal.reason`. */
  signal?: AbortSignal;
  /** The job's identity for events; cancelling it ends the wait with a CancellationError. */
  context?: JobContext;
  /** Longest wait in ms, 0 or more: 0 is one attempt, Infinity (the default) no limit. When it passes: TimeoutError. */
  timeoutMs?: number;
  /**
   * Fails at once with TimeoutError when the demand cannot be granted within `timeoutMs` by the clock as known now. A refund
   * or a raised cap could have beaten that.
   */
  failFast?: boolean;
  /** Work that no ancestor waits for: it may ask for what its ancestors hold, and parks as usual. */
  detached?: boolean;
  /** A grant held longer than this, in ms, is reported to the logger and marked in `grants()`. Nothing is taken back. */
  maxHoldMs?: number;
}

/** Options with their defaults. */
export interface CheckedAdmissionOptions {
  memory: MemoryAccount | null;
  clock: Clock;
  events: EventSink | null;
  logger: Logger;
  maxQueue: number;
  nested: "refuse" | "warn" | "off";
}

const ADMISSION_OPTIONS: OptionNames<AdmissionOptions> = {
  memory: true,
  clock: true,
  events: true,
  logger: true,
  maxQueue: true,
  nested: true,
};

const ADMIT_OPTIONS: OptionNames<AdmitOptions> = {
  signal: true,
  context: true,
  timeoutMs: true,
  failFast: true,
  detached: true,
  maxHoldMs: true,
};

const MEMORY_VERBS = ["fits", "tryTake", "give", "earliestFit", "onCapacityChange"] as const;

/** @throws TypeError naming the option, its value and what would do. */
export function checkAdmissionOptions(options: AdmissionOptions): CheckedAdmissionOptions {
  const what = "Cannot make an Admission:";
  checkOptionNames(what, options, ADMISSION_OPTIONS);
  const {
    clock = systemClock,
    events = null,
    logger,
    maxQueue = Infinity,
    nested = "refuse",
  } = options;
  if (!isClock(clock)) {
    throw new TypeError(`${what} clock is ${show(clock)}, it should be a Clock ({ now, wallNow, setTimer })`);
  }
  if (events !== null && typeof events !== "function") {
    throw new TypeError(`${what} events is ${show(events)}, it should be a function of one event`);
  }
  const { memory = defaultMemory(clock) } = options;
  const missing = memory === null
    ? undefined
    : MEMORY_VERBS.find((verb) => typeof memory[verb] !== "function");
  if (missing !== undefined) {
    throw new TypeError(
      `${what} memory is ${show(memory)} without ${missing}(), it should be an account or null`,
    );
  }
  if (typeof maxQueue !== "number") {
    throw new TypeError(`${what} maxQueue is ${show(maxQueue)}, it should be a number`);
  }
  if (!(maxQueue >= 0) || (maxQueue !== Infinity && !Number.isInteger(maxQueue))) {
    throw new RangeError(`${what} maxQueue is ${maxQueue}, it should be a whole number from 0, or Infinity`);
  }
  if (!["refuse", "warn", "off"].includes(nested)) {
    throw new TypeError(`${what} nested is ${show(nested)}, it should be "refuse", "warn" or "off"`);
  }
  return { memory, clock, events, logger: safeLogger(logger), maxQueue, nested };
}

/** @throws TypeError naming the option, its value and what would do. */
export function checkAdmitOptions(options: AdmitOptions): void {
  if (!hasAdmitOptions(options)) checkOptionNames("Cannot admit:", options, ADMIT_OPTIONS);
  const { signal, context, timeoutMs, maxHoldMs } = options;
  checkSpan("timeoutMs", timeoutMs);
  checkSpan("maxHoldMs", maxHoldMs);
  checkFlag("failFast", options.failFast);
  checkFlag("detached", options.detached);
  if (signal !== undefined && !isSignal(signal)) {
    throw new TypeError(`Cannot admit: signal is ${show(signal)}, it should be an AbortSignal`);
  }
  if (context !== undefined) checkContext(context);
}

/**
 * Whether all of its names, of which there are some, are options of `admit`: the check of most calls. A switch over the names takes a
 * third of the time of looking each up in an object (Deno 2.9, November 2026).
 */
function hasAdmitOptions(options: AdmitOptions): boolean {
  let isOne = false;
  for (const name in options) {
    switch (name as keyof AdmitOptions) {
      case "signal":
      case "context":
      case "timeoutMs":
      case "failFast":
      case "detached":
      case "maxHoldMs":
        isOne = true;
        break;
      default:
        return false;
    }
  }
  return isOne;
}

function checkSpan(name: string, ms: number | undefined): void {
  if (ms === undefined) return;
  const what = `Cannot admit: ${name} is ${show(ms)}`;
  if (typeof ms !== "number") throw new TypeError(`${what}, it should be a number of milliseconds`);
  if (!(ms >= 0)) throw new RangeError(`${what}, it should be 0 or more, or Infinity`);
}

function checkFlag(name: string, flag: boolean | undefined): void {
  if (flag === undefined || typeof flag === "boolean") return;
  throw new TypeError(`Cannot admit: ${name} is ${show(flag)}, it should be true or false`);
}

function isSignal(value: unknown): value is AbortSignal {
  if (typeof value !== "object" || value === null) return false;
  const { aborted, addEventListener } = value as Partial<AbortSignal>;
  return typeof aborted === "boolean" && typeof addEventListener === "function";
}
