import { loadPeer } from "../peers.ts";
import { endableJob, type Gate, type GateMaker, nothing } from "./gate.ts";

interface Queue {
  add<T>(job: () => T | PromiseLike<T>, options?: { signal: AbortSignal }): Promise<T>;
}

/** p-queue, which runs functions and can take one that waits out of its line. */
export const pQueue: GateMaker = {
  open,
  noAbort: null,
  noTry: "no way to take a place at once or not at all",
  longestLine: 10_000,
};

/** A queue of p-queue, for the stacks and the stream as well. */
export async function openQueue(options: Readonly<Record<string, unknown>>): Promise<Queue> {
  const { default: PQueue } = await loadPeer<{ default: new (options: object) => Queue }>("p-queue");
  return new PQueue(options);
}

async function open(): Promise<Gate> {
  const queue = await openQueue({ concurrency: 1 });
  const { job, end } = endableJob();
  return {
    async pairs(count) {
      for (let i = 0; i < count; i++) await queue.add(nothing);
    },
    once: () => queue.add(nothing),
    park: (signal) => signal === undefined ? queue.add(nothing) : queue.add(nothing, { signal }),
    join: (onTurn) => void queue.add(() => job(onTurn)),
    end,
    tryPairs: null,
  };
}
