import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Demand, InvalidStateError, UncorrectableError } from "../mod.ts";
import { ScriptedLimiter } from "../testing/mod.ts";
import { countWakes } from "./bucket_readings.ts";
import { scenario } from "./scenario.ts";
import { assertParked, grantOf } from "./watched.ts";
import { blocked, fail, slots, THREE } from "./window_readings.ts";

const TWO = { maxRequests: 2, baseWindowMs: 1000 };

describe("A window in line", () => {
  it(
    "MON-22 EW-29 EW-43 after a cooldown the probe is the head's: a follower is refused, also while the head waits elsewhere",
    scenario(async (world) => {
      const window = blocked(world, { initialCooldownMs: 20 });
      const other = world.gate("other", 1);
      const admission = world.admission();
      const out = admission.tryAdmit(new Demand().add(other))!;
      await world.clock.advance(60);
      const head = world.follow(admission.admit(new Demand().add(window).add(other)));
      await world.settle();
      const follower = world.follow(admission.admit(new Demand().add(window)));
      await world.settle();
      assert.ok(follower.error instanceof UncorrectableError);
      assert.match(follower.error.message, /single probe/);
      assert.deepEqual([follower.error.code, follower.error.account], ["circuit_blocked", "window"]);
      const rejected = world.events.filter((event) => event.type === "REJECTED");
      assert.deepEqual(
        rejected.map((event) => [event.limiterName, event.rejectReason, event.waitMs]),
        [["window", "circuit_blocked", 0]],
      );
      assert.equal(window.circuitState, "BLOCKED");
      assertParked(head);
      out.release();
      await world.settle();
      assert.equal(grantOf(head).isEmpty, false);
      assert.equal(window.circuitState, "PROBING");
    }),
  );

  it(
    "EW-43 EW-26 a refusal inline is thrown and reported once; nobody is parked on a cooldown",
    scenario(async (world) => {
      const window = blocked(world);
      const admission = world.admission();
      await assert.rejects(admission.admit(new Demand().add(window)), (error: UncorrectableError) => {
        assert.match(error.message, /Cooldown is active/);
        assert.deepEqual([error.code, error.retryAfterMs], ["circuit_blocked", 100]);
        return true;
      });
      assert.throws(() => admission.tryAdmit(new Demand().add(window)), { code: "circuit_blocked" });
      assert.deepEqual(world.transitions, ["window REJECTED", "window REJECTED"]);
      assert.equal(admission.queueSize, 0);
    }),
  );

  it(
    "EW-43 EW-30 a circuit that opens starts no pass; who waits on the window is refused at the next look",
    scenario(async (world) => {
      const window = world.window("window", { ...TWO, maxThrottle: 0, failuresAtMaxToBlock: 1 });
      const admission = world.admission();
      admission.tryAdmit(new Demand().add(window, 2));
      const call = world.follow(admission.admit(new Demand().add(window)));
      await world.settle();
      fail(window);
      await world.settle();
      assertParked(call);
      assert.equal(world.clock.nextTimerMs, 2000);
      await world.clock.advance(1000);
      assert.equal((call.error as UncorrectableError).code, "circuit_blocked");
      assert.deepEqual(world.transitions.slice(1), ["window HELD", "window REJECTED"]);
      assert.equal(world.events.at(-1)!.waitMs, 1000);
    }),
  );

  it(
    "BEY-10 a waiter is granted at the announced instant and not a tick before, behind the head's reservation too",
    scenario(async (world) => {
      const window = world.window("window", THREE);
      const admission = world.admission();
      for (const waitMs of [0, 20.007, 20.5]) {
        await world.clock.advance(waitMs);
        assert.equal(window.tryTake(slots(1), []), true);
      }
      const head = world.follow(admission.admit(new Demand().add(window, 2)));
      const next = world.follow(admission.admit(new Demand().add(window)));
      await world.settle();
      assert.equal(world.clock.nextTimerMs, 2020.007);
      await world.clock.advanceTo(2020.006);
      assertParked(head, next);
      await world.clock.advanceTo(2020.007);
      assert.equal(head.settledAtMs, 2020.007);
      assertParked(next);
      await world.clock.advanceTo(2040.507);
      assert.equal(next.settledAtMs, 2040.507);
      assert.equal(world.clock.pendingTimers, 0);
    }),
  );

  it(
    "EW-21 EW-32 a relaxed window and a closed circuit let waiters go at once",
    scenario(async (world) => {
      const window = world.window("window", { ...TWO, successesPerDecrease: 1, throttleDecrement: 1 });
      const admission = world.admission();
      fail(window);
      admission.tryAdmit(new Demand().add(window, 2));
      await world.clock.advance(1500);
      const call = world.follow(admission.admit(new Demand().add(window)));
      await world.settle();
      assert.equal(world.clock.nextTimerMs, 3000, "two seconds long");
      window.onSuccess();
      await world.settle();
      assert.equal(call.settledAtMs, 2500);
    }),
  );

  it(
    "BEY-06 a give wakes the lines of every admission that waits on the window",
    scenario(async (world) => {
      const window = world.window("window", TWO);
      const [first, second] = [world.admission(), world.admission()];
      const out = first.tryAdmit(new Demand().add(window, 2))!;
      const call = world.follow(second.admit(new Demand().add(window)));
      await world.settle();
      assertParked(call);
      out.rollback();
      await world.settle();
      assert.equal(call.settledAtMs, 1000);
    }),
  );
});

describe("A grant on a window", () => {
  it(
    "ACC-15 EW-06 stays spent on release and comes back on rollback, with RELEASED only then",
    scenario(async (world) => {
      const window = world.window("window", TWO);
      const admission = world.admission();
      const counter = countWakes(window);
      admission.tryAdmit(new Demand().add(window))!.release();
      await world.clock.advance(10);
      const second = admission.tryAdmit(new Demand().add(window))!;
      assert.equal(window.currentInUse, 2);
      assert.equal(counter.wakes, 0);
      second.rollback();
      assert.equal(window.currentInUse, 1);
      assert.equal(counter.wakes, 1);
      assert.equal(window.earliestFit(slots(2), []), 2000, "the newest stamp went");
      assert.equal(world.count("RELEASED", "window"), 1);
    }),
  );

  it(
    "EW-16 a probe that is rolled back is free again; one that is released waits for its verdict",
    scenario(async (world) => {
      const window = blocked(world);
      const admission = world.admission();
      await world.clock.advance(100);
      admission.tryAdmit(new Demand().add(window))!.rollback();
      assert.equal(window.circuitState, "BLOCKED");
      admission.tryAdmit(new Demand().add(window))!.release();
      assert.equal(window.circuitState, "PROBING");
    }),
  );

  it(
    "EW-16 EW-28 an attempt that fails after it claimed the probe gives it back",
    scenario(async (world) => {
      const window = blocked(world);
      const scripted = new ScriptedLimiter("scripted", "declines");
      const admission = world.admission();
      await world.clock.advance(100);
      const call = world.follow(admission.admit(new Demand().add(window).add(scripted, 1)));
      await world.settle();
      assertParked(call);
      assert.deepEqual([window.circuitState, window.currentInUse], ["BLOCKED", 0]);
      scripted.mode = "fits";
      scripted.wake();
      await world.settle();
      assert.equal(grantOf(call).isSettled, false);
      assert.deepEqual([window.circuitState, window.currentInUse], ["PROBING", 1]);
    }),
  );

  it(
    "BEY-31 EW-32 run tells the window how it went while the slot is held",
    scenario(async (world) => {
      const window = blocked(world);
      const admission = world.admission();
      const demand = new Demand().add(window);
      await world.clock.advance(100);
      await assert.rejects(admission.run(demand, () => {
        throw Object.assign(new Error("too many"), { status: 429 });
      }));
      assert.deepEqual([window.circuitState, window.cooldownRemainingMs], ["BLOCKED", 200]);
      await world.clock.advance(200);
      assert.equal(await admission.run(demand, () => window.circuitState), "PROBING");
      assert.equal(window.circuitState, "HEALTHY");
    }),
  );

  it(
    "BEY-32 there is nothing to settle on a window",
    scenario((world) => {
      const window = world.window("window", TWO);
      const grant = world.admission().tryAdmit(new Demand().add(window))!;
      assert.throws(() => grant.settle(window, 1), InvalidStateError);
      assert.equal(window.currentInUse, 1);
    }),
  );
});
