import { type Clock, MAX_TIMER_MS, type Timer } from "../clock.ts";

/** Calls `fn` once, `delayMs` or more from now, however long that is: a timer that fires early is set again. */
export function setLongTimer(clock: Clock, delayMs: number, fn: () => void): Timer {
  const dueMs = clock.now() + delayMs;
  const arm = () => clock.setTimer(Math.min(dueMs - clock.now(), MAX_TIMER_MS), look);
  const look = () => {
    if (clock.now() >= dueMs) fn();
    else timer = arm();
  };
  let timer = arm();
  return { cancel: () => timer.cancel() };
}

/** Whether a promise settles within so many milliseconds. */
export function settlesWithin(clock: Clock, ms: number, promise: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setLongTimer(clock, ms, () => resolve(false));
    const end = () => {
      timer.cancel();
      resolve(true);
    };
    promise.then(end, end);
  });
}

/** Waits so many milliseconds, or until what follows the wait rejects. No timer is left behind. */
export async function pause(
  clock: Clock,
  ms: number,
  follow: (ended: Promise<void>) => Promise<void>,
): Promise<void> {
  let timer: Timer | null = null;
  try {
    await follow(new Promise<void>((resolve) => timer = setLongTimer(clock, ms, resolve)));
  } finally {
    (timer as Timer | null)?.cancel();
  }
}
