// The counts that events carry, and the sequences they come in, always hold.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { createJobContext, Demand } from "../mod.ts";
import { ScriptedLimiter, SwitchMemory } from "../testing/mod.ts";
import { Slots } from "./custom_accounts.ts";
import { type Call, scenario } from "./scenario.ts";

describe("Counts and sequences", () => {
  it(
    "EVT-22 the count on each account is the number of parked waiters it holds, after every kind of departure",
    scenario(async (world) => {
      const memory = new SwitchMemory();
      let onMemory = () => NaN;
      memory.observeHeld = (held) => void (onMemory = held);
      const [a, b] = [new Slots("a", 1), new Slots("b", 1)];
      const admission = world.admission({ memory });
      const counts = () => [a.held(), b.held(), onMemory(), admission.queueSize];
      const holders = [
        await admission.admit(new Demand().add(a, 1)),
        await admission.admit(new Demand().add(b, 1)),
      ];
      const controller = new AbortController();
      const context = createJobContext();
      const both = new Demand().add(a, 1).add(b, 1);
      const calls = [
        world.follow(admission.admit(both)),
        world.follow(admission.admit(new Demand().add(a, 1), { signal: controller.signal })),
        world.follow(admission.admit(new Demand().add(b, 1), { context })),
        world.follow(admission.admit(both)),
      ];
      await world.settle();
      assert.deepEqual(counts(), [3, 3, 0, 4]);
      controller.abort();
      assert.deepEqual(counts(), [2, 3, 0, 3]);
      context.cancel();
      assert.deepEqual(counts(), [2, 2, 0, 2]);
      for (const holder of holders) admission.release(holder);
      await world.settle();
      assert.deepEqual([calls[0]!.grant !== null, ...counts()], [true, 1, 1, 0, 1]);
      await assert.rejects(
        admission.admit(new Demand().add(a, 1).add(world.gate("c", 1), 2)),
        /can never fit/,
      );
      assert.deepEqual(counts(), [1, 1, 0, 1]);
      memory.isOpen = false;
      memory.wake();
      await world.settle();
      assert.deepEqual(counts(), [1, 1, 1, 1]);
      admission.stop();
      assert.deepEqual(counts(), [0, 0, 0, 0]);
      const last = new Map(world.events.map(({ limiterName, waiters }) => [limiterName, waiters]));
      assert.deepEqual([...last], [["a", 0], ["b", 0], ["c", 0], ["memory", 0]]);
    }),
  );

  it(
    "EVT-23 an account tells one admission only: granted, held then granted, held then rejected, or rejected",
    scenario(async (world) => {
      const [slot, circuit] = [world.gate("slot", 2), new ScriptedLimiter("circuit", "short")];
      const admission = world.admission();
      const calls: Call[] = [];
      for (let i = 0; i < 12; i++) {
        const demand = i % 3 === 2
          ? new Demand().add(circuit, 1).add(slot)
          : new Demand().add(slot, 1 + i % 2);
        const context = createJobContext({ id: `job${i}` });
        circuit.mode = i === 8 ? "refuses" : i === 5 ? "fits" : "short";
        calls.push(world.follow(admission.admit(demand, { context })));
        await world.clock.advance(1);
        if (i % 4 === 3) context.cancel();
        circuit.wake();
        await world.settle();
        const done = calls.find(({ grant }) => grant !== null && !grant.isSettled);
        if (i % 2 === 1 && done !== undefined) admission.release(done.grant!);
      }
      admission.stop();
      await world.settle();
      for (const { grant } of calls) if (grant !== null) admission.rollback(grant);
      const sequences = new Map<string, string>();
      for (const { snapshot, limiterName, type } of world.events) {
        const key = `${snapshot.id} ${limiterName}`;
        sequences.set(key, `${sequences.get(key) ?? ""}${type},`);
      }
      const lawful = /^((GRANTED_IMMEDIATE,|HELD,GRANTED_FROM_HOLD,)(RELEASED,)?|(HELD,)?REJECTED,)$/;
      for (const [key, sequence] of sequences) assert.match(sequence, lawful, key);
      assert.equal(new Set(sequences.values()).size, 4, [...new Set(sequences.values())].join(" "));
    }),
  );
});
