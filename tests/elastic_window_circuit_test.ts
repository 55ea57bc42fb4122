import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { countWakes } from "./bucket_readings.ts";
import { Chance } from "./chance.ts";
import { scenario } from "./scenario.ts";
import { blocked, fail, refusalOf, relax, slots, THREE } from "./window_readings.ts";

describe("A window's circuit opens", () => {
  it(
    "EW-23 EW-24 on the 11th failure in a row with defaults: the one that arrives at full throttle counts",
    scenario((world) => {
      const window = world.window("window", THREE);
      fail(window, 10);
      assert.equal(window.circuitState, "HEALTHY");
      fail(window);
      assert.equal(window.circuitState, "BLOCKED");
      assert.equal(window.cooldownRemainingMs, 30_000);
      const flat = world.window("flat", { ...THREE, maxThrottle: 0 });
      fail(flat, 2);
      assert.equal(flat.circuitState, "HEALTHY");
      fail(flat);
      assert.equal(flat.circuitState, "BLOCKED");
      const search = world.window("search", { ...THREE, throttleIncrement: 2 });
      fail(search, 6);
      assert.equal(search.circuitState, "HEALTHY");
      fail(search);
      assert.equal(search.circuitState, "BLOCKED", "2, 4, 6, 8 and three at 9");
    }),
  );

  it(
    "EW-25 any success ends the streak, and nothing else does",
    scenario((world) => {
      const window = world.window("window", { ...THREE, maxThrottle: 0 });
      fail(window, 2);
      window.onAdvisoryPressure();
      window.tryTake(slots(1), []);
      window.give(slots(1));
      fail(window);
      assert.equal(window.circuitState, "BLOCKED");
      const lucky = world.window("lucky", { ...THREE, maxThrottle: 0 });
      fail(lucky, 2);
      lucky.onSuccess();
      fail(lucky, 2);
      assert.equal(lucky.circuitState, "HEALTHY");
      fail(lucky);
      assert.equal(lucky.circuitState, "BLOCKED");
    }),
  );

  it(
    "EW-39 100 failures at once open it once, and a mixed soak stays in bounds",
    scenario(async (world) => {
      const window = world.window("window", THREE);
      fail(window, 100);
      assert.deepEqual([window.circuitState, window.throttle], ["BLOCKED", 9]);
      assert.equal(window.cooldownRemainingMs, 30_000);
      const busy = world.window("busy", { maxRequests: 10, baseWindowMs: 50, initialCooldownMs: 5 });
      const chance = new Chance(20_261_130);
      const chooses = [
        () => {
          if (busy.tryTake(slots(1), [])) busy.give(slots(1));
        },
        () => fail(busy),
        () => busy.onSuccess(),
        () => busy.onAdvisoryPressure(),
      ];
      for (let i = 0; i < 10_000; i++) {
        try {
          chance.pick(chooses)();
        } catch (error) {
          assert.equal((error as { code?: string }).code, "circuit_blocked");
        }
        if (i % 100 === 0) await world.clock.advance(chance.below(20));
        const { availablePermits, throttleCoefficient } = busy.status;
        assert.ok(throttleCoefficient >= 0 && throttleCoefficient <= 9);
        assert.ok(availablePermits >= 0 && availablePermits <= 10);
        world.tell(busy.status.summary());
      }
    }),
  );
});

describe("While the cooldown runs", () => {
  it(
    "EW-26 both verbs refuse, nobody is parked on it, and its end wakes nobody",
    scenario(async (world) => {
      const window = blocked(world);
      const counter = countWakes(window);
      for (const verb of ["fits", "tryTake"] as const) {
        for (const ahead of [0, 1]) {
          const { message, code } = refusalOf(() => window[verb](slots(1), slots(ahead)));
          assert.match(message, /Cooldown is active/);
          assert.equal(code, "circuit_blocked");
        }
      }
      assert.equal(window.currentInUse, 0);
      await world.clock.advance(1000);
      assert.equal(counter.wakes, 0);
      assert.equal(world.clock.pendingTimers, 0);
    }),
  );

  it(
    "EW-27 it is over at its exact instant, and then a take is the probe",
    scenario(async (world) => {
      const window = blocked(world);
      assert.equal(window.cooldownRemainingMs, 100);
      await world.clock.advance(99);
      assert.match(refusalOf(() => window.tryTake(slots(1), [])).message, /Cooldown is active/);
      await world.clock.advance(0.999);
      assert.match(refusalOf(() => window.fits(slots(1), [])).message, /Cooldown is active/);
      await world.clock.advance(0.001);
      assert.equal(window.circuitState, "BLOCKED");
      assert.equal(window.tryTake(slots(1), []), true);
      assert.equal(window.circuitState, "PROBING");
    }),
  );

  it(
    "EW-37 failures and successes touch throttle, pressure and streak, not state and cooldown",
    scenario(async (world) => {
      const window = world.window("window", { ...THREE, maxThrottle: 2, failuresAtMaxToBlock: 1 });
      fail(window, 2);
      assert.equal(window.cooldownRemainingMs, 30_000);
      await world.clock.advance(1000);
      relax(window, 3);
      assert.deepEqual([window.throttle, window.circuitState], [1.8, "BLOCKED"]);
      fail(window);
      assert.deepEqual([window.throttle, window.circuitState], [2, "BLOCKED"]);
      assert.equal(window.cooldownRemainingMs, 29_000);
      await world.clock.advance(29_000);
      relax(window, 1);
      assert.equal(window.circuitState, "BLOCKED", "also when it is over: nobody took the probe");
      fail(window);
      assert.equal(window.cooldownRemainingMs, 0);
      assert.equal(window.fits(slots(1), []), true);
    }),
  );

  it(
    "EW-42 the time left is 0 unless BLOCKED, else whole milliseconds rounded down, never negative",
    scenario(async (world) => {
      assert.equal(world.window("healthy", THREE).cooldownRemainingMs, 0);
      const window = blocked(world, { initialCooldownMs: 10_000 });
      assert.equal(window.cooldownRemainingMs, 10_000);
      await world.clock.advance(0.001);
      assert.equal(window.cooldownRemainingMs, 9999);
      await world.clock.advance(20_000);
      assert.equal(window.cooldownRemainingMs, 0);
      window.tryTake(slots(1), []);
      assert.equal(window.cooldownRemainingMs, 0);
    }),
  );
});
