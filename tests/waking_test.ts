/** What wakes the line, what it sleeps on, and that a pass never runs on anybody's stack (monitor.md 2). */
import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Demand, TokenBucketRateLimiter } from "../mod.ts";
import { ScriptedLimiter, SwitchMemory } from "../testing/mod.ts";
import { scenario, type World } from "./scenario.ts";
import { assertParked, grantOf, WatchedClock, WatchedLimiter } from "./watched.ts";

/** A line with one waiter on a taken gate, on a clock of its own whose readings count the passes. */
async function parkOne(world: World, memory: SwitchMemory | null = null) {
  const clock = new WatchedClock(1000);
  const gate = world.gate("gate", 3);
  const admission = world.admission({ clock, memory });
  const empty = await admission.admit(new Demand());
  const holders = [
    await admission.admit(new Demand().add(gate)),
    await admission.admit(new Demand().add(gate)),
  ];
  const other = await admission.admit(new Demand().add(world.gate("other", 2)));
  const waiter = world.follow(admission.admit(new Demand().add(gate, 3)));
  await world.settle();
  return { clock, gate, admission, empty, holders, other, waiter };
}

/** How many passes ran because of what was done. */
async function passesOf(world: World, clock: WatchedClock, act: () => void): Promise<number> {
  await world.settle();
  act();
  const before = clock.readings;
  await world.settle();
  return clock.readings - before;
}

describe("What wakes the line", () => {
  it(
    "WAK-01 only the evaluator walks the line: nothing else asks an account on behalf of a waiter",
    scenario(async (world) => {
      const log: string[] = [];
      const x = new WatchedLimiter("x", log, "short");
      const gate = world.gate("gate", 1);
      const admission = world.admission();
      const holder = await admission.admit(new Demand().add(gate));
      const leaving = new AbortController();
      world.follow(admission.admit(new Demand().add(x)));
      world.follow(admission.admit(new Demand().add(x), { signal: leaving.signal }));
      await world.settle();
      log.length = 0;

      world.follow(admission.admit(new Demand().add(x)));
      assert.equal(admission.tryAdmit(new Demand().add(x)), null);
      x.wake();
      leaving.abort();
      holder.release();
      assert.equal(admission.queueSize, 2);
      assert.deepEqual([...log], []);
      await world.settle();
      assert.ok(log.includes("x fits [] []"));
      x.wake();
      admission.stop();
      log.length = 0;
      await world.settle();
      assert.deepEqual([...log], []);
    }),
  );

  it(
    "WAK-02 a waiter that joins, a first settlement and an account's wake each ask for a pass",
    scenario(async (world) => {
      const memory = new SwitchMemory();
      const { clock, gate, admission, empty, holders, other, waiter } = await parkOne(world, memory);
      const passes = (act: () => void) => passesOf(world, clock, act);
      const custom = new ScriptedLimiter("custom", "short");

      assert.equal(await passes(() => world.follow(admission.admit(new Demand().add(gate).add(custom)))), 1);
      assert.equal(await passes(() => other.release()), 1);
      assert.equal(await passes(() => empty.release()), 1);
      assert.equal(await passes(() => holders[0]!.rollback()), 1);
      assert.equal(await passes(() => custom.wake()), 1);
      assert.equal(await passes(() => memory.wake()), 1);
      assert.equal(await passes(() => gate.setCapacity(4)), 1);
      grantOf(waiter).release();
      await world.settle();
      assert.equal(admission.queueSize, 1);
      admission.stop();
      assert.equal(admission.queueSize, 0);
    }),
  );

  it(
    "WAK-03 a wake during a pass leads to one more pass, and many wakes collapse into one",
    scenario(async (world) => {
      const clock = new WatchedClock(1000);
      const x = new WatchedLimiter("x", [], "short");
      const admission = world.admission({ clock });
      const job = world.follow(admission.admit(new Demand().add(x)));
      await world.settle();

      const thrice = () => [1, 2, 3].forEach(() => x.wake());
      assert.equal(await passesOf(world, clock, thrice), 1);
      x.onAsk = (verb) => {
        if (verb !== "earliestFit") return;
        x.onAsk = null;
        thrice();
      };
      assert.equal(await passesOf(world, clock, thrice), 2);
      // The room comes after the pass has asked: only the wake in the middle of it can tell.
      x.onAsk = (verb) => {
        if (verb !== "earliestFit") return;
        x.mode = "fits";
        x.wake();
      };
      assert.equal(await passesOf(world, clock, () => x.wake()), 2);
      grantOf(job);
    }),
  );

  it(
    "WAK-04 an inline grant, a repeated settlement and any decrease wake nobody",
    scenario(async (world) => {
      const { clock, gate, admission, empty, other, waiter } = await parkOne(world);
      const bucket = new TokenBucketRateLimiter("bucket", { tpm: 1000, rpm: 100, clock });
      world.follow(admission.admit(new Demand().add(gate).add(bucket, 10)));
      const second = world.admission({ clock });
      other.release();
      empty.rollback();
      await world.settle();

      const asleep: (() => void)[] = [
        () => second.release(second.tryAdmit(new Demand().add(world.gate("apart", 1)))!),
        () => assert.notEqual(second.tryAdmit(new Demand().add(gate)), null),
        () => assert.notEqual(second.tryAdmit(new Demand().add(bucket, 10)), null),
        () => other.release(),
        () => other.rollback(),
        () => empty.release(),
        () => gate.setCapacity(3),
        () => bucket.setConfig({ tpm: 900, rpm: 90 }),
        () => bucket.recordBackpressure(3),
      ];
      for (const act of asleep) assert.equal(await passesOf(world, clock, act), 0, String(act));
      assertParked(waiter);
    }),
  );

  it(
    "WAK-14 the first pass runs right after start, and not on its stack",
    scenario(async (world) => {
      const gate = world.gate("gate", 1);
      const admission = world.unstarted();
      const holder = await admission.admit(new Demand().add(gate));
      const parked = world.follow(admission.admit(new Demand().add(gate)));
      holder.release();
      await world.settle();
      assertParked(parked);

      admission.start();
      assert.equal(admission.queueSize, 1);
      await world.settle();
      assert.equal(grantOf(parked).wallWaitMs, 0);
    }),
  );
});

describe("Where a pass runs", () => {
  it(
    "WAK-16 no pass runs on the stack of admit, release, rollback or a wake",
    scenario(async (world) => {
      const [left, right] = [world.gate("left", 1), world.gate("right", 1)];
      const admission = world.admission();
      const both = () => new Demand().add(left).add(right);
      const first = await admission.admit(both());
      const second = world.follow(admission.admit(both()));
      const third = world.follow(admission.admit(both()));
      await world.settle();
      world.events.length = 0;

      first.release();
      assert.deepEqual(world.transitions, ["left RELEASED", "right RELEASED"]);
      assert.deepEqual([left.currentInUse, admission.queueSize], [0, 2]);
      await world.settle();
      grantOf(second).rollback();
      assert.deepEqual([right.currentInUse, admission.queueSize], [0, 1]);
      await world.settle();
      grantOf(third);
      const settled = ["left RELEASED", "right RELEASED"];
      const granted = ["left GRANTED_FROM_HOLD", "right GRANTED_FROM_HOLD"];
      assert.deepEqual(world.transitions, [...settled, ...granted, ...settled, ...granted]);
    }),
  );

  it(
    "WAK-16 a wake that an account runs inside a take or a give cannot re-enter admission",
    scenario(async (world) => {
      const x = new WatchedLimiter("x", [], "short");
      const admission = world.admission();
      const calls = [1, 2].map(() => world.follow(admission.admit(new Demand().add(x))));
      await world.settle();
      let [depth, deepest] = [0, 0];
      x.onAsk = (verb) => {
        deepest = Math.max(deepest, ++depth);
        if (verb === "tryTake" || verb === "give") x.wake();
        depth--;
      };

      x.mode = "fits";
      x.wake();
      await world.settle();
      const grants = calls.map(grantOf);
      x.mode = "short";
      const last = world.follow(admission.admit(new Demand().add(x)));
      await world.settle();
      x.mode = "fits";
      for (const grant of grants) grant.release();
      assertParked(last);
      await world.settle();
      grantOf(last);
      assert.equal(deepest, 1);
    }),
  );
});
