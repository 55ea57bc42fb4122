import { median } from "./statistics.ts";
import type { Effort } from "./workload.ts";

/** Does the same thing `count` times. */
export type Body = (count: number) => void | Promise<void>;

/**
 * What one of `body`'s repetitions takes, in ns. It warms up while it looks for a number of repetitions that fills a tenth
 * of the effort's time, then measures batches of that many until the time is up, and answers their median. Between batches
 * the event loop turns, as it does in a program: engines keep some objects alive until then.
 */
export async function nsEach(body: Body, effort: Effort): Promise<number> {
  const batchMs = effort.measureMs / 10;
  const warmUntilMs = performance.now() + effort.measureMs;
  let count = 1;
  for (let isWarm = false; !isWarm;) {
    const isFull = await msOf(body, count) >= batchMs;
    if (!isFull) count *= 2;
    isWarm = isFull && performance.now() > warmUntilMs;
  }
  const taken: number[] = [];
  for (let spentMs = 0; spentMs < effort.measureMs || taken.length < 3;) {
    const ms = await msOf(body, count);
    spentMs += ms;
    taken.push(ms / count * 1e6);
  }
  return median(taken);
}

/**
 * Does something once as a warm-up, at a modest size, and then as often as the effort's time allows, but at least once.
 * `once` answers what it measured and the milliseconds it took.
 */
export async function repeated<T>(
  effort: Effort,
  once: (size: number) => Promise<{ measured: T; ms: number }>,
): Promise<T[]> {
  await once(Math.min(effort.size, WARM_UP_SIZE));
  const all: T[] = [];
  for (let spentMs = 0; spentMs < effort.measureMs;) {
    const { measured, ms } = await once(effort.size);
    spentMs += ms;
    all.push(measured);
  }
  return all;
}

const WARM_UP_SIZE = 1_000;

async function msOf(body: Body, count: number): Promise<number> {
  await laterTurn();
  const startMs = performance.now();
  await body(count);
  return performance.now() - startMs;
}

/** Resolves in a later turn of the event loop, when every promise that can settle has done so. */
export function laterTurn(): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, 0));
}
