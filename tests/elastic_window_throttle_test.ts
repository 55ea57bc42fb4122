import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { UpstreamFailure } from "../mod.ts";
import { countWakes } from "./bucket_readings.ts";
import { scenario } from "./scenario.ts";
import { fail, relax, slots, THREE } from "./window_readings.ts";

const FIVE_MINUTES_MS = 300_000;

describe("A window's throttle", () => {
  it(
    "EW-05 the effective window is base times one plus the throttle, in whole milliseconds",
    scenario(async (world) => {
      const window = world.window("window", THREE);
      assert.equal(window.effectiveWindowMs, 1000);
      fail(window);
      assert.equal(window.effectiveWindowMs, 2000);
      fail(window);
      assert.equal(window.effectiveWindowMs, 3000);
      const odd = world.window("odd", { maxRequests: 1, baseWindowMs: 7, throttleIncrement: 0.25 });
      fail(odd);
      assert.equal(odd.effectiveWindowMs, 8, "8.75, cut off");
      odd.tryTake(slots(1), []);
      await world.clock.advance(8);
      assert.equal(odd.fits(slots(1), []), true, "stamps live no longer than that");
    }),
  );

  it(
    "EW-17 each failure adds the increment up to the maximum, whatever it says",
    scenario((world) => {
      const window = world.window("window", { ...THREE, failuresAtMaxToBlock: 100 });
      fail(window);
      assert.equal(window.throttle, 1);
      window.onRateLimitError(new UpstreamFailure({ statusCode: 503, retryAfterSeconds: 600 }));
      assert.equal(window.throttle, 2);
      fail(window, 18);
      assert.equal(window.throttle, 9);
      const own = world.window("own", { ...THREE, throttleIncrement: 2.5, maxThrottle: 4 });
      fail(own);
      assert.equal(own.throttle, 2.5);
      fail(own);
      assert.equal(own.throttle, 4);
      assert.throws(() => own.onRateLimitError(429 as unknown as UpstreamFailure), TypeError);
      assert.equal(own.throttle, 4);
    }),
  );

  it(
    "EW-18 while it is above 0 every third success takes 0.2 off, never below 0",
    scenario((world) => {
      const window = world.window("window", THREE);
      fail(window, 2);
      assert.deepEqual(relax(window, 3), [2, 2, 1.8]);
      const calm = world.window("calm", THREE);
      assert.equal(relax(calm, 100).at(-1), 0);
      fail(calm);
      assert.deepEqual(relax(calm, 3), [1, 1, 0.8], "successes at 0 are not counted");
      const last = world.window("last", { ...THREE, throttleIncrement: 0.1 });
      fail(last);
      assert.deepEqual(relax(last, 3), [0.1, 0.1, 0]);
    }),
  );

  it(
    "EW-19 after five whole minutes without pressure every success takes 0.5 off",
    scenario(async (world) => {
      const window = world.window("window", THREE);
      fail(window);
      assert.deepEqual(relax(window, 1), [1]);
      await world.clock.advance(FIVE_MINUTES_MS);
      assert.deepEqual(relax(window, 3), [0.5, 0, 0]);
      fail(window);
      await world.clock.advance(FIVE_MINUTES_MS - 0.001);
      assert.deepEqual(relax(window, 1), [1], "a tick early");
      const own = world.window("own", { ...THREE, recoveryMinutes: 1, recoveryMultiplier: 4 });
      fail(own);
      await world.clock.advance(60_000);
      assert.deepEqual(relax(own, 1), [0.2]);
    }),
  );

  it(
    "EW-20 pressure does not reset the count of successes; only a relaxation does",
    scenario((world) => {
      const window = world.window("window", THREE);
      fail(window);
      relax(window, 2);
      fail(window);
      assert.deepEqual(relax(window, 4), [1.8, 1.8, 1.8, 1.6]);
    }),
  );

  it(
    "EW-21 a success that relaxed wakes once, pressure never",
    scenario((world) => {
      const window = world.window("window", THREE);
      const counter = countWakes(window);
      fail(window);
      window.onAdvisoryPressure();
      assert.equal(counter.wakes, 0);
      relax(window, 2);
      assert.equal(counter.wakes, 0);
      relax(window, 1);
      assert.equal(counter.wakes, 1);
      const calm = world.window("calm", THREE);
      const none = countWakes(calm);
      relax(calm, 10);
      assert.equal(none.wakes, 0);
    }),
  );

  it(
    "EW-22 advisory pressure raises the throttle and counts as pressure, but never opens the circuit",
    scenario(async (world) => {
      const window = world.window("window", THREE);
      for (let i = 0; i < 20; i++) window.onAdvisoryPressure();
      assert.equal(window.throttle, 9);
      assert.equal(window.circuitState, "HEALTHY");
      fail(window, 2);
      window.onAdvisoryPressure();
      assert.equal(window.circuitState, "HEALTHY", "not counted toward blocking");
      await world.clock.advance(FIVE_MINUTES_MS - 1000);
      window.onAdvisoryPressure();
      await world.clock.advance(1000);
      assert.deepEqual(relax(window, 1), [9], "the last pressure is a second old");
    }),
  );

  it(
    "BEY-10 throttles settle exactly: 1.0 reaches 0 and the indicator null after five triples of successes",
    scenario((world) => {
      const window = world.window("window", THREE);
      fail(window);
      const triples = Array.from({ length: 5 }, () => relax(window, 3).at(-1));
      assert.deepEqual(triples, [0.8, 0.6, 0.4, 0.2, 0]);
      assert.equal(window.statusIndicator, null);
      assert.equal(window.effectiveWindowMs, 1000);
      const tenths = world.window("tenths", { ...THREE, throttleIncrement: 0.1, throttleDecrement: 0.1 });
      fail(tenths, 7);
      assert.equal(tenths.throttle, 0.7);
      relax(tenths, 20);
      assert.equal(tenths.throttle, 0.1);
      relax(tenths, 1);
      assert.equal(tenths.statusIndicator, null);
    }),
  );

  it(
    "EW-01 throttles count in thousandths: others are rounded, and what is above 0 is never rounded to 0",
    scenario((world) => {
      const window = world.window("window", {
        ...THREE,
        throttleIncrement: 1 / 3,
        throttleDecrement: 0.0001,
        successesPerDecrease: 1,
      });
      fail(window);
      assert.equal(window.throttle, 0.333);
      assert.deepEqual(relax(window, 2), [0.332, 0.331]);
      const still = world.window("still", { ...THREE, throttleDecrement: 0, successesPerDecrease: 1 });
      const counter = countWakes(still);
      fail(still);
      assert.deepEqual(relax(still, 2), [1, 1]);
      assert.equal(counter.wakes, 0, "nothing was relaxed");
      assert.equal(still.tryTake(slots(1), []), true);
    }),
  );
});
