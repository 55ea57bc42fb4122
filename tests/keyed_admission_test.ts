// A demand on a key: it waits, wakes and settles as one on the key's account.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  Demand,
  type ElasticWindowOptions,
  ElasticWindowRateLimiter,
  InvalidStateError,
  KeyedRateLimiter,
  TokenBucketRateLimiter,
} from "../mod.ts";
import { buckets, gates } from "./keyed_limiters.ts";
import { scenario } from "./scenario.ts";
import { assertParked, grantOf } from "./watched.ts";

describe("A demand on a key", () => {
  it(
    "DEM-05 names the key's account as if it were named itself: it waits, and is told of, by that",
    scenario(async (world) => {
      const users = gates(10);
      const http = world.gate("http", 5);
      const admission = world.admission();
      const demand = () => new Demand().add(users, "ann").add(http);
      const first = await admission.admit(demand());
      const second = world.follow(admission.admit(demand()));
      const other = await admission.admit(
        new Demand().add(users, "bob").add(users.accountFor("bob")).add(http),
      )
        .catch((error) => error.message);
      assert.match(other, /2 permits can never fit "user bob"/);
      await world.clock.advance(40);
      assertParked(second);
      assert.equal(users.waiters, 1);
      first.release();
      await world.settle();
      assert.deepEqual([...grantOf(second).waitTimesMs], [["user ann", 40]]);
      assert.equal(users.waiters, 0);
      assert.equal(world.count("HELD", "user ann"), 1);
    }),
  );

  it(
    "DEM-07 sets aside what the head asks of its key, and of no other",
    scenario(async (world) => {
      const tenants = buckets(world, 10);
      const admission = world.admission();
      tenants.accountFor("big").tryTake([600], []);
      const head = world.follow(admission.admit(new Demand().add(tenants, "big", 100)));
      const behind = world.follow(admission.admit(new Demand().add(tenants, "big", 50)));
      const beside = world.follow(admission.admit(new Demand().add(tenants, "small", 600)));
      await world.clock.advance(20_000);
      assert.deepEqual([head, behind, beside].map((call) => grantOf(call).wallWaitMs), [10_000, 15_000, 0]);
    }),
  );

  it(
    "BEY-06 wakes every Admission that waits on the key",
    scenario(async (world) => {
      const users = gates(10);
      const [one, two] = [world.admission(), world.admission()];
      const holder = await one.admit(new Demand().add(users, "ann"));
      const parked = world.follow(two.admit(new Demand().add(users, "ann")));
      await world.settle();
      assertParked(parked);
      holder.release();
      await world.settle();
      grantOf(parked);
    }),
  );

  it(
    "BEY-31 BEY-32 tells the key's account how it went, and settles with it",
    scenario(async (world) => {
      const options: ElasticWindowOptions = { maxRequests: 5, baseWindowMs: 1000, clock: world.clock };
      const windows = new KeyedRateLimiter("w", (key: string) => new ElasticWindowRateLimiter(key, options), {
        maxKeys: 5,
      });
      const tenants = buckets(world, 5);
      const admission = world.admission();
      const work = admission.run(new Demand().add(windows, "a").add(tenants, "a", 100), (grant) => {
        grant.settle(tenants.accountFor("a"), 40);
        throw Object.assign(new Error("slow down"), { status: 429 });
      });
      await assert.rejects(work, /slow down/);
      assert.equal(windows.accountFor("a").throttle, 1);
      assert.equal(tenants.accountFor("a").currentInUse, 40);
    }),
  );
});

describe("Settling by key", () => {
  it(
    "BEY-32 charges and refunds the bucket of that key, once, and no other",
    scenario(async (world) => {
      const tenants = buckets(world, 5);
      const demand = new Demand().add(tenants, "ann", 100).add(tenants, "bob", 200).add(tenants, "ann", 50);
      const grant = await world.admission().admit(demand);
      grant.settle(tenants, 90, "ann");
      grant.settle(tenants, 10, "ann");
      grant.settle(tenants, null, "bob");
      assert.deepEqual(["ann", "bob"].map((key) => tenants.accountFor(key).currentInUse), [90, 200]);
      grant.settle(tenants, 250, "bob");
      assert.equal(tenants.accountFor("bob").currentInUse, 250);
      grant.release();
      tenants.accountFor("ann").dispose();
      assert.throws(() => grant.settle(tenants, -1, "bob"), /settle "tenants": actual is -1/);
    }),
  );

  it(
    "BEY-32 finds the account that the key led to when it was added, also one that keys share",
    scenario(async (world) => {
      const caps = { tpm: 600, rpm: 60, clock: world.clock };
      const make = (key: string) => new TokenBucketRateLimiter(key, caps);
      const tenants = new KeyedRateLimiter("tenants", make, { maxKeys: 1, beyond: "share" });
      const admission = world.admission();
      tenants.accountFor("ann").tryTake([600], []);
      const demand = new Demand().add(tenants, "bob", 100).add(tenants, "eve", 100);
      const grant = await admission.admit(demand);
      demand.add(tenants, "joe", 100);
      assert.throws(() => grant.settle(tenants, 1, "joe"), RangeError);
      await world.clock.advance(60_000);
      assert.notEqual(tenants.accountFor("bob"), tenants.overflow);
      grant.settle(tenants, 500, "bob");
      grant.settle(tenants, 600, "eve");
      assert.deepEqual([tenants.overflow!.currentInUse, tenants.accountFor("bob").currentInUse], [300, 0]);
      const both = await admission.admit(demand);
      both.settle(tenants, 301, "joe");
      assert.equal(tenants.overflow!.currentInUse, 601);
    }),
  );

  it(
    "refuses a key that the demand does not name, and an account that is no bucket",
    scenario(async (world) => {
      const [tenants, users] = [buckets(world, 5), gates(5)];
      const demand = new Demand().add(tenants, "ann", 1).add(tenants.accountFor("bob"), 1).add(users, "ann");
      const grant = await world.admission().admit(demand);
      for (const key of ["zoe", "bob", undefined] as string[]) {
        assert.throws(() => grant.settle(tenants, 1, key), /Cannot settle key .* of "tenants": .*name it/);
      }
      assert.throws(() => grant.settle(buckets(world, 5), 1, "ann"), RangeError);
      assert.throws(() => grant.settle(users, 1, "ann"), InvalidStateError);
      assert.equal(tenants.size, 2);
      grant.rollback();
      assert.throws(() => grant.settle(tenants, 1, "ann"), /"tenants": the grant was rolled back/);
    }),
  );
});
