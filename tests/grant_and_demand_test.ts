// What a demand asks, what a grant knows of its wait, and how demands and grants stand to each other.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { createJobContext, Demand, type Grant } from "../mod.ts";
import { MeterLimiter } from "../testing/mod.ts";
import { permits, Router } from "./custom_accounts.ts";
import { scenario, type World } from "./scenario.ts";

/** Two gates behind one router. */
function routed(world: World, search: number, images: number) {
  const gates = { search: world.gate("search", search), images: world.gate("images", images) };
  return { ...gates, router: new Router(gates) };
}

describe("A demand", () => {
  it(
    "DEM-01 DEM-02 merges an amount into the entry of its account, and keeps the order of first amounts",
    scenario((world) => {
      const meter = new MeterLimiter("meter", 1000, 0, world.clock);
      const twin = new MeterLimiter("meter", 1000, 0, world.clock);
      const slot = world.gate("slot", 1);
      const demand = new Demand().add(meter, 100).add(slot).add(meter, 50);
      assert.deepEqual(demand.entries.map(({ limiter }) => limiter), [meter, slot]);
      assert.deepEqual(demand.entries.map(({ amounts }) => amounts), [[100, 50], [undefined]]);
      demand.add(twin, 7);
      assert.deepEqual(
        demand.entries.map(({ key }) => key),
        [meter, slot, twin],
        "one name, but another instance",
      );
      assert.deepEqual(demand.entries[2]!.amounts, [7]);
    }),
  );

  it(
    "DEM-03 shows its entries and amounts read-only, and later additions do not reach what was shown",
    scenario((world) => {
      const demand = new Demand().add(world.bucket("gpt", { tpm: 1000, rpm: 10 }), 100).add(
        world.gate("slot", 2),
      );
      for (const list of [demand.entries, demand.entries[0]!.amounts, demand.entries[1]!.amounts]) {
        const before = [...list];
        assert.throws(() => (list as unknown[]).push(1), TypeError);
        assert.throws(() => (list as unknown[]).splice(0), TypeError);
        assert.throws(() => void ((list as unknown[])[0] = null), TypeError);
        assert.deepEqual([...list], before);
      }
      const { entries } = demand;
      demand.add(world.gate("late", 1));
      assert.equal(entries.length, 2);
      assert.equal(demand.entries.length, 3);
    }),
  );

  it(
    "DEM-04 GRT-01 is empty exactly when nothing was added, and so is its grant",
    scenario(async (world) => {
      const demand = new Demand();
      const admission = world.admission();
      assert.equal(demand.isEmpty, true);
      const empty = await admission.admit(demand);
      assert.equal(empty.isEmpty, true);
      demand.add(world.bucket("gpt", { tpm: 10, rpm: 1 }), 0);
      assert.equal(demand.isEmpty, false, "nothing but a zero was added, which is something");
      assert.equal((await admission.admit(demand)).isEmpty, false);
      assert.equal(empty.isEmpty, true);
    }),
  );

  it(
    "DEM-05 has one entry for each account that a router leads to, and merges amounts that lead to one",
    scenario(async (world) => {
      const { router, search, images } = routed(world, 5, 5);
      const demand = new Demand().add(router, "search").add(router, "images").add(router, "search");
      assert.deepEqual(demand.entries.map(({ limiter }) => limiter), [router, router]);
      assert.deepEqual(demand.entries.map(({ key }) => key), [search, images]);
      assert.deepEqual(demand.entries.map(({ amounts }) => amounts), [["search", "search"], ["images"]]);
      await world.admission().admit(demand);
      assert.deepEqual([search.currentInUse, images.currentInUse], [2, 1]);
    }),
  );

  it(
    "DEM-06 holds a permit as an amount without a value, so the list is as long as there are permits",
    scenario(async (world) => {
      const gate = world.gate("slot", 5);
      const demand = new Demand().add(gate).add(gate, 3);
      assert.deepEqual(demand.entries[0]!.amounts, permits(4));
      await world.admission().admit(demand);
      assert.equal(gate.currentInUse, 4);
      assert.equal(world.events[0]!.amount, 4);
    }),
  );

  it(
    "DEM-07 finds the head's amounts by account alone, whatever limiter the head named",
    scenario(async (world) => {
      const { router, search } = routed(world, 3, 1);
      const other = world.gate("other", 1);
      const admission = world.admission();
      const onOther = await admission.admit(new Demand().add(other));
      const head = world.follow(
        admission.admit(new Demand().add(router, "search").add(router, "search").add(other)),
      );
      const two = world.follow(admission.admit(new Demand().add(search, 2)));
      const one = world.follow(admission.admit(new Demand().add(search)));
      await world.settle();
      assert.equal(two.grant, null, "2 and the head's 2 exceed 3");
      assert.ok(one.grant, "1 and the head's 2 fit into 3");
      admission.release(onOther);
      await world.settle();
      assert.ok(head.grant);
      admission.release(head.grant);
      await world.settle();
      assert.ok(two.grant);
    }),
  );

  it(
    "DEM-07 sets the head's first entry on an account aside, also from a follower that a router leads there",
    scenario(async (world) => {
      const { router, search } = routed(world, 4, 1);
      const other = world.gate("other", 1);
      const admission = world.admission();
      await admission.admit(new Demand().add(other));
      const head = world.follow(
        admission.admit(new Demand().add(search, 2).add(router, "search").add(other)),
      );
      const both = new Demand().add(router, "search").add(router, "search");
      const three = world.follow(admission.admit(new Demand().add(search, 3)));
      const two = world.follow(admission.admit(both));
      await world.settle();
      assert.deepEqual([head.grant, three.grant, two.grant === null], [null, null, false]);
      assert.equal(search.currentInUse, 2, "2 and the 2 of the head's first entry fit into 4");
    }),
  );

  it(
    "DEM-08 keeps two limiters that lead to one account as two entries, checked separately",
    scenario(async (world) => {
      const { router, search } = routed(world, 1, 1);
      const admission = world.admission();
      const demand = new Demand().add(search).add(router, "search");
      assert.equal(demand.entries.length, 2);
      const call = world.follow(admission.admit(demand));
      await world.settle();
      assert.equal(call.error, null, "jointly 2 could never fit 1, but each alone fits");
      assert.deepEqual([call.grant, search.currentInUse, admission.queueSize], [null, 0, 1]);
      search.setCapacity(2);
      await world.settle();
      assert.ok(call.grant);
      assert.equal(search.currentInUse, 2);
    }),
  );

  it(
    "BEY-64 is read at admit: later additions change neither a waiter nor a grant, and it may be admitted again",
    scenario(async (world) => {
      const gate = world.gate("slot", 3);
      const late = world.gate("late", 1);
      const admission = world.admission();
      const demand = new Demand().add(gate, 2);
      const first = await admission.admit(demand);
      const parked = world.follow(admission.admit(demand));
      demand.add(gate).add(late);
      await world.settle();
      admission.rollback(first);
      assert.equal(gate.currentInUse, 0, "the grant gives back the 2 it took");
      await world.settle();
      assert.ok(parked.grant);
      assert.deepEqual([gate.currentInUse, late.currentInUse], [2, 0]);
      admission.release(parked.grant);
      const again = [await admission.admit(demand)];
      assert.deepEqual([gate.currentInUse, late.currentInUse], [3, 1]);
      admission.release(again[0]!);
      again.push(await admission.admit(demand));
      assert.deepEqual([gate.currentInUse, late.currentInUse, again[0] === again[1]], [3, 1, false]);
    }),
  );
});

describe("A grant", () => {
  it(
    "GRT-02 tells the wait from admit to grant in whole milliseconds, rounded down, and 0 when granted at once",
    scenario(async (world) => {
      const gate = world.gate("slot", 1);
      const admission = world.admission();
      await world.clock.advance(0.9);
      const first = await admission.admit(new Demand().add(gate));
      assert.equal(first.wallWaitMs, 0);
      const parked = world.follow(admission.admit(new Demand().add(gate)));
      await world.clock.advance(1999.999);
      admission.release(first);
      await world.settle();
      assert.equal(parked.grant!.wallWaitMs, 1999);
    }),
  );

  it(
    "GRT-03 names each account that ever held the job, in a map of its own, and none when granted unheld",
    scenario(async (world) => {
      const [slow, free] = [world.gate("slow", 1), world.gate("free", 1)];
      const admission = world.admission();
      const first = await admission.admit(new Demand().add(slow));
      assert.deepEqual([...first.waitTimesMs], []);
      const parked = world.follow(admission.admit(new Demand().add(free).add(slow)));
      await world.clock.advance(250.5);
      admission.release(first);
      await world.settle();
      const grant = parked.grant!;
      assert.deepEqual([...grant.waitTimesMs], [["slow", 250]]);
      (grant.waitTimesMs as Map<string, number>).set("slow", 1);
      assert.deepEqual([...grant.waitTimesMs], [["slow", 250]], "what a reader does to it changes nothing");
    }),
  );

  it(
    "GRT-04 rounds each account's wait down first and then adds up those of one name",
    scenario(async (world) => {
      const gates = [world.gate("db", 1), world.gate("db", 1)];
      const admission = world.admission();
      const grants = [];
      for (const gate of gates) grants.push(await admission.admit(new Demand().add(gate)));
      const parked = world.follow(admission.admit(new Demand().add(gates[0]!).add(gates[1]!)));
      await world.clock.advance(10.7);
      for (const grant of grants) admission.release(grant);
      await world.settle();
      assert.deepEqual(
        [...parked.grant!.waitTimesMs],
        [["db", 20]],
        "10.7 and 10.7 are 21.4, but 10 and 10 are 20",
      );
    }),
  );

  it(
    "GRT-05 keeps the demand and the job's snapshot as they were at admit",
    scenario(async (world) => {
      const gate = world.gate("slot", 4);
      const admission = world.admission();
      const context = createJobContext({ id: "job", metadata: { step: "asked" } });
      const demand = new Demand().add(gate);
      const grant = await admission.admit(demand, { context });
      demand.add(gate, 2);
      context.metadata.step = "running";
      context.cancel();
      admission.release(grant);
      assert.equal(gate.currentInUse, 0);
      const { type, snapshot, amount } = world.events.at(-1)!;
      assert.deepEqual([type, amount], ["RELEASED", 1]);
      assert.deepEqual(snapshot, { id: "job", isCancelled: false, metadata: { step: "asked" } });
    }),
  );

  it(
    "GRT-06 decides on itself which settlement counts, even when one is asked for in the middle of another",
    scenario(async (world) => {
      const gate = world.gate("slot", 2);
      const bucket = world.bucket("gpt", { tpm: 600, rpm: 60 });
      let grant: Grant | null = null;
      const settled: boolean[] = [];
      const admission = world.admission({
        events: ({ type }) => {
          if (type !== "RELEASED") return;
          settled.push(grant!.isSettled);
          grant!.rollback();
        },
      });
      grant = await admission.admit(new Demand().add(gate, 2).add(bucket, 600));
      assert.equal(grant.isSettled, false);
      grant.release();
      assert.deepEqual(settled, [true], "the release was claimed before its first event");
      assert.deepEqual(
        [gate.currentInUse, bucket.currentInUse],
        [0, 600],
        "the rollback inside came too late",
      );
    }),
  );
});
