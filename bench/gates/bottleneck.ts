import { loadPeer } from "../peers.ts";
import { endableJob, type Gate, type GateMaker } from "./gate.ts";

interface Limiter {
  schedule<T>(job: () => Promise<T>): Promise<T>;
  schedule<T>(options: { weight: number }, job: () => Promise<T>): Promise<T>;
}

/** Bottleneck, which runs functions. */
export const bottleneck: GateMaker = {
  open,
  noAbort: "no abort of one waiting job: stop() drops them all",
  noTry: "no way to take a place at once or not at all",
  longestLine: 1_000,
};

/** A limiter of Bottleneck, for the stacks and the stream as well. */
export async function openBottleneck(options: Readonly<Record<string, unknown>>): Promise<Limiter> {
  const { default: Bottleneck } = await loadPeer<{ default: new (options: object) => Limiter }>("bottleneck");
  return new Bottleneck(options);
}

async function open(): Promise<Gate> {
  const limiter = await openBottleneck({ maxConcurrent: 1 });
  const { job, end } = endableJob();
  const done = async () => {};
  return {
    async pairs(count) {
      for (let i = 0; i < count; i++) await limiter.schedule(done);
    },
    once: () => limiter.schedule(done),
    park: () => limiter.schedule(done),
    join: (onTurn) => void limiter.schedule(() => job(onTurn)),
    end,
    tryPairs: null,
  };
}
