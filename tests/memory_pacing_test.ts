/** The memory gate on its own: who goes when (monitor.md 12.5 and 12.6). */
import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { LoneGate } from "./memory_worlds.ts";
import { scenario } from "./scenario.ts";

describe("Releases", () => {
  it(
    "MEM-24 with nobody in memory's line nothing paces, at any reading below the latch",
    scenario((world) => {
      for (const ratio of [0.5, 0.8, 0.9, 0.94]) {
        const lone = new LoneGate(world);
        for (let i = 0; i < 5; i++) assert.equal(lone.take(ratio), true);
        assert.equal(lone.gate.earliestFit([], []), null);
      }
      const held = new LoneGate(world);
      held.held = 3;
      assert.equal(held.look(0.94), true, "nor before a first release");
    }),
  );

  it(
    "MEM-25 the next one may go once the delay has passed, to the tick",
    scenario(async (world) => {
      const lone = new LoneGate(world);
      lone.held = 3;
      assert.equal(lone.take(0.9), true);
      assert.equal(lone.look(), false);
      await world.clock.advance(8_887.999);
      assert.equal(lone.look(), false);
      await world.clock.advance(0.001);
      assert.equal(lone.look(), true);
      assert.equal(lone.take(), true);
      assert.equal(lone.look(), false);
    }),
  );

  it(
    "MEM-26 the delay is that of the present reading",
    scenario(async (world) => {
      const lone = new LoneGate(world);
      lone.held = 3;
      lone.take(0.9);
      await world.clock.advance(1_111);
      assert.equal(lone.look(0.9), false);
      assert.equal(lone.look(0.85), true, "at the same instant");
      assert.equal(lone.look(0.9), false);
    }),
  );

  it(
    "MEM-27 with plenty of free heap a line leaves singly, 50 ms apart",
    scenario(async (world) => {
      const lone = new LoneGate(world);
      lone.held = 25;
      const start = world.clock.now();
      assert.deepEqual([lone.take(0.5), lone.look()], [true, false]);
      assert.equal(lone.gate.earliestFit([], []), start + 50);
      await world.clock.advance(50);
      assert.deepEqual([lone.take(), lone.look()], [true, false]);
    }),
  );

  it(
    "MEM-28 a take stamps the release, spends the completion and keeps the penalty; a lone arrival's too",
    scenario(async (world) => {
      const lone = new LoneGate(world);
      lone.gate.give([]);
      assert.equal(lone.take(0.9), true, "nobody is in line");
      lone.held = 1;
      assert.equal(lone.look(), false, "paced by the lone arrival, its completion spent");
      assert.equal(lone.pacingMs, 8_888);
      assert.equal(lone.look(), false);
      await world.clock.advance(8_888);
      assert.deepEqual([lone.look(), lone.look(), lone.pacingMs], [true, true, 0], "a look stamps nothing");
    }),
  );

  it(
    "MEM-29 completions do not add up",
    scenario((world) => {
      const lone = new LoneGate(world);
      let wakes = 0;
      lone.gate.onCapacityChange(() => void wakes++);
      lone.held = 5;
      lone.take(0.94);
      for (let i = 0; i < 3; i++) lone.gate.give([]);
      assert.equal(wakes, 3);
      assert.deepEqual([lone.take(), lone.look()], [true, false]);
    }),
  );

  it(
    "MEM-30 a completion lets the next one go, and the delay restarts from there",
    scenario(async (world) => {
      const lone = new LoneGate(world);
      lone.held = 4;
      lone.take(0.85);
      await world.clock.advance(555);
      lone.gate.give([]);
      assert.equal(lone.take(), true);
      await world.clock.advance(1_110);
      assert.equal(lone.look(), false);
      await world.clock.advance(1);
      assert.equal(lone.take(), true);
    }),
  );

  it(
    "MEM-31 a completion under the latch is spent by the first release after it",
    scenario((world) => {
      const lone = new LoneGate(world);
      lone.held = 5;
      lone.take(0.5);
      assert.equal(lone.look(0.96), false);
      lone.gate.give([]);
      assert.equal(lone.look(0.96), false);
      assert.deepEqual([lone.take(0.89), lone.take(0.89)], [true, false]);
    }),
  );

  it(
    "MEM-32 clearing the latch lets out one, not the line",
    scenario((world) => {
      const lone = new LoneGate(world);
      lone.held = 5;
      assert.equal(lone.take(0.96), false);
      assert.deepEqual([lone.take(0.89), lone.take(0.89)], [true, false]);
      assert.ok(lone.gate.earliestFit([], [])! > world.clock.now());
    }),
  );

  it(
    "MEM-33 a release long ago does not delay the first one after the latch, a capped penalty does",
    scenario(async (world) => {
      const old = new LoneGate(world);
      old.held = 5;
      old.take(0.88);
      old.look(0.96);
      await world.clock.advance(60_000);
      assert.equal(old.take(0.89), true);

      const grown = new LoneGate(world);
      for (let i = 0; i < 10; i++) grown.take(0.5);
      grown.held = 5;
      grown.look(0.96);
      await world.clock.advance(60_000);
      assert.equal(grown.take(0.89), false);
      assert.equal(grown.pacingMs, 59 * 60_000, "an hour less a minute");
    }),
  );
});

describe("The instant it names", () => {
  it(
    "MEM-36 two seconds while latched, else the due instant, at most two seconds away",
    scenario(async (world) => {
      const lone = new LoneGate(world);
      const ask = () => lone.gate.earliestFit([], []);
      const start = world.clock.now();
      assert.equal(ask(), null, "nothing paces");
      lone.held = 3;
      lone.take(0.94);
      assert.equal(ask(), start + 2_000);
      lone.ratio = 0.79;
      assert.equal(ask(), start + 50);
      lone.ratio = 0.89;
      assert.equal(ask(), start + 2_000);
      await world.clock.advance(5_000);
      assert.equal(ask(), start + 6_480);
      lone.look(0.97);
      assert.equal(ask(), start + 7_000);
      lone.ratio = 0.1;
      assert.equal(ask(), start + 7_000, "latched: no look is taken");
    }),
  );

  it(
    "MEM-37 a due instant that is past is named as it is",
    scenario(async (world) => {
      const lone = new LoneGate(world);
      lone.held = 3;
      const start = world.clock.now();
      lone.take(0.9);
      await world.clock.advance(8_888.001);
      assert.equal(lone.gate.earliestFit([], []), start + 8_888);
    }),
  );

  it(
    "MEM-38 neither a pending completion nor stopping changes it, and it sets no latch",
    scenario((world) => {
      const lone = new LoneGate(world);
      lone.held = 3;
      const start = world.clock.now();
      lone.take(0.85);
      lone.gate.give([]);
      assert.equal(lone.look(), true);
      assert.equal(lone.gate.earliestFit([], []), start + 1_111);
      lone.ratio = 0.97;
      lone.gate.earliestFit([], []);
      assert.equal(lone.gate.status.zone, "DRAINING");
      lone.gate.stop();
      lone.ratio = 0.85;
      assert.equal(lone.gate.earliestFit([], []), start + 1_111);
    }),
  );
});

describe("A memory gate that stopped", () => {
  it(
    "MEM-42 it says yes to everyone, without a look and without a release",
    scenario((world) => {
      const lone = new LoneGate(world);
      let wakes = 0;
      lone.gate.onCapacityChange(() => void wakes++);
      lone.held = 10;
      assert.equal(lone.look(0.99), false);
      assert.equal(lone.gate.isStopping, false);
      lone.logs.length = 0;
      lone.gate.stop();
      lone.gate.stop();
      assert.deepEqual([wakes, lone.logs.length, lone.gate.isStopping], [1, 1, true]);
      assert.match(lone.logs[0]!, /^info /);

      const before = lone.readings;
      assert.deepEqual([lone.gate.fits(), lone.gate.tryTake(), lone.gate.tryTake()], [true, true, true]);
      assert.equal(lone.readings, before);
      assert.equal(lone.pacingMs, 0, "nothing was stamped");
    }),
  );
});
