import { loadPeer } from "../peers.ts";
import { type Gate, type GateMaker, nothing } from "./gate.ts";

/** What the bench uses of async-mutex's semaphore. */
export interface MutexSemaphore {
  acquire(weight?: number): Promise<[number, () => void]>;
  runExclusive<T>(job: () => T | Promise<T>): Promise<T>;
  release(weight?: number): void;
}

interface AsyncMutex {
  Semaphore: new (value: number) => MutexSemaphore;
  tryAcquire(semaphore: MutexSemaphore): MutexSemaphore;
}

/** async-mutex's semaphore, which knows weights. */
export const asyncMutex: GateMaker = {
  open,
  noAbort: "no abort of one waiting job: cancel() rejects them all",
  noTry: null,
  longestLine: 10_000,
};

/** A semaphore of async-mutex, for the stacks and the bucket as well. */
export async function openMutexSemaphore(value: number): Promise<MutexSemaphore> {
  return new (await loadPeer<AsyncMutex>("async-mutex")).Semaphore(value);
}

async function open(): Promise<Gate> {
  const { tryAcquire } = await loadPeer<AsyncMutex>("async-mutex");
  const semaphore = await openMutexSemaphore(1);
  const atOnce = tryAcquire(semaphore);
  let release = nothing;
  return {
    async pairs(count) {
      for (let i = 0; i < count; i++) {
        const [, release] = await semaphore.acquire();
        release();
      }
    },
    once: () => semaphore.runExclusive(nothing),
    park: () => semaphore.acquire(),
    join: (onTurn) =>
      void semaphore.acquire().then((taken) => {
        release = taken[1];
        onTurn();
      }),
    end: () => release(),
    // It answers by a promise all the same.
    async tryPairs(count) {
      for (let i = 0; i < count; i++) {
        const [, release] = await atOnce.acquire();
        release();
      }
    },
  };
}
