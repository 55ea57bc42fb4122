import { loadPeer } from "../peers.ts";
import { endableJob, type Gate, type GateMaker, nothing } from "./gate.ts";

/** What `pLimit(places)` makes. */
export type Limit = <T>(job: () => T | PromiseLike<T>) => Promise<T>;

/** p-limit, which runs functions. */
export const pLimit: GateMaker = {
  open,
  noAbort: "no abort of one waiting job",
  noTry: "no way to take a place at once or not at all",
  longestLine: 100_000,
};

/** A limit of p-limit, for the stacks as well. */
export async function openLimit(places: number): Promise<Limit> {
  return (await loadPeer<{ default: (places: number) => Limit }>("p-limit")).default(places);
}

async function open(): Promise<Gate> {
  const limit = await openLimit(1);
  const { job, end } = endableJob();
  return {
    async pairs(count) {
      for (let i = 0; i < count; i++) await limit(nothing);
    },
    once: () => limit(nothing),
    park: () => limit(nothing),
    join: (onTurn) => void limit(() => job(onTurn)),
    end,
    tryPairs: null,
  };
}
