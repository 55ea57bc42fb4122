import { type Clock, toTicksUp } from "../clock.ts";
import { type HeapReader, runtimeHeapReader } from "../heap.ts";
import { show } from "../invariant.ts";
import type { Logger } from "../logger.ts";
import { checkOptionNames, type OptionNames } from "../option_names.ts";

/**
 * How long a reading of the runtime's heap serves, in ms. Long enough that a busy admission reads it a few hundred times a
 * second instead of for every job, short enough that 20,000 jobs a second add at most a hundred between two readings.
 */
export const DEFAULT_SAMPLE_MS = 5;

/** Options of a MemoryPressureGate. */
export interface MemoryPressureGateOptions {
  /** The heap in use over its limit, from 0 to 1; the runtime's own numbers when left out. What it throws is no reading. */
  reader?: () => number;
  /** Stands for the runtime's own limit, in bytes: positive. Bun without a container limit has no other. */
  limitBytes?: number;
  /** How long a reading serves, in ms, 0 or more: 5 when left out, 0 with a `reader`. */
  sampleMs?: number;
  /** The clock of the spacing; the system's when left out. It must be the Admission's own. */
  clock?: Clock;
  /** Hears of the latch and of a failing reader; left out, the logger of the Admission it serves does. */
  logger?: Logger;
}

const OPTIONS: OptionNames<MemoryPressureGateOptions> = {
  reader: true,
  limitBytes: true,
  sampleMs: true,
  clock: true,
  logger: true,
};

/** Options with their defaults. */
export interface CheckedGateOptions {
  /** Null where this runtime has none. */
  reader: HeapReader | null;
  sampleTicks: number;
}

/** @throws TypeError or RangeError naming the option, its value and what would do. */
export function checkedGateOptions(
  options: MemoryPressureGateOptions,
): CheckedGateOptions {
  const what = "Cannot make a MemoryPressureGate:";
  checkOptionNames(what, options, OPTIONS);
  const { reader, limitBytes, sampleMs = reader === undefined ? DEFAULT_SAMPLE_MS : 0 } = options;
  if (reader !== undefined && typeof reader !== "function") {
    throw new TypeError(
      `${what} reader is ${show(reader)}, it should be a function that answers used / limit`,
    );
  }
  for (const [name, value] of Object.entries({ limitBytes, sampleMs })) {
    if (value === undefined || typeof value === "number") continue;
    throw new TypeError(`${what} ${name} is ${show(value)}, it should be a number`);
  }
  if (limitBytes !== undefined && !(limitBytes > 0 && limitBytes < Infinity)) {
    throw new RangeError(`${what} limitBytes is ${limitBytes}, it should be finite and above 0`);
  }
  if (!(sampleMs >= 0 && sampleMs < Infinity)) {
    throw new RangeError(`${what} sampleMs is ${sampleMs}, it should be finite and 0 or more`);
  }
  return {
    reader: reader === undefined
      ? runtimeHeapReader(limitBytes ?? null)
      : ratioReader(reader, limitBytes ?? 1),
    sampleTicks: toTicksUp(sampleMs),
  };
}

function ratioReader(reader: () => number, limitBytes: number): HeapReader {
  return () => {
    const ratio = reader();
    return { usedBytes: ratio * limitBytes, limitBytes, ratio };
  };
}
