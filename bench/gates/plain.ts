import { type PlainPermit, PlainSemaphore } from "../plain_semaphore.ts";
import type { Gate, GateMaker } from "./gate.ts";

/** The plain semaphore of the bench: a yardstick, no peer. */
export const plain: GateMaker = {
  open,
  noAbort: "no abort",
  noTry: null,
  longestLine: Infinity,
};

// deno-lint-ignore require-await
async function open(): Promise<Gate> {
  const semaphore = new PlainSemaphore(1);
  let held: PlainPermit | null = null;
  return {
    async pairs(count) {
      for (let i = 0; i < count; i++) semaphore.release(await semaphore.acquire());
    },
    once: async () => semaphore.release(await semaphore.acquire()),
    park: () => semaphore.acquire(),
    join: (onTurn) =>
      void semaphore.acquire().then((permit) => {
        held = permit;
        onTurn();
      }),
    end: () => semaphore.release(held!),
    tryPairs(count) {
      for (let i = 0; i < count; i++) semaphore.release(semaphore.tryAcquire()!);
    },
  };
}
