import type { Clock } from "../../mod.ts";
import { onAbort } from "./abort_listeners.ts";

/** Waits for so many milliseconds by the clock. @throws the signal's reason, at once when it aborts. */
export function pause(clock: Clock, pauseMs: number, signal: AbortSignal | null): Promise<void> {
  return new Promise((resolve, reject) => {
    let stopListening = () => {};
    const dueMs = clock.now() + pauseMs;
    const look = () => {
      const leftMs = dueMs - clock.now();
      // Timers may fire early, and runtimes cannot wait for more than 24 days at a time.
      if (leftMs > 0) timer = clock.setTimer(leftMs, look);
      else {
        stopListening();
        resolve();
      }
    };
    let timer = clock.setTimer(pauseMs, look);
    if (signal === null) return;
    stopListening = onAbort(signal, () => {
      timer.cancel();
      reject(signal.reason);
    });
  });
}
