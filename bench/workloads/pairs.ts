import { Admission, CountingGate, Demand, MemoryPressureGate } from "../../mod.ts";
import { YARDSTICKS } from "../bars.ts";
import type { GateMaker } from "../gates/gate.ts";
import { GATES, NO_GATES } from "../gates/gates.ts";
import { nsEach } from "../timing.ts";
import { type Cannot, type Contender, type Effort, NO_SIZE, type Workload } from "../workload.ts";

/** Taking a free place at once and giving it back. */
export const tryOne: Workload = {
  name: "try-one",
  question: "What does a free place cost, taken without a promise?",
  method: "`tryAdmit` and `release` on one gate, nobody waiting.",
  units: { pair: "ns" },
  sizes: NO_SIZE,
  contenders: { ...forEachGate(tryContender), ...NO_GATES },
};

/** The same with a promise. */
export const awaitOne: Workload = {
  name: "await-one",
  question: "What does a free place cost?",
  method: "`await admit` and `release` on one gate, nobody waiting, no memory account.",
  units: { pair: "ns" },
  sizes: NO_SIZE,
  contenders: { ...forEachGate(awaitContender), ...NO_GATES },
};

/** The same with a memory account before it. */
export const awaitOneMemory: Workload = {
  name: "await-one-memory",
  question: "What does a free place cost behind a memory account?",
  method: "As `await-one`, with a MemoryPressureGate on the runtime's own heap.",
  units: { pair: "ns" },
  sizes: NO_SIZE,
  contenders: { ...forEachPeer("knows nothing of the heap"), sluice: pairsWithMemory },
};

function forEachGate(contender: (maker: GateMaker) => Contender): Record<string, Contender> {
  return Object.fromEntries(Object.entries(GATES).map(([name, maker]) => [name, contender(maker)]));
}

function forEachPeer(cannot: string): Record<string, Cannot> {
  const names = [...Object.keys(GATES), ...Object.keys(NO_GATES)].filter((name) => !YARDSTICKS.has(name));
  return Object.fromEntries(names.map((name) => [name, { cannot }]));
}

function tryContender(maker: GateMaker): Contender {
  if (maker.noTry !== null) return { cannot: maker.noTry };
  return async (effort) => ({ pair: await nsEach((await maker.open()).tryPairs!, effort) });
}

function awaitContender(maker: GateMaker): Contender {
  return async (effort) => {
    const gate = await maker.open();
    return { pair: await nsEach((count) => gate.pairs(count), effort) };
  };
}

/** More than any machine has, so that the gate never closes; what a reading costs does not depend on it. */
const LIMIT_BYTES = 2 ** 50;

async function pairsWithMemory(effort: Effort): Promise<{ pair: number }> {
  const admission = new Admission({ memory: new MemoryPressureGate({ limitBytes: LIMIT_BYTES }) }).start();
  const demand = new Demand().add(new CountingGate("gate", 1));
  const pair = await nsEach(async (count) => {
    for (let i = 0; i < count; i++) admission.release(await admission.admit(demand));
  }, effort);
  return { pair };
}
