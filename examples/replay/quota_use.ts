import type { Axis } from "./columns.ts";
import { ExactBucket } from "./exact_bucket.ts";
import { TICKS_PER_MINUTE } from "./trace.ts";

/** An amount taken from a quota at an instant. */
export interface Take {
  readonly ticks: number;
  readonly amount: number;
}

/** How far one quota (tokens or requests) was used. */
export interface QuotaUse {
  /** All that was taken. */
  readonly taken: number;
  /** The part taken of all there was up to the last take: a full bucket at the start, then `cap` a minute. 0 to 1. */
  readonly share: number;
  /** The most that was taken within any 60 seconds. */
  readonly busiestMinute: number;
  /** Per column of the plot, the largest part of the bucket that was spent: 0 is full, 1 is dry. */
  readonly spentPeak: Float64Array;
}

/** Measures the use of a quota of `cap` a minute. `takes` is in order of time. */
export function quotaUse(takes: readonly Take[], { cap, axis }: { cap: number; axis: Axis }): QuotaUse {
  const taken = takes.reduce((sum, take) => sum + take.amount, 0);
  const lastTicks = takes.at(-1)?.ticks ?? 0;
  return {
    taken,
    share: taken / (cap * (1 + lastTicks / TICKS_PER_MINUTE)),
    busiestMinute: busiestMinute(takes),
    spentPeak: spentPeaks(takes, { cap, axis }),
  };
}

function busiestMinute(takes: readonly Take[]): number {
  let busiest = 0;
  let sum = 0;
  let oldestIndex = 0;
  for (const take of takes) {
    sum += take.amount;
    let oldest = takes[oldestIndex];
    while (oldest !== undefined && oldest.ticks <= take.ticks - TICKS_PER_MINUTE) {
      sum -= oldest.amount;
      oldest = takes[++oldestIndex];
    }
    busiest = Math.max(busiest, sum);
  }
  return busiest;
}

function spentPeaks(takes: readonly Take[], { cap, axis }: { cap: number; axis: Axis }): Float64Array {
  const bucket = new ExactBucket(cap);
  const peaks = new Float64Array(axis.columnCount);
  const width = axis.endTicks / axis.columnCount;
  let takeIndex = 0;
  for (let column = 0; column < axis.columnCount; column++) {
    const isLast = column === axis.columnCount - 1;
    let peak = bucket.spentShare(Math.ceil(column * width));
    for (let take = takes[takeIndex]; take !== undefined; take = takes[++takeIndex]) {
      if (take.ticks >= (column + 1) * width && !isLast) break;
      bucket.take(take.ticks, take.amount);
      peak = Math.max(peak, bucket.spentShare(take.ticks));
    }
    peaks[column] = peak;
  }
  return peaks;
}
