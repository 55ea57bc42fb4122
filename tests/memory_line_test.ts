/** What the memory gate knows of its line, and who hears of it (monitor.md 12.7; BEY-06, BEY-13, BEY-53). */
import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Admission, type AdmissionOptions, Demand, InvalidStateError, MemoryPressureGate } from "../mod.ts";
import { ManualClock } from "../testing/mod.ts";
import { DrainWorld } from "./memory_worlds.ts";
import { scenario } from "./scenario.ts";
import { assertParked, grantOf } from "./watched.ts";

/** A scenario with jobs behind a gate. */
function drain(play: (drain: DrainWorld) => Promise<void>): () => Promise<void> {
  return scenario((world) => play(new DrainWorld(world)));
}

describe("What memory knows of its line", () => {
  it(
    "MEM-40 BEY-13 it counts a waiter before that is reported, and no more once its grant is",
    scenario(async (world) => {
      let ratio = 0.96;
      const memory = new MemoryPressureGate({ reader: () => ratio, clock: world.clock });
      const seen: string[] = [];
      const events: AdmissionOptions["events"] = ({ limiterName, type, waiters }) => {
        if (limiterName === "memory") seen.push(`${type} ${waiters} ${memory.status.heldOnMemory}`);
      };
      const admission = world.admission({ memory, events });
      assert.equal(memory.status.heldOnMemory, 0);
      for (let i = 0; i < 2; i++) {
        void admission.admit(new Demand().add(world.gate("slot", 1)));
        await world.settle();
      }
      ratio = 0.5;
      await world.clock.advance(3_000);
      assert.deepEqual(seen, [
        "HELD 1 1",
        "HELD 2 2",
        "GRANTED_FROM_HOLD 1 1",
        "GRANTED_FROM_HOLD 0 0",
      ]);
    }),
  );

  it(
    "BEY-06 MEM-29 two Admissions share one: their lines add up, and a completion wakes both",
    drain(async (drain) => {
      const other = drain.world.admission({ memory: drain.gate });
      await drain.submit(1);
      await drain.heap(96);
      await drain.submit(2);
      const there = [1, 2].map(() => drain.world.follow(other.admit(new Demand().add(drain.slot))));
      await drain.world.settle();
      assert.equal(drain.gate.status.heldOnMemory, 4);
      drain.usedGb = 94;
      await drain.world.clock.advance(2_000);
      assert.equal(drain.gate.status.zone, "CRITICAL");
      drain.usedGb = 89;
      const before = drain.granted.length + there.filter(({ grant }) => grant !== null).length;
      await drain.finish(0);
      const after = drain.granted.length + there.filter(({ grant }) => grant !== null).length;
      assert.equal(after, before + 1, "one completion, one job, whichever line it is in");
      assert.equal(drain.gate.status.heldOnMemory, 3);
    }),
  );

  it(
    "MEM-29 MEM-40 without a sink a finished job lets the next one go as well, and a give from outside wakes the line",
    scenario(async (world) => {
      let ratio = 0.5;
      const memory = new MemoryPressureGate({ reader: () => ratio, clock: world.clock });
      const admission = new Admission({ memory, clock: world.clock }).start();
      const demand = new Demand().add(world.gate("slot", 9));
      const first = await admission.admit(demand);
      ratio = 0.96;
      const jobs = [1, 2].map(() => world.follow(admission.admit(demand)));
      await world.settle();
      ratio = 0.88;
      first.release();
      await world.settle();
      grantOf(jobs[0]!);
      assertParked(jobs[1]!);
      memory.give([]);
      await world.settle();
      grantOf(jobs[1]!);
    }),
  );

  it(
    "MEM-45 BEY-12 the Admission's logger hears of the latch of a gate without one",
    drain(async (drain) => {
      await drain.draining(1, 89);
      const shown = drain.world.logs.map((line) => line.split(":")[0]);
      assert.deepEqual(shown, ["warn Memory latch set", "info Memory latch cleared"]);
    }),
  );

  it(
    "BEY-53 an Admission refuses demands while its memory gate reads another clock",
    scenario(async (world) => {
      const memory = new MemoryPressureGate({ reader: () => 0.5, clock: new ManualClock() });
      const admission = world.admission({ memory });
      const demand = new Demand().add(world.gate("slot", 1));
      await assert.rejects(admission.admit(demand), (error: Error) => {
        assert.ok(error instanceof InvalidStateError);
        assert.match(error.message, /"memory".*another clock/);
        return true;
      });
      assert.throws(() => admission.tryAdmit(demand), InvalidStateError);
      assert.equal((await admission.admit(new Demand())).isEmpty, true);
    }),
  );

  it(
    "BEY-16 a disposed gate serves the Admissions it has, and no new one",
    drain(async (drain) => {
      await drain.draining(2, 89);
      drain.gate.dispose();
      await drain.finish(0);
      drain.assertFirst(2);
      assert.throws(() => drain.world.unstarted({ memory: drain.gate }), InvalidStateError);
      assert.throws(() => drain.gate.fits([], []), InvalidStateError);
    }),
  );
});
