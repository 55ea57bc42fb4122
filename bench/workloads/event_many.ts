import { Admission, CountingGate, Demand, type Grant, TokenBucketRateLimiter } from "../../mod.ts";
import { ManualClock } from "../../testing/mod.ts";
import { YARDSTICKS } from "../bars.ts";
import { GATES, NO_GATES } from "../gates/gates.ts";
import { nsEach } from "../timing.ts";
import type { Cannot, Effort, Reading, Workload } from "../workload.ts";
import { LINES } from "./event_gate.ts";

/** One job ends in front of n that wait for a bucket and two gates of sixteen accounts. */
export const eventSystem: Workload = {
  name: "event-system",
  question: "What does it cost when one job ends and n wait for several of 16 accounts?",
  method:
    "8 gates of 4 places and 8 buckets of 1,000 tokens; each demand is 1 to 1,000 tokens of one bucket and a place " +
    "of two gates. The job that has run longest is rolled back, whoever fits hears of it, and as many new jobs join the " +
    "line: one on average. Time stands still. It has gone on for 4 ms for every 1,000 waiters before, in which each of " +
    "them has been told, once, of every account that holds it.",
  units: { event: "ns" },
  sizes: LINES,
  contenders: { ...forEachPeer("no atomicity: takes one limit after another"), sluice: systemEvents },
};

/** One job ends in front of 10,000 that each need a gate of their own as well. */
export const eventClasses: Workload = {
  name: "event-classes",
  question: "What does it cost when one job ends and 10,000 tenants wait, each with a limit of its own?",
  method:
    "10,000 tenants have a gate each, all behind one shared gate. The job ends, the oldest waiter hears that it has " +
    "both places, and the same tenant joins the line again.",
  units: { event: "ns" },
  sizes: { tiny: [50], quick: [10_000], full: [10_000] },
  contenders: {
    ...forEachPeer("no atomicity: holds the tenant's own place while it waits for the shared one"),
    sluice: classEvents,
  },
};

/** One job ends for which only the last of the line has waited. */
export const passLast: Workload = {
  name: "pass-last",
  question: "What does a pass over 10,000 waiters cost that admits the last of them?",
  method:
    "9,999 wait for one gate, the youngest for another, whose job ends; it hears of it, and joins the line again.",
  units: { pass: "ns" },
  sizes: { tiny: [50], quick: [10_000], full: [10_000] },
  contenders: { ...forEachPeer("no line over more than one limit"), sluice: lastPasses },
};

function forEachPeer(cannot: string): Record<string, Cannot> {
  const names = [...Object.keys(GATES), ...Object.keys(NO_GATES)].filter((name) => !YARDSTICKS.has(name));
  return Object.fromEntries(names.map((name) => [name, { cannot }]));
}

const GATE_COUNT = 8;
const PLACES = 4;
const TOKENS = 1_000;

/** The demand of the i-th job: over many, every bucket with every pair of gates and every amount. */
function systemDemands(clock: ManualClock): (index: number) => Demand {
  const named = Array.from({ length: GATE_COUNT }, (_, index) => index);
  const gates = named.map((index) => new CountingGate(`gate ${index}`, PLACES));
  const buckets = named.map((index) =>
    new TokenBucketRateLimiter(`bucket ${index}`, { tpm: TOKENS, rpm: 2 ** 40, clock })
  );
  let state = 1;
  const chance = (below: number) => {
    state = (state * 48_271) % 0x7fff_ffff;
    return state % below;
  };
  return () => {
    const first = chance(GATE_COUNT);
    const second = (first + 1 + chance(GATE_COUNT - 1)) % GATE_COUNT;
    return new Demand()
      .add(buckets[chance(GATE_COUNT)]!, 1 + chance(TOKENS))
      .add(gates[first]!)
      .add(gates[second]!);
  };
}

/** Milliseconds for each waiter until everybody has been told of what holds it. */
const TOLD_MS = 0.004;

/** Turns of the microtask queue after which everyone whom an event lets in has heard of it. */
const HEARD_TURNS = 4;

async function systemEvents(effort: Effort): Promise<Reading> {
  const clock = new ManualClock();
  const admission = new Admission({ memory: null, clock }).start();
  const demandOf = systemDemands(clock);
  // A list of running jobs that is taken from in front; what was taken is cut off now and then.
  let running: Grant[] = [];
  let first = 0;
  const begin = (grant: Grant) => void running.push(grant);
  for (let i = 0; i < effort.size; i++) void admission.admit(demandOf(i)).then(begin);
  await Promise.resolve();
  const events = async (count: number) => {
    for (let i = 0; i < count; i++) {
      if (first === running.length) throw new Error("nobody runs although jobs wait");
      admission.rollback(running[first++]!);
      const before = running.length;
      for (let turn = 0; turn < HEARD_TURNS; turn++) await undefined;
      for (let entered = running.length - before; entered > 0; entered--) {
        void admission.admit(demandOf(i)).then(begin);
      }
      if (first > 1_000) {
        running = running.slice(first);
        first = 0;
      }
    }
  };
  const toldMs = performance.now() + effort.size * TOLD_MS;
  while (performance.now() < toldMs) await events(16);
  // So many functions take part that engines need longer to compile them all.
  return { event: await nsEach(events, { ...effort, measureMs: 4 * effort.measureMs }) };
}

async function classEvents(effort: Effort): Promise<Reading> {
  const admission = new Admission({ memory: null }).start();
  const shared = new CountingGate("shared", 1);
  const demands = Array.from(
    { length: effort.size },
    (_, index) => new Demand().add(shared).add(new CountingGate(`tenant ${index}`, 1)),
  );
  let held = await admission.admit(new Demand().add(shared));
  let hear = () => {};
  const join = (demand: Demand) =>
    void admission.admit(demand).then((grant) => {
      held = grant;
      hear();
    });
  demands.forEach(join);
  let oldest = 0;
  const event = await nsEach(async (count) => {
    for (let i = 0; i < count; i++) {
      const turn = new Promise<void>((resolve) => hear = resolve);
      admission.release(held);
      await turn;
      join(demands[oldest++ % demands.length]!);
    }
  }, effort);
  return { event };
}

async function lastPasses(effort: Effort): Promise<Reading> {
  const admission = new Admission({ memory: null }).start();
  const busy = new Demand().add(new CountingGate("busy", 1));
  const other = new Demand().add(new CountingGate("other", 1));
  void admission.admit(busy);
  let held = await admission.admit(other);
  for (let i = 1; i < effort.size; i++) void admission.admit(busy);
  let hear = () => {};
  const join = () =>
    void admission.admit(other).then((grant) => {
      held = grant;
      hear();
    });
  join();
  const pass = await nsEach(async (count) => {
    for (let i = 0; i < count; i++) {
      const turn = new Promise<void>((resolve) => hear = resolve);
      admission.release(held);
      await turn;
      join();
    }
  }, effort);
  return { pass };
}
