import { checkedNumber } from "../checked_number.ts";
import { show } from "../invariant.ts";
import { checkOptionNames, type OptionNames } from "../option_names.ts";
import { RetrySignal } from "./retry_signal.ts";

/** The window grows with each re-run up to this many times its base. */
const MAX_FACTOR = 10;
/** The window never reaches further than this. */
const LONGEST_WINDOW_MS = 300_000;

/** What a pause depends on beside its signal. */
export interface RetryDelayOptions {
  /** How many times the job was run again before, a whole number from 0. */
  readonly reruns: number;
  /** A chance from 0, below 1; `Math.random` when left out. */
  readonly random?: () => number;
}

const OPTIONS: OptionNames<RetryDelayOptions> = { reruns: true, random: true };

/**
 * How long to wait before a job is run again, in whole milliseconds. Without a word from the provider it is spread evenly over
 * the signal's window times f, where f is 1 before the first re-run and grows by 1 to at most 10; the window's end stays at or
 * below 300,000 ms. A provider that asks for longer than the window's begin moves the window there with its width: nobody comes
 * back too early, and jobs that were told the same do not come back together. A wait that long may be beyond what a job can
 * use; failing fast is the caller's business.
 *
 * @throws TypeError or RangeError when the signal, `reruns` or what `random` answers is not as said.
 */
export function retryDelayMs(signal: RetrySignal, options: RetryDelayOptions): number {
  if (!(signal instanceof RetrySignal)) {
    throw new TypeError(`Cannot pace a retry: signal is ${show(signal)}, it should be a RetrySignal`);
  }
  checkOptionNames("Cannot pace a retry:", options, OPTIONS);
  const { random = Math.random } = options;
  const reruns = checkedNumber("Cannot pace a retry: reruns", options.reruns, {
    least: 0,
    most: Number.MAX_SAFE_INTEGER,
  });
  const factor = Math.min(reruns + 1, MAX_FACTOR);
  const beginMs = signal.window.minMs * factor;
  const widthMs = Math.min(signal.window.maxMs * factor, LONGEST_WINDOW_MS) - beginMs;
  return Math.max(beginMs, signal.retryAfterMs ?? 0) + Math.floor(checkedChance(random()) * widthMs);
}

function checkedChance(chance: number): number {
  if (typeof chance === "number" && chance >= 0 && chance < 1) return chance;
  throw new RangeError(
    `Cannot pace a retry: random() answered ${show(chance)}, it should be a number from 0, below 1`,
  );
}
