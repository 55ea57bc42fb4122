// A key that was given up for another: what holds for who still had its account.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Demand, KeysFullError } from "../mod.ts";
import { currentHost } from "../core/host.ts";
import { buckets, gates, isGivenUp } from "./keyed_limiters.ts";
import { scenario } from "./scenario.ts";
import { grantOf } from "./watched.ts";

describe("A key that was given up", () => {
  it(
    "is the key of a demand that named it before, which then takes from the one account of the key",
    scenario((world) => {
      const tenants = buckets(world, 1);
      const admission = world.admission();
      const early = new Demand().add(tenants, "ann", 400);
      admission.tryAdmit(early)!.rollback();
      assert.equal(isGivenUp(tenants), true);
      const another = tenants.accountFor("another");
      assert.equal(another.tryTake([0], []), true);
      another.give([0]);

      admission.tryAdmit(early)!.release();
      assert.equal(another.currentInUse, 0, "the record of one account is another's by now");
      assert.equal(tenants.accountFor("ann").currentInUse, 400);
      assert.equal(admission.tryAdmit(early), null);
      assert.equal(isGivenUp(tenants), false);
      assert.throws(() => another.fits([1], []), KeysFullError);
    }),
  );

  it(
    "has one account to take from: who held the old one is refused while there is a new one",
    scenario(async (world) => {
      const tenants = buckets(world, 1);
      const admission = world.admission();
      const early = new Demand().add(tenants, "ann", 600);
      const old = tenants.accountFor("ann");
      assert.equal(isGivenUp(tenants), true);
      const renewed = tenants.accountFor("ann");
      assert.notEqual(renewed, old);
      renewed.tryTake([600], []);
      assert.throws(() => admission.tryAdmit(early), KeysFullError);
      await assert.rejects(admission.admit(early), {
        code: "keys_full",
        message: /ask accountFor\(key\) again$/,
      });
      assert.throws(() => old.tryTake([1], []), KeysFullError);
      assert.equal(old.currentInUse, 0);
      assert.equal(renewed.currentInUse, 600);
    }),
  );

  it(
    "BEY-32 is still charged by a grant that was released before if there is room for it; if not, nothing is",
    scenario(async (world) => {
      const tenants = buckets(world, 1);
      const admission = world.admission();
      const account = tenants.accountFor("ann");
      const [grant, late] = [
        await admission.admit(new Demand().add(account, 100)),
        await admission.admit(new Demand().add(account, 100)),
      ];
      grant.release();
      late.release();
      await world.clock.advance(60_000);
      assert.equal(isGivenUp(tenants), true);
      grant.settle(account, 500);
      assert.equal(tenants.accountFor("ann"), account);
      assert.equal(account.currentInUse, 400);

      await world.clock.advance(60_000);
      assert.equal(isGivenUp(tenants), true);
      tenants.accountFor("another").tryTake([1], []);
      late.settle(account, 500);
      assert.deepEqual(
        tenants.accounts().map(({ limiterName, currentInUse }) => [limiterName, currentInUse]),
        [
          ["tenant another", 1],
        ],
      );
    }),
  );

  it(
    "BEY-16 leaves no kernel record behind, however many there were",
    scenario(() => {
      const users = gates(10);
      const { kernel } = currentHost();
      for (let i = 0; i < 5_000; i++) {
        const account = users.accountFor(`user ${i}`);
        account.tryTake([undefined], []);
        account.give([undefined]);
        assert.ok(kernel.accountCount() <= 10, `${kernel.accountCount()} records`);
      }
      assert.equal(users.size, 10);
      users.dispose();
      assert.equal(kernel.accountCount(), 0);
    }),
  );

  it(
    "BEY-16 is told of by its number of waiters as any account",
    scenario(async (world) => {
      const users = gates(1);
      const admission = world.admission();
      const early = new Demand().add(users, "ann");
      assert.equal(isGivenUp(users), true);
      const grant = await admission.admit(early);
      const parked = world.follow(admission.admit(early));
      await world.settle();
      assert.equal(users.waiters, 1);
      grant.release();
      await world.settle();
      grantOf(parked).release();
    }),
  );
});
