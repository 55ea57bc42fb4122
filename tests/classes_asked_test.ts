// Accounts outside the kernel stand between members of classes, and call back while they are asked: what happens then is seen by
// those whom the walk has not met yet, and by nobody it has passed.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Demand } from "../mod.ts";
import { Crowd } from "./crowd.ts";
import { Slots } from "./custom_accounts.ts";
import { BentClock } from "./odd_clocks.ts";
import { scenario, type World } from "./scenario.ts";
import { FAILURE } from "./window_readings.ts";

/** An account of our own that runs something once, when it is asked. */
class Caller extends Slots {
  onFits: () => void = () => {};
  onTake: () => void = () => {};

  override fits(mine: readonly unknown[], ahead: readonly unknown[]): boolean {
    const run = this.onFits;
    this.onFits = () => {};
    run();
    return super.fits(mine, ahead);
  }

  override tryTake(mine: readonly unknown[], ahead: readonly unknown[]): boolean {
    const run = this.onTake;
    this.onTake = () => {};
    run();
    return super.tryTake(mine, ahead);
  }
}

/** A line whose head waits for a gate that nobody gives back. */
async function behindHead(world: World) {
  const gate = world.gate("gate", 1);
  const admission = world.admission();
  await admission.admit(new Demand().add(gate));
  const crowd = new Crowd(world, admission);
  crowd.admit(new Demand().add(gate));
  await world.settle();
  return { gate, admission, crowd, caller: new Caller("caller", 0) };
}

/** A line whose head asks an account outside the kernel; the caller finds that the probe of a window got lost meanwhile. */
async function behindLostProbe(world: World) {
  const clock = new BentClock(world.clock);
  const window = world.window("window", {
    maxRequests: 1,
    baseWindowMs: 60_000,
    maxThrottle: 0,
    failuresAtMaxToBlock: 1,
    initialCooldownMs: 10,
    probeTimeoutMs: 500,
    clock,
  });
  window.onRateLimitError(FAILURE);
  await world.clock.advance(10);
  assert.ok(window.tryTake([undefined], []), "the probe");
  const [head, caller] = [new Slots("head", 0), new Caller("caller", 0)];
  const crowd = new Crowd(world, world.admission({ clock }));
  crowd.admit(new Demand().add(head));
  await world.settle();
  caller.onFits = () => {
    clock.sleptMs = 1000;
    assert.equal(window.fits([undefined], []), false, "its slot is taken for a minute");
  };
  return { window, crowd, head, caller };
}

/** The names of the accounts that held somebody, in order, from one event on. */
function heldSince(world: World, first: number): string[] {
  return world.events.slice(first).filter(({ type }) => type === "HELD").map(({ limiterName }) =>
    limiterName
  );
}

describe("While an account outside the kernel is asked", () => {
  it(
    "FLT-05 a lowered cap refuses those behind it first, and those before it after the first departure",
    scenario(async (world) => {
      const { gate, crowd, caller } = await behindHead(world);
      const tokens = world.bucket("tokens", { tpm: 1000, rpm: 1000 });
      const sum = (tokenCount: number) => new Demand().add(gate).add(tokens, tokenCount);
      caller.onFits = () => tokens.setConfig({ tpm: 500, rpm: 1000 });
      crowd.admitAll([sum(600), new Demand().add(caller), new Demand().add(tokens, 700).add(gate), sum(400)]);
      await world.settle();
      assert.deepEqual(crowd.failed, [3, 1]);
      assert.deepEqual(crowd.waiting, [0, 2, 4]);
      await crowd.empty();
    }),
  );

  it(
    "BEY-08 permits that come back are not seen by those whom the walk has passed: they are held first",
    scenario(async (world) => {
      const { crowd, caller, admission } = await behindHead(world);
      const other = world.gate("other", 1);
      const out = await world.admission().admit(new Demand().add(other));
      const first = world.events.length;
      caller.onFits = () => out.release();
      crowd.admitAll([new Demand().add(other), new Demand().add(other), new Demand().add(caller)]);
      await world.settle();
      assert.deepEqual(heldSince(world, first), ["other", "other", "caller"]);
      assert.deepEqual(crowd.granted, [1]);
      assert.equal(admission.queueSize, 3);
      await crowd.empty();
    }),
  );

  it(
    "BEY-08 what the asked one has taken so far is nobody else's shortage",
    scenario(async (world) => {
      const { crowd, caller } = await behindHead(world);
      const [wide, full] = [world.gate("wide", 2), world.gate("full", 1)];
      const out = await world.admission().admit(new Demand().add(full));
      const asked = new Caller("asked", 1);
      asked.onTake = () => {
        full.setCapacity(2);
        full.setCapacity(1);
        asked.currentInUse = 1;
      };
      const first = world.events.length;
      crowd.admitAll([new Demand().add(wide, 2).add(full), new Demand().add(wide).add(asked)]);
      crowd.admit(new Demand().add(caller));
      await world.settle();
      assert.deepEqual(heldSince(world, first).filter((name) => name === "wide"), []);
      assert.equal(wide.currentInUse, 0);
      out.release();
      await crowd.empty();
    }),
  );

  it(
    "CAN-03 members of classes that leave are met in order of arrival, among those who stand alone",
    scenario(async (world) => {
      const { gate, crowd, caller } = await behindHead(world);
      const second = new Caller("second", 0);
      const first = world.events.length;
      second.onFits = () => world.tell("second is asked");
      caller.onFits = () => crowd.leave([1, 3, 5, 6]);
      crowd.admitAll([
        new Demand().add(gate),
        new Demand().add(caller),
        new Demand().add(gate),
        new Demand().add(second),
        new Demand().add(gate),
        new Demand().add(gate),
        new Demand().add(gate),
      ]);
      await world.settle();
      assert.deepEqual(crowd.waiting, [0, 2, 4, 7]);
      assert.deepEqual(heldSince(world, first), ["caller", "second", "gate"]);
      await crowd.empty();
    }),
  );

  it(
    "CAN-03 a member that leaves after the walk has passed it is held first, and leaves in the next pass",
    scenario(async (world) => {
      const { gate, crowd, caller } = await behindHead(world);
      const first = world.events.length;
      caller.onFits = () => crowd.leave([1]);
      crowd.admitAll([new Demand().add(gate), new Demand().add(gate), new Demand().add(caller)]);
      await world.settle();
      assert.deepEqual(heldSince(world, first), ["gate", "gate", "caller"]);
      assert.deepEqual(crowd.failed, [1]);
      await crowd.empty();
    }),
  );

  it(
    "BEY-07 a pass ends although a window gives up a lost probe under somebody who was to be refused for it",
    scenario(async (world) => {
      const { window, crowd, caller } = await behindLostProbe(world);
      crowd.admitAll([new Demand().add(caller), new Demand().add(window), new Demand().add(window)]);
      await world.settle();
      assert.deepEqual(crowd.waiting, [0, 1, 2, 3]);
      await world.clock.advance(60_000);
      assert.deepEqual(crowd.granted, [2]);
      await crowd.empty();
    }),
  );

  it(
    "WAK-06 BEY-08 who was to be refused for a lost probe and stays names the instant of its slot in the same pass",
    scenario(async (world) => {
      const { window, crowd, head, caller } = await behindLostProbe(world);
      const slotAtMs = world.clock.now() + 60_000;
      const before = head.aheads.length;
      crowd.admitAll([new Demand().add(caller), new Demand().add(window)]);
      await world.settle();
      assert.deepEqual(crowd.waiting, [0, 1, 2]);
      assert.equal(head.aheads.length - before, 1, "nobody is looked at again at once");
      assert.equal(world.clock.nextTimerMs, slotAtMs - 1000, "its clock is a second ahead of the timers");
      await crowd.empty();
    }),
  );
});
