import { loadPeer } from "../peers.ts";
import type { Gate, GateMaker } from "./gate.ts";

interface Sema {
  acquire(): Promise<unknown>;
  tryAcquire(): unknown;
  release(token?: unknown): void;
}

/** async-sema's counter. */
export const asyncSema: GateMaker = {
  open,
  noAbort: "no abort",
  noTry: null,
  longestLine: Infinity,
};

/** A semaphore of async-sema, for the stacks as well. */
export async function openSema(places: number): Promise<Sema> {
  const { Sema } = await loadPeer<{ Sema: new (places: number) => Sema }>("async-sema");
  return new Sema(places);
}

async function open(): Promise<Gate> {
  const sema = await openSema(1);
  return {
    async pairs(count) {
      for (let i = 0; i < count; i++) {
        await sema.acquire();
        sema.release();
      }
    },
    once: async () => {
      await sema.acquire();
      sema.release();
    },
    park: () => sema.acquire(),
    join: (onTurn) => void sema.acquire().then(onTurn),
    end: () => sema.release(),
    tryPairs(count) {
      for (let i = 0; i < count; i++) {
        if (sema.tryAcquire() === undefined) throw new Error("the free place was refused");
        sema.release();
      }
    },
  };
}
