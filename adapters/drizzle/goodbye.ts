import { systemClock } from "../../mod.ts";

/**
 * How long the end of an unsound connection is waited for, in ms: until its server has let go of it, so that there are never more
 * sessions than permits. A server that runs something that it does not interrupt, or a network that is gone, takes longer.
 */
export const GOODBYE_MS = 1_000;

/** Waits until something has ended, or the time is up; answers whether it has. */
export function endsInTime(end: Promise<unknown>, limitMs: number = GOODBYE_MS): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = systemClock.setTimer(limitMs, () => resolve(false));
    const settled = () => {
      timer.cancel();
      resolve(true);
    };
    end.then(settled, settled);
  });
}
