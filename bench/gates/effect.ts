import { loadPeer } from "../peers.ts";
import { endableJob, type Gate, type GateMaker } from "./gate.ts";

/** A description of work that Effect runs; what it is made of does not matter here. */
export interface Effectful {
  readonly pipe: (...steps: readonly unknown[]) => Effectful;
}

/** What the bench uses of Effect's semaphore. */
export interface EffectSemaphore {
  withPermit(work: Effectful): Effectful;
  take(permits: number): Effectful;
  release(permits: number): Effectful;
  takeIfAvailable(permits: number): Effectful;
}

/** What the bench uses of Effect. */
export interface EffectModule {
  readonly Effect: {
    readonly void: Effectful;
    promise(work: () => Promise<unknown>): Effectful;
    provide(layer: unknown): unknown;
    runPromise(work: Effectful, options?: { signal: AbortSignal }): Promise<unknown>;
    runSync(work: Effectful): unknown;
  };
  readonly Semaphore: { makeUnsafe(permits: number): EffectSemaphore };
}

/** Effect's semaphore, each job a fiber of its own. */
export const effect: GateMaker = { open, noAbort: null, noTry: null, longestLine: 1_000 };

async function open(): Promise<Gate> {
  const { Effect, Semaphore } = await loadPeer<EffectModule>("effect");
  const semaphore = Semaphore.makeUnsafe(1);
  const idle = semaphore.withPermit(Effect.void);
  const { job, end } = endableJob();
  return {
    async pairs(count) {
      for (let i = 0; i < count; i++) await Effect.runPromise(idle);
    },
    once: () => Effect.runPromise(idle),
    park: (signal) => signal === undefined ? Effect.runPromise(idle) : Effect.runPromise(idle, { signal }),
    join: (onTurn) => void Effect.runPromise(semaphore.withPermit(Effect.promise(() => job(onTurn)))),
    end,
    tryPairs(count) {
      const take = semaphore.takeIfAvailable(1);
      const release = semaphore.release(1);
      for (let i = 0; i < count; i++) {
        if (Effect.runSync(take) !== true) throw new Error("the free place was refused");
        Effect.runSync(release);
      }
    },
  };
}
