import assert from "node:assert/strict";
import process from "node:process";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import { Admission, Demand, TokenBucketRateLimiter } from "../mod.ts";
import { SetClock } from "./odd_clocks.ts";
import { KERNELS, playOn } from "./scenario.ts";

const RUNS = process.env.SOAK === undefined ? 400 : 4_000;
const SEED = Number(process.env.SEED ?? 20_261_130);
const MAX_AMOUNT = 2 ** 31 - 1;

/** Amounts in thousandths of the token cap, so that they mean something whatever the cap. */
type Shares = readonly number[];

type Operation =
  | { kind: "take" | "give"; shares: Shares }
  | { kind: "spend"; share: number; actual: number }
  | { kind: "slowDown" | "succeed"; times: number }
  | { kind: "configure"; tpm: number; rpm: number }
  | { kind: "advance"; ticks: number; questions: readonly number[] };

const cap = fc.oneof(
  fc.integer({ min: 1, max: 100 }),
  fc.integer({ min: 1, max: 1e6 }),
  fc.integer({ min: 1, max: 1e12 }),
);
const shares = fc.array(fc.integer({ min: 0, max: 700 }), { minLength: 0, maxLength: 3 });
const ticks = fc.oneof(
  fc.integer({ min: 1, max: 1000 }),
  fc.integer({ min: 1, max: 6e7 }),
  fc.integer({ min: 1, max: 1e9 }),
);

const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("take" as const), shares }) },
  fc.record({ kind: fc.constant("give" as const), shares }),
  fc.record({
    kind: fc.constant("spend" as const),
    share: fc.integer({ min: 0, max: 1000 }),
    actual: fc.integer({ min: 0, max: 3000 }),
  }),
  fc.record({
    kind: fc.constantFrom("slowDown" as const, "succeed" as const),
    times: fc.integer({ min: 1, max: 7 }),
  }),
  fc.record({ kind: fc.constant("configure" as const), tpm: cap, rpm: cap }),
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("advance" as const),
      ticks,
      questions: fc.array(fc.integer({ min: 0, max: 999 }), { maxLength: 4 }),
    }),
  },
);
const histories = fc.record({
  tpm: cap,
  rpm: cap,
  operations: fc.array(operation, { minLength: 1, maxLength: 14 }),
  questions: fc.array(fc.record({ mine: shares, ahead: shares }), { minLength: 1, maxLength: 6 }),
});
type History = typeof histories extends fc.Arbitrary<infer H> ? H : never;

/** What a run must have met at least this often, or it proves too little. */
const FLOOR: Readonly<Record<string, number>> = {
  later: 1000,
  now: 1000,
  never: 1000,
  throttled: 300,
  "in debt": 100,
};

/** One kernel of each kind for all runs of a property: buckets are strangers to each other, and new kernels are dear. */
const kernels = Object.values(KERNELS).map((make) => make());

/** A bucket and its history so far. */
class Life {
  readonly bucket: TokenBucketRateLimiter;
  readonly #clock: SetClock;
  readonly #admission: Admission;

  constructor(clock: SetClock, { tpm, rpm }: History) {
    this.#clock = clock;
    this.bucket = new TokenBucketRateLimiter("gpt", { tpm, rpm, clock });
    this.#admission = new Admission({ memory: null, clock });
    assert.equal(this.bucket.throttle, 0); // The record opens with the history, not with its first question.
  }

  amounts(parts: Shares): number[] {
    return parts.map((share) => Math.min(MAX_AMOUNT, Math.floor(this.bucket.capacity * share / 1000)));
  }

  do(operation: Exclude<Operation, { kind: "advance" }>): void {
    const { bucket } = this;
    switch (operation.kind) {
      case "take":
        return this.#take(this.amounts(operation.shares));
      case "give":
        return bucket.give(this.amounts(operation.shares));
      case "spend":
        return this.#spend(operation.share, operation.actual);
      case "slowDown":
        return bucket.recordBackpressure(operation.times);
      case "succeed":
        for (let i = 0; i < operation.times; i++) bucket.recordSuccess();
        return;
      case "configure":
        return bucket.setConfig(operation);
    }
  }

  /** Takes whatever of it fits, dearest first, so that levels get low. */
  #take(amounts: number[]): void {
    for (let i = 0; i < amounts.length && i < this.bucket.status.maxRequests; i++) {
      this.bucket.tryTake([amounts[i]!], []);
    }
  }

  /** A reservation that turns out dearer or cheaper: levels below zero come from here. */
  #spend(share: number, actual: number): void {
    const [reserved, used] = this.amounts([share, actual]) as [number, number];
    const grant = this.#admission.tryAdmit(new Demand().add(this.bucket, reserved));
    grant?.settle(this.bucket, used);
    grant?.release();
  }

  /** Everything it says now. */
  say(questions: History["questions"]): string {
    const { status, currentInUse, throttle, statusIndicator } = this.bucket;
    const { availableTokens, availableRequests } = status;
    const instants = questions.map(({ mine, ahead }) =>
      this.bucket.earliestFit(this.amounts(mine), this.amounts(ahead))
    );
    return `${this.#clock.ticks} ${availableTokens} ${availableRequests} ${currentInUse} ${throttle} ${statusIndicator} ${instants}`;
  }
}

/** Asserts that the instant a bucket names is exact to the tick; answers what kind of instant it was. */
function checkInstant(
  clock: SetClock,
  bucket: TokenBucketRateLimiter,
  mine: number[],
  ahead: number[],
): string {
  const now = clock.ticks;
  const at = bucket.earliestFit(mine, ahead);
  const all = [...mine, ...ahead];
  const isTooMuch = all.reduce((sum, amount) => sum + amount, 0) > bucket.capacity ||
    all.length > bucket.status.maxRequests;
  assert.equal(at === null, isTooMuch, "an instant is named whenever both caps allow it");
  if (at === null) return "never";
  const ticks = Math.round(at * 1000);
  assert.equal(at, ticks / 1000, "an instant is a whole tick");
  assert.equal(bucket.fits(mine, ahead), ticks === now);
  if (ticks === now) return "now";
  assert.ok(ticks > now);
  clock.ticks = ticks - 1;
  assert.equal(bucket.fits(mine, ahead), false, `false one tick before ${at}`);
  clock.ticks = ticks;
  assert.equal(bucket.fits(mine, ahead), true, `true at ${at}`);
  clock.ticks = now;
  return "later";
}

describe("Random lives of a token bucket", () => {
  it("BEY-10 the announced instant is exact to one tick over caps, throttles, debts and histories of takes", async () => {
    const met = new Map<string, number>();
    const count = (what: string) => void met.set(what, (met.get(what) ?? 0) + 1);
    const property = fc.asyncProperty(histories, async (history) => {
      const stories: string[][] = [];
      for (const kernel of kernels) {
        stories.push(
          await playOn(kernel, (world) => {
            const clock = new SetClock();
            const life = new Life(clock, history);
            for (const operation of history.operations) {
              if (operation.kind === "advance") clock.ticks += operation.ticks;
              else life.do(operation);
              if (life.bucket.throttle > 0) count("throttled");
              if (life.bucket.currentInUse > life.bucket.capacity) count("in debt");
              world.tell(life.say(history.questions));
              for (const { mine, ahead } of history.questions) {
                count(checkInstant(clock, life.bucket, life.amounts(mine), life.amounts(ahead)));
              }
            }
          }),
        );
      }
      assert.deepEqual(stories[0], stories[1], "the kernel and its twin say different things");
    });
    await fc.assert(property, { numRuns: RUNS, seed: SEED });
    for (const [what, least] of Object.entries(FLOOR)) {
      assert.ok(
        (met.get(what) ?? 0) >= least,
        `met "${what}" ${met.get(what) ?? 0} times, ${least} are needed (seed ${SEED})`,
      );
    }
  });

  it("BEY-10 asking often changes nothing", async () => {
    const property = fc.asyncProperty(histories, async (history) => {
      for (const kernel of kernels) {
        await playOn(kernel, () => {
          const clock = new SetClock();
          const [quiet, pestered] = [new Life(clock, history), new Life(clock, history)];
          for (const operation of history.operations) {
            if (operation.kind !== "advance") {
              quiet.do(operation);
              pestered.do(operation);
              continue;
            }
            const start = clock.ticks;
            for (const permille of [...operation.questions].sort((a, b) => a - b)) {
              clock.ticks = start + Math.floor(operation.ticks * permille / 1000);
              pestered.say(history.questions);
              for (const { mine, ahead } of history.questions) {
                checkInstant(clock, pestered.bucket, pestered.amounts(mine), pestered.amounts(ahead));
              }
            }
            clock.ticks = start + operation.ticks;
          }
          assert.equal(pestered.say(history.questions), quiet.say(history.questions));
        });
      }
    });
    await fc.assert(property, { numRuns: RUNS, seed: SEED });
  });

  it("TB-03 BEY-10 after a take the level is the exact sum of what was left and what the clock brought", async () => {
    const property = fc.asyncProperty(
      cap,
      fc.integer({ min: 0, max: 18 }),
      fc.integer({ min: 0, max: 1000 }),
      ticks,
      async (tpm, weight, share, elapsed) => {
        for (const kernel of kernels) {
          await playOn(kernel, () => {
            const clock = new SetClock();
            const bucket = new TokenBucketRateLimiter("gpt", { tpm, rpm: 1000, clock });
            bucket.recordBackpressure(weight);
            const taken = Math.min(MAX_AMOUNT, Math.floor(tpm * share / 1000));
            assert.equal(bucket.tryTake([taken], []), true);
            clock.ticks += elapsed;
            const window = 60_000_000n + 30_000_000n * BigInt(weight);
            const brought = Number(BigInt(tpm) * BigInt(elapsed) / window);
            assert.equal(bucket.status.availableTokens, Math.min(tpm, tpm - taken + brought));
          });
        }
      },
    );
    await fc.assert(property, { numRuns: RUNS, seed: SEED });
  });
});
