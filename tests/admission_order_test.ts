/** Order, the protected head, and what is left over for followers (monitor.md 1.3). */
import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Demand, type RateLimiter } from "../mod.ts";
import { MeterLimiter } from "../testing/mod.ts";
import { seededRandom } from "../examples/replay/random.ts";
import { type Call, scenario, type World } from "./scenario.ts";
import { assertParked, grantOf, WatchedLimiter } from "./watched.ts";

/** Whether each call was granted. */
function granted(calls: readonly Call[]): boolean[] {
  return calls.map(({ grant }) => grant !== null);
}

/** The worked example of MON-21 on a drained account of 1000 tokens a second. */
async function playMetered(world: World, account: RateLimiter<number>): Promise<void> {
  const admission = world.admission();
  const head = world.follow(admission.admit(new Demand().add(account, 600)));
  const followers = [1, 2, 3, 4, 5].map(() => world.follow(admission.admit(new Demand().add(account, 300))));
  await world.clock.advance(350);
  assertParked(head, ...followers);
  await world.clock.advance(300);
  assert.equal(head.settledAtMs, 1600);
  assertParked(...followers);
  for (let tick = 0; tick < 20; tick++) await world.clock.advance(500);
  assert.deepEqual(followers.map(({ settledAtMs }) => settledAtMs), [1900, 2200, 2500, 2800, 3100]);
}

describe("Order and the protected head", () => {
  it(
    "MON-17 there is one line, first in first out, and only its head is protected",
    scenario(async (world) => {
      const [gate, other] = [world.gate("gate", 2), world.gate("other", 1)];
      const admission = world.admission();
      const early = await admission.admit(new Demand().add(gate));
      const holder = await admission.admit(new Demand().add(other));

      const head = world.follow(admission.admit(new Demand().add(other)));
      const second = world.follow(admission.admit(new Demand().add(gate, 2)));
      const third = world.follow(admission.admit(new Demand().add(gate)));
      await world.settle();
      assert.deepEqual(granted([head, second, third]), [false, false, true]);
      holder.release();
      await world.settle();
      grantOf(head);
      grantOf(third).release();
      const fourth = world.follow(admission.admit(new Demand().add(gate)));
      await world.settle();
      assertParked(second, fourth);
      early.release();
      await world.settle();
      assert.deepEqual(granted([second, fourth]), [true, false]);
      grantOf(second).release();
      await world.settle();
      grantOf(fourth);
    }),
  );

  it(
    "MON-18 a follower is asked with the head's amounts set aside, and with nobody else's; the head with none",
    scenario(async (world) => {
      const log: string[] = [];
      const x = new WatchedLimiter("x", log, "short");
      const gate = world.gate("gate", 1);
      const admission = world.admission();
      const holder = await admission.admit(new Demand().add(gate));
      world.follow(admission.admit(new Demand().add(gate).add(x, 5).add(x, 1)));
      world.follow(admission.admit(new Demand().add(x, 3)));
      const third = world.follow(admission.admit(new Demand().add(x, 4)));

      await world.settle();
      const asked = new Set(log.filter((line) => !line.endsWith("wired")));
      const expected = ["[5,1] []", "[3] [5,1]", "[4] [5,1]"];
      assert.deepEqual(
        [...asked],
        expected.flatMap((lists) => [`x fits ${lists}`, `x earliestFit ${lists}`]),
      );
      log.length = 0;
      x.mode = "fits";
      x.wake();
      await world.settle();
      grantOf(third);
      const takes = log.filter((line) => line.includes("tryTake"));
      assert.deepEqual(takes, ["x tryTake [3] [5,1]", "x tryTake [4] [5,1]"]);
      holder.release();
      await world.settle();
      assert.equal(log.at(-1), "x tryTake [5,1] []");
    }),
  );

  it(
    "MON-19 the head's amounts are set aside on every account it names, also where it is not short",
    scenario(async (world) => {
      const bucket = world.bucket("bucket", { tpm: 1000, rpm: 100 });
      const other = world.gate("other", 1);
      const admission = world.admission();
      const holder = await admission.admit(new Demand().add(other));

      const head = world.follow(admission.admit(new Demand().add(bucket, 800).add(other)));
      const follower = world.follow(admission.admit(new Demand().add(bucket, 500)));
      await world.settle();
      assertParked(head, follower);
      assert.deepEqual(world.transitions.slice(-2), ["other HELD", "bucket HELD"]);
      holder.release();
      await world.settle();
      grantOf(head);
      assertParked(follower);
      assert.equal(bucket.status.availableTokens, 200);
      bucket.give([800]);
      await world.settle();
      grantOf(follower);
      assert.equal(bucket.status.availableTokens, 500);
    }),
  );

  it(
    "MON-20 what is left beyond the head's amounts is free to followers",
    scenario(async (world) => {
      const [gate, other] = [world.gate("gate", 5), world.gate("other", 1)];
      const admission = world.admission();
      await admission.admit(new Demand().add(gate).add(other));

      const head = world.follow(admission.admit(new Demand().add(gate, 2).add(other)));
      const followers = [1, 2, 3].map(() => world.follow(admission.admit(new Demand().add(gate))));
      await world.settle();
      assertParked(head);
      assert.deepEqual(granted(followers), [true, true, false]);
      assert.equal(gate.currentInUse, 3);
    }),
  );

  it(
    "MON-21 while the head waits for tokens of a bucket, no follower takes from that bucket",
    scenario(async (world) => {
      const bucket = world.bucket("bucket", { tpm: 60_000, rpm: 6000 });
      assert.ok(bucket.tryTake([60_000], []));
      await playMetered(world, bucket);
    }),
  );

  it(
    "MON-21 the same holds for a metered account of one's own, and for the permits of a gate",
    scenario(async (world) => {
      const gate = world.gate("gate", 3);
      const admission = world.admission();
      const holder = await admission.admit(new Demand().add(gate, 2));
      const head = world.follow(admission.admit(new Demand().add(gate, 2)));
      const follower = world.follow(admission.admit(new Demand().add(gate)));
      await world.settle();
      assertParked(head, follower);
      holder.release();
      await world.settle();
      assert.deepEqual(granted([head, follower]), [true, true]);

      const meter = new MeterLimiter("meter", 1000, 1000, world.clock);
      meter.drain();
      await playMetered(world, meter);
    }),
  );

  it(
    "MON-23 a demand that shares nothing with the head's short accounts passes a parked line",
    scenario(async (world) => {
      const bucket = world.bucket("bucket", { tpm: 1000, rpm: 1000 });
      const other = world.gate("other", 1);
      const admission = world.admission();
      assert.ok(bucket.tryTake([1000], []));
      const line = Array.from(
        { length: 50 },
        () => world.follow(admission.admit(new Demand().add(bucket, 100))),
      );
      await world.settle();

      const passing = world.follow(admission.admit(new Demand().add(other)));
      await world.settle();
      grantOf(passing);
      assertParked(...line);
      assert.equal(admission.queueSize, 50);
    }),
  );

  it(
    "MON-24 grants cascade oldest first, one for each freed permit",
    scenario(async (world) => {
      const gate = world.gate("gate", 3);
      const admission = world.admission();
      const holders = await Promise.all([1, 2, 3].map(() => admission.admit(new Demand().add(gate))));
      const waiters = [0, 1, 2].map(() => world.follow(admission.admit(new Demand().add(gate))));

      for (const [released, holder] of holders.entries()) {
        holder.release();
        await world.settle();
        assert.deepEqual(granted(waiters), [0, 1, 2].map((waiter) => waiter <= released));
      }
    }),
  );

  it(
    "MON-25 two amounts on one account are checked and taken together",
    scenario(async (world) => {
      const bucket = world.bucket("bucket", { tpm: 1000, rpm: 100 });
      const admission = world.admission();
      assert.ok(bucket.tryTake([500], []));

      const demand = new Demand().add(bucket, 300).add(bucket, 300);
      assert.deepEqual(demand.entries.map(({ amounts }) => amounts), [[300, 300]]);
      const job = world.follow(admission.admit(demand));
      await world.settle();
      assertParked(job);
      bucket.give([100]);
      await world.settle();
      grantOf(job);
      assert.equal(bucket.status.availableTokens, 0);
    }),
  );

  it(
    "MON-26 no interleaving overdraws any account, and every waiter is granted in the end",
    scenario(async (world) => {
      const random = seededRandom(26);
      const gates = [1, 2, 3, 4].map((capacity) => world.gate(`gate${capacity}`, capacity));
      const meters = [1, 2, 3].map((n) => new MeterLimiter(`meter${n}`, 1000, 5_000_000, world.clock));
      const admission = world.admission();
      let grants = 0;
      const peaks = gates.map(() => 0);
      const check = () => {
        gates.forEach((gate, i) => peaks[i] = Math.max(peaks[i]!, gate.currentInUse));
        for (const meter of meters) assert.ok(meter.level >= 0);
      };
      for (let job = 0; job < 120; job++) {
        const demand = new Demand();
        for (const gate of gates) if (random.next() < 0.5) demand.add(gate);
        for (const meter of meters) {
          if (random.next() < 0.5) demand.add(meter, 1 + Math.floor(random.next() * 400));
        }
        void admission.admit(demand).then((grant) => {
          grants++;
          check();
          world.clock.setTimer(1, () => grant.release());
        });
      }
      for (let tick = 0; tick < 3000 && grants < 120; tick++) {
        await world.clock.advance(20);
        for (const meter of meters) meter.wake();
      }
      await world.clock.advance(20);
      assert.equal(grants, 120);
      assert.deepEqual(peaks, [1, 2, 3, 4]);
      assert.deepEqual(gates.map(({ currentInUse }) => currentInUse), [0, 0, 0, 0]);
    }),
  );
});
