import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Demand } from "../mod.ts";
import { countWakes } from "./bucket_readings.ts";
import { scenario } from "./scenario.ts";

describe("A token bucket's earliest instant", () => {
  it(
    "TB-17 it is null when mine and what is set aside exceed a cap, and it never throws",
    scenario((world) => {
      const bucket = world.bucket("gpt", { rpm: 2, tpm: 1000 });
      assert.equal(bucket.earliestFit([500], [800]), null);
      assert.equal(bucket.earliestFit([1001], []), null, "fits would refuse this");
      assert.equal(bucket.earliestFit([1, 1], [1]), null, "three requests of two");
      assert.equal(bucket.earliestFit([1, 1, 1], []), null);
      assert.equal(bucket.earliestFit([500], [500]), world.clock.now());
    }),
  );

  it(
    "TB-18 it is the present instant when nothing is short",
    scenario(async (world) => {
      const bucket = world.bucket("gpt", { rpm: 600, tpm: 6000 });
      assert.equal(bucket.earliestFit([6000], []), 1000);
      await world.clock.advance(12.345);
      assert.equal(bucket.earliestFit([3000], [3000]), 1012.345);
    }),
  );

  it(
    "TB-19 otherwise it is now plus the larger relative deficit times the window, rounded up",
    scenario((world) => {
      const now = world.clock.now();
      const bucket = world.bucket("gpt", { rpm: 600, tpm: 6000 });
      bucket.tryTake([6000], []);
      assert.equal(bucket.earliestFit([100], []), now + 1000);
      assert.equal(bucket.earliestFit([100], [100]), now + 2000, "what is set aside comes first");
      const few = world.bucket("few", { rpm: 2, tpm: 6000 });
      few.tryTake([3000, 3000], []);
      assert.equal(few.earliestFit([100], []), now + 30_000, "a request takes longer than 100 tokens");
      assert.equal(few.earliestFit([4000], []), now + 40_000, "4,000 tokens take longer than a request");
      const odd = world.bucket("odd", { rpm: 600, tpm: 7 });
      odd.tryTake([7], []);
      assert.equal(odd.earliestFit([1], []), now + 8571.429); // 60,000 / 7 is 8,571.4285...
    }),
  );

  it(
    "TB-20 it uses the throttle of the moment: two 429s double the wait",
    scenario((world) => {
      const now = world.clock.now();
      const bucket = world.bucket("gpt", { rpm: 600, tpm: 6000 });
      bucket.tryTake([6000], []);
      const before = bucket.earliestFit([100], [])! - now;
      bucket.record429();
      bucket.record429();
      const after = bucket.earliestFit([100], [])! - now;
      assert.equal(after / before, 2);
    }),
  );

  it(
    "TB-21 a slow-down wakes nobody; the deadline is looked at again when it comes, and a later one is answered",
    scenario(async (world) => {
      const bucket = world.bucket("gpt", { rpm: 600, tpm: 6000 });
      bucket.tryTake([6000], []);
      const call = world.follow(world.admission().admit(new Demand().add(bucket, 100)));
      await world.settle();
      assert.equal(world.clock.nextTimerMs, 2000);
      const counter = countWakes(bucket);
      bucket.record429();
      bucket.record429();
      await world.settle();
      assert.equal(counter.wakes, 0);
      assert.equal(world.clock.nextTimerMs, 2000, "the deadline handed out under the old rate stands");
      await world.clock.advanceTo(2000);
      assert.equal(call.grant, null);
      assert.equal(world.clock.nextTimerMs, 3000);
      await world.clock.advanceTo(2999.999);
      assert.equal(call.grant, null);
      await world.clock.advanceTo(3000);
      assert.equal(call.settledAtMs, 3000);
    }),
  );

  it(
    "BEY-10 a waiter is granted at the announced instant and not a tick before",
    scenario(async (world) => {
      const admission = world.admission();
      for (const [tpm, tokens] of [[7, 3], [999_983, 17], [60_000, 1], [30_000_000, 29_999_999]] as const) {
        const bucket = world.bucket(`bucket of ${tpm}`, { rpm: 1_000_000, tpm });
        await world.clock.advance(0.001);
        bucket.tryTake([tpm], []);
        const at = bucket.earliestFit([tokens], [])!;
        const call = world.follow(admission.admit(new Demand().add(bucket, tokens)));
        await world.settle();
        assert.equal(world.clock.nextTimerMs, at);
        await world.clock.advanceTo(at - 0.001);
        assert.equal(call.grant, null, `${tokens} of ${tpm}`);
        await world.clock.advanceTo(at);
        assert.equal(call.settledAtMs, at, `${tokens} of ${tpm}`);
      }
    }),
  );
});
