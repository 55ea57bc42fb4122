import assert from "node:assert/strict";
import process from "node:process";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import { ElasticWindowRateLimiter } from "../mod.ts";
import { SetClock } from "./odd_clocks.ts";
import { KERNELS, playOn } from "./scenario.ts";
import { fail, slots } from "./window_readings.ts";

const RUNS = process.env.SOAK === undefined ? 300 : 3_000;
const SEED = Number(process.env.SEED ?? 20_261_130);

/** What a run must have met at least this often, or it proves too little. */
const FLOOR: Readonly<Record<string, number>> = {
  "Cooldown is active": 100,
  "single probe": 50,
  "can never fit": 50,
  "true": 500,
  "false": 500,
};

type Operation =
  | { kind: "take" | "give"; count: number }
  | { kind: "fail" | "succeed" | "advise"; times: number }
  | { kind: "advance"; ticks: number };

const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("take" as const), count: fc.integer({ min: 1, max: 3 }) }),
  },
  fc.record({ kind: fc.constant("give" as const), count: fc.integer({ min: 0, max: 3 }) }),
  fc.record({
    kind: fc.constantFrom("fail" as const, "succeed" as const, "succeed" as const, "advise" as const),
    times: fc.integer({ min: 1, max: 4 }),
  }),
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("advance" as const),
      ticks: fc.oneof(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 1, max: 900_000 })),
    }),
  },
);

const histories = fc.record({
  options: fc.record({
    maxRequests: fc.integer({ min: 1, max: 6 }),
    baseWindowMs: fc.integer({ min: 1, max: 300 }),
    throttleIncrement: fc.constantFrom(1, 0.5, 0.333),
    maxThrottle: fc.constantFrom(0, 1, 2.5),
    failuresAtMaxToBlock: fc.integer({ min: 1, max: 3 }),
    initialCooldownMs: fc.constantFrom(20, 50),
    maxCooldownMs: fc.constantFrom(50, 200),
    probeTimeoutMs: fc.constantFrom(30, 400),
    recoveryMinutes: fc.constantFrom(0, 0.002, 5),
  }),
  operations: fc.array(operation, { minLength: 5, maxLength: 60, size: "max" }),
});
type History = typeof histories extends fc.Arbitrary<infer H> ? H : never;

/** One kernel of each kind for all runs: windows are strangers to each other, and new kernels are dear. */
const kernels = Object.values(KERNELS).map((make) => make());

/** A window on a clock of its own, and all that it answered about takes. */
class Life {
  readonly clock: SetClock = new SetClock();
  readonly window: ElasticWindowRateLimiter;
  readonly told: string[] = [];
  readonly #history: History;

  constructor(history: History) {
    this.#history = history;
    this.window = new ElasticWindowRateLimiter("window", { ...history.options, clock: this.clock });
  }

  /** Lives it, asking so often after every step. */
  live(questions: number): string[] {
    for (const step of this.#history.operations) {
      this.#do(step);
      for (let i = 0; i < questions; i++) this.#ask(i);
      this.#check();
      const { throttle, effectiveWindowMs, currentInUse } = this.window;
      this.told.push(`${throttle} ${effectiveWindowMs} ${currentInUse}`);
    }
    return this.told;
  }

  #do(step: Operation): void {
    const { window, clock } = this;
    switch (step.kind) {
      case "advance":
        clock.ticks += step.ticks;
        return;
      case "take":
        this.told.push(answerOf(() => window.tryTake(slots(step.count), [])));
        return;
      case "give":
        return window.give(slots(step.count));
      case "fail":
        return fail(window, step.times);
      case "advise":
        for (let i = 0; i < step.times; i++) window.onAdvisoryPressure();
        return;
      case "succeed":
        for (let i = 0; i < step.times; i++) window.onSuccess();
    }
  }

  #ask(turn: number): void {
    answerOf(() => this.window.fits(slots(1 + turn), slots(turn % 2)));
    this.window.earliestFit(slots(1 + turn), []);
    this.window.status.summary();
  }

  /** In use is in bounds, and what a healthy window announces holds to the tick. Its clock goes ahead and back for that. */
  #check(): void {
    const { window, clock } = this;
    const most = window.capacity;
    assert.ok(window.currentInUse >= 0 && window.currentInUse <= most);
    if (window.circuitState !== "HEALTHY") return;
    const now = clock.ticks;
    for (let count = 1; count <= most; count++) {
      clock.ticks = now;
      const at = Math.round(window.earliestFit(slots(count), [])! * 1000);
      clock.ticks = at;
      assert.equal(window.fits(slots(count), []), true, `${count} at ${at}`);
      clock.ticks = at - 1;
      if (at > now) assert.equal(window.fits(slots(count), []), false, `${count} a tick before ${at}`);
    }
    clock.ticks = now;
  }
}

function answerOf(ask: () => unknown): string {
  try {
    return String(ask());
  } catch (error) {
    return (error as Error).message;
  }
}

describe("A random life of a window", () => {
  it("BEY-10 EW-39 instants are exact, answers do not depend on asking, and kernel and twin agree", async () => {
    const met = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(histories, async (history) => {
        const told: string[][] = [];
        for (const kernel of kernels) {
          await playOn(kernel, () => void told.push(new Life(history).live(0), new Life(history).live(3)));
        }
        for (const each of told.slice(1)) assert.deepEqual(each, told[0]);
        for (const what of Object.keys(FLOOR)) {
          const times = told[0]!.filter((line) => line.includes(what)).length;
          met.set(what, (met.get(what) ?? 0) + times);
        }
      }),
      { numRuns: RUNS, seed: SEED },
    );
    for (const [what, least] of Object.entries(FLOOR)) {
      assert.ok(
        (met.get(what) ?? 0) >= least,
        `"${what}" was met ${met.get(what)} times of ${least}, seed ${SEED}`,
      );
    }
  });
});
