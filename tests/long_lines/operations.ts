// Histories of long lines: what may happen to two lines over a few shared accounts, as data that fast-check makes and shrinks.

import fc from "fast-check";

/** One account of a demand: an index into the accounts of the history, and permits, slots or requests. */
export type ShapeEntry = [account: number, count: number];
/** The accounts and counts of a demand, in order; only its metered sums differ from waiter to waiter. */
export type Shape = ShapeEntry[];

/** What happens to an account; `amount` is a whole number below 1000 that each makes its own use of. */
export interface Change {
  what: typeof CHANGES[number];
  index: number;
  amount: number;
}

/** How the metered sums of a burst are spread. */
export type Spread = "equal" | "few" | "wide" | "rising" | "falling";

interface Happening {
  /** For all that is left to chance, in it and in the passes after it. */
  seed: number;
  /** How often accounts and event sinks call back during the passes after it: never, or once in so many outcomes. */
  meddles: number;
  /** Nobody looks at the lines after it. */
  rests: boolean;
}

export type Operation =
  & Happening
  & (
    | { kind: "burst"; line: number; shape: number; count: number; spread: Spread }
    | { kind: "settle"; which: number; count: number; everything: boolean }
    | { kind: "abort"; line: number; from: "front" | "middle" | "back" | "all over"; count: number }
    | { kind: "advance"; ticks: number }
    | { kind: "deadline"; line: number; early: number }
    | ({ kind: "change" } & Change)
    | { kind: "pass"; line: number }
  );

export interface WindowSetup {
  maxRequests: number;
  lengthMs: number;
  maxThrottle: number;
}

export interface Setup {
  capacities: number[];
  caps: { tpm: number; rpm: number }[];
  windows: WindowSetup[];
  /** What memory account the lines share: none, a gate on a heap, or one that is asked. */
  memory: "none" | "gate" | "custom";
  cohortLimit: number;
  shapes: Shape[];
}

export interface LongHistory {
  setup: Setup;
  operations: Operation[];
}

export const GATES = 3;
export const BUCKETS = 3;
export const WINDOWS = 2;
export const LINES = 2;
/** Indexes of the accounts: gates, then buckets, then windows, then a custom one, then a router to the first gate. */
export const FIRST_BUCKET: number = GATES;
export const FIRST_WINDOW: number = GATES + BUCKETS;
export const CUSTOM: number = GATES + BUCKETS + WINDOWS;
export const ROUTER: number = CUSTOM + 1;

export const CHANGES = [
  "resize",
  "borrow",
  "configure",
  "take",
  "give",
  "reconcile",
  "slow down",
  "relax",
  "fail",
  "succeed",
  "advise",
  "heap",
  "stay away",
  "classes",
] as const;

/** A shape, and others like it: the same accounts in another order, or with another count. */
const shapes: fc.Arbitrary<Shape[]> = fc.tuple(
  fc.uniqueArray(
    fc.tuple(
      fc.oneof(
        { weight: 4, arbitrary: fc.nat(GATES - 1) },
        { weight: 6, arbitrary: fc.integer({ min: FIRST_BUCKET, max: FIRST_WINDOW - 1 }) },
        { weight: 1, arbitrary: fc.integer({ min: FIRST_WINDOW, max: CUSTOM - 1 }) },
      ),
      fc.constantFrom(1, 1, 1, 2),
    ),
    { selector: ([account]) => account, minLength: 1, maxLength: 5 },
  ),
  fc.constantFrom("alone", "reversed", "counted", "asked", "routed"),
).map(([shape, alike]) => {
  const [account, count] = shape[0]!;
  if (alike === "reversed") return [shape, shape.toReversed()];
  if (alike === "counted") return [shape, [[account, count + 1], ...shape.slice(1)]];
  if (alike === "asked") return [shape, shape, [...shape, [CUSTOM, 1]]];
  if (alike === "routed") return [shape, shape, [[ROUTER, 1], ...shape]];
  return [shape];
});

const change = fc.record({
  kind: fc.constant("change" as const),
  what: fc.constantFrom(...CHANGES, "resize" as const, "configure" as const, "succeed" as const),
  index: fc.nat(5),
  amount: fc.nat(999),
});

const happening = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant("burst" as const),
      line: fc.constantFrom(0, 0, 0, 1),
      shape: fc.nat(9),
      count: fc.oneof(
        { weight: 3, arbitrary: fc.integer({ min: 1, max: 8 }) },
        { weight: 3, arbitrary: fc.integer({ min: 9, max: 40 }) },
        { weight: 1, arbitrary: fc.integer({ min: 60, max: 150 }) },
      ),
      spread: fc.constantFrom<Spread>("equal", "few", "wide", "wide", "wide", "rising", "falling"),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("settle" as const),
      which: fc.nat(20),
      count: fc.constantFrom(1, 1, 2, 5, 50),
      everything: fc.constantFrom(false, false, true),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("abort" as const),
      line: fc.nat(LINES - 1),
      from: fc.constantFrom("front" as const, "middle", "back", "all over"),
      count: fc.constantFrom(1, 1, 5, 20, 80),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("advance" as const),
      ticks: fc.oneof(
        { weight: 3, arbitrary: fc.nat(2_000_000) },
        { weight: 2, arbitrary: fc.nat(30_000_000) },
        { weight: 1, arbitrary: fc.integer({ min: -3_000_000, max: -1 }) },
      ),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("deadline" as const),
      line: fc.nat(LINES - 1),
      early: fc.constantFrom(0, 0, 0, 1),
    }),
  },
  { weight: 6, arbitrary: change },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("pass" as const), line: fc.nat(LINES - 1) }),
  },
);

const operation: fc.Arbitrary<Operation> = fc.tuple(
  happening,
  fc.record({
    seed: fc.nat(1_000_000),
    meddles: fc.constantFrom(0, 0, 0, 12, 3),
    rests: fc.constantFrom(false, false, false, false, true),
  }),
).map(([what, how]) => ({ ...what, ...how }));

const bucketCaps = fc.record({
  tpm: fc.constantFrom(60, 200, 1000, 5000),
  rpm: fc.constantFrom(4, 20, 100, 1000),
});

const windowSetup = fc.record({
  maxRequests: fc.integer({ min: 2, max: 5 }),
  lengthMs: fc.constantFrom(200, 3000),
  maxThrottle: fc.constantFrom(0, 1000),
});

export const longHistories: fc.Arbitrary<LongHistory> = fc.record({
  setup: fc.record({
    capacities: fc.array(fc.constantFrom(1, 2, 3, 20), { minLength: GATES, maxLength: GATES }),
    caps: fc.array(bucketCaps, { minLength: BUCKETS, maxLength: BUCKETS }),
    windows: fc.array(windowSetup, { minLength: WINDOWS, maxLength: WINDOWS }),
    memory: fc.constantFrom("none" as const, "none", "none", "none", "gate", "gate", "custom"),
    cohortLimit: fc.constantFrom(65_536, 65_536, 65_536, 65_536, 3, 1, 0),
    shapes: fc.array(shapes, { minLength: 1, maxLength: 3 })
      // Now and then somebody asks for nothing, or a class of its own comes and goes.
      .map((groups) => groups.flat()),
  }),
  operations: fc.array(operation, { minLength: 10, maxLength: 50, size: "max" }),
});
