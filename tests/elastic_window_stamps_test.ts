import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Demand, ElasticWindowRateLimiter, InvalidStateError } from "../mod.ts";
import { currentHost } from "../core/host.ts";
import { MAX_LINES, MAX_WAITERS } from "../assembly/layout.ts";
import { SetClock } from "./odd_clocks.ts";
import { scenario } from "./scenario.ts";
import { fail, slots } from "./window_readings.ts";

describe("The stamps of a window", () => {
  it(
    "EW-04 EW-09 a thousand instants are kept apart, over many turns of the ring",
    scenario(async (world) => {
      const window = world.window("window", { maxRequests: 1000, baseWindowMs: 1000 });
      for (let at = 0; at < 3500; at++) {
        assert.equal(window.tryTake(slots(1), []), true);
        if (at % 500 === 0) world.tell(`${at} ${window.currentInUse} ${window.earliestFit(slots(1000), [])}`);
        await world.clock.advance(1);
      }
      assert.equal(window.currentInUse, 999);
      for (const count of [2, 500, 1000]) {
        assert.equal(window.earliestFit(slots(count), []), world.clock.now() + count - 1, `${count}`);
      }
    }),
  );

  it(
    "EW-04 a ring that is full while its oldest stamps are gone grows in order",
    scenario(async (world) => {
      const window = world.window("window", { maxRequests: 40, baseWindowMs: 100 });
      const takeOne = async (waitMs: number) => {
        assert.equal(window.tryTake(slots(1), []), true);
        await world.clock.advance(waitMs);
      };
      for (let i = 0; i < 3; i++) await takeOne(10);
      await world.clock.advance(75);
      for (let i = 0; i < 30; i++) await takeOne(0.25);
      for (const count of [10, 20, 40]) world.tell(`${count} ${window.earliestFit(slots(count), [])}`);
      assert.equal(window.currentInUse, 31);
      assert.equal(window.earliestFit(slots(10), []), 1120, "the last of the first three");
      assert.equal(window.earliestFit(slots(11), []), 1205);
      assert.equal(window.earliestFit(slots(40), []), 1212.25);
    }),
  );

  it(
    "EW-04 EW-14 a take of many slots is one instant, and can be given back in parts",
    scenario((world) => {
      const window = world.window("window", { maxRequests: 4_194_304, baseWindowMs: 60_000 });
      const admission = world.admission();
      const grant = admission.tryAdmit(new Demand().add(window, 400_000))!;
      assert.equal(window.currentInUse, 400_000);
      window.give(slots(100_000));
      assert.equal(window.currentInUse, 300_000);
      grant.rollback();
      assert.equal(window.currentInUse, 0, "no more than there are");
    }),
  );

  it(
    "EW-06 where no more instants can be kept apart, the newest stamps stay longer and nothing is given out too early",
    scenario(async (world) => {
      currentHost().kernel.limitRuns(2);
      const window = world.window("window", { maxRequests: 5, baseWindowMs: 1000 });
      for (let i = 0; i < 5; i++) {
        assert.equal(window.tryTake(slots(1), []), true);
        await world.clock.advance(10);
      }
      assert.equal(window.fits(slots(1), []), false);
      assert.equal(window.earliestFit(slots(1), []), 2000, "the oldest is kept as it is");
      assert.equal(window.earliestFit(slots(2), []), 2040, "the others count as made with the last");
      await world.clock.advanceTo(2039.999);
      assert.equal(window.currentInUse, 4);
      await world.clock.advanceTo(2040);
      assert.equal(window.currentInUse, 0);
    }),
  );

  it(
    "BEY-10 a clock that steps back revives nothing it has dropped, and keeps stamps in order",
    scenario((world) => {
      const clock = new SetClock();
      const window = new ElasticWindowRateLimiter("window", { maxRequests: 3, baseWindowMs: 1000, clock });
      clock.ticks = 5_000_000;
      window.tryTake(slots(1), []);
      clock.ticks = 400_000;
      assert.equal(window.currentInUse, 1, "a stamp of the future is live");
      assert.equal(window.tryTake(slots(1), []), true);
      assert.equal(window.earliestFit(slots(3), []), 6000, "stamped as the newest before it");
      clock.ticks = 5_999_999;
      assert.equal(window.currentInUse, 2);
      clock.ticks = 6_000_000;
      assert.equal(window.currentInUse, 0);
      world.tell(window.status.summary());
    }),
  );

  it(
    "BEY-16 record and ring are used again after dispose, and a full table is an error of its own",
    scenario((world) => {
      const { kernel } = currentHost();
      kernel.limits(MAX_WAITERS, 2, MAX_LINES);
      for (let round = 0; round < 5; round++) {
        const window = world.window("window", { maxRequests: 100, baseWindowMs: 1000 });
        for (let i = 0; i < 20; i++) window.tryTake(slots(1), []);
        assert.equal(window.currentInUse, 20, `round ${round} starts afresh`);
        fail(window, 11);
        assert.equal(window.circuitState, "BLOCKED");
        window.dispose();
        assert.equal(window.circuitState, "HEALTHY", "a freed account is idle");
        assert.equal(window.status.availablePermits, 100);
        assert.throws(() => window.fits(slots(1), []), InvalidStateError);
      }
      assert.equal(kernel.accountCount(), 0);
      const open = [0, 1].map((index) => world.window(`open ${index}`, { maxRequests: 1, baseWindowMs: 1 }));
      for (const each of open) each.fits(slots(1), []);
      const third = world.window("third", { maxRequests: 1, baseWindowMs: 1 });
      assert.throws(() => third.fits(slots(1), []), /tables are full/);
    }),
  );
});
