// What keeps a key in a keyed limiter, and which key is given up.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  Admission,
  CountingGate,
  Demand,
  ElasticWindowRateLimiter,
  type KeyedAccount,
  KeyedRateLimiter,
  TokenBucketRateLimiter,
} from "../mod.ts";
import { currentHost, KernelHost, useHost } from "../core/host.ts";
import { wasmKernel } from "../core/kernel.ts";
import { buckets, gates, isGivenUp } from "./keyed_limiters.ts";
import { scenario, type World } from "./scenario.ts";
import { assertParked, grantOf } from "./watched.ts";
import { fail } from "./window_readings.ts";

describe("A key is kept", () => {
  const cases: [string, (world: World) => KeyedAccount, (account: never) => void, number][] = [
    ["a gate with a permit in use", () => new CountingGate("k", 2), (gate: CountingGate) => {
      gate.tryTake([undefined], []);
    }, Infinity],
    [
      "a gate that was resized",
      () => new CountingGate("k", 2),
      (gate: CountingGate) => gate.setCapacity(3),
      Infinity,
    ],
    ["a gate with a wake of its own", () => new CountingGate("k", 2), (gate: CountingGate) => {
      gate.onCapacityChange(() => {});
    }, Infinity],
    [
      "a bucket until its tokens are back",
      bucket,
      (it: TokenBucketRateLimiter) => void it.tryTake([600], []),
      60_000,
    ],
    [
      "a bucket until its request is back",
      bucket,
      (it: TokenBucketRateLimiter) => void it.tryTake([0], []),
      1000,
    ],
    ["a bucket with a throttle", bucket, (it: TokenBucketRateLimiter) => it.record429(), Infinity],
    [
      "a bucket with other caps",
      bucket,
      (it: TokenBucketRateLimiter) => it.setConfig({ tpm: 60, rpm: 6 }),
      Infinity,
    ],
    ["a window until its stamp is old", window(9), (it: ElasticWindowRateLimiter) => {
      it.tryTake([undefined], []);
    }, 500],
    ["a window with a throttle", window(9), fail, Infinity],
    ["a window that failed and does not stretch: the third time it blocks", window(0), fail, Infinity],
  ];

  function bucket({ clock }: World): TokenBucketRateLimiter {
    return new TokenBucketRateLimiter("k", { tpm: 600, rpm: 60, clock });
  }

  function window(maxThrottle: number): (world: World) => ElasticWindowRateLimiter {
    return ({ clock }) =>
      new ElasticWindowRateLimiter("k", { maxRequests: 2, baseWindowMs: 500, maxThrottle, clock });
  }

  for (const [what, make, use, restsAfterMs] of cases) {
    it(
      `for ${what}`,
      scenario(async (world) => {
        const keyed = new KeyedRateLimiter("keyed", (_key: string) => make(world), { maxKeys: 1 });
        use(keyed.accountFor("a") as never);
        assert.equal(isGivenUp(keyed), false);
        if (restsAfterMs === Infinity) await world.clock.advance(3_600_000);
        else await world.clock.advance(restsAfterMs - 0.001);
        assert.equal(isGivenUp(keyed), false);
        if (restsAfterMs === Infinity) return;
        await world.clock.advance(0.001);
        assert.equal(isGivenUp(keyed), true);
      }),
    );
  }

  it(
    "for a window that has recovered by successes, it is not",
    scenario((world) => {
      const keyed = new KeyedRateLimiter("keyed", (_key: string) => window(0)(world), { maxKeys: 1 });
      const account = keyed.accountFor("a") as ElasticWindowRateLimiter;
      fail(account);
      assert.equal(isGivenUp(keyed), false);
      account.onSuccess();
      assert.equal(isGivenUp(keyed), true);
    }),
  );

  it(
    "BEY-32 for an open grant, which settles and rolls back on the account that it took from",
    scenario(async (world) => {
      const tenants = buckets(world, 1);
      const admission = world.admission();
      const account = tenants.accountFor("ann");
      const early = await admission.admit(new Demand().add(tenants, "ann", 100));
      const late = await admission.admit(new Demand().add(tenants, "ann", 100));
      await world.clock.advance(60_000);
      assert.equal(account.currentInUse, 0);
      // The first look puts it to rest, the second one meets it there.
      assert.deepEqual([isGivenUp(tenants), isGivenUp(tenants)], [false, false]);
      early.settle(account, 500);
      early.release();
      assert.equal(tenants.accountFor("ann"), account);
      assert.equal(account.currentInUse, 400);
      late.rollback();
      assert.equal(account.currentInUse, 300);
      await world.clock.advance(30_000 - 0.001);
      assert.equal(isGivenUp(tenants), false);
      await world.clock.advance(0.001);
      assert.equal(isGivenUp(tenants), true);
    }),
  );

  it(
    "for an open grant that came from the line, and no longer than that",
    scenario(async (world) => {
      const tenants = buckets(world, 1);
      const admission = world.admission();
      tenants.accountFor("ann").tryTake([600], []);
      const waiter = world.follow(admission.admit(new Demand().add(tenants, "ann", 10)));
      await world.clock.advance(120_000);
      const grant = grantOf(waiter);
      assert.equal(tenants.accountFor("ann").currentInUse, 0);
      assert.equal(isGivenUp(tenants), false);
      grant.release();
      assert.equal(isGivenUp(tenants), true);
    }),
  );

  it(
    "for whoever waits, also one that another account holds",
    scenario(async (world) => {
      const users = gates(1);
      const shared = world.gate("shared", 1);
      const admission = world.admission();
      const holder = await admission.admit(new Demand().add(shared));
      const waiter = world.follow(admission.admit(new Demand().add(shared).add(users, "ann")));
      const behind = world.follow(admission.admit(new Demand().add(shared)));
      await world.settle();
      assert.equal(users.accountFor("ann").currentInUse, 0);
      assert.equal(isGivenUp(users), false);
      await world.settle();
      assertParked(waiter, behind);
      holder.release();
      await world.settle();
      assert.equal(isGivenUp(users), false);
      grantOf(waiter).release();
      await world.settle();
      assert.equal(isGivenUp(users), true);
      grantOf(behind);
    }),
  );
});

describe("A key at rest", () => {
  it(
    "is held again by a demand that was admitted before, and then given up no more",
    scenario((world) => {
      const tenants = buckets(world, 2);
      // Without a sink: reporting an event reads the account.
      const admission = new Admission({ memory: null, clock: world.clock });
      const early = new Demand().add(tenants, "ann", 400);
      admission.tryAdmit(early)!.rollback();
      for (let i = 0; i < 10; i++) tenants.accountFor("bob");
      admission.tryAdmit(early)!.release();
      for (const key of ["eve", "joe", "sue", "tom"]) tenants.accountFor(key);
      assert.equal(tenants.accountFor("ann").currentInUse, 400);
    }),
  );

  it(
    "is given up after those that nobody asked for lately",
    scenario(() => {
      const users = gates(10);
      const [first, ...others] = [..."abcdefghij"].map((key) => users.accountFor(key));
      for (let i = 0; i < 30; i++) {
        users.accountFor(`new ${i}`);
        assert.equal(users.accountFor("a"), first);
      }
      assert.equal(others.some((gate) => users.accounts().includes(gate)), false);
    }),
  );

  it(
    "BEY-16 makes way when its account was disposed, whatever was in use",
    scenario(() => {
      const users = gates(1);
      users.accountFor("ann").tryTake([undefined], []);
      assert.equal(isGivenUp(users), false);
      users.accountFor("ann").dispose();
      assert.equal(isGivenUp(users), true);
    }),
  );
});

describe("A key whose kernel trapped", () => {
  it("has another account from then on", () => {
    useHost(new KernelHost(wasmKernel()));
    const users = gates(1);
    const lost = users.accountFor("ann");
    lost.tryTake([undefined], []);
    currentHost().trapped(new Error("a planted trap"));
    assert.throws(() => lost.fits([undefined], []), { code: "defect" });
    assert.equal(users.accountFor("ann").tryTake([undefined], []), true);
    assert.equal(isGivenUp(users), false);
    useHost(null);
  });
});
