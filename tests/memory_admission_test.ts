/** The memory gate as an Admission's memory account: the kernel decides it (monitor.md 1.6; CAN-15, CAN-16, WAK-13). */
import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Demand, type LimiterEvent, MemoryPressureGate, TimeoutError } from "../mod.ts";
import { ScriptedLimiter } from "../testing/mod.ts";
import { DrainWorld } from "./memory_worlds.ts";
import { JumpClock } from "./odd_clocks.ts";
import { scenario } from "./scenario.ts";
import { assertParked, grantOf } from "./watched.ts";

/** A scenario with jobs behind a gate. */
function drain(play: (drain: DrainWorld) => Promise<void>): () => Promise<void> {
  return scenario((world) => play(new DrainWorld(world)));
}

describe("Memory first, with the gate itself", () => {
  it(
    "MON-34 under the latch no other account is asked and none is reported",
    drain(async (drain) => {
      drain.usedGb = 96;
      await drain.submit(1);
      assert.deepEqual(drain.world.transitions, ["memory HELD"]);
      await drain.heap(50);
      drain.assertFirst(1);
      assert.equal(drain.world.count("GRANTED_FROM_HOLD", "memory"), 1);
      assert.equal(drain.world.count("HELD", "slot"), 0);
      const event = drain.world.events.at(-1)!;
      assert.deepEqual(
        [event.limiterCategory, event.amount, event.inUse, event.capacity, event.waiters],
        ["memory", 1, 0.5, 1, 0],
      );
    }),
  );

  it(
    "MON-35 an empty demand never meets memory: under the latch, mid-drain and behind a held head",
    drain(async (drain) => {
      const { admission, world } = drain;
      drain.usedGb = 96;
      for (let i = 0; i < 3; i++) assert.equal((await admission.admit(new Demand())).isEmpty, true);
      assert.equal(admission.queueSize, 0);
      await drain.submit(3);
      await drain.heap(89);
      drain.assertFirst(1);
      const empty = world.follow(admission.admit(new Demand()));
      await world.settle();
      const grant = grantOf(empty);
      assert.equal(admission.queueSize, 2);
      assert.equal(world.count("HELD", "memory"), 3);
      grant.release();
      await world.settle();
      drain.assertFirst(1, "its settlement is no completion");
    }),
  );

  it(
    "MON-36 MON-37 behind a head that memory holds, everyone is held and waits for the head's instant",
    drain(async (drain) => {
      await drain.lineUnderTheLatch(3);
      await drain.heap(85);
      drain.assertFirst(1);
      const { clock } = drain.world;
      assert.equal(clock.nextTimerMs, clock.now() + 1_111);
      assert.equal(drain.world.count("HELD", "memory"), 3);
      await drain.world.clock.advance(1_111);
      drain.assertFirst(2);
    }),
  );

  it(
    "MON-38 a line that another account holds is not memory's to space",
    drain(async (drain) => {
      const { admission, world } = drain;
      const closed = new ScriptedLimiter("closed", "short");
      const jobs = [];
      for (const usedGb of [79, 90, 94]) {
        drain.usedGb = usedGb;
        while (jobs.length < 25) {
          jobs.push(world.follow(admission.admit(new Demand().add(closed, 1).add(drain.slot))));
          await world.settle();
          if (jobs.length % 9 === 0) break;
        }
      }
      assertParked(...jobs);
      closed.mode = "fits";
      closed.wake();
      await world.settle();
      for (const job of jobs) grantOf(job);
      assert.equal(jobs.length, 25);
      assert.equal(world.count("HELD", "memory"), 0);
    }),
  );

  it(
    "MON-32 when memory declines its take, all entries go back and the waiter is held on memory",
    drain(async (drain) => {
      const { admission, gate, slot, world } = drain;
      const greedy = new ScriptedLimiter("greedy", "fits");
      drain.usedGb = 90;
      gate.observeHeld(() => 1);
      let isMean = true;
      // Somebody else's release, between memory's yes and its turn.
      greedy.tryTake = () => {
        if (isMean) gate.tryTake([], []);
        return true;
      };
      const job = world.follow(admission.admit(new Demand().add(slot).add(greedy, 1)));
      await world.settle();
      assertParked(job);
      assert.equal(slot.currentInUse, 0);
      assert.deepEqual(world.transitions, ["memory HELD"]);
      isMean = false;
      await world.clock.advance(8_888);
      grantOf(job);
    }),
  );

  it(
    "WAK-13 a delay that ends while the pass still reports leads to another pass without any event",
    scenario(async (world) => {
      const clock = new JumpClock();
      let ratio = 0.96;
      const memory = new MemoryPressureGate({ reader: () => ratio, clock });
      const slot = world.gate("slot", 1_000);
      const events = ({ limiterName, type }: LimiterEvent) => {
        if (limiterName === "memory" && type === "HELD") clock.nowMs++;
      };
      const admission = world.admission({ memory, clock, events });
      const admit = async () => {
        const job = world.follow(admission.admit(new Demand().add(slot)));
        await clock.turn();
        return job;
      };
      const jobs = [await admit(), await admit()];
      ratio = 0.01;
      slot.setCapacity(1_001);
      await clock.turn();
      grantOf(jobs[0]!);
      assertParked(jobs[1]!);
      const grantedAt = clock.now();
      while (clock.now() < grantedAt + 50) jobs.push(await admit());
      for (let i = 0; i < 10; i++) await clock.turn();
      assert.equal(jobs.filter(({ grant }) => grant !== null).length, 2);
      grantOf(jobs[1]!);
    }),
  );
});

describe("Leaving memory's line", () => {
  it(
    "CAN-15 who leaves it does not cost the line its turn",
    drain(async (drain) => {
      const { admission, slot, world } = drain;
      await drain.heap(96);
      const controller = new AbortController();
      for (let i = 0; i < 5; i++) {
        const options = i === 1 ? { signal: controller.signal } : {};
        drain.jobs.push(world.follow(admission.admit(new Demand().add(slot), options)));
        await world.settle();
      }
      await drain.heap(89);
      drain.assertGranted([0]);
      controller.abort(new Error("left"));
      await world.settle();
      assert.equal(admission.queueSize, 3);
      await drain.advance(6_480);
      drain.assertGranted([0, 2]);
    }),
  );

  it(
    "CAN-16 stop in the middle of a drain fails the rest and hangs nothing",
    drain(async (drain) => {
      await drain.draining(5, 89);
      drain.admission.stop();
      await drain.world.settle();
      for (const job of drain.jobs.slice(1)) assert.equal((job.error as { code: string }).code, "stopped");
      assert.equal(drain.admission.queueSize, 0);
      assert.equal(drain.gate.status.heldOnMemory, 0);
      assert.equal(drain.world.clock.pendingTimers, 0);
      await drain.finish(0);
      assert.equal(drain.slot.currentInUse, 0);
    }),
  );

  it(
    "BEY-20 a time limit ends the wait and names memory",
    drain(async (drain) => {
      const { admission, slot, world } = drain;
      drain.usedGb = 96;
      const demand = new Demand().add(slot);
      assert.equal(admission.tryAdmit(demand), null);
      await assert.rejects(admission.admit(demand, { timeoutMs: 0 }), TimeoutError);
      await assert.rejects(admission.admit(demand, { timeoutMs: 1_000, failFast: true }), TimeoutError);
      const late = world.follow(admission.admit(demand, { timeoutMs: 5_000 }));
      await world.clock.advance(5_000);
      const { waitingOn, retryAfterMs } = late.error as TimeoutError;
      assert.deepEqual([waitingOn, retryAfterMs], [["memory"], 2_000]);
    }),
  );
});
