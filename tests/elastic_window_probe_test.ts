import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { countWakes } from "./bucket_readings.ts";
import { scenario } from "./scenario.ts";
import { blocked, fail, refusalOf, relax, slots, THREE } from "./window_readings.ts";

describe("After the cooldown", () => {
  it(
    "EW-28 fits is plain arithmetic, take claims the probe, and a full window claims nothing",
    scenario(async (world) => {
      const window = world.window("window", {
        ...THREE,
        maxThrottle: 0,
        failuresAtMaxToBlock: 1,
        initialCooldownMs: 100,
      });
      window.tryTake(slots(3), []);
      fail(window);
      await world.clock.advance(100);
      assert.equal(window.fits(slots(1), []), false);
      assert.equal(window.tryTake(slots(1), []), false);
      assert.equal(window.circuitState, "BLOCKED");
      await world.clock.advance(900);
      for (let i = 0; i < 3; i++) assert.equal(window.fits(slots(1), []), true, "asking claims nothing");
      assert.equal(window.circuitState, "BLOCKED");
      assert.equal(window.tryTake(slots(2), []), true);
      assert.deepEqual([window.circuitState, window.currentInUse], ["PROBING", 2]);
    }),
  );

  it(
    "EW-29 a follower is refused as if a probe were in flight, and the state stays BLOCKED",
    scenario(async (world) => {
      const window = blocked(world);
      await world.clock.advance(100);
      for (const verb of ["fits", "tryTake"] as const) {
        const { message, code, retryAfterMs } = refusalOf(() => window[verb](slots(1), slots(1)));
        assert.match(message, /single probe/);
        assert.deepEqual([code, retryAfterMs], ["circuit_blocked", null]);
      }
      assert.equal(window.circuitState, "BLOCKED");
      assert.equal(window.tryTake(slots(1), []), true);
      assert.equal(window.circuitState, "PROBING");
    }),
  );

  it(
    "EW-30 EW-31 of 50 takers one gets the probe, and everybody else is refused while it is out",
    scenario(async (world) => {
      const window = blocked(world, { maxRequests: 100 });
      await world.clock.advance(100);
      let probes = 0;
      let refused = 0;
      for (let i = 0; i < 50; i++) {
        try {
          if (window.tryTake(slots(1), [])) probes++;
        } catch (error) {
          assert.match((error as Error).message, /single probe/);
          refused++;
        }
      }
      assert.deepEqual([probes, refused, window.circuitState], [1, 49, "PROBING"]);
      assert.match(refusalOf(() => window.fits(slots(1), [])).message, /single probe/);
    }),
  );

  it(
    "EW-32 the probe's success closes the circuit and wakes; the throttle relaxes step by step",
    scenario(async (world) => {
      const window = world.window("window", { ...THREE, maxThrottle: 2, failuresAtMaxToBlock: 1 });
      const counter = countWakes(window);
      fail(window, 2);
      await world.clock.advance(30_000);
      window.tryTake(slots(1), []);
      window.onSuccess();
      assert.deepEqual([window.circuitState, window.throttle], ["HEALTHY", 2]);
      assert.equal(window.effectiveWindowMs, 3000);
      assert.equal(counter.wakes, 1);
      assert.equal(window.tryTake(slots(2), []), true);
      relax(window, 2);
      assert.equal(window.throttle, 1.8, "the probe's success was the first of three");
      assert.equal(counter.wakes, 2);
    }),
  );

  it(
    "EW-21 a success that closes and relaxes at once wakes once",
    scenario(async (world) => {
      const window = world.window("window", {
        ...THREE,
        maxThrottle: 1,
        failuresAtMaxToBlock: 1,
        successesPerDecrease: 1,
      });
      const counter = countWakes(window);
      fail(window);
      await world.clock.advance(30_000);
      window.tryTake(slots(1), []);
      window.onSuccess();
      assert.deepEqual([window.circuitState, window.throttle, counter.wakes], ["HEALTHY", 0.8, 1]);
    }),
  );
});

describe("A failed probe", () => {
  it(
    "EW-33 doubles the cooldown, within its bounds, whatever the throttle is",
    scenario(async (world) => {
      const window = blocked(world);
      await world.clock.advance(100);
      window.tryTake(slots(1), []);
      fail(window);
      assert.equal(window.circuitState, "BLOCKED");
      assert.equal(window.cooldownRemainingMs, 200);
      assert.match(refusalOf(() => window.tryTake(slots(1), [])).message, /Cooldown is active/);
      await world.clock.advance(250);
      assert.equal(window.tryTake(slots(1), []), true);
      const capped = blocked(world, { maxCooldownMs: 400 });
      const seen = Array.from({ length: 4 }, () => NaN);
      for (const at of seen.keys()) {
        await world.clock.advance(capped.cooldownRemainingMs + 1000);
        capped.tryTake(slots(1), []);
        fail(capped);
        seen[at] = capped.cooldownRemainingMs;
      }
      assert.deepEqual(seen, [200, 400, 400, 400]);
      const relaxed = world.window("relaxed", {
        ...THREE,
        maxThrottle: 1,
        failuresAtMaxToBlock: 1,
        throttleIncrement: 0.5,
      });
      fail(relaxed, 2);
      await world.clock.advance(30_000);
      relax(relaxed, 9);
      assert.equal(relaxed.throttle, 0.4);
      relaxed.tryTake(slots(1), []);
      fail(relaxed);
      assert.deepEqual([relaxed.throttle, relaxed.cooldownRemainingMs], [0.9, 60_000], "below full throttle");
    }),
  );

  it(
    "EW-34 the default ladder is 30, 60, 120, 240, 480, 960, 1920, 3600, 3600 s",
    scenario(async (world) => {
      const window = world.window("window", { ...THREE, maxThrottle: 0, failuresAtMaxToBlock: 1 });
      const ladder: number[] = [];
      for (let i = 0; i < 9; i++) {
        fail(window);
        ladder.push(window.cooldownRemainingMs / 1000);
        await world.clock.advance(window.cooldownRemainingMs);
        assert.equal(window.tryTake(slots(1), []), true);
      }
      assert.deepEqual(ladder, [30, 60, 120, 240, 480, 960, 1920, 3600, 3600]);
    }),
  );

  it(
    "EW-38 once closed by a success, it opens again with the initial cooldown",
    scenario(async (world) => {
      const window = blocked(world);
      for (let i = 0; i < 2; i++) {
        await world.clock.advance(window.cooldownRemainingMs + 1000);
        window.tryTake(slots(1), []);
        fail(window);
      }
      assert.equal(window.cooldownRemainingMs, 400);
      await world.clock.advance(400);
      window.tryTake(slots(1), []);
      window.onSuccess();
      fail(window);
      assert.equal(window.cooldownRemainingMs, 100);
    }),
  );

  it(
    "EW-35 EW-36 without a verdict it is given up when somebody asks after the timeout; until then it reads PROBING",
    scenario(async (world) => {
      const window = blocked(world, { initialCooldownMs: 50, probeTimeoutMs: 100 });
      await world.clock.advance(50);
      window.tryTake(slots(1), []);
      await world.clock.advance(99.999);
      assert.match(refusalOf(() => window.fits(slots(1), [])).message, /single probe/);
      await world.clock.advance(0.001);
      for (let i = 0; i < 3; i++) {
        assert.equal(window.status.circuitState, "PROBING");
        assert.equal(window.statusIndicator, "probing");
        assert.equal(window.cooldownRemainingMs, 0);
      }
      assert.equal(window.fits(slots(1), []), true, "the asker is judged again at once");
      assert.equal(window.circuitState, "BLOCKED");
      assert.equal(window.tryTake(slots(1), []), true);
      assert.equal(window.circuitState, "PROBING");
      await world.clock.advance(100);
      assert.match(refusalOf(() => window.fits(slots(1), slots(1))).message, /single probe/);
      assert.equal(window.circuitState, "BLOCKED", "a follower's question gives it up as well");
      const whole = blocked(world, { initialCooldownMs: 50, maxCooldownMs: 300 });
      await world.clock.advance(50);
      whole.tryTake(slots(1), []);
      await world.clock.advance(299.999);
      assert.equal(refusalOf(() => whole.fits(slots(1), [])).code, "circuit_blocked");
      await world.clock.advance(0.001);
      assert.equal(whole.fits(slots(1), []), true, "the timeout is the largest cooldown by default");
    }),
  );

  it(
    "BEY-10 EW-35 a verdict after the timeout finds no probe, whether somebody asked in between or not",
    scenario(async (world) => {
      for (const isAsked of [true, false]) {
        for (const verdict of ["onSuccess", "onRateLimitError", "give"] as const) {
          const window = blocked(world, { initialCooldownMs: 50, probeTimeoutMs: 100 });
          await world.clock.advance(50);
          window.tryTake(slots(1), []);
          await world.clock.advance(100);
          if (isAsked) window.fits(slots(1), []);
          if (verdict === "onSuccess") window.onSuccess();
          else if (verdict === "give") window.give(slots(1));
          else fail(window);
          assert.equal(window.circuitState, "BLOCKED", `${verdict}, asked: ${isAsked}`);
          assert.equal(window.cooldownRemainingMs, 0);
          assert.equal(window.tryTake(slots(1), []), true);
          assert.equal(window.circuitState, "PROBING");
        }
      }
    }),
  );
});
