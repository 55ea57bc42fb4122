/** How long jobs waited for something, in milliseconds. A granted job that did not wait counts as 0. */
export interface WaitSummary {
  /** Jobs that waited at all. */
  readonly waited: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

/**
 * Summarises the waits of all granted jobs; null stands for a job that did not wait. Percentiles are nearest rank: a wait
 * that some job really had.
 */
export function summariseWaits(waitsMs: readonly (number | null)[]): WaitSummary {
  const sorted = Float64Array.from(waitsMs, (waitMs) => waitMs ?? 0).sort();
  const rank = (percent: number) => sorted[Math.max(0, Math.ceil((percent * sorted.length) / 100) - 1)] ?? 0;
  const waited = waitsMs.filter((waitMs) => waitMs !== null).length;
  return { waited, p50: rank(50), p95: rank(95), p99: rank(99), max: rank(100) };
}
