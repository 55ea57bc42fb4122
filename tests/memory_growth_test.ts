/** The growth penalty, and the power of two behind it (monitor.md 12.4). */
import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { LoneGate } from "./memory_worlds.ts";
import { scenario, type World } from "./scenario.ts";

function paced(world: World): LoneGate {
  const lone = new LoneGate(world);
  lone.held = 3;
  return lone;
}

function assertNear(actual: number, expected: number): void {
  assert.ok(Math.abs(actual - expected) < 0.001, `${actual} is about ${expected}`);
}

describe("The growth penalty", () => {
  it(
    "MEM-13 it doubles with each point the floor grew since the release before the last",
    scenario(async (world) => {
      const lone = paced(world);
      await lone.releaseAt(0.5, 0.5);
      for (let points = 0; points <= 16; points++) {
        lone.collect((50 + points) / 100);
        assertNear(lone.penalty / 2 ** points, 1);
      }
    }),
  );

  it(
    "MEM-13 it is worked out at every look and kept only at a release",
    scenario(async (world) => {
      const lone = paced(world);
      await lone.releaseAt(0.8, 0.8);
      lone.collect(0.83);
      assertNear(lone.penalty, 8);
      lone.collect(0.8);
      assert.equal(lone.penalty, 1, "what was not released at is forgotten");
      await lone.releaseAt(0.83);
      lone.collect(0.8);
      assertNear(lone.penalty, 8);
    }),
  );

  it(
    "MEM-14 the wait is curve times penalty rounded to the nearest ms: 122,816 and not 122,815",
    scenario(async (world) => {
      const lone = paced(world);
      await lone.releaseAt(0.8, 0.83);
      const releasedAt = world.clock.now();
      lone.collect(0.86);
      assert.equal(lone.pacingMs, 122_816);
      await world.clock.advanceTo(releasedAt + 122_815.999);
      assert.equal(lone.look(), false);
      await world.clock.advanceTo(releasedAt + 122_816);
      assert.equal(lone.look(), true);
    }),
  );

  it(
    "MEM-15 one release is no climb",
    scenario(async (world) => {
      const lone = paced(world);
      await lone.releaseAt(0.8);
      lone.collect(0.92);
      assert.equal(lone.penalty, 1);
    }),
  );

  it(
    "MEM-16 without net growth there is no penalty",
    scenario(async (world) => {
      const lone = paced(world);
      await lone.releaseAt(0.89, 0.92, 0.89);
      lone.collect(0.92);
      assert.equal(lone.penalty, 1);
      assert.equal(lone.pacingMs, 15_360);
    }),
  );

  it(
    "MEM-17 a climb compounds",
    scenario(async (world) => {
      const lone = paced(world);
      await lone.releaseAt(0.8, 0.83);
      lone.collect(0.86);
      assertNear(lone.penalty, 64);
      assert.equal(lone.pacingMs, 122_816);
      await lone.releaseAt(0.86);
      lone.collect(0.89);
      assertNear(lone.penalty, 4_096);
    }),
  );

  it(
    "MEM-18 holding a level keeps it",
    scenario(async (world) => {
      const lone = paced(world);
      await lone.releaseAt(0.8, 0.83, 0.86, 0.89, 0.86);
      lone.collect(0.89);
      assertNear(lone.penalty, 4_096);
      await lone.releaseAt(0.89);
      lone.collect(0.86);
      assertNear(lone.penalty, 4_096);
    }),
  );

  it(
    "MEM-19 a jump of twelve points gives 4,096, and the wait ends at an hour",
    scenario(async (world) => {
      const lone = paced(world);
      await lone.releaseAt(0.8, 0.8);
      lone.collect(0.92);
      assertNear(lone.penalty, 4_096);
      assert.equal(lone.pacingMs, 3_600_000);
    }),
  );

  it(
    "MEM-20 garbage above the floor raises nothing",
    scenario(async (world) => {
      const lone = paced(world);
      await lone.releaseAt(0.8, 0.83);
      assertNear(lone.penalty, 8);
      for (const ratio of [0.86, 0.9, 0.94]) lone.look(ratio);
      assert.equal(lone.gate.status.floorRatio, 0.83);
      assertNear(lone.penalty, 8);
      assert.equal(lone.pacingMs, 195_128);
      lone.collect(0.84);
      assertNear(lone.penalty, 16);
    }),
  );

  it(
    "MEM-21 a falling floor divides it, down to 1",
    scenario(async (world) => {
      const lone = paced(world);
      await lone.releaseAt(0.8, 0.83, 0.86);
      lone.collect(0.82);
      assertNear(lone.penalty, 32);
      lone.collect(0.2);
      assert.equal(lone.penalty, 1);
      assert.equal(lone.look(), false);
      await world.clock.advance(50);
      assert.equal(lone.look(), true);
    }),
  );

  it(
    "MEM-22 its ceiling is 72,000, and seventeen points down undo that",
    scenario(async (world) => {
      const lone = paced(world);
      await lone.releaseAt(0.8, 0.8, 0.92, 0.92);
      assert.equal(lone.penalty, 72_000);
      assert.equal(lone.pacingMs, 3_600_000);
      lone.collect(0.76);
      assert.ok(lone.penalty > 1, "sixteen points do not");
      lone.collect(0.75);
      assert.equal(lone.penalty, 1);
    }),
  );

  it(
    "MEM-23 right after a release it shows what the next look would go by",
    scenario(async (world) => {
      const lone = paced(world);
      await lone.releaseAt(0.8, 0.83);
      assertNear(lone.penalty, 8);
      await lone.releaseAt(0.86);
      assertNear(lone.penalty, 512);
    }),
  );
});
