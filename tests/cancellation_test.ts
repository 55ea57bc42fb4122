/** Leaving the line early: aborted signals and cancelled contexts (monitor.md 4). */
import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { CancellationError, createJobContext, Demand } from "../mod.ts";
import { scenario, type World } from "./scenario.ts";
import { assertParked, grantOf, WatchedLimiter } from "./watched.ts";

/** Who was reported to leave, where and why. */
function rejections(world: World): string[] {
  return world.events.filter(({ type }) => type === "REJECTED").map((event) =>
    `${event.limiterName} ${event.rejectReason}, held ${event.waiters}, waited ${event.waitMs}`
  );
}

describe("Aborting the caller's signal", () => {
  it(
    "CAN-01 aborting a parked caller takes it out of the line, reported cancelled wherever it was held",
    scenario(async (world) => {
      const [gate, other] = [world.gate("gate", 1), world.gate("other", 1)];
      const admission = world.admission();
      const holders = [
        await admission.admit(new Demand().add(gate)),
        await admission.admit(new Demand().add(other)),
      ];
      const leaving = new AbortController();
      const parked = world.follow(
        admission.admit(new Demand().add(gate).add(other), { signal: leaving.signal }),
      );
      await world.clock.advance(40);

      const reason = { why: "the user closed the page" };
      leaving.abort(reason);
      assert.equal(admission.queueSize, 0);
      await world.settle();
      assert.equal(parked.error, reason);
      assert.deepEqual(rejections(world), [
        "gate cancelled, held 0, waited 40",
        "other cancelled, held 0, waited 40",
      ]);
      holders.forEach((holder) => holder.release());
      await admission.admit(new Demand().add(gate).add(other));
    }),
  );

  it(
    "CAN-02 a grant that is seen first wins over an abort of the same moment",
    scenario(async (world) => {
      const gate = world.gate("gate", 1);
      const admission = world.admission();
      const holder = await admission.admit(new Demand().add(gate));
      const [leaving, context] = [new AbortController(), createJobContext()];
      const options = { signal: leaving.signal, context };
      const parked = world.follow(admission.admit(new Demand().add(gate), options));
      await world.settle();

      holder.release();
      // After the pass, and before the caller that the pass resumed gets its turn.
      queueMicrotask(() => {
        assertParked(parked);
        assert.equal(gate.currentInUse, 1);
        leaving.abort();
        context.cancel();
      });
      await world.settle();
      assert.equal(grantOf(parked).isSettled, false);
      assert.equal(gate.currentInUse, 1);
      assert.deepEqual(rejections(world), []);
    }),
  );

  it(
    "CAN-03 an abort during the take undoes the grant wholly, metered amounts and memory too",
    scenario(async (world) => {
      const gate = world.gate("gate", 1);
      const bucket = world.bucket("bucket", { tpm: 1000, rpm: 10 });
      const blocking = new WatchedLimiter("blocking", []);
      const memory = new WatchedLimiter("memory", []);
      for (const last of [blocking, memory]) {
        const admission = world.admission({ memory });
        const holder = await admission.admit(new Demand().add(gate));
        const leaving = new AbortController();
        const demand = new Demand().add(gate).add(bucket, 400).add(blocking);
        const parked = world.follow(admission.admit(demand, { signal: leaving.signal }));
        await world.settle();
        last.onAsk = (verb) => {
          if (verb === "tryTake") leaving.abort();
        };

        holder.release();
        await world.settle();
        last.onAsk = null;
        assert.equal(parked.error, leaving.signal.reason);
        assert.deepEqual([gate.currentInUse, blocking.currentInUse, memory.currentInUse], [0, 0, 0]);
        assert.deepEqual([bucket.status.availableTokens, bucket.status.availableRequests], [1000, 10]);
        assert.equal(admission.queueSize, 0);
      }
      assert.deepEqual(rejections(world), Array(2).fill("gate cancelled, held 0, waited 0"));
      assert.equal(world.count("GRANTED_FROM_HOLD", "gate"), 0);
    }),
  );

  it(
    "CAN-03 an abort that comes with the news of the grant rolls it back, each entry reported RELEASED",
    scenario(async (world) => {
      const gate = world.gate("gate", 1);
      const bucket = world.bucket("bucket", { tpm: 1000, rpm: 10 });
      const memory = new WatchedLimiter("memory", []);
      const leaving = [new AbortController(), new AbortController()];
      const told: string[] = [];
      const admission = world.admission({
        memory,
        events: ({ limiterName, type }) => {
          told.push(`${limiterName} ${type}`);
          if (type === "GRANTED_FROM_HOLD") leaving[0]!.abort();
          if (limiterName === "bucket" && type === "GRANTED_IMMEDIATE") leaving[1]!.abort();
        },
      });
      const holder = await admission.admit(new Demand().add(gate));
      const demand = new Demand().add(gate).add(bucket, 400);
      const parked = world.follow(admission.admit(demand, { signal: leaving[0]!.signal }));
      await world.settle();

      holder.release();
      await world.settle();
      assert.equal(parked.error, leaving[0]!.signal.reason);
      assert.equal(parked.grant, null);
      assert.deepEqual([gate.currentInUse, bucket.status.availableTokens, memory.currentInUse], [0, 1000, 0]);
      assert.deepEqual(told.slice(-2), ["gate RELEASED", "bucket RELEASED"]);
      const inline = world.follow(admission.admit(demand, { signal: leaving[1]!.signal }));
      await world.settle();
      assert.equal(inline.error, leaving[1]!.signal.reason);
      assert.deepEqual([gate.currentInUse, bucket.status.availableTokens, memory.currentInUse], [0, 1000, 0]);
      assert.deepEqual(told.slice(-2), ["gate RELEASED", "bucket RELEASED"]);
    }),
  );
});

describe("Cancelling the job's context", () => {
  it(
    "CAN-04 cancelling the job's context, or its time running out, wakes its caller at once",
    scenario(async (world) => {
      const gate = world.gate("gate", 1);
      const admission = world.admission();
      await admission.admit(new Demand().add(gate));
      for (const end of ["cancel", "signalTimeout"] as const) {
        const context = createJobContext();
        const parked = world.follow(admission.admit(new Demand().add(gate), { context }));
        await world.settle();
        context[end]();
        assert.equal(admission.queueSize, 0);
        await world.settle();
        assert.ok(parked.error instanceof CancellationError);
        assert.equal(parked.error.code, "cancelled");
      }
      assert.deepEqual(rejections(world), Array(2).fill("gate cancelled, held 0, waited 0"));
    }),
  );

  it(
    "CAN-05 a pass that meets a cancelled waiter removes it, and whichever side comes second does nothing",
    scenario(async (world) => {
      const x = new WatchedLimiter("x", [], "short");
      const gate = world.gate("gate", 1);
      const admission = world.admission();
      await admission.admit(new Demand().add(gate));
      const context = createJobContext();
      const leaving = new AbortController();
      const options = { context, signal: leaving.signal };
      const head = world.follow(admission.admit(new Demand().add(x)));
      const follower = world.follow(admission.admit(new Demand().add(gate), options));
      const last = world.follow(admission.admit(new Demand().add(gate)));
      await world.settle();

      const sizes: number[] = [];
      x.onAsk = () => {
        context.cancel();
        leaving.abort();
        sizes.push(admission.queueSize);
      };
      x.wake();
      await world.settle();
      assert.ok(follower.error instanceof CancellationError);
      assertParked(head, last);
      assert.deepEqual([sizes[0], admission.queueSize], [3, 2]);
      x.onAsk = null;
      context.cancel();
      leaving.abort();
      await world.settle();
      assert.deepEqual(rejections(world), ["gate cancelled, held 1, waited 0"]);
    }),
  );

  it(
    "CAN-06 a cancelled head stops reserving at once",
    scenario(async (world) => {
      const [gate, wide] = [world.gate("gate", 1), world.gate("wide", 3)];
      const admission = world.admission();
      const holder = await admission.admit(new Demand().add(gate).add(wide));
      const context = createJobContext();
      const head = world.follow(admission.admit(new Demand().add(gate).add(wide, 2), { context }));
      const follower = world.follow(admission.admit(new Demand().add(gate)));
      const reserved = world.follow(admission.admit(new Demand().add(wide)));
      await world.settle();
      assertParked(head, follower, reserved);

      context.cancel();
      await world.settle();
      assert.ok(head.error instanceof CancellationError);
      grantOf(reserved);
      assert.equal(admission.queueSize, 1);
      holder.release();
      await world.settle();
      grantOf(follower);
    }),
  );

  it(
    "CAN-07 a context that is cancelled by the time its waiter is queued withdraws it without waiting",
    scenario(async (world) => {
      const log: string[] = [];
      const x = new WatchedLimiter("x", log, "short");
      const gate = world.gate("gate", 1);
      const admission = world.admission();
      await admission.admit(new Demand().add(gate));
      for (const account of [x, gate]) {
        const context = createJobContext();
        // The context looks alive when admit begins, and is cancelled while its snapshot is taken.
        const late = {
          ...context,
          isCancelled: false,
          snapshot: () => (context.cancel(), context.snapshot()),
        };
        const call = world.follow(admission.admit(new Demand().add(account), { context: late }));
        assert.equal(admission.queueSize, 0);
        await world.settle();
        assert.ok(call.error instanceof CancellationError);
      }
      assert.ok(!log.some((line) => line.includes("tryTake")));
      assert.equal(world.clock.pendingTimers, 0);

      const context = createJobContext();
      x.mode = "fits";
      x.onAsk = () => context.cancel();
      const inline = world.follow(admission.admit(new Demand().add(x), { context }));
      await world.settle();
      assert.ok(inline.error instanceof CancellationError);
      assert.equal(x.currentInUse, 0);
    }),
  );

  it(
    "CAN-03 a context cancelled by the news of an inline grant rolls it back, whoever decided it",
    scenario(async (world) => {
      const gate = world.gate("gate", 1);
      const bucket = world.bucket("bucket", { tpm: 1000, rpm: 10 });
      const x = new WatchedLimiter("x", []);
      for (
        const demand of [
          new Demand().add(bucket, 400).add(gate),
          new Demand().add(x).add(bucket, 400).add(gate),
        ]
      ) {
        const context = createJobContext();
        const admission = world.admission({ events: () => context.cancel() });
        const call = world.follow(admission.admit(demand, { context }));
        await world.settle();
        assert.ok(call.error instanceof CancellationError, "the grant was handed out");
        assert.deepEqual([gate.currentInUse, bucket.status.availableTokens, x.currentInUse], [0, 1000, 0]);
        assert.equal(admission.queueSize, 0);
      }
    }),
  );
});
