// The order of events, their counts, and what a sink may do.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { createJobContext, Demand, type LimiterEvent, UncorrectableError } from "../mod.ts";
import { ScriptedLimiter, SwitchMemory } from "../testing/mod.ts";
import { Slots } from "./custom_accounts.ts";
import { scenario, type World } from "./scenario.ts";

/** What a world heard from the given event on: who, what, how many wait, for how long, why. */
function since(world: World, start: number): unknown[][] {
  return world.events.slice(start).map(({ limiterName, type, waiters, waitMs, rejectReason }) =>
    rejectReason === null
      ? [limiterName, type, waiters, waitMs]
      : [limiterName, type, waiters, waitMs, rejectReason]
  );
}

describe("Events of a grant", () => {
  it(
    "EVT-11 stand in demand order, from hold or immediate account by account, and memory's last if it held the job",
    scenario(async (world) => {
      const memory = new SwitchMemory();
      memory.isOpen = false;
      const [a, slow, b] = [world.gate("a", 1), world.gate("slow", 1), world.gate("b", 1)];
      assert.ok(slow.tryTake([undefined], []));
      const admission = world.admission({ memory });
      const call = world.follow(admission.admit(new Demand().add(b).add(slow).add(a)));
      await world.clock.advance(10);
      memory.isOpen = true;
      memory.wake();
      await world.clock.advance(10);
      slow.give([undefined]);
      await world.settle();
      assert.ok(call.grant);
      assert.deepEqual(since(world, 0), [
        ["memory", "HELD", 1, 0],
        ["slow", "HELD", 1, 0],
        ["b", "GRANTED_IMMEDIATE", 0, 0],
        ["slow", "GRANTED_FROM_HOLD", 0, 10],
        ["a", "GRANTED_IMMEDIATE", 0, 0],
        ["memory", "GRANTED_FROM_HOLD", 0, 20],
      ]);
    }),
  );

  it(
    "EVT-12 come after all of the job's held counts were lowered",
    scenario(async (world) => {
      const [a, b] = [new Slots("a", 1), new Slots("b", 1)];
      const seen: unknown[] = [];
      const admission = world.admission({
        events: ({ type }) => void seen.push([type, a.held(), b.held()]),
      });
      a.currentInUse = b.currentInUse = 1;
      const calls = [1, 2].map(() => world.follow(admission.admit(new Demand().add(a, 1).add(b, 1))));
      await world.settle();
      assert.deepEqual([a.held(), b.held()], [2, 2]);
      seen.length = 0;
      a.currentInUse = b.currentInUse = 0;
      a.wake();
      await world.settle();
      assert.ok(calls[0]!.grant);
      assert.deepEqual(seen, [["GRANTED_FROM_HOLD", 1, 1], ["GRANTED_FROM_HOLD", 1, 1]]);
    }),
  );

  it(
    "EVT-13 the slow way is HELD, the RELEASED that freed it, GRANTED_FROM_HOLD",
    scenario(async (world) => {
      const slot = world.gate("slot", 1);
      const admission = world.admission();
      const holder = await admission.admit(new Demand().add(slot));
      const call = world.follow(admission.admit(new Demand().add(slot)));
      await world.clock.advance(3);
      admission.release(holder);
      await world.settle();
      assert.ok(call.grant);
      assert.deepEqual(since(world, 1), [
        ["slot", "HELD", 1, 0],
        ["slot", "RELEASED", 1, 0],
        ["slot", "GRANTED_FROM_HOLD", 0, 3],
      ]);
    }),
  );

  it(
    "EVT-14 three waiters on a gate of 1 are three HELD, up to 3 waiters, and three GRANTED_FROM_HOLD, down to 0",
    scenario(async (world) => {
      const slot = world.gate("slot", 1);
      const admission = world.admission();
      let grant = await admission.admit(new Demand().add(slot));
      const calls = [1, 2, 3].map(() => world.follow(admission.admit(new Demand().add(slot))));
      await world.settle();
      for (const call of calls) {
        admission.release(grant);
        await world.settle();
        grant = call.grant!;
      }
      const counts = (type: LimiterEvent["type"]) =>
        world.events.filter((event) => event.type === type).map(({ waiters }) => waiters);
      assert.deepEqual(counts("HELD"), [1, 2, 3]);
      assert.deepEqual(counts("GRANTED_FROM_HOLD"), [2, 1, 0]);
      assert.deepEqual(counts("RELEASED"), [3, 2, 1]);
    }),
  );

  it(
    "EVT-17 RELEASED is told of each entry that was given back, and not of memory, compensation, or spent tokens",
    scenario(async (world) => {
      const memory = new SwitchMemory();
      const [slot, bucket] = [world.gate("slot", 2), world.bucket("gpt", { tpm: 1_000, rpm: 10 })];
      const last = new ScriptedLimiter("last");
      const admission = world.admission({ memory });
      const demand = new Demand().add(bucket, 100).add(slot).add(last, 1);
      const grants = [await admission.admit(demand), await admission.admit(demand)];
      last.mode = "declines";
      const parked = world.follow(admission.admit(new Demand().add(slot).add(last, 1)));
      await world.settle();
      const start = world.events.length;
      admission.release(grants[0]!);
      assert.deepEqual(since(world, start), [["slot", "RELEASED", 1, 0], ["last", "RELEASED", 0, 0]]);
      await world.settle();
      assert.deepEqual(
        since(world, start + 2),
        [["last", "HELD", 1, 0]],
        "the gate was taken and given back",
      );
      const second = world.events.length;
      admission.rollback(grants[1]!);
      await world.settle();
      const all = [["gpt", "RELEASED", 0, 0], ["slot", "RELEASED", 1, 0], ["last", "RELEASED", 1, 0]];
      assert.deepEqual(since(world, second), all);
      assert.equal(parked.grant, null);
    }),
  );
});

describe("Events of a refusal", () => {
  it(
    "EVT-15 begin with the account that refuses, if it never held the job, then follow the order of first hold",
    scenario(async (world) => {
      const [slot, circuit] = [world.gate("slot", 1), new ScriptedLimiter("circuit")];
      const late = new Slots("late", 1);
      assert.ok(slot.tryTake([undefined], []));
      const admission = world.admission();
      const call = world.follow(admission.admit(new Demand().add(late, 1).add(circuit, 1).add(slot)));
      await world.clock.advance(10);
      late.currentInUse = 1;
      slot.setCapacity(1);
      circuit.wake();
      await world.clock.advance(5);
      const start = world.events.length;
      circuit.mode = "refuses";
      circuit.wake();
      await world.settle();
      assert.match(String(call.error), /pick a different tool/);
      assert.deepEqual(since(world, start), [
        ["circuit", "REJECTED", 0, 0, "circuit_blocked"],
        ["slot", "REJECTED", 0, 15, "circuit_blocked"],
        ["late", "REJECTED", 0, 5, "circuit_blocked"],
      ]);
    }),
  );

  it(
    "EVT-15 name an account that held the job and now refuses it once, in the order of first hold",
    scenario(async (world) => {
      const [slot, circuit] = [world.gate("slot", 1), new ScriptedLimiter("circuit", "short")];
      assert.ok(slot.tryTake([undefined], []));
      const admission = world.admission();
      const calls = [1, 2].map(() => world.follow(admission.admit(new Demand().add(slot).add(circuit, 1))));
      await world.clock.advance(4);
      const start = world.events.length;
      circuit.mode = "refuses";
      circuit.wake();
      await world.settle();
      const reason = "circuit_blocked";
      assert.deepEqual(since(world, start), [
        ["slot", "REJECTED", 1, 4, reason],
        ["circuit", "REJECTED", 1, 4, reason],
        ["slot", "REJECTED", 0, 4, reason],
        ["circuit", "REJECTED", 0, 4, reason],
      ]);
      assert.ok(calls.every(({ error }) => error instanceof UncorrectableError));
    }),
  );

  it(
    "EVT-15 are a single REJECTED without a wait on an empty line",
    scenario(async (world) => {
      const circuit = new ScriptedLimiter("circuit", "refuses");
      const admission = world.admission();
      const demand = new Demand().add(world.gate("slot", 1)).add(circuit, 1);
      await assert.rejects(admission.admit(demand), /pick a different tool/);
      assert.deepEqual(since(world, 0), [["circuit", "REJECTED", 0, 0, "circuit_blocked"]]);
      assert.throws(() => admission.tryAdmit(demand), /pick a different tool/);
      assert.equal(world.count("REJECTED", "circuit"), 2);
    }),
  );

  it(
    "EVT-16 say why: cancelled, shutdown, circuit_blocked, or aborted",
    scenario(async (world) => {
      const [slot, scripted] = [world.gate("slot", 1), new ScriptedLimiter("scripted", "short")];
      assert.ok(slot.tryTake([undefined], []));
      const admission = world.admission();
      const demand = new Demand().add(slot).add(scripted, 1);
      const controller = new AbortController();
      const context = createJobContext();
      const calls = [
        world.follow(admission.admit(demand, { signal: controller.signal })),
        world.follow(admission.admit(demand, { context })),
        world.follow(admission.admit(demand)),
      ];
      await world.settle();
      controller.abort();
      context.cancel();
      scripted.mode = "refuses";
      scripted.wake();
      await world.settle();
      scripted.mode = "throws";
      calls.push(world.follow(admission.admit(demand)));
      await world.settle();
      scripted.mode = "short";
      calls.push(world.follow(admission.admit(demand)));
      await world.settle();
      admission.stop();
      await world.settle();
      assert.ok(calls.every(({ error }) => error !== null));
      const reasons = world.events.filter(({ type }) => type === "REJECTED").map((
        { limiterName, rejectReason },
      ) => `${limiterName} ${rejectReason}`);
      assert.deepEqual(reasons, [
        ...["slot cancelled", "scripted cancelled", "slot cancelled", "scripted cancelled"],
        ...["slot circuit_blocked", "scripted circuit_blocked", "scripted aborted"],
        ...["slot shutdown", "scripted shutdown"],
      ]);
    }),
  );

  it(
    "EVT-16 say aborted for everyone in line when a defect ends admission",
    scenario(async (world) => {
      const [first, second] = [new ScriptedLimiter("first"), new ScriptedLimiter("second", "short")];
      const full = world.gate("full", 1);
      const admission = world.admission();
      await admission.admit(new Demand().add(full));
      void world.follow(admission.admit(new Demand().add(first, 1).add(second, 1)));
      void world.follow(admission.admit(new Demand().add(full)));
      await world.clock.advance(8);
      const start = world.events.length;
      second.mode = "declines";
      first.giveThrows = true;
      second.wake();
      await world.settle();
      assert.deepEqual(since(world, start), [
        ["second", "REJECTED", 0, 8, "aborted"],
        ["full", "REJECTED", 0, 8, "aborted"],
      ]);
    }),
  );

  it(
    "EVT-19 lower the counts account by account, each just before its event",
    scenario(async (world) => {
      const accounts = [new Slots("a", 0), new Slots("b", 0), new Slots("c", 0)];
      const seen: unknown[] = [];
      const admission = world.admission({
        events: ({ limiterName, type, waiters }) =>
          void seen.push([limiterName, type, waiters, ...accounts.map(({ held }) => held())]),
      });
      const demand = new Demand();
      for (const account of accounts) demand.add(account, 1);
      const controller = new AbortController();
      void world.follow(admission.admit(demand));
      void world.follow(admission.admit(demand, { signal: controller.signal }));
      await world.settle();
      seen.length = 0;
      controller.abort();
      assert.deepEqual(seen, [
        ["a", "REJECTED", 1, 1, 2, 2],
        ["b", "REJECTED", 1, 1, 1, 2],
        ["c", "REJECTED", 1, 1, 1, 1],
      ]);
      admission.stop();
      assert.deepEqual(accounts.map(({ held }) => held()), [0, 0, 0], "held nowhere any more");
    }),
  );
});
