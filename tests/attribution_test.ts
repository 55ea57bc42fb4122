// Who kept a job waiting, and for how long.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { createJobContext, Demand } from "../mod.ts";
import { SwitchMemory } from "../testing/mod.ts";
import { BentClock } from "./odd_clocks.ts";
import { Slots } from "./custom_accounts.ts";
import { scenario, type World } from "./scenario.ts";

/** Both gates of capacity 1 are taken, and a job waits for both. */
async function waitingForTwo(world: World) {
  const admission = world.admission();
  const gates = [world.gate("first", 1), world.gate("second", 1)] as const;
  const holders = [];
  for (const gate of gates) holders.push(await admission.admit(new Demand().add(gate)));
  const call = world.follow(admission.admit(new Demand().add(gates[0]).add(gates[1])));
  return { admission, gates, holders, call };
}

describe("A grant's waits", () => {
  it(
    "ATT-02 ATT-03 an account's wait runs from its first refusal to the grant, so the waits can exceed the wall wait",
    scenario(async (world) => {
      const { admission, holders, call } = await waitingForTwo(world);
      await world.clock.advance(1_000);
      admission.release(holders[0]!);
      await world.clock.advance(1_000);
      assert.equal(call.grant, null);
      admission.release(holders[1]!);
      await world.settle();
      const { wallWaitMs, waitTimesMs } = call.grant!;
      assert.equal(wallWaitMs, 2_000);
      assert.deepEqual([...waitTimesMs], [["first", 2_000], ["second", 2_000]]);
    }),
  );

  it(
    "ATT-02 a later refusal does not start an account's wait anew",
    scenario(async (world) => {
      const { admission, gates, holders, call } = await waitingForTwo(world);
      await world.clock.advance(500);
      admission.release(holders[0]!);
      await world.clock.advance(500);
      assert.ok(gates[0].tryTake([undefined], []), "somebody else takes it meanwhile");
      admission.release(holders[1]!);
      await world.clock.advance(500);
      assert.equal(call.grant, null, "held on the first once more");
      gates[0].give([undefined]);
      await world.settle();
      assert.deepEqual([...call.grant!.waitTimesMs], [["first", 1_500], ["second", 1_500]]);
    }),
  );

  it(
    "ATT-02 ATT-05 an account that refuses later in the wait has the shorter wait",
    scenario(async (world) => {
      const [early, late] = [world.gate("early", 1), world.gate("late", 1)];
      const admission = world.admission();
      const holder = await admission.admit(new Demand().add(early));
      const call = world.follow(admission.admit(new Demand().add(late).add(early)));
      await world.clock.advance(1_000);
      assert.ok(late.tryTake([undefined], []));
      admission.release(holder);
      await world.clock.advance(250);
      late.give([undefined]);
      await world.settle();
      assert.deepEqual([...call.grant!.waitTimesMs], [["late", 250], ["early", 1_250]], "in demand order");
    }),
  );

  it(
    "ATT-04 a taken gate, two seconds, a release: 2,000 ms on the wall and on the gate",
    scenario(async (world) => {
      const slot = world.gate("slot", 1);
      const admission = world.admission();
      const holder = await admission.admit(new Demand().add(slot));
      const call = world.follow(admission.admit(new Demand().add(slot)));
      await world.clock.advance(2_000);
      admission.release(holder);
      await world.settle();
      assert.equal(call.grant!.wallWaitMs, 2_000);
      assert.deepEqual([...call.grant!.waitTimesMs], [["slot", 2_000]]);
    }),
  );

  it(
    "ATT-05 a refusal in a pass is stamped with the pass's reading, so the wait can be less than the wall wait",
    scenario(async (world) => {
      const slot = world.gate("slot", 2);
      const admission = world.unstarted();
      const holder = await admission.admit(new Demand().add(slot, 2));
      const calls = [1, 2].map(() => world.follow(admission.admit(new Demand().add(slot))));
      await world.clock.advance(500);
      admission.start();
      await world.clock.advance(2_000);
      admission.release(holder);
      await world.settle();
      const waits = calls.map(({ grant }) => [grant!.wallWaitMs, grant!.waitTimesMs.get("slot")]);
      assert.deepEqual(
        waits,
        [[2_500, 2_500], [2_500, 2_000]],
        "the first was refused at arrival, on an empty line",
      );
    }),
  );

  it(
    "ATT-06 time held on memory stands under memory's name",
    scenario(async (world) => {
      const memory = new SwitchMemory();
      memory.isOpen = false;
      const slot = world.gate("slot", 1);
      const admission = world.admission({ memory });
      const calls = [1, 2].map(() => world.follow(admission.admit(new Demand().add(slot))));
      await world.clock.advance(300);
      memory.isOpen = true;
      memory.wake();
      await world.clock.advance(200);
      admission.release(calls[0]!.grant!);
      await world.settle();
      assert.deepEqual([...calls[0]!.grant!.waitTimesMs], [["memory", 300]]);
      assert.deepEqual([...calls[1]!.grant!.waitTimesMs], [["slot", 200], ["memory", 500]], "memory last");
    }),
  );
});

describe("The moment of arrival", () => {
  it(
    "ATT-01 is the clock at the start of admit, before any account is wired",
    scenario(async (world) => {
      const clock = new BentClock(world.clock);
      const slots = new Slots("slots", 1);
      const admission = world.admission({ clock });
      slots.currentInUse = 1;
      slots.onCapacityChange = () => void (clock.sleptMs += 40);
      const call = world.follow(admission.admit(new Demand().add(slots, 1)));
      await world.clock.advance(100);
      slots.give([1]);
      admission.release(await admission.admit(new Demand()));
      await world.settle();
      assert.equal(call.grant!.wallWaitMs, 140);
    }),
  );

  it(
    "ATT-01 GRT-02 is also the reading of an inline attempt, so a grant without a wait took 0 ms",
    scenario(async (world) => {
      class Ticking extends BentClock {
        override now(): number {
          this.sleptMs++;
          return super.now();
        }
      }
      const slots = new Slots("slots", 1);
      const admission = world.admission({ clock: new Ticking(world.clock) });
      const grant = await admission.admit(new Demand().add(slots, 1));
      assert.deepEqual([grant.wallWaitMs, [...grant.waitTimesMs]], [0, []]);
    }),
  );

  it(
    "ATT-10 fixes the snapshot that all events of the admission carry, while the job waits and runs",
    scenario(async (world) => {
      const slot = world.gate("slot", 1);
      const admission = world.admission();
      const holder = await admission.admit(new Demand().add(slot));
      const context = createJobContext({ id: "job-7", metadata: { attempt: 1 } });
      const call = world.follow(admission.admit(new Demand().add(slot), { context }));
      context.metadata.attempt = 2;
      await world.settle();
      context.metadata.extra = "later";
      admission.release(holder);
      await world.settle();
      context.cancel();
      admission.release(call.grant!);
      const mine = world.events.filter(({ snapshot }) => snapshot.id === "job-7");
      assert.deepEqual(mine.map(({ type }) => type), ["HELD", "GRANTED_FROM_HOLD", "RELEASED"]);
      for (const { snapshot } of mine) {
        assert.deepEqual(snapshot, { id: "job-7", isCancelled: false, metadata: { attempt: 1 } });
        assert.equal(snapshot, mine[0]!.snapshot);
        assert.throws(() => Object.assign(snapshot.metadata, { attempt: 3 }), TypeError);
      }
      const again = await admission.admit(new Demand().add(slot), {
        context: createJobContext({ id: "job-7" }),
      });
      assert.notEqual(world.events.at(-1)!.snapshot, mine[0]!.snapshot);
      again.release();
    }),
  );
});
