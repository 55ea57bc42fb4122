// What the events sink hears: of every transition between a job and an account, from admission alone.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { createJobContext, Demand, type LimiterEvent, LimiterEvents } from "../mod.ts";
import { ScriptedLimiter, SwitchMemory } from "../testing/mod.ts";
import { Slots } from "./custom_accounts.ts";
import { scenario, type World } from "./scenario.ts";

/** An event without its job and time: who, what, how many wait, for how long, why. */
function told({ limiterName, type, waiters, waitMs, rejectReason }: LimiterEvent): unknown[] {
  return rejectReason === null
    ? [limiterName, type, waiters, waitMs]
    : [limiterName, type, waiters, waitMs, rejectReason];
}

/** What a world heard from the given event on. */
function since(world: World, start: number): unknown[][] {
  return world.events.slice(start).map(told);
}

describe("The shape of an event", () => {
  it(
    "EVT-01 EVT-03 has exactly twelve fields in their order, read when it is told, after the movement",
    scenario(async (world) => {
      const bucket = world.bucket("gpt", { tpm: 1_000, rpm: 10 });
      const admission = world.admission();
      bucket.record429();
      await world.clock.advance(5);
      world.clock.stepWall(60_000);
      const context = createJobContext({ id: "job-1", metadata: { tenant: "a" } });
      await admission.admit(new Demand().add(bucket, 300).add(bucket, 300), { context });
      const [event] = world.events;
      assert.deepEqual(Object.entries(event!), [
        ["snapshot", { id: "job-1", isCancelled: false, metadata: { tenant: "a" } }],
        ["timestamp", world.clock.wallNow()],
        ["limiterName", "gpt"],
        ["limiterCategory", "token_bucket"],
        ["capacity", 1_000],
        ["inUse", 600],
        ["waiters", 0],
        ["type", "GRANTED_IMMEDIATE"],
        ["waitMs", 0],
        ["rejectReason", null],
        ["statusIndicator", "throttle:1.5x"],
        ["amount", 600],
      ]);
    }),
  );

  it(
    "EVT-02 EVT-04 has one of five types; a wait only when a hold ends, and a reason only when rejected",
    scenario(async (world) => {
      const slot = world.gate("slot", 1);
      const admission = world.admission();
      const first = await admission.admit(new Demand().add(slot));
      const calls = [1, 2].map(() => world.follow(admission.admit(new Demand().add(slot))));
      await world.clock.advance(2.5);
      admission.release(first);
      await world.clock.advance(1.25);
      admission.stop();
      admission.release(calls[0]!.grant!);
      assert.deepEqual(since(world, 0), [
        ["slot", "GRANTED_IMMEDIATE", 0, 0],
        ["slot", "HELD", 1, 0],
        ["slot", "HELD", 2, 0],
        ["slot", "RELEASED", 2, 0],
        ["slot", "GRANTED_FROM_HOLD", 1, 2.5],
        ["slot", "REJECTED", 0, 3.75, "shutdown"],
        ["slot", "RELEASED", 0, 0],
      ]);
      assert.equal(new Set(world.events.map(({ type }) => type)).size, 5);
    }),
  );

  it(
    "EVT-05 BEY-05 counts numbers as themselves and all else as one, on REJECTED too; on memory always one",
    scenario(async (world) => {
      const memory = new SwitchMemory();
      const bucket = world.bucket("gpt", { tpm: 1_000, rpm: 10 });
      const slots = new Slots("slots", 3);
      const admission = world.admission({ memory });
      const demand = new Demand().add(bucket, 300).add(bucket, 200).add(slots, "a").add(slots, "b");
      const first = await admission.admit(demand);
      const second = world.follow(admission.admit(demand));
      await world.settle();
      admission.rollback(first);
      await world.settle();
      memory.isOpen = false;
      const third = world.follow(admission.admit(demand));
      await world.settle();
      memory.isOpen = true;
      memory.wake();
      await world.settle();
      admission.stop();
      await world.settle();
      const amounts: Record<string, number> = { gpt: 500, slots: 2, memory: 1 };
      for (const event of world.events) {
        assert.equal(event.amount, amounts[event.limiterName], world.story.join("\n"));
      }
      assert.deepEqual([second.grant !== null, third.error !== null], [true, true]);
      const rejected = world.events.filter(({ type }) => type === "REJECTED");
      assert.deepEqual(rejected.map(({ limiterName }) => limiterName), ["memory", "slots"]);
    }),
  );

  it(
    "EVT-05 BEY-05 a refusal at once carries what was asked",
    scenario(async (world) => {
      const bucket = world.bucket("gpt", { tpm: 1_000, rpm: 10 });
      const admission = world.admission();
      await assert.rejects(admission.admit(new Demand().add(bucket, 700).add(bucket, 700)));
      assert.throws(() => admission.tryAdmit(new Demand().add(world.gate("slot", 2), 3)));
      assert.deepEqual(world.events.map(({ type, amount }) => [type, amount]), [["REJECTED", 1_400], [
        "REJECTED",
        3,
      ]]);
    }),
  );

  it("EVT-06 adds amounts up: [300, 300] is 600, three permits are 3, nothing is 0", () => {
    assert.equal(LimiterEvents.amountOf([300, 300]), 600);
    assert.equal(LimiterEvents.amountOf([undefined, undefined, undefined]), 3);
    assert.equal(LimiterEvents.amountOf([]), 0);
  });

  it(
    "EVT-07 can be rendered in one line of its own",
    scenario(async (world) => {
      const slot = world.gate("slot", 1);
      const admission = world.admission();
      const first = await admission.admit(new Demand().add(slot));
      const calls = [1, 2].map(() => world.follow(admission.admit(new Demand().add(slot))));
      await world.clock.advance(2_000.9);
      admission.release(first);
      await world.settle();
      admission.stop();
      assert.equal(calls[1]!.grant, null);
      assert.deepEqual(world.events.map(LimiterEvents.render), [
        "slot GRANTED (1/1)",
        "slot HELD (1/1, waiters=1)",
        "slot HELD (1/1, waiters=2)",
        "slot RELEASED (0/1)",
        "slot GRANTED after 2000ms",
        "slot REJECTED (shutdown)",
      ]);
    }),
  );
});

describe("Holds and grants", () => {
  it(
    "EVT-08 come from admission alone, and a refusal after the first HELD is not told",
    scenario(async (world) => {
      const memory = new SwitchMemory();
      const [slot, bucket] = [world.gate("slot", 1), world.bucket("gpt", { tpm: 60, rpm: 60 })];
      const admission = world.admission({ memory });
      assert.ok(slot.tryTake([undefined], []));
      bucket.tryTake([60], []);
      slot.fits([undefined], []);
      bucket.record429();
      memory.wake();
      assert.deepEqual(world.events, [], "accounts tell nothing");
      const call = world.follow(admission.admit(new Demand().add(slot).add(bucket, 60)));
      for (let i = 0; i < 10; i++) {
        slot.setCapacity(1);
        memory.wake();
        await world.clock.advance(10_000);
      }
      assert.equal(call.grant, null);
      assert.deepEqual(world.transitions, ["slot HELD", "gpt HELD"]);
    }),
  );

  it(
    "EVT-09 a grant at the first look is one GRANTED_IMMEDIATE an entry, and nothing on memory",
    scenario(async (world) => {
      const admission = world.admission({ memory: new SwitchMemory() });
      const [a, b, taken] = [world.gate("a", 2), world.gate("b", 2), world.gate("taken", 1)];
      await admission.admit(new Demand().add(b).add(a));
      assert.deepEqual(since(world, 0), [["b", "GRANTED_IMMEDIATE", 0, 0], ["a", "GRANTED_IMMEDIATE", 0, 0]]);
      assert.ok(taken.tryTake([undefined], []));
      void world.follow(admission.admit(new Demand().add(taken)));
      await world.clock.advance(7);
      const start = world.events.length;
      const behind = world.follow(admission.admit(new Demand().add(a)));
      await world.settle();
      assert.ok(behind.grant, "granted by a pass, at its first look");
      assert.deepEqual(since(world, start), [["a", "GRANTED_IMMEDIATE", 0, 0]]);
    }),
  );

  it(
    "EVT-10 an account holds a waiter once, at its first refusal: no fit, a declined take, or a declined account later",
    scenario(async (world) => {
      const [slot, scripted] = [world.gate("slot", 1), new ScriptedLimiter("scripted", "declines")];
      const admission = world.admission();
      const call = world.follow(admission.admit(new Demand().add(slot).add(scripted, 1)));
      await world.settle();
      assert.deepEqual(
        since(world, 0),
        [["scripted", "HELD", 1, 0]],
        "the take was declined, the gate had room",
      );
      assert.ok(slot.tryTake([undefined], []));
      for (const mode of ["short", "declines", "short"] as const) {
        scripted.mode = mode;
        scripted.wake();
        await world.settle();
      }
      assert.deepEqual(
        since(world, 1),
        [["slot", "HELD", 1, 0]],
        "now the gate refuses too, for the first time",
      );
      assert.equal(call.grant, null);
    }),
  );

  it(
    "EVT-10 memory holds a waiter once, by its own question, by its take, or behind a head that it refused",
    scenario(async (world) => {
      class Declining extends SwitchMemory {
        declines = false;

        override tryTake(): boolean {
          return !this.declines && super.tryTake();
        }
      }
      const memory = new Declining();
      memory.declines = true;
      const admission = world.admission({ memory });
      const slot = world.gate("slot", 9);
      const head = world.follow(admission.admit(new Demand().add(slot)));
      await world.settle();
      assert.deepEqual(since(world, 0), [["memory", "HELD", 1, 0]], "fits said yes, the take was declined");
      memory.isOpen = false;
      const behind = [1, 2].map(() => world.follow(admission.admit(new Demand().add(slot))));
      await world.settle();
      memory.wake();
      await world.settle();
      assert.deepEqual(since(world, 1), [["memory", "HELD", 2, 0], ["memory", "HELD", 3, 0]]);
      assert.deepEqual([head.grant, behind[0]!.grant, slot.currentInUse], [null, null, 0]);
    }),
  );

  it(
    "EVT-10 EVT-22 two limiters that lead to one account hold a waiter there once, and it counts once",
    scenario(async (world) => {
      const slot = world.gate("slot", 1);
      const router = new Slots("router", 1);
      router.accountFor = () => slot;
      router.currentInUse = 1;
      const admission = world.admission();
      const holder = await admission.admit(new Demand().add(slot));
      const call = world.follow(admission.admit(new Demand().add(slot).add(router, "slot")));
      await world.clock.advance(10);
      assert.deepEqual(since(world, 1), [["slot", "HELD", 1, 0]]);
      router.currentInUse = 0;
      admission.release(holder);
      await world.settle();
      assert.deepEqual([...call.grant!.waitTimesMs], [["slot", 10]]);
    }),
  );

  it(
    "EVT-18 an empty demand causes none, granted at once, through the line, or settled",
    scenario(async (world) => {
      const memory = new SwitchMemory();
      memory.isOpen = false;
      const admission = world.admission({ memory });
      admission.release(await admission.admit(new Demand()));
      const parked = world.follow(admission.admit(new Demand().add(world.gate("slot", 1))));
      await world.settle();
      const start = world.events.length;
      const through = await admission.admit(new Demand());
      admission.rollback(through);
      await world.settle();
      assert.deepEqual([since(world, start), parked.grant], [[], null]);
    }),
  );
});
