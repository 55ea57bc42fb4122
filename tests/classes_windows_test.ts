// Classes of waiters that name a window: an open circuit refuses all members, and a probe is whose turn it is.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Demand } from "../mod.ts";
import { Crowd } from "./crowd.ts";
import { Slots } from "./custom_accounts.ts";
import { scenario, type World } from "./scenario.ts";
import { FAILURE } from "./window_readings.ts";

/** A window whose circuit opens at the first failure, behind a head that waits for a gate nobody gives back. */
async function behindHead(world: World, maxRequests: number) {
  const [gate, full] = [world.gate("gate", 1), world.gate("full", 1)];
  const window = world.window("window", {
    maxRequests,
    baseWindowMs: 1000,
    maxThrottle: 0,
    failuresAtMaxToBlock: 1,
    initialCooldownMs: 100,
    probeTimeoutMs: 500,
  });
  const admission = world.admission();
  const crowd = new Crowd(world, admission);
  await admission.admit(new Demand().add(gate));
  const out = await admission.admit(new Demand().add(full));
  crowd.admit(new Demand().add(gate));
  await world.settle();
  return { gate, full, window, crowd, out };
}

describe("A class behind a window", () => {
  it(
    "BEY-08 is refused whole when the circuit opens, in order of arrival over classes, and wakes nobody before",
    scenario(async (world) => {
      const { gate, full, window, crowd, out } = await behindHead(world, 3);
      const shapes = [() => new Demand().add(window).add(full), () => new Demand().add(full).add(window, 2)];
      for (let i = 0; i < 5; i++) crowd.admitAll(shapes.map((shape) => shape()));
      await world.settle();
      window.onRateLimitError(FAILURE);
      await world.settle();
      assert.deepEqual(crowd.failed, []);
      crowd.admit(new Demand().add(gate));
      await world.settle();
      assert.deepEqual(crowd.failed, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
      out.release();
      await crowd.empty();
    }),
  );

  it(
    "BEY-08 that is held after a cooldown is refused while a probe is in flight, and looked at when the clock says",
    scenario(async (world) => {
      const { gate, full, window, crowd, out } = await behindHead(world, 3);
      window.onRateLimitError(FAILURE);
      await world.clock.advance(100);
      const demand = () => new Demand().add(window).add(full);
      crowd.admitAll([demand(), demand()]);
      await world.settle();
      assert.deepEqual(crowd.failed, [], "the cooldown is over");
      assert.ok(window.tryTake([undefined], []), "somebody else's probe");
      crowd.admit(new Demand().add(gate));
      await world.settle();
      assert.deepEqual(crowd.failed, [1, 2]);
      crowd.admit(demand());
      await world.settle();
      assert.deepEqual(crowd.failed, [1, 2, 4]);
      out.release();
      await crowd.empty();
    }),
  );

  it(
    "BEY-08 gives up a lost probe when its members are asked, also where they are held elsewhere",
    scenario(async (world) => {
      const { full, window, crowd, out } = await behindHead(world, 3);
      window.onRateLimitError(FAILURE);
      await world.clock.advance(100);
      assert.ok(window.tryTake([undefined], []), "the probe");
      await world.clock.advance(500);
      assert.equal(window.circuitState, "PROBING", "nobody has asked");
      crowd.admit(new Demand().add(window).add(full));
      await world.settle();
      assert.equal(window.circuitState, "BLOCKED");
      assert.deepEqual(crowd.failed, []);
      out.release();
      await world.settle();
      assert.deepEqual(crowd.granted, [1], "it is the probe now");
      assert.equal(window.circuitState, "PROBING");
      await crowd.empty();
    }),
  );

  it(
    "BEY-08 gives up a lost probe also where all its members have long been held elsewhere",
    scenario(async (world) => {
      const { gate, full, window, crowd } = await behindHead(world, 3);
      crowd.admit(new Demand().add(window).add(full));
      await world.settle();
      window.onRateLimitError(FAILURE);
      await world.clock.advance(100);
      assert.ok(window.tryTake([undefined], []), "the probe");
      await world.clock.advance(500);
      assert.equal(window.circuitState, "PROBING", "nobody has asked");
      crowd.admit(new Demand().add(gate));
      await world.settle();
      assert.equal(window.circuitState, "BLOCKED");
      await crowd.empty();
    }),
  );

  it(
    "BEY-08 lets its oldest go as the probe when the clock frees a slot, and refuses those behind it",
    scenario(async (world) => {
      const { gate, window, crowd, out } = await behindHead(world, 1);
      assert.ok(window.tryTake([undefined], []));
      const demand = () => new Demand().add(window);
      crowd.admitAll([demand(), demand(), demand()]);
      await world.settle();
      assert.equal(world.clock.nextTimerMs, 2000);
      await world.clock.advance(1000);
      assert.deepEqual(crowd.granted, [1]);
      window.onRateLimitError(FAILURE);
      crowd.admit(new Demand().add(gate));
      await world.settle();
      assert.deepEqual(crowd.failed, [2, 3]);
      await world.clock.advance(100);
      crowd.admitAll([demand(), demand()]);
      await world.settle();
      assert.deepEqual(crowd.waiting, [0, 4, 5, 6], "the cooldown is over, the slot is taken");
      assert.equal(world.clock.nextTimerMs, 3000);
      await world.clock.advance(1000);
      assert.deepEqual([crowd.granted, crowd.failed, window.circuitState], [[1, 5], [2, 3, 6], "PROBING"]);
      out.release();
      await crowd.empty();
    }),
  );

  it(
    "BEY-08 asks about a lost probe in its turn, behind whoever stands alone before it",
    scenario(async (world) => {
      const { full, window, crowd, out } = await behindHead(world, 3);
      window.onRateLimitError(FAILURE);
      await world.clock.advance(100);
      assert.ok(window.tryTake([undefined], []), "the probe");
      await world.clock.advance(500);
      const seen: string[] = [];
      const asked = new Slots("asked", 0);
      asked.fits = () => {
        seen.push(window.circuitState);
        return false;
      };
      crowd.admitAll([new Demand().add(asked), new Demand().add(window).add(full), new Demand().add(asked)]);
      await world.settle();
      assert.deepEqual(seen.slice(0, 2), ["PROBING", "BLOCKED"]);
      out.release();
      await crowd.empty();
    }),
  );
});
