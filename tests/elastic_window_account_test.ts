import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { countWakes } from "./bucket_readings.ts";
import { scenario } from "./scenario.ts";
import { blocked, fail, refusalOf, relax, slots, THREE } from "./window_readings.ts";

describe("A window's slots", () => {
  it(
    "EW-04 a take stamps one slot for each amount, whatever the amounts are",
    scenario((world) => {
      const window = world.window("window", THREE);
      assert.equal(window.circuitState, "HEALTHY");
      assert.equal(window.throttle, 0);
      assert.equal(window.tryTake([undefined], []), true);
      assert.equal(window.currentInUse, 1);
      assert.equal(window.tryTake([undefined, null as unknown as undefined], []), true);
      assert.equal(window.currentInUse, 3);
      assert.equal(window.tryTake(slots(1), []), false);
      assert.equal(window.currentInUse, 3, "a declined take stamps nothing");
    }),
  );

  it(
    "EW-06 live stamps, mine and what is set aside must be within the maximum, and a take stamps only mine",
    scenario((world) => {
      const window = world.window("window", { maxRequests: 2, baseWindowMs: 1000 });
      assert.equal(window.fits(slots(1), slots(1)), true);
      assert.equal(
        window.fits(slots(1), slots(2)),
        false,
        "set aside beyond the maximum is no, never a refusal",
      );
      assert.equal(window.tryTake(slots(1), slots(1)), true);
      assert.equal(window.currentInUse, 1);
      assert.equal(window.tryTake(slots(1), slots(1)), false);
      assert.equal(window.tryTake(slots(1), []), true);
      assert.equal(window.fits(slots(1), []), false);
    }),
  );

  it(
    "EW-08 stamps are judged by the window of the moment: pressure makes those present live longer, relaxing shorter",
    scenario(async (world) => {
      const window = world.window("window", THREE);
      window.tryTake(slots(3), []);
      await world.clock.advance(500);
      window.onAdvisoryPressure();
      await world.clock.advance(1499.999);
      assert.equal(window.currentInUse, 3, "two seconds since the take");
      await world.clock.advance(0.001);
      assert.equal(window.currentInUse, 0);
      window.tryTake(slots(3), []);
      await world.clock.advance(1800);
      assert.equal(window.currentInUse, 3);
      relax(window, 3);
      assert.equal(window.effectiveWindowMs, 1800);
      assert.equal(window.currentInUse, 0);
    }),
  );

  it(
    "EW-09 reading drops what is out of date and never a live stamp",
    scenario(async (world) => {
      const window = world.window("window", { maxRequests: 20, baseWindowMs: 500 });
      for (let i = 0; i < 20; i++) assert.equal(window.tryTake(slots(1), []), true);
      for (let i = 0; i < 200; i++) assert.equal(window.status.availablePermits, 0);
      await world.clock.advance(499.999);
      assert.equal(window.status.availablePermits, 0);
      await world.clock.advance(100.001);
      assert.equal(window.status.availablePermits, 20);
      assert.equal(window.currentInUse, 0);
    }),
  );

  it(
    "EW-10 more slots than the maximum are refused by both verbs, before the circuit is looked at",
    scenario((world) => {
      const window = blocked(world, { maxRequests: 3 });
      for (const verb of ["fits", "tryTake"] as const) {
        const { message, code, retryAfterMs } = refusalOf(() => window[verb](slots(4), []));
        assert.match(message, /4 requests can never fit "window": it allows 3 requests \/ 1s/);
        assert.deepEqual([code, retryAfterMs], ["uncorrectable", null]);
        assert.equal(refusalOf(() => window[verb](slots(3), [])).code, "circuit_blocked");
      }
      assert.equal(window.currentInUse, 0);
    }),
  );

  it(
    "ACC-15 a window still binds after the work ended",
    scenario(async (world) => {
      const window = world.window("window", { maxRequests: 2, baseWindowMs: 1000 });
      window.tryTake(slots(1), []);
      await world.clock.advance(100);
      window.tryTake(slots(1), []);
      assert.equal(window.fits(slots(1), []), false);
      const waitMs = window.earliestFit(slots(1), [])! - world.clock.now();
      assert.equal(waitMs, 900);
    }),
  );

  it(
    "ACC-16 a slot given back is usable at once",
    scenario((world) => {
      const window = world.window("window", { maxRequests: 2, baseWindowMs: 1000 });
      window.tryTake(slots(2), []);
      assert.equal(window.fits(slots(1), []), false);
      window.give(slots(1));
      assert.equal(window.fits(slots(1), []), true);
      assert.equal(window.fits(slots(2), []), false);
    }),
  );
});

describe("A window's earliest instant", () => {
  it(
    "EW-11 it is null beyond the maximum, now when nothing is short, and does not look at the circuit",
    scenario(async (world) => {
      const window = world.window("window", { ...THREE, maxThrottle: 0, failuresAtMaxToBlock: 1 });
      assert.equal(window.earliestFit(slots(4), []), null);
      assert.equal(window.earliestFit(slots(2), slots(2)), null);
      await world.clock.advance(1.234);
      assert.equal(window.earliestFit(slots(2), slots(1)), 1001.234);
      window.tryTake(slots(3), []);
      fail(window);
      assert.equal(window.circuitState, "BLOCKED");
      assert.equal(window.earliestFit(slots(1), []), 2001.234);
      assert.equal(window.earliestFit(slots(4), []), null, "it never throws");
    }),
  );

  it(
    "EW-12 it is the k-th oldest stamp plus the window, k being what is short",
    scenario(async (world) => {
      const window = world.window("window", THREE);
      const start = world.clock.now();
      for (let i = 0; i < 3; i++) {
        window.tryTake(slots(1), []);
        await world.clock.advance(20);
      }
      assert.equal(window.earliestFit(slots(1), []), start + 1000);
      assert.equal(window.earliestFit(slots(2), []), start + 1020);
      assert.equal(window.earliestFit(slots(3), []), start + 1040);
      assert.equal(window.earliestFit(slots(1), slots(1)), start + 1020);
      assert.equal(window.earliestFit(slots(4), []), null);
      window.onAdvisoryPressure();
      assert.equal(window.earliestFit(slots(1), []), start + 2000, "by the window of the moment");
    }),
  );

  it(
    "BEY-10 an announced instant is exact: a stamp exactly one window old is gone, a tick before it is not",
    scenario(async (world) => {
      for (const baseWindowMs of [1, 7, 333, 60_000]) {
        const window = world.window(`window of ${baseWindowMs}`, { maxRequests: 3, baseWindowMs });
        for (const wait of [0.001, 0.113, 0.25]) {
          await world.clock.advance(wait);
          window.tryTake(slots(1), []);
        }
        for (const count of [1, 2, 3]) {
          const at = window.earliestFit(slots(count), [])!;
          await world.clock.advanceTo(at - 0.001);
          assert.equal(window.fits(slots(count), []), false, `${count} of ${baseWindowMs} ms, a tick before`);
          await world.clock.advanceTo(at);
          assert.equal(window.fits(slots(count), []), true, `${count} of ${baseWindowMs} ms`);
          assert.equal(window.earliestFit(slots(count), []), at);
        }
      }
    }),
  );

  it(
    "BEY-10 expired stamps never come back when the throttle rises",
    scenario(async (world) => {
      const window = world.window("window", THREE);
      window.tryTake(slots(2), []);
      await world.clock.advance(600);
      window.tryTake(slots(1), []);
      await world.clock.advance(400);
      window.onAdvisoryPressure();
      assert.equal(window.effectiveWindowMs, 2000);
      assert.equal(window.currentInUse, 1, "the first two went out of date at this very instant");
      assert.equal(window.fits(slots(2), []), true);
      await world.clock.advance(1599.999);
      assert.equal(window.currentInUse, 1);
      await world.clock.advance(0.001);
      assert.equal(window.currentInUse, 0);
    }),
  );

  it(
    "BEY-10 expired stamps of a window that was shorter for a while do not come back either",
    scenario(async (world) => {
      const window = world.window("window", THREE);
      window.onAdvisoryPressure(); // Two seconds.
      window.tryTake(slots(3), []);
      await world.clock.advance(1900);
      relax(window, 3); // 1.8 seconds: all are out of date, and nobody looks.
      window.onAdvisoryPressure();
      assert.equal(window.effectiveWindowMs, 2800);
      assert.equal(window.currentInUse, 0);
    }),
  );
});

describe("A give to a window", () => {
  it(
    "EW-14 it drops the newest stamps, as many as there are, so that announced instants stand",
    scenario(async (world) => {
      const window = world.window("window", { maxRequests: 2, baseWindowMs: 1000 });
      const oldest = world.clock.now();
      window.tryTake(slots(1), []);
      await world.clock.advance(50);
      window.tryTake(slots(1), []);
      assert.equal(window.earliestFit(slots(1), []), oldest + 1000);
      window.give(slots(1));
      assert.equal(window.fits(slots(1), []), true);
      assert.equal(window.earliestFit(slots(2), []), oldest + 1000);
      window.give(slots(5));
      assert.equal(window.currentInUse, 0, "no more than there are, and no error");
      assert.equal(window.tryTake(slots(2), []), true);
      window.give(slots(1));
      assert.equal(window.currentInUse, 1, "a part of one take");
    }),
  );

  it(
    "EW-15 BEY-09 it wakes as any give does, and stamps that are out of date stay out of it",
    scenario(async (world) => {
      const window = world.window("window", THREE);
      const counter = countWakes(window);
      window.tryTake(slots(2), []);
      assert.equal(counter.wakes, 0);
      window.give(slots(1));
      assert.equal(counter.wakes, 1);
      await world.clock.advance(1000);
      window.tryTake(slots(1), []);
      window.give(slots(1));
      assert.equal(window.currentInUse, 0);
      assert.equal(window.fits(slots(3), []), true);
    }),
  );

  it(
    "EW-16 while PROBING any give puts the circuit back to BLOCKED, its cooldown kept; otherwise it leaves it alone",
    scenario(async (world) => {
      const window = blocked(world);
      window.give(slots(1));
      assert.equal(window.circuitState, "BLOCKED");
      assert.equal(window.cooldownRemainingMs, 100);
      await world.clock.advance(100);
      assert.equal(window.tryTake(slots(1), []), true);
      assert.equal(window.circuitState, "PROBING");
      window.give([]);
      assert.equal(window.circuitState, "BLOCKED", "whoever gives, and however little");
      assert.equal(window.cooldownRemainingMs, 0, "the blocked-until instant has passed");
      assert.equal(window.tryTake(slots(1), []), true, "the probe is free again at once");
      fail(window);
      assert.equal(window.cooldownRemainingMs, 200, "the cooldown was kept, and doubles");
      const healthy = world.window("healthy", THREE);
      healthy.tryTake(slots(1), []);
      healthy.give(slots(1));
      assert.equal(healthy.circuitState, "HEALTHY");
    }),
  );
});
