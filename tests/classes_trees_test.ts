// The trees of metered sums, at the sizes where they are packed or doubled, with leavers from everywhere; and the head of a line
// with members of its own class behind it. The story is the same on the kernel and on its twin.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Demand, type TokenBucketRateLimiter } from "../mod.ts";
import { Chance } from "./chance.ts";
import { Crowd } from "./crowd.ts";
import { scenario, type World } from "./scenario.ts";

/** More requests than any test makes. */
const MANY = 1_000_000;
const LEAVERS: Readonly<Record<string, (numbers: readonly number[]) => readonly number[]>> = {
  "the front": (numbers) => numbers.slice(0, Math.ceil(numbers.length * 0.6)),
  "the middle": (numbers) => numbers.slice(Math.ceil(numbers.length * 0.2), Math.ceil(numbers.length * 0.8)),
  "the back": (numbers) => numbers.slice(Math.floor(numbers.length * 0.4)),
  "every second place": (numbers) => numbers.filter((number) => number % 2 === 0),
};

/** A line behind a head that waits for a gate nobody gives back, so that only the clock lets its followers go. */
async function lineBehindGate(world: World, meters: number) {
  const gate = world.gate("gate", 1);
  const buckets = Array.from(
    { length: meters },
    (_, i) => world.bucket(`bucket${i}`, { tpm: 60_000 * (i + 1), rpm: MANY }),
  );
  const admission = world.admission();
  const crowd = new Crowd(world, admission);
  await admission.admit(new Demand().add(gate));
  crowd.admit(new Demand().add(gate));
  for (const bucket of buckets) drain(bucket);
  const demand = (...sums: number[]) => sums.reduce((all, sum, i) => all.add(buckets[i]!, sum), new Demand());
  return { gate, buckets, crowd, demand };
}

function drain(bucket: TokenBucketRateLimiter): void {
  assert.ok(bucket.tryTake([bucket.status.availableTokens], []));
}

/** Advances to the armed instant so many times; all that happens is told. */
async function followTheClock(world: World, times: number): Promise<void> {
  for (let i = 0; i < times && world.clock.nextTimerMs !== null; i++) {
    world.tell(`next at ${world.clock.nextTimerMs}`);
    await world.clock.advance(world.clock.nextTimerMs - world.clock.now());
  }
}

describe("The tree of a class", () => {
  for (const size of [8, 9, 64, 65, 512, 513]) {
    for (const [place, leaving] of Object.entries(LEAVERS)) {
      it(
        `BEY-08 of ${size} members goes on after some leave from ${place} and others come`,
        scenario(async (world) => {
          const { crowd, demand } = await lineBehindGate(world, 1);
          const chance = new Chance(size);
          const some = (count: number) =>
            crowd.admitAll(Array.from({ length: count }, () => demand(1 + chance.below(20_000))));
          const first = some(size);
          await world.settle();
          await followTheClock(world, 3);
          crowd.leave(leaving(first.filter((number) => crowd.waiting.includes(number))));
          await world.settle();
          some(Math.ceil(size * 0.7));
          await world.settle();
          await followTheClock(world, 12);
          assert.ok(crowd.granted.length >= Math.min(size, 12), `${crowd.granted}`);
          await crowd.empty();
        }),
      );
    }
  }

  for (const meters of [1, 2, 3]) {
    it(
      `BEY-08 with ${meters} sums a member lets go the oldest whose sums all fit`,
      scenario(async (world) => {
        const { buckets, crowd, demand } = await lineBehindGate(world, meters);
        const chance = new Chance(meters);
        const sums = Array.from(
          { length: 200 },
          () => Array.from({ length: meters }, () => chance.below(2000)),
        );
        crowd.admitAll(sums.map((each) => demand(...each)));
        await world.settle();
        for (let i = 0; i < 40; i++) {
          await world.clock.advance(chance.below(100));
          const fits = (number: number) =>
            sums[number - 1]!.every((sum, meter) => sum <= buckets[meter]!.status.availableTokens);
          assert.ok(!crowd.waiting.slice(1).some(fits), "nobody who fits is left");
        }
        assert.ok(crowd.granted.length > 6, `${crowd.granted}`);
        await crowd.empty();
      }),
    );
  }

  it(
    "MON-18 a head with members of its class behind it keeps its tokens from them",
    scenario(async (world) => {
      const tokens = world.bucket("tokens", { tpm: 60_000, rpm: MANY });
      const admission = world.admission();
      const crowd = new Crowd(world, admission);
      drain(tokens);
      const sums = [5000, 1, 7000, 1, 1, 2, 0];
      crowd.admitAll(sums.map((sum) => new Demand().add(tokens, sum)));
      await world.clock.advance(4999);
      assert.deepEqual(crowd.granted, [], "the head's tokens are set aside");
      assert.equal(world.clock.nextTimerMs, 6000, "the head goes first");
      await world.clock.advance(1);
      assert.deepEqual(crowd.granted, [0]);
      await world.clock.advance(1);
      assert.deepEqual(crowd.granted, [0, 1], "then the next head; the one behind it keeps the others");
      crowd.leave([2]);
      await world.clock.advance(10);
      assert.deepEqual(crowd.granted, [0, 1, 3, 4, 5, 6]);
      await crowd.empty();
    }),
  );

  it(
    "MON-17 the new head's amounts are set aside for it and the old one's are free, also for a class that nothing else touched",
    scenario(async (world) => {
      const [left, right] = [world.gate("left", 2), world.gate("right", 2)];
      const admission = world.admission();
      const crowd = new Crowd(world, admission);
      const out = await admission.admit(new Demand().add(left));
      const other = await admission.admit(new Demand().add(right));
      // The head sets one of `left` aside, so the third waits; the second is short of both.
      crowd.admit(new Demand().add(left, 2));
      crowd.admit(new Demand().add(left, 2).add(right, 2));
      crowd.admit(new Demand().add(left));
      await world.settle();
      assert.deepEqual(crowd.granted, []);
      crowd.leave([0]);
      await world.settle();
      assert.deepEqual(crowd.granted, [], "the new head asks for left as well");
      const last = crowd.admit(new Demand().add(right));
      await world.settle();
      assert.deepEqual(crowd.granted, [], "and for right");
      crowd.leave([1]);
      await world.settle();
      assert.deepEqual(crowd.granted, [2, last]);
      out.release();
      other.release();
      await crowd.empty();
    }),
  );

  it(
    "MON-18 a new head sets aside what the old one did not name, and members of other classes are held for it",
    scenario(async (world) => {
      const [left, right, full] = [world.gate("left", 1), world.gate("right", 2), world.gate("full", 1)];
      const admission = world.admission();
      const crowd = new Crowd(world, admission);
      const out = await admission.admit(new Demand().add(left).add(full));
      crowd.admitAll([
        new Demand().add(left),
        new Demand().add(left).add(right, 2),
        new Demand().add(right).add(full),
      ]);
      await world.settle();
      assert.deepEqual([world.count("HELD", "left"), world.count("HELD", "right")], [2, 0]);
      crowd.leave([0]);
      await world.settle();
      assert.equal(world.count("HELD", "right"), 1, "both permits are kept for the new head");
      out.release();
      await world.settle();
      assert.deepEqual(crowd.granted, [1]);
      await crowd.empty();
    }),
  );

  it(
    "MON-17 what the old head had set aside is free behind a new one that waits elsewhere",
    scenario(async (world) => {
      const [right, full] = [world.gate("right", 2), world.gate("full", 1)];
      const admission = world.admission();
      const crowd = new Crowd(world, admission);
      const out = await admission.admit(new Demand().add(right).add(full));
      crowd.admitAll([new Demand().add(right, 2).add(full), new Demand().add(full), new Demand().add(right)]);
      await world.settle();
      assert.deepEqual(crowd.granted, []);
      crowd.leave([0]);
      await world.settle();
      assert.deepEqual(crowd.granted, [2]);
      out.release();
      await crowd.empty();
    }),
  );
});
