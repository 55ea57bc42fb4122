// drain: when nobody waits and every grant is settled.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { type Admission, Demand } from "../mod.ts";
import { ScriptedLimiter } from "../testing/mod.ts";
import { scenario, type World } from "./scenario.ts";
import { grantOf } from "./watched.ts";

/** Follows a drain; answers whether it is over so far. */
function drainOf(admission: Admission): () => boolean {
  let isOver = false;
  void admission.drain().then(() => isOver = true);
  return () => isOver;
}

async function isOver(world: World, drained: () => boolean): Promise<boolean> {
  await world.settle();
  return drained();
}

describe("drain", () => {
  it(
    "BEY-27 resolves at once where nothing is out, before start and after stop as well",
    scenario(async (world) => {
      const admission = world.unstarted();
      await admission.drain();
      admission.start();
      await admission.drain();
      admission.stop();
      await admission.drain();
    }),
  );

  it(
    "BEY-27 waits for everyone in line and for every grant, however it is settled",
    scenario(async (world) => {
      const gate = world.gate("gate", 2);
      const admission = world.admission();
      const demand = new Demand().add(gate);
      const [first, second] = [await admission.admit(demand), admission.tryAdmit(demand)!];
      const empty = await admission.admit(new Demand());
      const parked = world.follow(admission.admit(demand));
      const [drained, again] = [drainOf(admission), drainOf(admission)];
      first.release();
      first.release();
      assert.equal(await isOver(world, drained), false, "two grants are out");
      second.rollback();
      grantOf(parked)[Symbol.dispose]();
      assert.equal(await isOver(world, drained), false, "the empty grant is out");
      empty.release();
      assert.deepEqual([await isOver(world, drained), again()], [true, true]);
    }),
  );

  it(
    "BEY-27 new callers go on being admitted, and it waits for them too",
    scenario(async (world) => {
      const gate = world.gate("gate", 1);
      const admission = world.admission();
      let grant = await admission.admit(new Demand().add(gate));
      const drained = drainOf(admission);
      for (let i = 0; i < 3; i++) {
        const next = world.follow(admission.admit(new Demand().add(gate)));
        grant.release();
        assert.equal(await isOver(world, drained), false);
        grant = grantOf(next);
      }
      grant.release();
      assert.equal(await isOver(world, drained), true);
    }),
  );

  it(
    "BEY-27 who leaves without a grant is no longer waited for: by abort, time limit, refusal or stop",
    scenario(async (world) => {
      const gate = world.gate("gate", 1);
      const x = new ScriptedLimiter("x", "short");
      const admission = world.admission();
      gate.tryTake([undefined], []);
      const leaving = new AbortController();
      const leave: [() => unknown, Promise<unknown>][] = [
        [() => leaving.abort(), admission.admit(new Demand().add(gate), { signal: leaving.signal })],
        [() => world.clock.advance(50), admission.admit(new Demand().add(gate), { timeoutMs: 50 })],
        [() => {
          x.mode = "refuses";
          x.wake();
        }, admission.admit(new Demand().add(x))],
        [() => admission.stop(), admission.admit(new Demand().add(gate))],
      ];
      const ends = leave.map(([, call]) => assert.rejects(call));
      const drained = drainOf(admission);
      for (const [index, [act]] of leave.entries()) {
        assert.equal(await isOver(world, drained), false, `${leave.length - index} wait`);
        await act();
      }
      assert.equal(await isOver(world, drained), true);
      await Promise.all(ends);
    }),
  );

  it(
    "BEY-27 stop ends the waits at once, and drain still waits for the grants that are out",
    scenario(async (world) => {
      const gate = world.gate("gate", 1);
      const admission = world.admission();
      const holder = await admission.admit(new Demand().add(gate));
      const parked = world.follow(admission.admit(new Demand().add(gate)));
      const drained = drainOf(admission);
      admission.stop();
      assert.equal(await isOver(world, drained), false);
      assert.match(String(parked.error), /stopped/);
      holder.release();
      assert.equal(await isOver(world, drained), true);
    }),
  );

  it(
    "BEY-27 a settlement that fails is a settlement, and one undone by an abort is none that is waited for",
    scenario(async (world) => {
      const x = new ScriptedLimiter("x");
      const gate = world.gate("gate", 1);
      const leaving = new AbortController();
      const admission = world.admission({
        events: ({ type }) => {
          if (type === "GRANTED_FROM_HOLD") leaving.abort("left");
        },
      });
      const failing = await admission.admit(new Demand().add(x));
      const holder = await admission.admit(new Demand().add(gate));
      const undone = world.follow(admission.admit(new Demand().add(gate), { signal: leaving.signal }));
      const drained = drainOf(admission);
      holder.release();
      x.giveThrows = true;
      assert.equal(await isOver(world, drained), false);
      assert.throws(() => failing.release());
      assert.equal(await isOver(world, drained), true);
      assert.deepEqual([undone.error, gate.currentInUse], ["left", 0]);
    }),
  );

  it(
    "BEY-27 drains after a defect closed admission",
    scenario(async (world) => {
      const [breaking, declining] = [new ScriptedLimiter("a"), new ScriptedLimiter("b", "declines")];
      const gate = world.gate("gate", 1);
      const admission = world.admission();
      const holder = await admission.admit(new Demand().add(gate));
      const bystander = world.follow(admission.admit(new Demand().add(gate)));
      const drained = drainOf(admission);
      breaking.giveThrows = true;
      const doomed = world.follow(admission.admit(new Demand().add(breaking).add(declining)));
      await world.settle();
      for (const { error } of [bystander, doomed]) assert.match(String(error), /closed on a defect/);
      assert.equal(drained(), false);
      holder.release();
      assert.equal(await isOver(world, drained), true);
    }),
  );
});
