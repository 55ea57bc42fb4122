/** Memory first: who is asked, who is not, and what a memory-short head means for the line (monitor.md 1.6). */
import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Demand } from "../mod.ts";
import { SwitchMemory } from "../testing/mod.ts";
import { scenario } from "./scenario.ts";
import { assertParked, grantOf, WatchedLimiter } from "./watched.ts";

describe("Memory first", () => {
  it(
    "MON-34 when memory says no, no other account is asked and none is reported",
    scenario(async (world) => {
      const memory = new SwitchMemory();
      const slot = world.gate("slot", 5);
      const watched = new WatchedLimiter("watched", []);
      const admission = world.admission({ memory });
      memory.isOpen = false;

      const job = world.follow(admission.admit(new Demand().add(slot).add(watched)));
      await world.settle();
      assert.deepEqual(world.transitions, ["memory HELD"]);
      assert.deepEqual(watched.log, ["watched wired"]);
      memory.isOpen = true;
      memory.wake();
      await world.settle();
      grantOf(job);
      assert.equal(world.count("GRANTED_FROM_HOLD", "memory"), 1);
      assert.equal(world.count("HELD", "slot"), 0);
    }),
  );

  it(
    "MON-36 behind a head that is short of memory, memory is not asked and its instant counts for all",
    scenario(async (world) => {
      const memory = new WatchedLimiter("memory", [], "short");
      const slot = world.gate("slot", 5);
      const admission = world.admission({ memory });
      const line = [1, 2, 3].map(() => world.follow(admission.admit(new Demand().add(slot))));
      await world.settle();
      assert.equal(world.count("HELD", "memory"), 3);

      memory.log.length = 0;
      memory.instant = 1070;
      // Whoever is asked after the head would be told an earlier instant.
      memory.onAsk = (verb) => memory.instant = verb === "earliestFit" ? memory.instant : 1070;
      memory.wake();
      await world.settle();
      assert.deepEqual(memory.log, ["memory fits [] []", "memory earliestFit [] []"]);
      assert.equal(world.clock.nextTimerMs, 1070);
      memory.instant = null;
      memory.onAsk = null;
      memory.wake();
      await world.settle();
      assert.equal(world.clock.nextTimerMs, null);
      assert.equal(world.count("HELD", "memory"), 3);
      assertParked(...line);
    }),
  );

  it(
    "MON-36 empty demands leave past a head that is short of memory",
    scenario(async (world) => {
      const memory = new WatchedLimiter("memory", [], "short");
      const admission = world.admission({ memory });
      const head = world.follow(admission.admit(new Demand().add(world.gate("slot", 5))));
      await world.settle();
      memory.log.length = 0;

      const empty = world.follow(admission.admit(new Demand()));
      await world.settle();
      assert.equal(grantOf(empty).isEmpty, true);
      assert.ok(!memory.log.some((line) => line.includes("tryTake")));
      assertParked(head);
      assert.equal(world.count("HELD", "memory"), 1);
    }),
  );

  it(
    "MON-37 the head counts as short of memory only until memory says yes to it",
    scenario(async (world) => {
      const memory = new SwitchMemory();
      const [taken, free] = [world.gate("taken", 1), world.gate("free", 1)];
      const admission = world.admission({ memory });
      await admission.admit(new Demand().add(taken));
      memory.isOpen = false;
      const head = world.follow(admission.admit(new Demand().add(taken)));
      const follower = world.follow(admission.admit(new Demand().add(free)));
      await world.settle();
      assertParked(head, follower);
      assert.equal(world.count("HELD", "memory"), 2);

      memory.isOpen = true;
      memory.wake();
      await world.settle();
      assertParked(head);
      grantOf(follower);
      assert.equal(world.count("HELD", "taken"), 1);
    }),
  );

  it(
    "MON-39 memory is never set aside for the head, and no demand lists it",
    scenario(async (world) => {
      const memory = new WatchedLimiter("memory", []);
      const gate = world.gate("gate", 2);
      const admission = world.admission({ memory });
      const holder = await admission.admit(new Demand().add(gate));
      const head = world.follow(admission.admit(new Demand().add(gate, 2)));
      const other = new Demand().add(world.gate("other", 1));
      const follower = world.follow(admission.admit(other));

      await world.settle();
      grantOf(follower);
      assertParked(head);
      assert.deepEqual(other.entries.map(({ key }) => key.limiterName), ["other"]);
      assert.equal(memory.takeCount, 2);
      assert.ok(memory.log.every((line) => line === "memory wired" || line.endsWith(" [] []")));
      holder.release();
      grantOf(follower).rollback();
      await world.settle();
      grantOf(head);
      assert.equal(memory.giveCount, 2);
      assert.ok(!world.transitions.some((line) => line.startsWith("memory")));
    }),
  );
});
