import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Demand, UpstreamFailure } from "../mod.ts";
import { countWakes, logging, relax, slowed } from "./bucket_readings.ts";
import { scenario } from "./scenario.ts";

const FIVE_MINUTES_MS = 300_000;

describe("A token bucket's throttle", () => {
  it(
    "TB-22 it starts at 0, each slow-down adds 0.5, and it ends at 9",
    scenario((world) => {
      assert.equal(slowed(world, 0).throttle, 0);
      assert.equal(slowed(world, 1).throttle, 0.5);
      assert.equal(slowed(world, 3).throttle, 1.5);
      assert.equal(slowed(world, 20).throttle, 9);
      const bucket = slowed(world, 1);
      bucket.recordBackpressure(3);
      assert.equal(bucket.throttle, 2);
      bucket.recordBackpressure(1);
      assert.equal(bucket.throttle, 2.5, "the same as a 429");
    }),
  );

  it(
    "TB-23 the ceiling is sticky",
    scenario((world) => {
      const bucket = slowed(world, 0);
      bucket.recordBackpressure(1000);
      assert.equal(bucket.throttle, 9);
      bucket.recordBackpressure(3);
      assert.equal(bucket.throttle, 9);
      assert.deepEqual(relax(bucket, 3), [9, 9, 8.8], "what went beyond it is not kept");
    }),
  );

  it(
    "TB-24 a rate-limit error logs one WARN line of name and summary, and counts one slow-down whatever it says",
    scenario((world) => {
      const { bucket, lines } = logging(world);
      const failure = new UpstreamFailure({
        statusCode: 429,
        service: "openai",
        detail: "slow down",
        retryAfterSeconds: 42,
      });
      bucket.onRateLimitError(failure);
      assert.deepEqual(lines, [`WARN gpt: ${failure.summary()}`]);
      assert.equal(bucket.throttle, 0.5);
      bucket.onRateLimitError(new UpstreamFailure({ statusCode: 529 }));
      bucket.onRateLimitError(new UpstreamFailure({ statusCode: 0, retryAfterSeconds: 3600 }));
      assert.equal(bucket.throttle, 1.5);
      assert.equal(lines.length, 3);
    }),
  );

  it(
    "TB-25 every third success takes 0.2 off, the first two change nothing",
    scenario((world) => {
      assert.deepEqual(relax(slowed(world, 2), 6), [1, 1, 0.8, 0.8, 0.8, 0.6]);
    }),
  );

  it(
    "TB-26 after five minutes without a slow-down each success takes 0.5 off",
    scenario(async (world) => {
      const bucket = slowed(world, 2);
      await world.clock.advance(FIVE_MINUTES_MS - 0.001);
      assert.deepEqual(relax(bucket, 1), [1], "not yet");
      await world.clock.advance(0.001);
      assert.deepEqual(relax(bucket, 1), [0.5], "exactly 5:00 counts");
      assert.deepEqual(relax(bucket, 1), [0]);
    }),
  );

  it(
    "TB-27 at throttle 0 a success does nothing, and the throttle never falls below 0",
    scenario((world) => {
      const bucket = slowed(world, 0);
      const counter = countWakes(bucket);
      assert.deepEqual(relax(bucket, 5), [0, 0, 0, 0, 0]);
      assert.equal(counter.wakes, 0);
      assert.equal(bucket.statusIndicator, null);
      bucket.record429();
      assert.deepEqual(relax(bucket, 3), [0.5, 0.5, 0.3], "the earlier successes were not counted");
      assert.deepEqual(relax(bucket, 6), [0.3, 0.3, 0.1, 0.1, 0.1, 0]);
      assert.equal(bucket.statusIndicator, null);
    }),
  );

  it(
    "TB-28 only a relaxation resets the count of successes, not a slow-down nor a change of caps",
    scenario((world) => {
      const bucket = slowed(world, 1);
      relax(bucket, 2);
      bucket.record429();
      assert.equal(bucket.throttle, 1);
      assert.deepEqual(relax(bucket, 3), [0.8, 0.8, 0.8]);
      bucket.setConfig({ rpm: 500, tpm: 500_000 });
      assert.deepEqual(relax(bucket, 1), [0.6]);
    }),
  );

  it(
    "TB-29 a relaxation wakes once, a slow-down never",
    scenario(async (world) => {
      const bucket = world.bucket("gpt", { rpm: 600, tpm: 6000 });
      bucket.tryTake([6000], []);
      const counter = countWakes(bucket);
      bucket.record429();
      bucket.record429();
      assert.equal(counter.wakes, 0);
      const call = world.follow(world.admission().admit(new Demand().add(bucket, 100)));
      await world.settle();
      assert.equal(world.clock.nextTimerMs, 3000);
      relax(bucket, 2);
      assert.equal(counter.wakes, 0);
      relax(bucket, 1);
      assert.equal(counter.wakes, 1);
      await world.settle();
      assert.equal(
        world.clock.nextTimerMs,
        2800,
        "the parked caller was looked at again, at 1.8 minutes a refill",
      );
      await world.clock.advanceTo(2800);
      assert.equal(call.settledAtMs, 2800);
    }),
  );

  it(
    "TB-30 a slow-down stamps its instant, whatever its weight",
    scenario(async (world) => {
      const bucket = slowed(world, 2);
      await world.clock.advance(FIVE_MINUTES_MS - 1000);
      bucket.recordBackpressure(0);
      assert.equal(bucket.throttle, 1);
      await world.clock.advance(1000);
      assert.deepEqual(relax(bucket, 1), [1]);
      await world.clock.advance(FIVE_MINUTES_MS - 1000);
      assert.deepEqual(relax(bucket, 1), [0.5], "five minutes after the stamp");
    }),
  );

  it(
    "TB-31 onSuccess is recordSuccess, and onRateLimitError is record429",
    scenario(async (world) => {
      const bucket = slowed(world, 0);
      bucket.onRateLimitError(new UpstreamFailure({ statusCode: 429 }));
      bucket.record429();
      assert.equal(bucket.throttle, 1);
      bucket.onSuccess();
      bucket.recordSuccess();
      bucket.onSuccess();
      assert.equal(bucket.throttle, 0.8, "one count of successes");
      await world.clock.advance(FIVE_MINUTES_MS);
      bucket.onRateLimitError(new UpstreamFailure({ statusCode: 429 }));
      bucket.onSuccess();
      assert.equal(bucket.throttle, 1.3, "one stamp");
    }),
  );

  it(
    "BEY-10 throttles settle exactly: 1.0 reaches 0, and the indicator null, after five triples of successes",
    scenario((world) => {
      const bucket = slowed(world, 2);
      assert.equal(relax(bucket, 14).at(-1), 0.2);
      assert.equal(bucket.statusIndicator, "throttle:1.2x");
      assert.deepEqual(relax(bucket, 1), [0]);
      assert.equal(bucket.statusIndicator, null);
    }),
  );
});
