/** The memory gate while the heap after collections climbs: the table of MEM-46. */
import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { DrainWorld } from "./memory_worlds.ts";
import { scenario } from "./scenario.ts";

/** What happens, and what is then in force. `waitMs` counts from the last release. */
interface Step {
  afterMs: number;
  usedGb: number;
  floor: number;
  penalty: number;
  waitMs: number;
  released: number;
}

/** The steps of a climb at which nobody goes, with the penalty and the wait that keep the next one; and those at which one goes. */
const CLIMB: readonly (Step | Pick<Step, "afterMs" | "usedGb" | "released">)[] = [
  { afterMs: 0, usedGb: 80, released: 1 },
  { afterMs: 0, usedGb: 85, floor: 0.8, penalty: 1, waitMs: 1_111, released: 1 },
  { afterMs: 1_111, usedGb: 83, floor: 0.83, penalty: 8, waitMs: 1_912, released: 2 },
  { afterMs: 0, usedGb: 88, floor: 0.83, penalty: 8, waitMs: 36_408, released: 2 },
  { afterMs: 4_551, usedGb: 86, floor: 0.86, penalty: 64, waitMs: 122_816, released: 2 },
  { afterMs: 118_264, usedGb: 86, floor: 0.86, penalty: 64, waitMs: 122_816, released: 2 },
  { afterMs: 1, usedGb: 86, released: 3 },
  { afterMs: 2_000, usedGb: 83, floor: 0.83, penalty: 64, waitMs: 15_296, released: 3 },
  { afterMs: 13_296, usedGb: 83, floor: 0.83, penalty: 8, waitMs: 1_912, released: 4 },
  { afterMs: 2_000, usedGb: 94, floor: 0.83, penalty: 8, waitMs: 195_128, released: 4 },
  { afterMs: 2_000, usedGb: 30, released: 5 },
];

describe("A climb", () => {
  it(
    "MEM-46 goes as tabled",
    scenario(async (world) => {
      const drain = new DrainWorld(world);
      await drain.lineUnderTheLatch(6);
      const { clock } = world;
      let released = 0;
      let releasedAt = clock.now();
      for (const [index, step] of CLIMB.entries()) {
        drain.usedGb = step.usedGb;
        await drain.advance(step.afterMs);
        drain.assertFirst(step.released, `step ${index}`);
        if (step.released > released) releasedAt = clock.now();
        released = step.released;
        if (!("floor" in step)) continue;
        const { floorRatio, growthPenalty, pacingDelayMillis } = drain.gate.status;
        assert.equal(floorRatio, step.floor, `floor in step ${index}`);
        assert.ok(Math.abs(growthPenalty - step.penalty) < 0.001, `${growthPenalty} in step ${index}`);
        assert.equal(pacingDelayMillis, step.waitMs - (clock.now() - releasedAt), `wait in step ${index}`);
      }
    }),
  );
});
