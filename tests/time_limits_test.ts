// Waiting with a limit: what a caller gets when its time is up, and when it is known beforehand that it will be.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Demand, type TimeoutError } from "../mod.ts";
import { MAX_TIMER_MS } from "../core/clock.ts";
import { MeterLimiter, ScriptedLimiter, SwitchMemory } from "../testing/mod.ts";
import { Chance } from "./chance.ts";
import { type Call, scenario } from "./scenario.ts";
import { assertParked, grantOf } from "./watched.ts";

/** The time-out of a call; fails when it ended otherwise. */
function timeoutOf(call: Call): TimeoutError {
  const error = call.error as TimeoutError;
  assert.deepEqual([call.grant, error?.name, error?.code], [null, "TimeoutError", "timeout"], String(error));
  return error;
}

/** The facts of a time-out: how long, on whom, when to come again. */
function factsOf(call: Call): [number, readonly string[], number | null] {
  const { waitedMs, waitingOn, retryAfterMs } = timeoutOf(call);
  return [waitedMs, waitingOn, retryAfterMs];
}

/** One token a millisecond. */
const FAST = { tpm: 60_000, rpm: 60_000 };

describe("timeoutMs", () => {
  it(
    "BEY-20 bounds the wait to the tick, and the error says how long, on whom and when to come again",
    scenario(async (world) => {
      const gate = world.gate("gate", 1);
      const admission = world.admission();
      await admission.admit(new Demand().add(gate));
      const call = world.follow(admission.admit(new Demand().add(gate), { timeoutMs: 250 }));
      await world.clock.advance(249.999);
      assertParked(call);
      await world.clock.advance(0.001);
      assert.deepEqual(factsOf(call), [250, ["gate"], null]);
      assert.equal(call.settledAtMs, 1250);
      assert.deepEqual([admission.queueSize, gate.currentInUse, world.clock.pendingTimers], [0, 1, 0]);
      const { type, rejectReason, waitMs, waiters } = world.events.at(-1)!;
      assert.deepEqual([type, rejectReason, waitMs, waiters], ["REJECTED", "timeout", 250, 0]);
    }),
  );

  it(
    "BEY-20 names the account with the latest instant first, and only an event helps where one has none",
    scenario(async (world) => {
      const [soon, late] = [world.bucket("soon", FAST), world.bucket("late", FAST)];
      const [gate, free] = [world.gate("gate", 1), world.gate("free", 1)];
      const admission = world.admission();
      admission.tryAdmit(new Demand().add(soon, 60_000).add(late, 60_000).add(gate));
      const options = { timeoutMs: 100 };
      const timed = world.follow(
        admission.admit(new Demand().add(free).add(soon, 300).add(late, 700.0), options),
      );
      await world.clock.advance(100);
      assert.deepEqual(factsOf(timed), [100, ["late", "soon"], 600]);
      const held = world.follow(
        admission.admit(new Demand().add(gate).add(soon, 300).add(late, 700), options),
      );
      await world.clock.advance(100);
      assert.deepEqual(factsOf(held), [100, ["late", "soon", "gate"], null]);
      assert.deepEqual([free.currentInUse, soon.status.availableTokens], [0, 200]);
    }),
  );

  it(
    "BEY-20 tells the way to the next instant in whole milliseconds, rounded up",
    scenario(async (world) => {
      const bucket = world.bucket("bucket", { tpm: 90_000, rpm: 90_000 });
      const admission = world.admission();
      bucket.tryTake([90_000], []);
      const call = world.follow(admission.admit(new Demand().add(bucket, 100), { timeoutMs: 10.5 }));
      await world.clock.advance(10.5);
      // A hundred tokens take 66.667 ms, of which 56.167 are left.
      assert.deepEqual(factsOf(call), [10, ["bucket"], 57]);
    }),
  );

  it(
    "BEY-20 BEY-01 who leaves for time reserves no longer: followers go at once, and counts fall",
    scenario(async (world) => {
      const [full, free] = [world.gate("full", 1), world.gate("free", 1)];
      const admission = world.admission();
      await admission.admit(new Demand().add(full));
      const head = world.follow(admission.admit(new Demand().add(full).add(free), { timeoutMs: 40 }));
      const follower = world.follow(admission.admit(new Demand().add(free)));
      await world.clock.advance(39);
      assertParked(head, follower);
      await world.clock.advance(1);
      timeoutOf(head);
      assert.equal(grantOf(follower).wallWaitMs, 40);
      assert.deepEqual([world.events.at(-1)!.type, world.events.at(-1)!.waiters], ["GRANTED_FROM_HOLD", 0]);
    }),
  );

  it(
    "BEY-20 at one instant a grant wins over the time limit, and a release of the same turn too",
    scenario(async (world) => {
      const bucket = world.bucket("bucket", FAST);
      const gate = world.gate("gate", 1);
      const admission = world.admission();
      const holder = await admission.admit(new Demand().add(gate).add(bucket, 60_000));
      world.clock.setTimer(80, () => holder.release());
      const limit = { timeoutMs: 80 };
      const refilled = world.follow(admission.admit(new Demand().add(bucket, 80), limit));
      const early = world.follow(admission.admit(new Demand().add(bucket, 81), limit));
      const released = world.follow(admission.admit(new Demand().add(gate), limit));
      const second = world.follow(admission.admit(new Demand().add(gate), limit));
      await world.clock.advance(80);
      assert.deepEqual([refilled, released].map((call) => grantOf(call).wallWaitMs), [80, 80]);
      assert.deepEqual(factsOf(early), [80, ["bucket"], 81]);
      assert.deepEqual(factsOf(second), [80, ["gate"], null]);
      assert.deepEqual([bucket.status.availableTokens, gate.currentInUse], [0, 1]);
    }),
  );

  it(
    "BEY-20 0 is one attempt: inline, behind others, and on accounts outside the kernel",
    scenario(async (world) => {
      const [full, free] = [world.gate("full", 1), world.gate("free", 1)];
      const x = new ScriptedLimiter("x", "short");
      const admission = world.admission();
      const once = (demand: Demand) => world.follow(admission.admit(demand, { timeoutMs: 0 }));
      const first = once(new Demand().add(full));
      const second = once(new Demand().add(full));
      const custom = once(new Demand().add(x));
      await world.settle();
      grantOf(first);
      assert.deepEqual(factsOf(second), [0, ["full"], null]);
      assert.deepEqual(factsOf(custom), [0, ["x"], null]);

      const waiting = world.follow(admission.admit(new Demand().add(full)));
      const [passing, blocked] = [once(new Demand().add(free)), once(new Demand().add(full).add(free))];
      await world.settle();
      grantOf(passing);
      assert.deepEqual(factsOf(blocked), [0, ["full", "free"], null]);
      assertParked(waiting);
      assert.deepEqual([admission.queueSize, world.clock.pendingTimers], [1, 0]);
    }),
  );

  it(
    "BEY-20 before start, too: a limit acts although no pass runs, and 0 fails at once",
    scenario(async (world) => {
      const gate = world.gate("gate", 1);
      const admission = world.unstarted();
      assert.ok(admission.tryAdmit(new Demand().add(gate)) !== null);
      const once = world.follow(admission.admit(new Demand().add(gate), { timeoutMs: 0 }));
      const short = world.follow(admission.admit(new Demand().add(gate), { timeoutMs: 30 }));
      const empty = world.follow(admission.admit(new Demand(), { timeoutMs: 30 }));
      await world.clock.advance(30);
      assert.equal(timeoutOf(once).waitedMs, 0);
      assert.equal(timeoutOf(short).waitedMs, 30);
      assert.deepEqual(factsOf(empty), [30, [], null]);
      assert.deepEqual([admission.queueSize, world.clock.pendingTimers], [0, 0]);
    }),
  );

  it(
    "BEY-20 memory that is short is named as well",
    scenario(async (world) => {
      const memory = new SwitchMemory();
      memory.isOpen = false;
      const bucket = world.bucket("bucket", FAST);
      bucket.tryTake([60_000], []);
      const admission = world.admission({ memory });
      const call = world.follow(admission.admit(new Demand().add(bucket, 500), { timeoutMs: 100 }));
      await world.clock.advance(100);
      assert.deepEqual(factsOf(call), [100, ["bucket", "memory"], null]);
      assert.equal(memory.giveCount, 0);
    }),
  );

  it(
    "BEY-20 BEY-51 limits of any length end each at its own instant, on one timer, beyond 24.8 days too",
    scenario(async (world) => {
      const gate = world.gate("gate", 1);
      const admission = world.admission();
      await admission.admit(new Demand().add(gate));
      const chance = new Chance(7);
      const limits = Array.from({ length: 200 }, () => chance.below(50_000) / 8);
      limits.push(MAX_TIMER_MS + 1000, 3 * MAX_TIMER_MS, Infinity);
      const calls = limits.map((timeoutMs) =>
        world.follow(admission.admit(new Demand().add(gate), { timeoutMs }))
      );
      await world.settle();
      assert.equal(world.clock.pendingTimers, 1);
      await world.clock.advance(10_000);
      assert.equal(admission.queueSize, 3);
      await world.clock.advance(3 * MAX_TIMER_MS);
      assert.equal(admission.queueSize, 1);
      for (const [index, limit] of limits.entries()) {
        assert.equal(calls[index]!.settledAtMs, limit === Infinity ? null : 1000 + limit);
      }
      assert.equal(world.clock.pendingTimers, 0);
      admission.stop();
    }),
  );

  it(
    "BEY-20 a limit that is met, or whose caller left before, leaves no timer",
    scenario(async (world) => {
      const gate = world.gate("gate", 1);
      const admission = world.admission();
      const holder = await admission.admit(new Demand().add(gate), { timeoutMs: 1000 });
      assert.equal(world.clock.pendingTimers, 0);
      const leaving = new AbortController();
      const options = { timeoutMs: 1000, signal: leaving.signal };
      const aborted = world.follow(admission.admit(new Demand().add(gate), options));
      const granted = world.follow(admission.admit(new Demand().add(gate), { timeoutMs: 2000 }));
      await world.clock.advance(10);
      assert.equal(world.clock.nextTimerMs, 2000);
      leaving.abort("left");
      await world.settle();
      assert.equal(aborted.error, "left");
      assert.equal(world.clock.nextTimerMs, 3000);
      holder.release();
      await world.settle();
      grantOf(granted);
      assert.equal(world.clock.pendingTimers, 0);
    }),
  );
});

describe("failFast", () => {
  it(
    "BEY-21 fails at once when the instant known now lies beyond the limit, and not a tick sooner",
    scenario(async (world) => {
      const bucket = world.bucket("bucket", FAST);
      bucket.tryTake([60_000], []);
      const admission = world.admission();
      const hasty = (timeoutMs: number) =>
        world.follow(admission.admit(new Demand().add(bucket, 100), { timeoutMs, failFast: true }));
      const beyond = hasty(99.999);
      await world.settle();
      assert.deepEqual(factsOf(beyond), [0, ["bucket"], 100]);
      assert.equal(admission.queueSize, 0);
      const within = hasty(100);
      await world.clock.advance(100);
      assert.equal(grantOf(within).wallWaitMs, 100);
      assert.deepEqual(world.transitions.slice(0, 3), ["bucket HELD", "bucket REJECTED", "bucket HELD"]);
    }),
  );

  it(
    "BEY-21 counts what the head has set aside, and without failFast a refund beats the known instant",
    scenario(async (world) => {
      const bucket = world.bucket("bucket", FAST);
      const admission = world.admission();
      const holder = await admission.admit(new Demand().add(bucket, 60_000));
      const head = world.follow(admission.admit(new Demand().add(bucket, 500)));
      const hasty = world.follow(
        admission.admit(new Demand().add(bucket, 100), { timeoutMs: 599, failFast: true }),
      );
      const patient = world.follow(admission.admit(new Demand().add(bucket, 100), { timeoutMs: 599 }));
      await world.clock.advance(10);
      assert.deepEqual(factsOf(hasty), [0, ["bucket"], 600]);
      assertParked(head, patient);
      holder.settle(bucket, 0);
      await world.settle();
      assert.deepEqual([grantOf(head).wallWaitMs, grantOf(patient).wallWaitMs], [10, 10]);
    }),
  );

  it(
    "BEY-21 a metered account without an instant is hopeless, a gate is not: its permit may come any moment",
    scenario(async (world) => {
      const dry = new MeterLimiter("dry", 10, 0, world.clock);
      const gate = world.gate("gate", 1);
      const memory = new SwitchMemory();
      const admission = world.admission({ memory });
      const holder = await admission.admit(new Demand().add(dry, 10).add(gate));
      const options = { timeoutMs: 50, failFast: true };
      const hopeless = world.follow(admission.admit(new Demand().add(gate).add(dry, 1), options));
      const hopeful = world.follow(admission.admit(new Demand().add(gate), options));
      await world.settle();
      assert.deepEqual(factsOf(hopeless), [0, ["gate", "dry"], null]);
      assertParked(hopeful);
      holder.release();
      await world.settle();
      grantOf(hopeful).release();

      memory.isOpen = false;
      const onMemory = world.follow(admission.admit(new Demand().add(gate), options));
      await world.clock.advance(50);
      assert.deepEqual(factsOf(onMemory), [50, ["memory"], null]);
    }),
  );
});
