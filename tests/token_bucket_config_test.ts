import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { TokenBucketStatus } from "../mod.ts";
import { CAPS, countWakes, levels, logging, relax, slowed } from "./bucket_readings.ts";
import { scenario } from "./scenario.ts";

const FIVE_MINUTES_MS = 300_000;

describe("Changing a token bucket's caps", () => {
  it(
    "TB-32 both caps are replaced in place; throttle, count of successes and slow-down stamp stay",
    scenario(async (world) => {
      const bucket = slowed(world, 2);
      await world.clock.advance(1000);
      relax(bucket, 2);
      bucket.setConfig({ rpm: 500, tpm: 500_000 });
      assert.equal(bucket.throttle, 1);
      assert.equal(bucket.capacity, 500_000);
      assert.equal(bucket.status.maxRequests, 500);
      assert.deepEqual(relax(bucket, 1), [0.8]);
      await world.clock.advance(FIVE_MINUTES_MS - 1000);
      assert.deepEqual(relax(bucket, 1), [0.3], "five minutes since the slow-down, not since the change");
    }),
  );

  it(
    "TB-33 levels above a lowered cap are cut down to it",
    scenario((world) => {
      const bucket = world.bucket("gpt", CAPS);
      bucket.setConfig({ rpm: 100, tpm: 100_000 });
      assert.equal(bucket.capacity, 100_000);
      assert.deepEqual(levels(bucket), { tokens: 100_000, requests: 100 });
      bucket.tryTake([60_000], []);
      bucket.setConfig({ rpm: 99, tpm: 50_000 });
      assert.deepEqual(levels(bucket), { tokens: 40_000, requests: 99 }, "a level below the new cap stays");
    }),
  );

  it(
    "TB-34 a raised cap counts at once but adds no tokens; the level climbs at the new rate",
    scenario(async (world) => {
      const bucket = world.bucket("gpt", CAPS);
      bucket.setConfig({ rpm: 2000, tpm: 2_000_000 });
      assert.equal(bucket.capacity, 2_000_000);
      assert.deepEqual(levels(bucket), { tokens: 1_000_000, requests: 1000 });
      await world.clock.advance(15_000);
      assert.deepEqual(levels(bucket), { tokens: 1_500_000, requests: 1500 });
    }),
  );

  it(
    "TB-35 an identical pair does nothing, another wakes once and logs one INFO line",
    scenario((world) => {
      const { bucket, lines } = logging(world);
      const counter = countWakes(bucket);
      bucket.setConfig(CAPS);
      assert.equal(counter.wakes, 0);
      assert.equal(lines.join("\n"), "");
      bucket.setConfig({ rpm: 2000, tpm: 1_000_000 });
      assert.equal(counter.wakes, 1);
      assert.equal(lines.length, 1);
      assert.match(lines[0]!, /^INFO Updated rate limits for gpt/);
    }),
  );

  it(
    "TB-36 it wakes once when either cap grew, not when neither did",
    scenario((world) => {
      const bucket = world.bucket("gpt", CAPS);
      const counter = countWakes(bucket);
      bucket.setConfig({ rpm: 500, tpm: 2_000_000 });
      assert.equal(counter.wakes, 1, "the other shrank");
      bucket.setConfig({ rpm: 600, tpm: 1_000_000 });
      assert.equal(counter.wakes, 2);
      bucket.setConfig({ rpm: 700, tpm: 1_100_000 });
      assert.equal(counter.wakes, 3, "once, although both grew");
      bucket.setConfig({ rpm: 700, tpm: 900_000 });
      bucket.setConfig({ rpm: 600, tpm: 800_000 });
      assert.equal(counter.wakes, 3);
    }),
  );
});

describe("What a token bucket says of itself", () => {
  it(
    "TB-37 TB-38 name, category, capacity, replenishment, use in whole tokens, and no HTTP gate of its own",
    scenario(async (world) => {
      const bucket = world.bucket("gpt-4o", { rpm: 600, tpm: 100 });
      assert.equal(bucket.limiterName, "gpt-4o");
      assert.equal(bucket.limiterCategory, "token_bucket");
      assert.equal(bucket.capacity, 100);
      assert.equal(bucket.replenishment, "TIME");
      assert.equal(bucket.requiresHttpConnection, false);
      assert.equal(bucket.currentInUse, 0);
      bucket.tryTake([100], []);
      assert.equal(bucket.currentInUse, 100);
      await world.clock.advance(300);
      assert.equal(bucket.currentInUse, 99, "99.5, cut off");
      await world.clock.advance(600_000);
      assert.equal(bucket.currentInUse, 0);
    }),
  );

  it(
    "TB-39 the indicator is null at throttle 0, else the stretch to one decimal",
    scenario((world) => {
      assert.equal(slowed(world, 0).statusIndicator, null);
      assert.equal(slowed(world, 1).statusIndicator, "throttle:1.5x");
      assert.equal(slowed(world, 2).statusIndicator, "throttle:2.0x");
      assert.equal(slowed(world, 20).statusIndicator, "throttle:10.0x");
    }),
  );

  it(
    "TB-40 the status holds both caps, both levels now in whole numbers, and its own wall time",
    scenario(async (world) => {
      const bucket = world.bucket("gpt", { rpm: 10, tpm: 1000 });
      bucket.tryTake([500, 400], []);
      await world.clock.advance(3050); // 50.83 tokens and 0.51 requests more.
      const { status } = bucket;
      assert.deepEqual(status, new TokenBucketStatus(10, 8, 1000, 150, world.clock.wallNow()));
      await world.clock.advance(60_000);
      assert.equal(status.availableTokens, 150, "a snapshot");
      assert.equal(bucket.status.lastRefill, status.lastRefill + 60_000);
    }),
  );

  it("TB-41 a status has capacity for n with one whole request and n tokens, and names both pairs", () => {
    const status = new TokenBucketStatus(10, 3, 1000, 250, 0);
    assert.equal(status.hasCapacity(250), true);
    assert.equal(status.hasCapacity(251), false);
    const without = new TokenBucketStatus(10, 0, 1000, 250, 0);
    for (const tokens of [0, 1, 250]) assert.equal(without.hasCapacity(tokens), false);
    assert.match(status.summary(), /3\/10/);
    assert.match(status.summary(), /250\/1000/);
  });
});
