import { type Clock, systemClock } from "../../mod.ts";

/** What a minute of the quotas lasts on a clock of real time, ms. */
export const REAL_MINUTE_MS = 60_000;

/**
 * A clock that runs faster than the machine's: one of its minutes lasts `minuteMs` of wall time. Quotas per minute can be watched
 * within seconds on it; everything that reads it (buckets, pauses, waits) keeps the same proportions.
 */
export function minuteClock(minuteMs: number): Clock {
  const speed = REAL_MINUTE_MS / minuteMs;
  const startMs = systemClock.now();
  const startWallMs = systemClock.wallNow();
  const passedMs = () => (systemClock.now() - startMs) * speed;
  return {
    now: passedMs,
    wallNow: () => startWallMs + passedMs(),
    setTimer: (delayMs, fn) => systemClock.setTimer(delayMs / speed, fn),
  };
}
