/** The memory gate in front of an Admission: how its line drains (monitor.md 12.5 to 12.7). */
import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { DrainWorld } from "./memory_worlds.ts";
import { scenario } from "./scenario.ts";

/** A scenario with jobs behind a gate. */
function drain(play: (drain: DrainWorld) => Promise<void>): () => Promise<void> {
  return scenario((world) => play(new DrainWorld(world)));
}

describe("A line under the latch", () => {
  it(
    "MEM-07 MEM-10 it stays down to 0.90 and lets one go below",
    drain(async (drain) => {
      await drain.heap(95);
      await drain.submit(20);
      drain.assertGranted([]);
      for (const usedGb of [94, 90]) {
        await drain.heap(usedGb);
        drain.assertGranted([]);
        assert.equal(drain.world.clock.nextTimerMs, drain.world.clock.now() + 2_000);
      }
      await drain.heap(89.9);
      drain.assertGranted([0]);
    }),
  );

  it(
    "MEM-36 it is looked at every two seconds without any event",
    drain(async (drain) => {
      await drain.lineUnderTheLatch(3);
      drain.usedGb = 89;
      await drain.world.clock.advance(1_999.999);
      drain.assertGranted([]);
      await drain.world.clock.advance(0.001);
      drain.assertGranted([0]);
    }),
  );

  it(
    "MEM-48 completions at and above 0.90 release nobody, the first below releases one",
    drain(async (drain) => {
      await drain.submit(20);
      await drain.heap(95);
      await drain.submit(20);
      for (const [index, usedGb] of [94, 93, 92, 91, 90].entries()) {
        drain.usedGb = usedGb;
        await drain.finish(index);
        await drain.advance(2_000);
        drain.assertFirst(20);
      }
      drain.usedGb = 89;
      await drain.finish(5);
      drain.assertFirst(21);
    }),
  );

  it(
    "MEM-33 many releases at a low level, then a high one: an hour less the minute that passed",
    drain(async (drain) => {
      await drain.submit(10);
      await drain.heap(96);
      await drain.submit(5);
      await drain.advance(60_000);
      await drain.heap(89);
      drain.assertFirst(10);
      assert.equal(Math.floor(drain.gate.status.pacingDelayMillis / 60_000), 59);
    }),
  );

  for (const held of [20, 25]) {
    it(
      `MEM-32 the clearing pass releases one of ${held}`,
      drain((drain) => drain.draining(held, 89)),
    );
  }
});

describe("A line that drains", () => {
  it(
    "MEM-26 a lower reading lets the next one go at once, a higher one keeps it longer",
    drain(async (drain) => {
      await drain.draining(3, 89);
      drain.usedGb = 90;
      await drain.advance(1_200);
      drain.assertFirst(1);
      await drain.heap(85);
      drain.assertFirst(2);
      drain.usedGb = 92;
      await drain.advance(1_111);
      drain.assertFirst(2);
      await drain.advance(15_360 - 1_111 - 0.001);
      drain.assertFirst(2);
      await drain.advance(0.001);
      drain.assertFirst(3);
    }),
  );

  it(
    "MEM-27 with plenty of free heap it leaves singly, 50 ms apart, in order",
    drain(async (drain) => {
      await drain.draining(25, 79);
      for (let count = 1; count < 25; count++) {
        await drain.advance(49);
        drain.assertFirst(count);
        await drain.advance(1);
        drain.assertFirst(count + 1);
      }
      assert.equal(drain.world.count("GRANTED_FROM_HOLD", "memory"), 25);
    }),
  );

  it(
    "MEM-29 each completion releases exactly one",
    drain(async (drain) => {
      await drain.submit(10);
      await drain.heap(96);
      await drain.submit(25);
      await drain.heap(89);
      // The floor grew from 50 to 89, so the clock alone would take an hour.
      drain.assertFirst(10);
      await drain.heap(94);
      for (let job = 0; job < 10; job++) {
        await drain.finish(job);
        drain.assertFirst(11 + job);
      }
      assert.equal(drain.admission.queueSize, 15);
    }),
  );

  it(
    "MEM-31 a completion under the latch lets the first one go after it",
    drain(async (drain) => {
      await drain.draining(6, 89);
      await drain.advance(6_480);
      drain.assertFirst(2);
      await drain.heap(96);
      await drain.finish(1);
      drain.assertFirst(2);
      drain.usedGb = 92;
      await drain.advance(2_000);
      drain.assertFirst(2);
      drain.usedGb = 89;
      await drain.advance(2_000);
      drain.assertFirst(3);
    }),
  );

  it(
    "MEM-34 a job that arrives meanwhile joins the back of memory's line",
    drain(async (drain) => {
      await drain.draining(3, 89);
      await drain.submit(1);
      assert.equal(drain.admission.queueSize, 3);
      assert.equal(drain.world.count("HELD", "memory"), 4);
      await drain.finish(0);
      drain.assertFirst(2);
      await drain.advance(6_480);
      drain.assertFirst(3);
      await drain.advance(6_479.999);
      drain.assertFirst(3);
      await drain.advance(0.001);
      drain.assertFirst(4);
    }),
  );

  it(
    "MEM-35 on completions a long line moves at the jobs' pace",
    drain(async (drain) => {
      await drain.draining(26, 89);
      await drain.heap(94.8);
      for (let job = 0; job < 20; job++) {
        await drain.advance(3_000);
        await drain.finish(job);
      }
      drain.assertFirst(21);
    }),
  );

  it(
    "MEM-39 a collection between releases is seen within two seconds",
    drain(async (drain) => {
      await drain.draining(5, 89);
      const { clock } = drain.world;
      const releasedAt = clock.now();
      await drain.heap(94);
      assert.equal(clock.nextTimerMs, releasedAt + 2_000);
      await clock.advance(1_900);
      drain.usedGb = 30;
      await clock.advance(99.999);
      drain.assertFirst(1);
      await clock.advance(0.001);
      drain.assertFirst(2);
      await clock.advance(49.999);
      drain.assertFirst(2);
      await clock.advance(0.001);
      drain.assertFirst(3);
    }),
  );

  it(
    "MEM-41 a line of one is paced as well: whoever is asked counts itself",
    drain(async (drain) => {
      await drain.submit(1);
      await drain.heap(96);
      await drain.submit(1);
      await drain.heap(85);
      drain.assertFirst(1);
      assert.equal(drain.gate.status.heldOnMemory, 1);
      await drain.advance(1_110.999);
      drain.assertFirst(1);
      await drain.advance(0.001);
      drain.assertFirst(2);
    }),
  );

  it(
    "MEM-47 several readings within one line release at their instants, in order",
    drain(async (drain) => {
      await drain.draining(25, 89);
      await drain.advance(6_479);
      drain.assertFirst(1);
      await drain.advance(1);
      drain.assertFirst(2);
      await drain.heap(79);
      drain.assertFirst(2);
      await drain.advance(49);
      drain.assertFirst(2);
      await drain.advance(1);
      drain.assertFirst(3);
      drain.usedGb = 50;
      await drain.advance(50);
      drain.assertFirst(4);
      await drain.advance(50);
      drain.assertFirst(5);
      assert.equal(drain.admission.queueSize, 20);
    }),
  );

  it(
    "MEM-24 a job that comes alone is let through at any reading below the latch",
    drain(async (drain) => {
      for (const [index, usedGb] of [10, 49, 80, 88, 90, 94].entries()) {
        drain.usedGb = usedGb;
        await drain.submit(1);
        drain.assertFirst(index + 1);
      }
      assert.equal(drain.world.count("HELD", "memory"), 0);
    }),
  );
});
