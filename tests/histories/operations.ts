// Random histories: what may happen to a small world of accounts and admissions, as data that fast-check makes and shrinks.

import fc from "fast-check";
import { MAX_COHORTS } from "../../assembly/layout.ts";
import {
  type WindowAsk,
  windowAsk,
  type WindowOperation,
  windowOperation,
  type WindowSetup,
  windowSetup,
} from "./windows.ts";

/** What a job asks: indexes into the world's accounts, and amounts. */
export interface Ask {
  gates: [index: number, permits: number][];
  buckets: [index: number, tokens: number][];
  windows: WindowAsk;
  meter: number | null;
  scripted: boolean;
  /** Keys for the router. */
  routes: Route[];
}

/** Where the router leads: to the first gate or the second. */
export type Route = "eu" | "us";

/** How a caller may leave again. */
export interface Patience {
  hasSignal: boolean;
  hasContext: boolean;
  timeoutMs: number;
  failFast: boolean;
}

export type Operation =
  | { kind: "admit"; at: number; ask: Ask; patience: Patience }
  | { kind: "tryAdmit"; at: number; ask: Ask }
  | { kind: "release" | "rollback"; which: number }
  | { kind: "abort" | "cancel"; which: number }
  | { kind: "explain"; at: number; ask: Ask }
  | { kind: "settleUsage"; which: number; bucket: number; actual: number }
  | { kind: "advance"; ms: number }
  | { kind: "flush" }
  | { kind: "resize"; gate: number; capacity: number }
  | { kind: "configure"; bucket: number; tpm: number; rpm: number }
  | { kind: "slowDown"; bucket: number; weight: number }
  | { kind: "succeed"; bucket: number; times: number }
  | {
    kind: "script";
    mode: "fits" | "short" | "declines" | "refuses" | "throws";
    instant: number | null;
    wakes: boolean;
    /** Its `give` throws from now on; in a failed attempt that closes the admission. */
    giveThrows: boolean;
  }
  | { kind: "memory"; isOpen: boolean; instant: number | null; wakes: boolean }
  | { kind: "heap"; ratio: number | null }
  | { kind: "borrow"; gate: number; permits: number }
  | WindowOperation
  | { kind: "stop"; at: number };

/** How the world looks before anything happens. */
export interface Setup extends WindowSetup {
  capacities: number[];
  caps: { tpm: number; rpm: number }[];
  /** What memory account there is: none, one that is switched, or a gate on a heap. */
  memory: "none" | "switch" | "gate";
  waiterLimit: number;
  /** Classes of waiters in the kernel. */
  cohortLimit: number;
  /** Of the second admission. */
  maxQueue: number;
}

export interface History {
  setup: Setup;
  operations: Operation[];
}

export const GATES = 3;
export const BUCKETS = 2;
export const ADMISSIONS = 2;

const tokens = fc.oneof({ weight: 6, arbitrary: fc.integer({ min: 0, max: 30 }) }, {
  weight: 1,
  arbitrary: fc.nat(150),
});

const ask: fc.Arbitrary<Ask> = fc.record({
  gates: fc.uniqueArray(fc.tuple(fc.nat(GATES - 1), fc.constantFrom(1, 1, 1, 1, 2, 2, 3)), {
    selector: ([index]) => index,
    maxLength: GATES,
  }),
  buckets: fc.array(fc.tuple(fc.nat(BUCKETS - 1), tokens), { maxLength: 2 }),
  windows: windowAsk,
  meter: fc.option(fc.integer({ min: 0, max: 60 }), { freq: 4 }),
  scripted: fc.boolean(),
  routes: fc.array(fc.constantFrom<Route>("eu", "us"), { maxLength: 2 }),
});

/** Mostly asks of built-in accounts, so that lines of those get long enough to matter. */
const mostlyNative = fc.oneof(
  { weight: 3, arbitrary: ask.map((each) => ({ ...each, meter: null, scripted: false, routes: [] })) },
  { weight: 1, arbitrary: ask },
);

/** Most wait as long as it takes. */
const patience: fc.Arbitrary<Patience> = fc.record({
  hasSignal: fc.boolean(),
  hasContext: fc.boolean(),
  timeoutMs: fc.oneof(
    { weight: 6, arbitrary: fc.constant(Infinity) },
    { weight: 1, arbitrary: fc.constant(0) },
    { weight: 2, arbitrary: fc.integer({ min: 1, max: 2_000_000 }).map((n) => n / 1000) },
    { weight: 1, arbitrary: fc.integer({ min: 30_000, max: 120_000 }) },
  ),
  failFast: fc.boolean(),
});

/** Mostly peaceful, so that refusals do not empty every line. */
const SCRIPT = [
  "fits",
  "fits",
  "fits",
  "short",
  "short",
  "declines",
  "declines",
  "refuses",
  "throws",
] as const;

const instant = fc.option(fc.integer({ min: 0, max: 20_000 }), { freq: 2 });

const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 24,
    arbitrary: fc.record({
      kind: fc.constant("admit" as const),
      at: fc.nat(ADMISSIONS - 1),
      ask: mostlyNative,
      patience,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("tryAdmit" as const), at: fc.nat(1), ask: mostlyNative }),
  },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant("release" as const), which: fc.nat(20) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("rollback" as const), which: fc.nat(20) }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom("abort" as const, "cancel" as const), which: fc.nat(20) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("explain" as const), at: fc.nat(ADMISSIONS - 1), ask }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("settleUsage" as const),
      which: fc.nat(20),
      bucket: fc.nat(BUCKETS - 1),
      actual: fc.nat(300),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("advance" as const),
      ms: fc.oneof(
        fc.integer({ min: 0, max: 5000 }),
        fc.integer({ min: 0, max: 400_000 }).map((n) => n / 1000),
      ),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("flush" as const) }) },
  { weight: 4, arbitrary: windowOperation },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("resize" as const),
      gate: fc.nat(GATES - 1),
      capacity: fc.integer({ min: 1, max: 4 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("configure" as const),
      bucket: fc.nat(BUCKETS - 1),
      tpm: fc.integer({ min: 25, max: 200 }),
      rpm: fc.integer({ min: 1, max: 12 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("slowDown" as const),
      bucket: fc.nat(BUCKETS - 1),
      weight: fc.integer({ min: 0, max: 4 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("succeed" as const),
      bucket: fc.nat(BUCKETS - 1),
      times: fc.integer({ min: 1, max: 6 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("script" as const),
      mode: fc.constantFrom(...SCRIPT),
      instant,
      wakes: fc.boolean(),
      giveThrows: fc.integer({ min: 0, max: 2 }).map((n) => n === 2),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("memory" as const),
      isOpen: fc.boolean(),
      instant,
      wakes: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("heap" as const),
      ratio: fc.oneof(
        { weight: 3, arbitrary: fc.integer({ min: 30, max: 99 }).map((points) => points / 100) },
        { weight: 2, arbitrary: fc.constantFrom(0.8, 0.89, 0.9, 0.95, 0.97, 0.97, null) },
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("borrow" as const),
      gate: fc.nat(GATES - 1),
      permits: fc.integer({ min: 1, max: 2 }),
    }),
  },
);

/** Now and then an admission stops for good; most histories never do. */
const withStops = fc.oneof(
  { weight: 400, arbitrary: operation },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("stop" as const), at: fc.nat(ADMISSIONS - 1) }) },
);

export const histories: fc.Arbitrary<History> = fc.record({
  setup: fc.record({
    capacities: fc.array(fc.integer({ min: 2, max: 4 }), { minLength: GATES, maxLength: GATES }),
    caps: fc.array(
      fc.record({ tpm: fc.integer({ min: 60, max: 200 }), rpm: fc.integer({ min: 2, max: 12 }) }),
      {
        minLength: BUCKETS,
        maxLength: BUCKETS,
      },
    ),
    memory: fc.constantFrom("none" as const, "none", "switch", "gate"),
    waiterLimit: fc.constantFrom(4, 8, 12, 64),
    cohortLimit: fc.constantFrom(0, 1, 3, MAX_COHORTS),
    maxQueue: fc.constantFrom(0, 2, 5, Infinity, Infinity),
  }).chain((setup) => windowSetup.map((windows) => ({ ...setup, ...windows }))),
  operations: fc.array(withStops, { minLength: 20, maxLength: 220, size: "max" }),
});
