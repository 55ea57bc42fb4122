import type { Timer } from "../../mod.ts";
import { onAbort } from "./abort_listeners.ts";
import type { CheckedOptions } from "./options.ts";

/**
 * Waits for so many milliseconds by the clock.
 *
 * @throws at once when it ends before: the signal's reason, or the error of an Admission that closes.
 */
export async function pause(
  { admission, clock }: Pick<CheckedOptions, "admission" | "clock">,
  pauseMs: number,
  signal: AbortSignal | null,
): Promise<void> {
  const dueMs = clock.now() + pauseMs;
  const ends: (() => void)[] = [];
  try {
    await new Promise<void>((resolve, reject) => {
      const arm = (delayMs: number) => clock.setTimer(delayMs, look);
      const look = () => {
        const leftMs = dueMs - clock.now();
        // Timers may fire early, and runtimes cannot wait for more than 24 days at a time.
        if (leftMs > 0) timer = arm(leftMs);
        else resolve();
      };
      let timer: Timer = arm(pauseMs);
      ends.push(() => timer.cancel(), admission.onClose(reject));
      if (signal !== null) ends.push(onAbort(signal, () => reject(signal.reason)));
    });
  } finally {
    for (const end of ends) end();
  }
}
