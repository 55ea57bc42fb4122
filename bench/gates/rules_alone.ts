import { type RuledPermit, RuledSemaphore } from "../ruled_semaphore.ts";
import type { Gate, GateMaker } from "./gate.ts";

/** The ruled semaphore of the bench: a yardstick, no peer. */
export const rulesAlone: GateMaker = { open, noAbort: null, noTry: null, longestLine: Infinity };

// deno-lint-ignore require-await
async function open(): Promise<Gate> {
  const semaphore = new RuledSemaphore(1);
  let held: RuledPermit | null = null;
  return {
    async pairs(count) {
      for (let i = 0; i < count; i++) (await semaphore.acquire()).release();
    },
    once: async () => (await semaphore.acquire()).release(),
    park: (signal) => semaphore.acquire(signal),
    join: (onTurn) =>
      void semaphore.acquire().then((permit) => {
        held = permit;
        onTurn();
      }),
    end: () => held!.release(),
    tryPairs(count) {
      for (let i = 0; i < count; i++) semaphore.tryAcquire()!.release();
    },
  };
}
