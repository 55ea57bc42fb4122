import { linearMemoryBytes } from "../border.ts";
import type { GateMaker } from "../gates/gate.ts";
import { GATES, NO_GATES } from "../gates/gates.ts";
import { liveHeapBytes } from "../heap.ts";
import { laterTurn } from "../timing.ts";
import type { Contender, Effort, Reading, Workload } from "../workload.ts";

const SIZES: Workload["sizes"] = { tiny: [200], quick: [10_000], full: [50_000] };
const UNITS = { whole: "B", heap: "B", kernel: "B" };

/** What a waiter keeps alive. */
export const memory: Workload = {
  name: "memory",
  question: "How much memory does a waiter take?",
  method:
    "Live heap after a collection, before and after they joined the line, divided by their number; for Sluice the " +
    "growth of the kernel's linear memory as well, which only grows. What an engine keeps outside of its heap is not in it.",
  units: UNITS,
  sizes: SIZES,
  contenders: {
    ...forEachGate((maker) => (effort) => bytesEach(maker, effort, false)),
    ...NO_GATES,
  },
};

/** What a waiter that can be aborted keeps alive. */
export const memorySignal: Workload = {
  name: "memory-signal",
  question: "How much memory does a waiter take that can be aborted?",
  method:
    "As `memory`, each waiter with an AbortSignal of its own. The AbortControllers themselves are not counted; what " +
    "listening adds to them is.",
  units: UNITS,
  sizes: SIZES,
  contenders: {
    ...forEachGate((maker) =>
      maker.noAbort === null ? (effort) => bytesEach(maker, effort, true) : { cannot: maker.noAbort }
    ),
    ...NO_GATES,
  },
};

async function bytesEach(maker: GateMaker, effort: Effort, hasSignal: boolean): Promise<Reading> {
  const gate = await maker.open();
  await new Promise<void>((resolve) => gate.join(resolve));
  const controllers = hasSignal ? Array.from({ length: effort.size }, () => new AbortController()) : [];
  const waiters: unknown[] = new Array(effort.size).fill(null);
  // What the engine makes once, at the first few waiters, is no waiter's.
  for (let i = 0; i < 100; i++) void gate.park(hasSignal ? new AbortController().signal : undefined);
  await laterTurn();
  const heapBefore = await liveHeapBytes();
  const kernelBefore = linearMemoryBytes();
  for (let i = 0; i < effort.size; i++) waiters[i] = gate.park(controllers[i]?.signal);
  await laterTurn();
  const heap = (await liveHeapBytes() - heapBefore) / effort.size;
  const kernel = (linearMemoryBytes() - kernelBefore) / effort.size;
  // Both are named here so that neither may be collected before.
  if (waiters.length + controllers.length === 0) throw new Error("nobody waits");
  return { whole: heap + kernel, heap, kernel };
}

function forEachGate(contender: (maker: GateMaker) => Contender): Record<string, Contender> {
  return Object.fromEntries(Object.entries(GATES).map(([name, maker]) => [name, contender(maker)]));
}
