// What the end of a job gives back, in which order, and whom that wakes.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  type Admission,
  type AdmissionOptions,
  CountingGate,
  Demand,
  MemoryPressureGate,
  type Replenishment,
} from "../mod.ts";
import { MeterLimiter, ScriptedLimiter, SwitchMemory } from "../testing/mod.ts";
import { Slots } from "./custom_accounts.ts";
import { scenario, type World } from "./scenario.ts";

/** A gate whose answer about replenishment can change. */
class Changing extends CountingGate {
  kind: Replenishment = "RELEASE";

  override get replenishment(): Replenishment {
    return this.kind;
  }
}

/** Memory that tells the story when it is given back to. */
class ToldMemory extends SwitchMemory {
  readonly #world: World;

  constructor(world: World) {
    super();
    this.#world = world;
  }

  override give(): void {
    this.#world.tell("memory gives");
    super.give();
  }
}

describe("A settlement", () => {
  it(
    "SET-01 counts once: later releases and rollbacks give nothing, report nothing and wake nobody",
    scenario(async (world) => {
      const gate = world.gate("slot", 2);
      const memory = new SwitchMemory();
      const scripted = new ScriptedLimiter("scripted");
      const admission = world.admission({ memory });
      const grant = await admission.admit(new Demand().add(gate).add(scripted));
      scripted.mode = "short";
      const parked = world.follow(admission.admit(new Demand().add(scripted)));
      admission.release(grant);
      await world.settle();
      const seen = world.story.length;
      scripted.mode = "fits";
      admission.release(grant);
      admission.rollback(grant);
      await world.settle();
      assert.deepEqual([gate.currentInUse, memory.giveCount, scripted.giveCount], [0, 1, 1]);
      assert.deepEqual(world.story.slice(seen), []);
      assert.equal(parked.grant, null, "nobody was woken");
      scripted.wake();
      await world.settle();
      assert.ok(parked.grant);
    }),
  );

  it(
    "SET-01 SET-03 counts once when the rollback comes first",
    scenario(async (world) => {
      const meter = new MeterLimiter("meter", 1000, 0, world.clock);
      const gate = world.gate("slot", 2);
      const admission = world.admission();
      const other = await admission.admit(new Demand().add(gate).add(meter, 100));
      const grant = await admission.admit(new Demand().add(gate).add(meter, 400));
      admission.rollback(grant);
      admission.release(grant);
      admission.rollback(grant);
      assert.deepEqual([gate.currentInUse, meter.level, meter.giveCount], [1, 900, 1]);
      assert.equal(other.isSettled, false);
    }),
  );

  it(
    "SET-02 SET-03 returns permits on release, and metered amounts as well on rollback",
    scenario(async (world) => {
      const gate = world.gate("slot", 1);
      const meter = new MeterLimiter("meter", 1000, 0, world.clock);
      const bucket = world.bucket("gpt", { tpm: 1000, rpm: 10 });
      const admission = world.admission();
      const demand = new Demand().add(gate).add(meter, 400).add(bucket, 400);
      admission.release(await admission.admit(demand));
      assert.deepEqual([gate.currentInUse, meter.level, bucket.status.availableTokens], [0, 600, 600]);
      const second = await admission.admit(demand);
      assert.deepEqual([gate.currentInUse, meter.level, bucket.status.availableTokens], [1, 200, 200]);
      admission.rollback(second);
      assert.deepEqual([gate.currentInUse, meter.level, bucket.status.availableTokens], [0, 600, 600]);
      assert.equal(meter.giveCount, 1);
    }),
  );

  it(
    "SET-04 SET-05 gives entries back in demand order, each followed by its event, and memory last without one",
    scenario(async (world) => {
      const tell = (line: string) => world.tell(line);
      const [a, b, c] = [new Slots("a", 5, tell), world.gate("b", 5), new Slots("c", 5, tell)];
      const admission = world.admission({
        memory: new ToldMemory(world),
        events: ({ limiterName, type, inUse }) => world.tell(`${limiterName} ${type} ${inUse}`),
      });
      const demand = new Demand().add(c, 1).add(a, 1).add(b).add(c, 1);
      const returned = [
        "c gives 2",
        "c RELEASED 0",
        "a gives 1",
        "a RELEASED 0",
        "b RELEASED 0",
        "memory gives",
      ];
      for (const settle of ["release", "rollback"] as const) {
        const grant = await admission.admit(demand);
        world.story.length = 0;
        admission[settle](grant);
        assert.deepEqual(world.story, returned, settle);
      }
      const empty = await admission.admit(new Demand());
      world.story.length = 0;
      admission.release(empty);
      admission.rollback(await admission.admit(new Demand()));
      assert.deepEqual(world.story, [], "an empty grant touches no account");
    }),
  );

  it(
    "SET-05 gives memory back once for a grant of metered amounts alone, although these stay spent",
    scenario(async (world) => {
      const memory = new SwitchMemory();
      const admission = world.admission({ memory });
      const grant = await admission.admit(new Demand().add(world.bucket("gpt", { tpm: 10, rpm: 1 }), 10));
      admission.release(grant);
      assert.equal(memory.giveCount, 1);
      assert.deepEqual(world.transitions, ["gpt GRANTED_IMMEDIATE"]);
    }),
  );

  it(
    "SET-06 wakes the line once its own work is done, so no grant comes in the middle of it",
    scenario(async (world) => {
      const [a, b] = [world.gate("a", 1), new Slots("b", 1)];
      const admission = world.admission();
      const grant = await admission.admit(new Demand().add(a).add(b, 1));
      const onA = world.follow(admission.admit(new Demand().add(a)));
      const onB = world.follow(admission.admit(new Demand().add(b, 1)));
      await world.settle();
      admission.release(grant);
      assert.deepEqual(
        [a.currentInUse, b.currentInUse],
        [0, 0],
        "both are back, and nobody has taken them yet",
      );
      assert.deepEqual(world.transitions.slice(-2), ["a RELEASED", "b RELEASED"]);
      await world.settle();
      assert.ok(onA.grant && onB.grant, "a gate's waiter and one of an account whose give wakes nobody");
    }),
  );

  it(
    "SET-06 wakes the line at the end of an empty grant too",
    scenario(async (world) => {
      const memory = new SwitchMemory();
      const admission: Admission = world.admission({ memory });
      const empty = await admission.admit(new Demand());
      memory.isOpen = false;
      const parked = world.follow(admission.admit(new Demand().add(world.gate("slot", 1))));
      await world.settle();
      memory.isOpen = true;
      admission.release(empty);
      await world.settle();
      assert.ok(parked.grant);
    }),
  );

  it(
    "SET-07 asks an account at the settlement whether permits come back",
    scenario(async (world) => {
      const [custom, native] = [new Slots("custom", 3), new Changing("native", 3)];
      const admission = world.admission();
      const demand = new Demand().add(custom, 1).add(native);
      const [first, second] = [await admission.admit(demand), await admission.admit(demand)];
      custom.kind = native.kind = "TIME";
      admission.release(first);
      assert.deepEqual(
        [custom.currentInUse, native.currentInUse],
        [2, 2],
        "granted as RELEASE, settled as TIME",
      );
      custom.kind = native.kind = "RELEASE";
      admission.release(second);
      assert.deepEqual([custom.currentInUse, native.currentInUse], [1, 1]);
    }),
  );

  it(
    "SET-08 never shortens what a metered account still binds",
    scenario(async (world) => {
      const bucket = world.bucket("gpt", { tpm: 1_000_000, rpm: 2 });
      const admission = world.admission();
      const demand = new Demand().add(bucket, 1);
      const grants = [await admission.admit(demand), await admission.admit(demand)];
      const parked = world.follow(admission.admit(demand));
      await world.clock.advance(1);
      for (const grant of grants) admission.release(grant);
      await world.clock.advance(29_998.999);
      assert.equal(parked.grant, null, "both jobs are over, and their requests still count");
      await world.clock.advance(0.001);
      assert.equal(parked.grant!.wallWaitMs, 30_000);
    }),
  );

  it(
    "BEY-04 a public wake that throws keeps no account, no memory and no waiter from theirs, with a sink or without",
    scenario(async (world) => {
      for (const options of [{}, { events: null }]) {
        const [first, second] = [world.gate("first", 1), world.gate("second", 1)];
        const memory = new MemoryPressureGate({ reader: () => 0.5, clock: world.clock });
        let completions = 0;
        memory.onCapacityChange(() => completions++);
        const admission = world.admission({ ...options, memory } as AdmissionOptions);
        const grant = await admission.admit(new Demand().add(first).add(second));
        const parked = world.follow(admission.admit(new Demand().add(second)));
        await world.settle();
        first.onCapacityChange(() => {
          throw new Error("the wake is broken");
        });
        assert.throws(() => admission.release(grant), /the wake is broken/);
        if (!("events" in options)) {
          assert.equal(world.count("RELEASED", "first"), 1, "what came back is told");
        }
        await world.settle();
        assert.deepEqual([first.currentInUse, second.currentInUse, completions], [0, 1, 1]);
        assert.notEqual(parked.grant, null);
        parked.grant!.release();
      }
    }),
  );

  it(
    "BEY-04 SET-07 an account that fails to say whether its permits come back keeps them, and nobody else's",
    scenario(async (world) => {
      class Mute extends CountingGate {
        isMute = false;

        override get replenishment(): Replenishment {
          if (this.isMute) throw new Error("it does not say");
          return "RELEASE";
        }
      }
      const mute = new Mute("mute", 1);
      const gate = world.gate("gate", 1);
      const admission = world.admission();
      const grant = await admission.admit(new Demand().add(mute).add(gate));
      mute.isMute = true;
      assert.throws(() => admission.release(grant), /it does not say/);
      assert.deepEqual([mute.currentInUse, gate.currentInUse], [1, 0]);
      assert.deepEqual([world.count("RELEASED", "mute"), world.count("RELEASED", "gate")], [0, 1]);
    }),
  );
});
