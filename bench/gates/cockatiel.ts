import { loadPeer } from "../peers.ts";
import { endableJob, type Gate, type GateMaker, nothing } from "./gate.ts";

interface Bulkhead {
  execute<T>(job: () => T | PromiseLike<T>): Promise<T>;
}

/** cockatiel's bulkhead, which runs functions. */
export const cockatiel: GateMaker = {
  open,
  noAbort: "no abort of a waiting job: it is rejected when its turn comes",
  noTry: "a bulkhead without a line refuses by a rejection, and only that",
  longestLine: 100_000,
};

/** A bulkhead with a line of any length, for the stacks as well. */
export async function openBulkhead(places: number): Promise<Bulkhead> {
  const { bulkhead } = await loadPeer<{ bulkhead(places: number, line: number): Bulkhead }>("cockatiel");
  return bulkhead(places, Infinity);
}

async function open(): Promise<Gate> {
  const bulkhead = await openBulkhead(1);
  const { job, end } = endableJob();
  return {
    async pairs(count) {
      for (let i = 0; i < count; i++) await bulkhead.execute(nothing);
    },
    once: () => bulkhead.execute(nothing),
    park: () => bulkhead.execute(nothing),
    join: (onTurn) => void bulkhead.execute(() => job(onTurn)),
    end,
    tryPairs: null,
  };
}
