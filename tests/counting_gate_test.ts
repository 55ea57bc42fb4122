// A gate on its own: so many permits, in use from the grant to its settlement.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  CountingGate,
  Demand,
  InvalidStateError,
  LimiterEvents,
  UncorrectableError,
  UpstreamFailure,
} from "../mod.ts";
import { ScriptedLimiter } from "../testing/mod.ts";
import { permits } from "./custom_accounts.ts";
import { scenario } from "./scenario.ts";

describe("A counting gate", () => {
  it("CNT-01 CG-01 has a capacity above 0: 0 and -1 are refused, and none of it changes by use", () => {
    for (const capacity of [0, -1]) {
      assert.throws(() => new CountingGate("slot", capacity), {
        name: "RangeError",
        message: new RegExp(`"slot".* ${capacity},`),
      });
    }
    const gate = new CountingGate("slot", 2);
    gate.tryTake(permits(2), []);
    assert.equal(gate.capacity, 2);
    gate.give(permits(2));
    assert.equal(gate.capacity, 2);
  });

  it(
    "CNT-02 CG-02 counts what is in use, mine and what is set aside against its capacity",
    scenario((world) => {
      const gate = world.gate("slot", 2);
      assert.equal(gate.tryTake(permits(1), []), true);
      assert.equal(gate.fits(permits(1), []), true);
      assert.equal(gate.fits(permits(1), permits(1)), false);
      assert.equal(gate.tryTake(permits(1), permits(1)), false);
      assert.equal(gate.currentInUse, 1);
      assert.equal(gate.fits([], permits(1)), true, "asking for nothing needs no permit");
      assert.equal(gate.tryTake(permits(1), []), true);
      assert.equal(gate.currentInUse, 2);
    }),
  );

  it(
    "CNT-03 CG-03 refuses more than its capacity, takes nothing then, and never refuses for what is set aside",
    scenario(async (world) => {
      const gate = world.gate("slot", 2);
      const never = {
        name: "UncorrectableError",
        code: "uncorrectable",
        account: "slot",
        message: /can never fit/,
      };
      assert.throws(() => gate.fits(permits(3), []), never);
      assert.throws(() => gate.tryTake(permits(3), []), never);
      assert.equal(gate.fits(permits(1), permits(1_000)), false);
      assert.equal(gate.tryTake(permits(2), permits(3)), false);
      await assert.rejects(world.admission().admit(new Demand().add(gate, 3)), never);
      assert.equal(gate.currentInUse, 0);
    }),
  );

  it(
    "CNT-04 CG-04 adds and subtracts, and never names an instant",
    scenario((world) => {
      const gate = world.gate("slot", 3);
      assert.equal(gate.earliestFit(permits(1), []), null, "although it fits now");
      gate.tryTake(permits(2), []);
      assert.equal(gate.earliestFit(permits(3), permits(9)), null);
      gate.give(permits(1));
      assert.deepEqual([gate.currentInUse, gate.earliestFit(permits(1), [])], [1, null]);
      assert.deepEqual([gate.replenishment, gate.limiterCategory, gate.statusIndicator], [
        "RELEASE",
        "semaphore",
        null,
      ]);
    }),
  );

  it(
    "CNT-05 CG-05 stamps lastActivity with wall time at a take and at a give, and not at a declined take",
    scenario(async (world) => {
      const gate = new CountingGate("slot", 1, { clock: world.clock });
      const times = [world.clock.wallNow()];
      const look = () => times.push(gate.status.lastActivity);
      await world.clock.advance(1_000);
      look();
      gate.tryTake(permits(1), []);
      look();
      await world.clock.advance(1_000);
      gate.tryTake(permits(1), []);
      gate.fits([], []);
      look();
      gate.give(permits(1));
      look();
      const start = times[0]!;
      assert.deepEqual(times.map((time) => time - start), [0, 0, 1_000, 1_000, 2_000]);
    }),
  );

  it(
    "CNT-05 CG-05 stamps the takes and gives of an admission as well, also in a pass",
    scenario(async (world) => {
      const gate = new CountingGate("slot", 1, { clock: world.clock });
      const admission = world.admission();
      const start = world.clock.wallNow();
      await world.clock.advance(500);
      const first = await admission.admit(new Demand().add(gate));
      assert.equal(gate.status.lastActivity, start + 500);
      await world.clock.advance(500);
      const second = world.follow(admission.admit(new Demand().add(gate)));
      await world.clock.advance(500);
      assert.equal(gate.status.lastActivity, start + 500, "the parked job was declined twice");
      admission.release(first);
      assert.equal(gate.status.lastActivity, start + 1_500);
      await world.clock.advance(250);
      admission.release(second.grant!);
      assert.equal(gate.status.lastActivity, start + 1_750);
      await world.clock.advance(250);
      const stepped = world.follow(
        admission.admit(new Demand().add(gate).add(new ScriptedLimiter("custom"), 1)),
      );
      await world.clock.advance(250);
      assert.deepEqual([stepped.grant === null, gate.status.lastActivity], [false, start + 2_000]);
    }),
  );

  it(
    "CNT-07 CG-08 is a semaphore replenished by release, and feedback does nothing to it",
    scenario((world) => {
      const gate = world.gate("slot", 4);
      gate.tryTake(permits(3), []);
      let wakes = 0;
      gate.onCapacityChange(() => wakes++);
      const before = JSON.stringify(gate.status);
      for (let i = 0; i < 20; i++) {
        gate.onSuccess();
        gate.onRateLimitError(new UpstreamFailure({ statusCode: 429, retryAfterSeconds: 60 }));
      }
      assert.deepEqual([gate.limiterCategory, gate.replenishment], ["semaphore", "RELEASE"]);
      assert.deepEqual([gate.capacity, gate.currentInUse, gate.statusIndicator, wakes], [4, 3, null, 0]);
      assert.equal(JSON.stringify(gate.status), before);
      assert.equal(gate.fits(permits(1), []), true);
    }),
  );

  it(
    "CNT-08 CG-06 shows capacity, free permits and active count, and active over capacity in its summary",
    scenario((world) => {
      const gate = world.gate("slot", 2);
      const shown = () => [gate.status.maxConcurrent, gate.status.availablePermits, gate.status.activeCount];
      assert.deepEqual(shown(), [2, 2, 0]);
      gate.tryTake(permits(1), []);
      assert.deepEqual(shown(), [2, 1, 1]);
      assert.match(gate.status.summary(), /\b1\/2\b/);
      gate.tryTake(permits(1), []);
      gate.setCapacity(1);
      assert.deepEqual(shown(), [1, -1, 2], "running work exceeds the lowered capacity");
    }),
  );

  it(
    "CG-07 BEY-09 wakes at any give that frees room, and refuses to give back more than is in use",
    scenario(async (world) => {
      const gate = world.gate("slot", 3);
      let wakes = 0;
      gate.onCapacityChange(() => wakes++);
      gate.tryTake(permits(2), []);
      const call = world.follow(world.admission().admit(new Demand().add(gate, 2)));
      await world.settle();
      assert.throws(() => gate.give(permits(3)), {
        name: "InvalidStateError",
        code: "invalid_state",
        message: /"slot"/,
      });
      await world.settle();
      assert.deepEqual(
        [gate.currentInUse, wakes, call.grant],
        [2, 0, null],
        "the refused give changed nothing",
      );
      gate.give(permits(1));
      assert.equal(wakes, 1);
      await world.settle();
      assert.ok(call.grant, "a give made outside of any admission woke its waiter");
      assert.equal(gate.currentInUse, 3);
    }),
  );

  it(
    "BEY-09 a bucket clips a give at its caps instead of refusing it",
    scenario(async (world) => {
      const bucket = world.bucket("gpt", { tpm: 1_000, rpm: 10 });
      bucket.tryTake([1_000], []);
      const call = world.follow(world.admission().admit(new Demand().add(bucket, 900)));
      bucket.give([5_000_000]);
      assert.deepEqual([bucket.status.availableTokens, bucket.status.availableRequests], [1_000, 10]);
      await world.settle();
      assert.ok(call.grant);
    }),
  );

  it(
    "BEY-09 a grant whose permits were given away elsewhere is told so, and its other accounts get theirs",
    scenario(async (world) => {
      const [gate, other] = [world.gate("slot", 2), world.gate("other", 2)];
      const admission = world.admission();
      const grant = await admission.admit(new Demand().add(gate, 2).add(other, 2));
      gate.give(permits(1));
      assert.throws(() => admission.release(grant), InvalidStateError);
      assert.deepEqual([gate.currentInUse, other.currentInUse, grant.isSettled], [1, 0, true]);
    }),
  );

  it(
    "BEY-29 grows in place and wakes, or shrinks and lets running work end",
    scenario(async (world) => {
      const gate = world.gate("slot", 1);
      const admission = world.admission();
      const demand = new Demand().add(gate);
      const grants = [await admission.admit(demand)];
      const calls = [1, 2, 3].map(() => world.follow(admission.admit(demand)));
      await world.settle();
      gate.setCapacity(3);
      await world.settle();
      assert.deepEqual([calls.map(({ grant }) => grant !== null), gate.capacity], [[true, true, false], 3]);
      gate.setCapacity(2);
      assert.equal(gate.currentInUse, 3, "nothing is taken from running work");
      admission.release(grants[0]!);
      await world.settle();
      assert.deepEqual([gate.currentInUse, calls[2]!.grant], [2, null], "2 of 2 are in use");
      admission.release(calls[0]!.grant!);
      await world.settle();
      assert.ok(calls[2]!.grant);
    }),
  );

  it(
    "BEY-29 refuses a parked demand beyond a lowered capacity when it is next asked, and a capacity that is none",
    scenario(async (world) => {
      const gate = world.gate("slot", 3);
      const admission = world.admission();
      const grant = await admission.admit(new Demand().add(gate));
      const parked = world.follow(admission.admit(new Demand().add(gate, 3)));
      for (const wrong of [0, -1, 1.5, NaN, Infinity, 2 ** 31]) {
        assert.throws(() => gate.setCapacity(wrong), RangeError);
      }
      assert.throws(() => gate.setCapacity("3" as unknown as number), TypeError);
      assert.equal(gate.capacity, 3);
      gate.setCapacity(2);
      admission.release(grant);
      await world.settle();
      assert.ok(parked.error instanceof UncorrectableError);
      assert.match(parked.error.message, /can never fit/);
      assert.deepEqual([gate.currentInUse, admission.queueSize], [0, 0]);
    }),
  );

  it(
    "CG-09 is its own identity, needs no HTTP pool, ignores held views, and has one wake slot that null clears",
    scenario((world) => {
      const gate = world.gate("slot", 1);
      assert.equal(gate.accountFor(), gate);
      assert.equal(gate.requiresHttpConnection, false);
      gate.observeHeld(() => assert.fail("the view was called"));
      const heard: string[] = [];
      gate.onCapacityChange(() => heard.push("first"));
      gate.onCapacityChange(() => heard.push("second"));
      gate.setCapacity(2);
      gate.onCapacityChange(null);
      gate.setCapacity(3);
      assert.deepEqual(heard, ["second"]);
    }),
  );

  it("CG-10 event amounts add numbers up and count everything else as one", () => {
    assert.equal(LimiterEvents.amountOf([300, 300]), 600);
    assert.equal(LimiterEvents.amountOf([null, null, null]), 3);
    assert.equal(LimiterEvents.amountOf([]), 0);
    assert.equal(LimiterEvents.amountOf([undefined, "search", 5, {}]), 8);
  });
});
