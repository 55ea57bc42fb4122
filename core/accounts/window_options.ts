import type { Clock } from "../clock.ts";
import { show } from "../invariant.ts";
import type { Logger } from "../logger.ts";
import { checkOptionNames, type OptionNames } from "../option_names.ts";
import { MAX_WINDOW_REQUESTS } from "../../assembly/layout.ts";

/** Longest span of a window's options, 366 days: the longest stretched window is still exact to the tick. */
const MAX_SPAN_MS = 31_622_400_000;
/** Most that a throttle, or one step of it, can be. */
const MAX_THROTTLE = 99;
/** Most of what is counted one by one. */
const MAX_COUNT = 2 ** 31 - 1;

/** How a window is made. Throttles count in thousandths: other values are rounded, and what is above 0 is at least 0.001. */
export interface ElasticWindowOptions {
  /** Slots in the window: a whole number from 1 to 4,194,304. */
  maxRequests: number;
  /** Length of the window at throttle 0, in whole milliseconds, 1 to 366 days. */
  baseWindowMs: number;
  /** What one failure or one advisory adds to the throttle; 1 when left out. */
  throttleIncrement?: number;
  /** What a step of recovery takes off; 0.2 when left out. */
  throttleDecrement?: number;
  /** The most the throttle can be, 0 to 99; 9 when left out. */
  maxThrottle?: number;
  /** How many successes make one step of recovery; 3 when left out. */
  successesPerDecrease?: number;
  /** After so many minutes without pressure every success is a step; 5 when left out. */
  recoveryMinutes?: number;
  /** How much larger such a step is; 2.5 when left out. */
  recoveryMultiplier?: number;
  /** How many failures at full throttle in a row open the circuit; 3 when left out. The one that arrives there counts. */
  failuresAtMaxToBlock?: number;
  /** How long the circuit refuses everyone when it opens, in ms; 30,000 when left out. */
  initialCooldownMs?: number;
  /** The most that failed probes double the cooldown to, in ms; 3,600,000 when left out. */
  maxCooldownMs?: number;
  /** After so many ms a probe without an answer is given up; `maxCooldownMs` when left out. */
  probeTimeoutMs?: number;
  /** The clock of stamps, cooldown and recovery; the system's when left out. It must be the Admission's own. */
  clock?: Clock;
  /** Hears of failures and of the circuit; silent when left out. */
  logger?: Logger;
}

/** All that a window may be given. */
export const WINDOW_OPTIONS: OptionNames<ElasticWindowOptions> = {
  maxRequests: true,
  baseWindowMs: true,
  throttleIncrement: true,
  throttleDecrement: true,
  maxThrottle: true,
  successesPerDecrease: true,
  recoveryMinutes: true,
  recoveryMultiplier: true,
  failuresAtMaxToBlock: true,
  initialCooldownMs: true,
  maxCooldownMs: true,
  probeTimeoutMs: true,
  clock: true,
  logger: true,
};

/** Options with their defaults, clock and logger left out. */
export type CheckedWindowOptions = Required<Omit<ElasticWindowOptions, "clock" | "logger">>;

/**
 * Checks them in a fixed order: slots, window, largest throttle, cooldowns, failures, successes, probe timeout, steps.
 *
 * @throws TypeError or RangeError naming the option, its value and what would do.
 */
export function checkedWindowOptions(name: string, options: ElasticWindowOptions): CheckedWindowOptions {
  checkOptionNames(`Cannot make window ${show(name)}:`, options, WINDOW_OPTIONS);
  const {
    throttleIncrement = 1,
    throttleDecrement = 0.2,
    maxThrottle = 9,
    successesPerDecrease = 3,
    recoveryMinutes = 5,
    recoveryMultiplier = 2.5,
    failuresAtMaxToBlock = 3,
    initialCooldownMs = 30_000,
    maxCooldownMs = 3_600_000,
    probeTimeoutMs = maxCooldownMs,
  } = options;
  const check = new Check(name);
  return {
    maxRequests: check.count("maxRequests", options.maxRequests, MAX_WINDOW_REQUESTS),
    baseWindowMs: check.count("baseWindowMs", options.baseWindowMs, MAX_SPAN_MS),
    maxThrottle: check.share("maxThrottle", maxThrottle, MAX_THROTTLE),
    initialCooldownMs: check.span("initialCooldownMs", initialCooldownMs),
    maxCooldownMs: check.spanFrom("maxCooldownMs", maxCooldownMs, initialCooldownMs),
    failuresAtMaxToBlock: check.count("failuresAtMaxToBlock", failuresAtMaxToBlock, MAX_COUNT),
    successesPerDecrease: check.count("successesPerDecrease", successesPerDecrease, MAX_COUNT),
    probeTimeoutMs: check.span("probeTimeoutMs", probeTimeoutMs),
    throttleIncrement: check.share("throttleIncrement", throttleIncrement, MAX_THROTTLE),
    throttleDecrement: check.share("throttleDecrement", throttleDecrement, MAX_THROTTLE),
    recoveryMinutes: check.share("recoveryMinutes", recoveryMinutes, MAX_SPAN_MS / 60_000),
    recoveryMultiplier: check.share("recoveryMultiplier", recoveryMultiplier, MAX_COUNT),
  };
}

/** What the options of one window have to be. */
class Check {
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  /** A whole number from 1. */
  count(option: string, value: number, most: number): number {
    this.#number(option, value);
    if (Number.isInteger(value) && value >= 1 && value <= most) return value;
    throw new RangeError(`${this.#what(option, value)}, it should be a whole number from 1 to ${most}`);
  }

  /** A span above 0. */
  span(option: string, value: number): number {
    this.#number(option, value);
    if (value > 0 && value <= MAX_SPAN_MS) return value;
    throw new RangeError(
      `${this.#what(option, value)}, it should be milliseconds above 0, at most ${MAX_SPAN_MS}`,
    );
  }

  /** A number from 0. */
  share(option: string, value: number, most: number): number {
    this.#number(option, value);
    if (value >= 0 && value <= most) return value;
    throw new RangeError(`${this.#what(option, value)}, it should be a number from 0 to ${most}`);
  }

  /** A span that is no shorter than the initial cooldown. */
  spanFrom(option: string, value: number, initialMs: number): number {
    if (this.span(option, value) >= initialMs) return value;
    throw new RangeError(
      `${this.#what(option, value)}, it should be at least initialCooldownMs, which is ${initialMs}`,
    );
  }

  #number(option: string, value: unknown): void {
    if (typeof value !== "number") throw new TypeError(`${this.#what(option, value)}, it should be a number`);
  }

  #what(option: string, value: unknown): string {
    return `Cannot make window ${show(this.#name)}: ${option} is ${show(value)}`;
  }
}
