import type { GateMaker } from "../gates/gate.ts";
import { GATES, NO_GATES } from "../gates/gates.ts";
import { laterTurn, repeated } from "../timing.ts";
import { median } from "../statistics.ts";
import type { Contender, Effort, Reading, Workload } from "../workload.ts";

/** A line that is drained one by one. */
export const drain: Workload = {
  name: "drain",
  question: "What does each of many waiters cost, from joining the line to leaving it?",
  method:
    "All join the line of one taken place (`park`), then it is given back and each takes it and gives it back " +
    "(`drain`); `whole` is both, each per waiter.",
  units: { whole: "ns", park: "ns", drain: "ns" },
  sizes: { tiny: [50], quick: [10_000, 100_000], full: [10_000, 100_000] },
  contenders: {
    ...forEachGate((maker) => ({ run: (effort) => drained(maker, effort), most: maker.longestLine })),
    ...NO_GATES,
  },
};

async function drained(maker: GateMaker, effort: Effort): Promise<Reading> {
  const readings = await repeated(effort, (size) => drainOnce(maker, size));
  return {
    whole: median(readings.map(({ park, drain }) => park + drain)),
    park: median(readings.map(({ park }) => park)),
    drain: median(readings.map(({ drain }) => drain)),
  };
}

interface Drained {
  measured: { park: number; drain: number };
  ms: number;
}

async function drainOnce(maker: GateMaker, size: number): Promise<Drained> {
  const gate = await maker.open();
  await new Promise<void>((resolve) => gate.join(resolve));
  const waiters = new Array<Promise<unknown>>(size);
  const startMs = performance.now();
  for (let i = 0; i < size; i++) waiters[i] = gate.once();
  const parkedMs = performance.now();
  gate.end();
  await Promise.all(waiters);
  const endMs = performance.now();
  const park = (parkedMs - startMs) / size * 1e6;
  const drain = (endMs - parkedMs) / size * 1e6;
  return { measured: { park, drain }, ms: endMs - startMs };
}

/** Waiters that give up. */
export const abort: Workload = {
  name: "abort",
  question: "What does it cost when a waiter is aborted?",
  method:
    "10,000 wait, each with an AbortController of its own; all are aborted in arrival order, and every caller has " +
    "heard of it. `bare signal` is a promise that a signal rejects, and nothing else.",
  units: { abort: "ns" },
  sizes: { tiny: [50], quick: [10_000], full: [10_000] },
  contenders: {
    ...forEachGate((maker) =>
      maker.noAbort === null ? (effort) => aborted(maker, effort) : { cannot: maker.noAbort }
    ),
    ...NO_GATES,
    "bare signal": (effort) => aborted({ ...GATES["plain"]!, open: openSignals }, effort),
  },
};

/** A line that consists of signals only. */
async function openSignals(): Promise<Awaited<ReturnType<GateMaker["open"]>>> {
  return {
    ...await GATES["plain"]!.open(),
    park: (signal) =>
      new Promise((_, reject) =>
        signal!.addEventListener("abort", () => reject(signal!.reason), { once: true })
      ),
  };
}

async function aborted(maker: GateMaker, effort: Effort): Promise<Reading> {
  return { abort: median(await repeated(effort, (size) => abortAll(maker, size))) };
}

async function abortAll(maker: GateMaker, size: number): Promise<{ measured: number; ms: number }> {
  const gate = await maker.open();
  await new Promise<void>((resolve) => gate.join(resolve));
  const controllers = Array.from({ length: size }, () => new AbortController());
  let heard = 0;
  let done = () => {};
  const hear = () => {
    if (++heard === size) done();
  };
  for (const { signal } of controllers) void gate.park(signal).then(hear, hear);
  await laterTurn();
  if (heard > 0) throw new Error(`${heard} waiters left before they were aborted`);
  const startMs = performance.now();
  const allHeard = new Promise<void>((resolve) => done = resolve);
  for (const controller of controllers) controller.abort();
  await allHeard;
  const ms = performance.now() - startMs;
  return { measured: ms / size * 1e6, ms };
}

function forEachGate(contender: (maker: GateMaker) => Contender): Record<string, Contender> {
  return Object.fromEntries(Object.entries(GATES).map(([name, maker]) => [name, contender(maker)]));
}
