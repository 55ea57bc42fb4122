/** Stop: waiters fail, wake slots are cleared, and grants that are out can still be settled (monitor.md 4). */
import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { CancellationError, Demand } from "../mod.ts";
import { type Call, scenario } from "./scenario.ts";
import { grantOf, WatchedLimiter } from "./watched.ts";

function assertStopped(...calls: Call[]): void {
  for (const { error } of calls) {
    assert.ok(error instanceof CancellationError, String(error));
    assert.equal(error.code, "stopped");
  }
}

describe("Stop", () => {
  it(
    "CAN-10 stop fails all waiters as shutdown, empties the line and clears every wake slot",
    scenario(async (world) => {
      const log: string[] = [];
      const gate = world.gate("gate", 1);
      const bucket = world.bucket("bucket", { tpm: 1000, rpm: 10 });
      const x = new WatchedLimiter("x", log, "short");
      const memory = new WatchedLimiter("memory", log);
      const admission = world.admission({ memory });
      await admission.admit(new Demand().add(gate).add(bucket, 1000));
      const waiters = [
        world.follow(admission.admit(new Demand().add(gate).add(x))),
        world.follow(admission.admit(new Demand().add(bucket, 100))),
        world.follow(admission.admit(new Demand().add(gate))),
      ];
      await world.clock.advance(5);
      assert.equal(world.clock.pendingTimers, 1);
      world.events.length = 0;

      admission.stop();
      assert.deepEqual([admission.queueSize, world.clock.pendingTimers], [0, 0]);
      await world.settle();
      assertStopped(...waiters);
      const told = world.events.map((event) =>
        `${event.limiterName} ${event.type} ${event.rejectReason} ${event.waitMs}`
      );
      const rejected = (name: string) => `${name} REJECTED shutdown 5`;
      assert.deepEqual(told, [rejected("gate"), rejected("x"), rejected("bucket"), rejected("gate")]);
      assert.deepEqual(log.filter((line) => line.endsWith("unwired")).sort(), [
        "memory unwired",
        "x unwired",
      ]);
      log.length = 0;
      x.wake();
      gate.setCapacity(5);
      await world.clock.advance(3_600_000);
      assert.deepEqual(log, []);
    }),
  );

  it(
    "CAN-10 stop from inside a pass fails everybody as shutdown, and the take in progress is undone",
    scenario(async (world) => {
      const x = new WatchedLimiter("x", [], "short");
      const [gate, taken] = [world.gate("gate", 2), world.gate("taken", 1)];
      const admission = world.admission();
      const holder = await admission.admit(new Demand().add(gate, 2));
      await admission.admit(new Demand().add(taken));
      const calls = [
        world.follow(admission.admit(new Demand().add(gate).add(x))),
        world.follow(admission.admit(new Demand().add(gate))),
        world.follow(admission.admit(new Demand().add(taken))),
      ];
      await world.settle();
      calls.push(world.follow(admission.admit(new Demand())));
      x.mode = "fits";
      x.onAsk = (verb) => {
        if (verb === "tryTake") admission.stop();
      };
      holder.release();
      world.events.length = 0;
      await world.settle();
      assertStopped(...calls);
      assert.deepEqual([gate.currentInUse, x.currentInUse, admission.queueSize], [0, 0, 0]);
      const told = world.events.map(({ limiterName, type, rejectReason }) =>
        `${limiterName} ${type} ${rejectReason}`
      );
      const rejected = ["gate", "x", "gate", "taken"].map((name) => `${name} REJECTED shutdown`);
      assert.deepEqual(told, rejected);
    }),
  );

  it(
    "CAN-10 stop from inside an inline attempt fails that caller, and who parked during it",
    scenario(async (world) => {
      const x = new WatchedLimiter("x", []);
      const gate = world.gate("gate", 2);
      const admission = world.admission();
      const parked: Call[] = [];
      x.onAsk = (verb) => {
        if (verb !== "tryTake") return;
        parked.push(world.follow(admission.admit(new Demand().add(gate))));
        admission.stop();
      };
      const call = world.follow(admission.admit(new Demand().add(gate).add(x)));
      await world.settle();
      assertStopped(call, ...parked);
      assert.equal(parked.length, 1);
      assert.deepEqual([gate.currentInUse, x.currentInUse, admission.queueSize], [0, 0, 0]);
    }),
  );

  it(
    "CAN-11 after stop every admit fails at once and touches no account",
    scenario(async (world) => {
      const log: string[] = [];
      const x = new WatchedLimiter("x", log);
      const memory = new WatchedLimiter("memory", log);
      const gate = world.gate("gate", 1);
      const admission = world.admission({ memory });
      admission.stop();
      log.length = 0;

      const calls = [new Demand(), new Demand().add(gate), new Demand().add(x)].map((demand) => {
        assert.throws(() => admission.tryAdmit(demand), { code: "stopped" });
        return world.follow(admission.admit(demand));
      });
      assert.equal(admission.queueSize, 0);
      await world.settle();
      assertStopped(...calls);
      assert.deepEqual([log.length, gate.currentInUse, x.held, world.events.length], [0, 0, null, 0]);
    }),
  );

  it(
    "CAN-12 after a defect refusals stay the defect's, also after stop",
    scenario(async (world) => {
      const [breaking, declining] = [
        new WatchedLimiter("breaking", []),
        new WatchedLimiter("declining", [], "declines"),
      ];
      const admission = world.admission();
      breaking.giveThrows = true;
      const broken = world.follow(admission.admit(new Demand().add(breaking).add(declining)));
      await world.settle();
      const { cause } = broken.error as Error;
      assert.ok(cause instanceof Error);

      await assert.rejects(admission.admit(new Demand()), { code: "defect", cause });
      admission.stop();
      await assert.rejects(admission.admit(new Demand()), { code: "defect", cause });
      assert.throws(() => admission.tryAdmit(new Demand()), { code: "defect", cause });
    }),
  );

  it(
    "CAN-13 grants that are out at stop are untouched and can still be settled",
    scenario(async (world) => {
      const gate = world.gate("gate", 2);
      const bucket = world.bucket("bucket", { tpm: 1000, rpm: 10 });
      const memory = new WatchedLimiter("memory", []);
      const admission = world.admission({ memory });
      const [kept, undone] = [
        await admission.admit(new Demand().add(gate).add(bucket, 300)),
        await admission.admit(new Demand().add(gate).add(bucket, 400)),
      ];

      admission.stop();
      assert.deepEqual([gate.currentInUse, bucket.status.availableTokens], [2, 300]);
      admission.release(kept);
      admission.rollback(undone);
      assert.deepEqual([gate.currentInUse, bucket.status.availableTokens, memory.currentInUse], [0, 700, 0]);
      assert.deepEqual([kept.isSettled, undone.isSettled], [true, true]);
      assert.equal(world.count("RELEASED", "gate"), 2);
      assert.equal(world.count("RELEASED", "bucket"), 1);
    }),
  );

  it(
    "CAN-14 stop may come before start, and more than once",
    scenario(async (world) => {
      const gate = world.gate("gate", 1);
      const admission = world.unstarted();
      const grant = await admission.admit(new Demand().add(gate));
      const parked = world.follow(admission.admit(new Demand().add(gate)));
      admission.stop();
      admission.stop();
      await world.settle();
      assertStopped(parked);
      assert.throws(() => admission.start(), CancellationError);
      assert.equal(world.count("REJECTED", "gate"), 1);
      admission.stop();
      grant.release();
      assert.equal(gate.currentInUse, 0);

      const started = world.admission();
      const running = world.follow(started.admit(new Demand().add(gate)));
      await world.settle();
      started.stop();
      started.stop();
      grantOf(running).release();
      assert.equal(gate.currentInUse, 0);
    }),
  );
});
