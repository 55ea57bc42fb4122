/** A clock that attends to callers: whom it is shown, when their waits end, and what it may do in their stead. */
import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Admission, type Caller, CancellationError, Demand, QueueFullError, TimeoutError } from "../mod.ts";
import { ManualClock, ScriptedLimiter } from "../testing/mod.ts";
import { scenario, type World } from "./scenario.ts";
import { grantOf } from "./watched.ts";

/** Remembers every caller it is shown. */
class AttendingClock extends ManualClock {
  readonly callers: Caller[] = [];
  /** Indexes of those whose wait ended. */
  readonly ended: number[] = [];
  fault: unknown = null;

  attend(caller: Caller): () => void {
    if (this.fault !== null) throw this.fault;
    const index = this.callers.push(caller) - 1;
    return () => void this.ended.push(index);
  }
}

function open(world: World, maxQueue = Infinity) {
  const clock = new AttendingClock(1000);
  const admission = world.admission({ clock, maxQueue });
  const gate = world.gate("gate", 1);
  return { clock, admission, gate, demand: new Demand().add(gate) };
}

describe("A clock that attends to callers", () => {
  it(
    "is shown a grant at once, whoever decides it, and releases it once in its caller's stead",
    scenario(async (world) => {
      const { clock, admission, gate, demand } = open(world);
      const custom = new ScriptedLimiter("custom");
      const ways = [
        () => admission.admit(demand),
        () => admission.tryAdmit(demand)!,
        () => admission.admit(new Demand().add(gate).add(custom, 1)),
        () => admission.tryAdmit(new Demand().add(gate).add(custom, 1))!,
      ];
      for (const [index, admit] of ways.entries()) {
        const grant = await admit();
        const caller = clock.callers[index]!;
        assert.deepEqual([caller.isWaiting, caller.isOver, gate.currentInUse], [false, false, 1]);
        caller.abandon();
        assert.deepEqual([caller.isOver, grant.isSettled, gate.currentInUse], [true, true, 0]);
        caller.abandon();
        grant.release();
        assert.equal(gate.currentInUse, 0);
      }
      assert.equal(clock.callers.length, ways.length);
    }),
  );

  it(
    "is shown who waits in the caller's turn, and told when the wait ends",
    scenario(async (world) => {
      const { clock, admission, gate, demand } = open(world);
      const holder = await admission.admit(demand);
      const waiting = world.follow(admission.admit(demand));
      const [, caller] = clock.callers;
      assert.deepEqual([caller!.isWaiting, caller!.isOver, clock.ended], [true, false, []]);

      holder.release();
      await clock.advance(0);
      assert.deepEqual([caller!.isWaiting, caller!.isOver, clock.ended], [false, false, [1]]);
      grantOf(waiting).release();
      assert.deepEqual([caller!.isOver, gate.currentInUse], [true, 0]);
    }),
  );

  it(
    "takes a waiter whose request is gone out of the line, and the next one is granted",
    scenario(async (world) => {
      const { clock, admission, gate, demand } = open(world);
      const other = world.gate("other", 1);
      const holder = await admission.admit(demand);
      const gone = world.follow(admission.admit(new Demand().add(gate).add(other)));
      const follower = world.follow(admission.admit(new Demand().add(other)));
      await clock.advance(0);
      assert.equal(follower.grant, null, "the head has the other gate set aside");

      clock.callers[1]!.abandon();
      await clock.advance(0);
      assert.ok(gone.error instanceof CancellationError && gone.error.code === "cancelled");
      assert.deepEqual([clock.callers[1]!.isOver, clock.ended], [true, [1, 2]]);
      grantOf(follower).release();
      holder.release();
    }),
  );

  it(
    "takes a grant back that a pass gave to a request that is gone, and the next one is granted",
    scenario(async (world) => {
      const { clock, admission, gate, demand } = open(world);
      const holder = await admission.admit(demand);
      void admission.admit(demand);
      const next = world.follow(admission.admit(demand));
      holder.release();
      await clock.advance(0);
      assert.deepEqual([gate.currentInUse, next.grant], [1, null]);

      clock.callers[1]!.abandon();
      await clock.advance(0);
      grantOf(next).release();
      assert.equal(gate.currentInUse, 0);
    }),
  );

  it(
    "hears of waits that end by abort and by time, whose callers get what they always get",
    scenario(async (world) => {
      const { clock, admission, demand } = open(world);
      const holder = await admission.admit(demand);
      const leaving = new AbortController();
      const aborted = world.follow(admission.admit(demand, { signal: leaving.signal }));
      const late = world.follow(admission.admit(demand, { timeoutMs: 50 }));
      leaving.abort("enough");
      await clock.advance(50);
      assert.equal(aborted.error, "enough");
      assert.ok(late.error instanceof TimeoutError);
      assert.deepEqual(clock.ended, [1, 2]);
      assert.ok(clock.callers.slice(1).every((caller) => caller.isOver));
      holder.release();
    }),
  );

  it(
    "is shown nobody who is refused at once, and no attempt that has to wait",
    scenario(async (world) => {
      const { clock, admission, demand } = open(world, 0);
      const holder = await admission.admit(demand);
      assert.equal(admission.tryAdmit(demand), null);
      await assert.rejects(admission.admit(demand), QueueFullError);
      await assert.rejects(admission.admit(new Demand().add(new ScriptedLimiter("custom", "refuses"), 1)));
      assert.equal(clock.callers.length, 1);
      holder.release();
      // A full line is no reason to refuse what an account outside the kernel grants at once.
      (await admission.admit(new Demand().add(new ScriptedLimiter("other"), 1))).release();
      assert.equal(clock.callers.length, 2);
    }),
  );

  it(
    "refuses a caller it cannot attend to, and nothing stays taken or in line",
    scenario(async (world) => {
      const { clock, admission, gate, demand } = open(world);
      const holder = await admission.admit(demand);
      clock.fault = new Error("no request");
      await assert.rejects(admission.admit(demand), { message: "no request" });
      assert.equal(admission.queueSize, 0);
      holder.release();
      await assert.rejects(admission.admit(demand), { message: "no request" });
      assert.throws(() => admission.tryAdmit(demand), { message: "no request" });
      const custom = new ScriptedLimiter("custom");
      await assert.rejects(admission.admit(new Demand().add(gate).add(custom, 1)), { message: "no request" });
      assert.deepEqual([gate.currentInUse, custom.currentInUse], [0, 0]);
    }),
  );

  it(
    "logs what an account throws while a grant is taken back",
    scenario(async (world) => {
      const { clock, admission } = open(world);
      const custom = new ScriptedLimiter("custom");
      custom.giveThrows = true;
      await admission.admit(new Demand().add(custom, 1));
      clock.callers[0]!.abandon();
      assert.match(world.logs.join(), /^error An account failed while the grant of a request that is gone/);
    }),
  );

  it("has a function for it, if anything", () => {
    const clock = Object.assign(new ManualClock(), { attend: true as unknown as AttendingClock["attend"] });
    assert.throws(() => new Admission({ clock }), TypeError);
  });
});
