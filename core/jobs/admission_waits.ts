import type { JobContext } from "../context.ts";

/** The key of a job's metadata that has its waits by account: an object of whole milliseconds by `limiterName`. */
const WAIT_TIMES = "wait_times";
/** The key that has the time its attempts spent in `admit`, in whole milliseconds. */
const ADMISSION_WAIT_MS = "admission_wait_ms";

/** What one admission took. */
export interface AdmissionWait {
  /** Whole milliseconds around the `admit` call. */
  readonly wallMs: number;
  /** Of the grant. */
  readonly waitTimesMs: ReadonlyMap<string, number>;
}

/** Adds a wait to what a job's metadata says of earlier ones. Snapshots that were taken before keep what they have. */
export function recordWait({ metadata }: JobContext, { wallMs, waitTimesMs }: AdmissionWait): void {
  metadata[ADMISSION_WAIT_MS] = msOf(metadata[ADMISSION_WAIT_MS]) + wallMs;
  if (waitTimesMs.size === 0) return;
  const known = metadata[WAIT_TIMES];
  const sums = new Map<string, unknown>(
    typeof known === "object" && known !== null ? Object.entries(known) : [],
  );
  for (const [name, ms] of waitTimesMs) sums.set(name, msOf(sums.get(name)) + ms);
  metadata[WAIT_TIMES] = Object.freeze(Object.fromEntries(sums));
}

/** The caller may write anything to the metadata; what is no number of ours counts as nothing. */
function msOf(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}
