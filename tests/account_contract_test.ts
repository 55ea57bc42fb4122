// What every account promises, whoever wrote it: gates, buckets, and accounts outside the kernel.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Demand, type LimiterIdentity, type RateLimiter, UncorrectableError } from "../mod.ts";
import { MeterLimiter, ScriptedLimiter } from "../testing/mod.ts";
import { permits, Slots } from "./custom_accounts.ts";
import { scenario, type World } from "./scenario.ts";

type Account = RateLimiter<unknown> & LimiterIdentity;

/** One account of a kind, with room for 1,000 units, and how to write an amount list of so many of them. */
interface Kind {
  account: Account;
  units: (count: number) => unknown[];
}

/** Each kind of account that counts, filled alike: a gate in permits, meters in one amount of tokens. */
function kinds(world: World): Kind[] {
  const tokens = (count: number) => count === 0 ? [] : [count];
  return [
    { account: world.gate("gate", 1000), units: permits },
    { account: world.bucket("bucket", { tpm: 1000, rpm: 100 }) as Account, units: tokens },
    { account: new MeterLimiter("meter", 1000, 1000 / 60, world.clock) as unknown as Account, units: tokens },
  ];
}

describe("The four verbs of an account", () => {
  it(
    "ACC-01 fits says whether mine fits beside what is set aside, and changes nothing",
    scenario((world) => {
      for (const { account, units } of kinds(world)) {
        assert.equal(account.fits(units(500), []), true, account.limiterName);
        assert.equal(account.fits(units(500), units(500)), true, "equality fits");
        assert.equal(account.fits(units(500), units(501)), false);
        assert.equal(account.currentInUse, 0, "three questions took nothing");
        assert.equal(account.fits(units(1000), []), true);
      }
    }),
  );

  it(
    "ACC-02 refuses what mine alone can never get, and only says no when it is what is set aside that is too much",
    scenario((world) => {
      for (const { account, units } of kinds(world)) {
        assert.equal(account.fits(units(500), units(800)), false, account.limiterName);
        assert.equal(account.earliestFit(units(500), units(800)), null);
        assert.equal(account.fits(units(500), units(400)), true);
        for (const verb of ["fits", "tryTake"] as const) {
          assert.throws(() => account[verb](units(1001), []), {
            name: "UncorrectableError",
            account: account.limiterName,
            isCorrectable: false,
          });
        }
        assert.throws(() => account.fits(units(1001), units(1001)), UncorrectableError);
        assert.equal(account.currentInUse, 0);
      }
    }),
  );

  it(
    "ACC-03 tryTake checks again and debits mine only, in one step",
    scenario((world) => {
      for (const { account, units } of kinds(world)) {
        assert.equal(account.tryTake(units(300), units(700)), true, account.limiterName);
        assert.equal(account.currentInUse, 300, "what is set aside is not debited");
        assert.equal(account.fits(units(700), []), true);
        assert.equal(account.tryTake(units(600), []), true);
        assert.equal(
          account.tryTake(units(700), []),
          false,
          "the yes of a moment ago does not hold any more",
        );
        assert.equal(account.tryTake(units(100), units(1)), false);
        assert.equal(account.currentInUse, 900, "a declined take debits nothing");
      }
    }),
  );

  it(
    "ACC-04 give credits at once, and a metered refund stops at the cap",
    scenario((world) => {
      for (const { account, units } of kinds(world)) {
        account.tryTake(units(1000), []);
        assert.equal(account.fits(units(1), []), false, account.limiterName);
        account.give(units(400));
        assert.equal(account.currentInUse, 600);
        assert.equal(account.fits(units(400), []), true);
        if (account.replenishment === "RELEASE") continue;
        account.give(units(5000));
        assert.equal(account.currentInUse, 0);
        assert.equal(account.fits(units(1000), units(1)), false, "the cap is the most there is");
      }
    }),
  );

  it(
    "ACC-04 gives permits back at the end and compensates both kinds when another account declines",
    scenario(async (world) => {
      const last = new ScriptedLimiter("last", "declines");
      const admission = world.admission();
      for (const { account, units } of kinds(world)) {
        const demand = new Demand();
        for (const unit of units(5)) demand.add(account, unit);
        const call = world.follow(admission.admit(demand.add(last, 1)));
        await world.settle();
        assert.deepEqual(
          [account.currentInUse, call.grant, call.error],
          [0, null, null],
          account.limiterName,
        );
      }
      last.mode = "fits";
      last.wake();
      await world.settle();
      assert.equal(admission.queueSize, 0);
    }),
  );

  it(
    "ACC-05 earliestFit names the instant at which fits turns true, and null when only an event can help",
    scenario(async (world) => {
      for (const { account, units } of kinds(world)) {
        const isMetered = account.replenishment === "TIME";
        account.tryTake(units(1000), []);
        const instant = account.earliestFit(units(100), units(50));
        assert.equal(instant, isMetered ? world.clock.now() + 9000 : null, account.limiterName);
        assert.equal(account.earliestFit(units(600), units(401)), null, "both together exceed the capacity");
        if (instant === null) continue;
        await world.clock.advanceTo(instant - 0.001);
        assert.equal(account.fits(units(100), units(50)), false);
        await world.clock.advanceTo(instant);
        assert.equal(account.fits(units(100), units(50)), true);
        assert.ok(account.earliestFit(units(100), units(50))! <= world.clock.now(), "nothing is short now");
      }
    }),
  );

  it(
    "ACC-05 an instant that has passed counts as now",
    scenario(async (world) => {
      class Late extends ScriptedLimiter {
        override earliestFit(): number {
          this.mode = "fits";
          return 5;
        }
      }
      const call = world.follow(world.admission().admit(new Demand().add(new Late("late", "short"), 1)));
      await world.settle();
      assert.ok(call.grant, "admission looked again without being woken");
      assert.equal(call.settledAtMs, 1000);
    }),
  );
});

describe("The wake of an account", () => {
  it(
    "ACC-06 is one slot: installing replaces, null clears, growth runs it and a decrease does not",
    scenario((world) => {
      const gate = world.gate("gate", 5);
      const bucket = world.bucket("bucket", { tpm: 1000, rpm: 10 });
      const scripted = new ScriptedLimiter("scripted");
      const growth: [RateLimiter<never>, () => void][] = [
        [gate, () => gate.setCapacity(gate.capacity + 1)],
        [bucket, () => bucket.setConfig({ tpm: bucket.capacity + 1, rpm: 10 })],
        [scripted as RateLimiter<never>, () => scripted.wake()],
      ];
      for (const [account, grow] of growth) {
        let [first, second] = [0, 0];
        account.onCapacityChange(() => first++);
        grow();
        account.onCapacityChange(() => second++);
        grow();
        assert.deepEqual([first, second], [1, 1]);
        account.onCapacityChange(null);
        grow();
        assert.deepEqual([first, second], [1, 1]);
        assert.throws(() => account.onCapacityChange(7 as unknown as null), TypeError);
      }
      let wakes = 0;
      gate.onCapacityChange(() => wakes++);
      bucket.onCapacityChange(() => wakes++);
      gate.setCapacity(2);
      gate.setCapacity(2);
      bucket.setConfig({ tpm: 10, rpm: 5 });
      bucket.record429();
      assert.deepEqual([gate.tryTake(permits(1), []), bucket.tryTake([10], []), wakes], [true, true, 0]);
    }),
  );

  it(
    "ACC-07 only marks: an account may run it in the middle of a verb and nothing comes back into it",
    scenario(async (world) => {
      const slots = new Slots("slots", 1, (line) => world.tell(line));
      const admission = world.admission();
      const first = await admission.admit(new Demand().add(slots, 1));
      const [second, third] = [1, 2].map(() => world.follow(admission.admit(new Demand().add(slots, 1))));
      await world.settle();
      slots.afterGive = () => {
        slots.wake();
        slots.wake();
        world.tell(`after the wakes ${slots.currentInUse} in use`);
      };
      admission.release(first);
      assert.deepEqual([slots.currentInUse, second!.grant], [0, null], "no pass ran inside the give");
      await world.settle();
      assert.deepEqual([slots.currentInUse, second!.grant === null, third!.grant], [1, false, null]);
    }),
  );
});
