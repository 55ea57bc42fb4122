import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { type Clock, Demand, TokenBucketRateLimiter, UncorrectableError } from "../mod.ts";
import { countWakes, levels } from "./bucket_readings.ts";
import { scenario } from "./scenario.ts";

const STANDARD = { rpm: 600, tpm: 6000 };

/** Asserts that both verbs that can refuse do so, with a message that a model can read, and that nothing was taken. */
function assertRefused(bucket: TokenBucketRateLimiter, mine: number[], message: RegExp): void {
  const before = levels(bucket);
  for (const verb of ["fits", "tryTake"] as const) {
    assert.throws(() => bucket[verb](mine, []), (error) => {
      assert.ok(error instanceof UncorrectableError);
      assert.equal(error.isCorrectable, false);
      assert.equal(error.account, bucket.limiterName);
      assert.match(error.message, message);
      return true;
    });
  }
  assert.deepEqual(levels(bucket), before);
}

describe("A token bucket's levels", () => {
  it(
    "TB-01 tokens and requests are two levels that both start full",
    scenario((world) => {
      const bucket = world.bucket("gpt", STANDARD);
      assert.deepEqual(levels(bucket), { tokens: 6000, requests: 600 });
      assert.equal(bucket.tryTake([6000], []), true, "the whole cap goes in one take");
      assert.deepEqual(levels(bucket), { tokens: 0, requests: 599 });
      assert.equal(bucket.tryTake([1], []), false);
      const few = world.bucket("few", { rpm: 1, tpm: 6000 });
      assert.equal(few.tryTake([1], []), true);
      assert.deepEqual(levels(few), { tokens: 5999, requests: 0 });
    }),
  );

  it(
    "TB-02 a take costs the sum of its amounts in tokens and one request for each",
    scenario((world) => {
      const bucket = world.bucket("gpt", { rpm: 60, tpm: 60_000 });
      assert.equal(bucket.tryTake([60_000], []), true);
      assert.deepEqual(levels(bucket), { tokens: 0, requests: 59 });
      const several = world.bucket("several", { rpm: 60, tpm: 60_000 });
      assert.equal(several.tryTake([10, 20, 30], []), true);
      assert.deepEqual(levels(several), { tokens: 59_940, requests: 57 });
    }),
  );

  it(
    "TB-03 levels grow with the clock up to their caps, without a timer",
    scenario(async (world) => {
      const bucket = world.bucket("gpt", { rpm: 60, tpm: 60_000 });
      bucket.tryTake([60_000], []);
      await world.clock.advance(30_000);
      assert.deepEqual(levels(bucket), { tokens: 30_000, requests: 60 });
      assert.equal(world.clock.pendingTimers, 0);
    }),
  );

  it(
    "TB-03 levels are real numbers: a fraction of a token is kept through questions and takes",
    scenario(async (world) => {
      const bucket = world.bucket("gpt", { rpm: 600, tpm: 100 });
      bucket.tryTake([100], []);
      await world.clock.advance(900); // One and a half tokens.
      assert.equal(levels(bucket).tokens, 1);
      assert.equal(bucket.fits([2], []), false);
      assert.equal(bucket.tryTake([1], []), true);
      await world.clock.advance(299.999);
      assert.equal(bucket.fits([1], []), false);
      await world.clock.advance(0.001);
      assert.equal(bucket.tryTake([1], []), true);
    }),
  );

  it(
    "TB-04 a clock that stands still or steps back neither fills nor drains",
    scenario((world) => {
      let nowMs = 10_000;
      const clock: Clock = {
        now: () => nowMs,
        wallNow: () => 0,
        setTimer: world.clock.setTimer.bind(world.clock),
      };
      const bucket = new TokenBucketRateLimiter("gpt", { ...STANDARD, clock });
      bucket.tryTake([4000], []);
      for (let i = 0; i < 100; i++) assert.deepEqual(levels(bucket), { tokens: 2000, requests: 599 });
      nowMs = 4000;
      assert.deepEqual(levels(bucket), { tokens: 2000, requests: 599 });
      assert.equal(bucket.tryTake([500], []), true);
      assert.deepEqual(levels(bucket), { tokens: 1500, requests: 598 });
      nowMs = 10_000;
      assert.deepEqual(
        levels(bucket),
        { tokens: 1500, requests: 598 },
        "the six seconds are not counted twice",
      );
      nowMs = 11_000;
      assert.deepEqual(levels(bucket), { tokens: 1600, requests: 600 });
    }),
  );

  it(
    "TB-05 a change of throttle or cap settles the past at the old rate first",
    scenario(async (world) => {
      const bucket = world.bucket("gpt", STANDARD);
      bucket.tryTake([6000], []);
      await world.clock.advance(30_000);
      bucket.record429();
      assert.equal(levels(bucket).tokens, 3000);
      await world.clock.advance(30_000);
      assert.equal(levels(bucket).tokens, 5000); // 3,000 + 6,000 * 30 / 90.
      const raised = world.bucket("raised", STANDARD);
      raised.tryTake([6000], []);
      await world.clock.advance(30_000);
      raised.setConfig({ rpm: 600, tpm: 12_000 });
      assert.equal(levels(raised).tokens, 3000);
      await world.clock.advance(30_000);
      assert.equal(levels(raised).tokens, 9000);
    }),
  );

  it(
    "TB-06 tokens and requests must both cover mine and what is set aside, equality fits, and asking moves no level",
    scenario(async (world) => {
      const bucket = world.bucket("gpt", { rpm: 3, tpm: 1000 });
      assert.equal(bucket.fits([500, 100], [400]), true);
      assert.equal(bucket.fits([500, 100], [401]), false);
      assert.equal(bucket.fits([1, 1], [1, 1]), false, "four requests of three");
      assert.deepEqual(levels(bucket), { tokens: 1000, requests: 3 });
      bucket.tryTake([1000], []);
      for (let i = 0; i < 1000; i++) {
        await world.clock.advance(0.007);
        assert.equal(bucket.fits([1], []), false);
      }
      await world.clock.advance(52.999); // 59.999 ms in all; a token takes 60 ms.
      assert.equal(bucket.fits([1], []), false);
      await world.clock.advance(0.001);
      assert.equal(bucket.fits([1], []), true);
    }),
  );

  it(
    "TB-07 a take checks again, debits only mine, and is declined after the cap fell in between",
    scenario((world) => {
      const bucket = world.bucket("gpt", { rpm: 600, tpm: 10_000 });
      assert.equal(bucket.fits([9000], []), true);
      bucket.setConfig({ rpm: 600, tpm: 9500 });
      assert.equal(bucket.tryTake([1000], []), true);
      assert.equal(bucket.tryTake([9000], []), false, "declined, not refused: 9,000 is still within the cap");
      assert.deepEqual(levels(bucket), { tokens: 8500, requests: 599 });
      assert.equal(bucket.tryTake([500], [8000]), true);
      assert.deepEqual(levels(bucket), { tokens: 8000, requests: 598 }, "what is set aside is not debited");
      assert.equal(bucket.tryTake([500], [7501]), false);
      assert.deepEqual(levels(bucket), { tokens: 8000, requests: 598 });
    }),
  );

  it(
    "TB-08 the clock alone restores room",
    scenario(async (world) => {
      const bucket = world.bucket("gpt", STANDARD);
      bucket.tryTake([6000], []);
      await world.clock.advance(999);
      assert.equal(bucket.fits([100], []), false);
      await world.clock.advance(2);
      assert.equal(bucket.fits([100], []), true);
      assert.equal(bucket.tryTake([100], []), true);
      assert.equal(levels(bucket).tokens, 0);
    }),
  );

  it(
    "TB-09 requests bind on their own",
    scenario(async (world) => {
      const bucket = world.bucket("gpt", { rpm: 2, tpm: 1_000_000 });
      assert.equal(bucket.tryTake([1], []), true);
      assert.equal(bucket.tryTake([1], []), true);
      assert.equal(bucket.fits([1], []), false);
      assert.equal(bucket.earliestFit([1], []), world.clock.now() + 30_000);
      await world.clock.advance(30_000);
      assert.equal(bucket.tryTake([1], []), true);
      assert.equal(bucket.tryTake([1], []), false);
    }),
  );
});

describe("A refund to a token bucket", () => {
  it(
    "TB-10 give adds tokens and requests at once, each clipped at its cap",
    scenario((world) => {
      const bucket = world.bucket("gpt", STANDARD);
      bucket.tryTake([6000], []);
      assert.equal(bucket.fits([1000], []), false);
      bucket.give([6000]);
      assert.equal(bucket.fits([1000], []), true);
      const fresh = world.bucket("fresh", { rpm: 1000, tpm: 1_000_000 });
      fresh.give([5_000_000]);
      assert.deepEqual(levels(fresh), { tokens: 1_000_000, requests: 1000 });
      const few = world.bucket("few", { rpm: 10, tpm: 1000 });
      few.tryTake([100, 100, 100], []);
      few.give([50, 70]);
      assert.deepEqual(levels(few), { tokens: 820, requests: 9 });
    }),
  );

  it(
    "TB-11 give always wakes, and a finished job gives a bucket nothing",
    scenario(async (world) => {
      const bucket = world.bucket("gpt", STANDARD);
      const counter = countWakes(bucket);
      bucket.give([5]);
      assert.equal(counter.wakes, 1, "also when the clip makes it change nothing");
      assert.equal(bucket.replenishment, "TIME");
      const admission = world.admission();
      const demand = new Demand().add(bucket, 6000);
      const first = admission.tryAdmit(demand)!;
      const next = world.follow(admission.admit(demand));
      first.release();
      await world.settle();
      assert.equal(counter.wakes, 1);
      assert.deepEqual(levels(bucket), { tokens: 0, requests: 599 });
      assert.equal(admission.queueSize, 1);
      bucket.give([6000]);
      await world.settle();
      assert.equal(counter.wakes, 2);
      assert.equal(admission.queueSize, 0, "a parked caller is woken");
      next.grant!.rollback();
      assert.equal(counter.wakes, 3);
      assert.deepEqual(levels(bucket), { tokens: 6000, requests: 600 });
    }),
  );
});

describe("What a token bucket refuses", () => {
  it(
    "TB-13 more tokens than the cap are refused, whatever is set aside",
    scenario((world) => {
      const bucket = world.bucket("gpt", { rpm: 600, tpm: 1000 });
      assertRefused(bucket, [1001], /exceeds/);
      assertRefused(bucket, [600, 401], /exceeds/);
      assert.equal(bucket.fits([1], [1001]), false, "judged on mine alone");
      assert.equal(bucket.fits([1000], []), true);
      assert.equal(bucket.tryTake([1000], []), true);
    }),
  );

  it(
    "TB-14 more amounts than the request cap are refused, after the token check",
    scenario((world) => {
      const bucket = world.bucket("gpt", { rpm: 2, tpm: 1000 });
      assertRefused(bucket, [1, 1, 1], /requests exceeds/);
      assertRefused(bucket, [1000, 1000, 1000], /tokens exceeds/);
      assert.equal(bucket.tryTake([1, 1], []), true);
    }),
  );

  it(
    "TB-15 mine within the caps but not beside what is set aside is no, never a refusal",
    scenario((world) => {
      const bucket = world.bucket("gpt", { rpm: 600, tpm: 1000 });
      assert.equal(bucket.fits([500], [800]), false);
      assert.equal(bucket.tryTake([500], [800]), false);
      assert.equal(bucket.fits([500], [400]), true);
    }),
  );

  it(
    "TB-16 the caps in force at the question decide, so a lowered cap refuses a waiting amount at its next check",
    scenario(async (world) => {
      const bucket = world.bucket("gpt", { rpm: 600, tpm: 10_000 });
      assert.equal(bucket.tryTake([10_000], []), true);
      assert.equal(bucket.fits([9000], []), false);
      const admission = world.admission();
      const call = world.follow(admission.admit(new Demand().add(bucket, 9000)));
      await world.settle();
      bucket.setConfig({ rpm: 600, tpm: 8000 });
      assertRefused(bucket, [9000], /exceeds/);
      await world.settle();
      assert.equal(admission.queueSize, 1, "a lowered cap wakes nobody");
      bucket.give([]);
      await world.settle();
      assert.ok(call.error instanceof UncorrectableError);
      assert.match(call.error.message, /9000 tokens exceeds/);
      assert.equal(admission.queueSize, 0);
    }),
  );
});
