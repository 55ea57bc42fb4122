import { toTicksUp, wholeMs } from "./clock.ts";
import { TimeoutError } from "./errors.ts";
import { type AccountView, latestInstant, msUntil, shortNames, viewAccounts } from "./explanation.ts";
import { show } from "./invariant.ts";
import type { Monitor } from "./monitor.ts";
import type { Waiter } from "./parking.ts";

/** What the accounts say about a waiter where it stands. */
function viewsOf(monitor: Monitor, waiter: Waiter): AccountView[] {
  const { head } = monitor.line;
  return viewAccounts(
    monitor,
    waiter.demand.entries,
    head === null || head === waiter ? null : head.demand.entries,
  );
}

/**
 * Whether a waiter cannot be granted within its time by the clock as known now: the instant at which it fits lies beyond, or
 * a metered account has none.
 */
export function isBeyond(monitor: Monitor, waiter: Waiter): boolean {
  const { entries } = waiter.demand;
  const offset = monitor.memory === null ? 0 : 1;
  return viewsOf(monitor, waiter).some(({ isShort, earliestMs }, index) => {
    if (!isShort) return false;
    if (earliestMs !== null) return toTicksUp(earliestMs) > waiter.expiresAt;
    return index >= offset && entries[index - offset]!.limiter.replenishment === "TIME";
  });
}

/** The error of a waiter whose time is up. */
export function timeoutOf(monitor: Monitor, waiter: Waiter): TimeoutError {
  const views = viewsOf(monitor, waiter);
  const waitingOn = shortNames(views);
  const now = monitor.now();
  const waitedMs = wholeMs(Math.max(0, now - waiter.arrivedAt));
  const names = waitingOn.length === 0 ? "its turn" : waitingOn.map(show).join(", ");
  const retryAfterMs = msUntil(now, latestInstant(views));
  const when = retryAfterMs === null ? "" : `; by the clock it would fit in ${retryAfterMs} ms`;
  const hint = monitor.isStarted ? "" : "; this Admission was never started, start() lets its line move";
  return new TimeoutError(
    `Not admitted within the time limit: waited ${waitedMs} ms for ${names}${when}${hint}`,
    {
      waitedMs,
      waitingOn,
      retryAfterMs,
    },
  );
}
