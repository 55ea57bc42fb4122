// Classes in memory's line: the kernel's own memory gate holds all members alike, and an empty demand never meets it.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Demand } from "../mod.ts";
import { Crowd } from "./crowd.ts";
import { Heap } from "./histories/heap.ts";
import { scenario } from "./scenario.ts";

describe("Memory and the classes of a line", () => {
  it(
    "MON-36 it holds every member once, in order of arrival, until the instant of the head; an empty demand goes",
    scenario(async (world) => {
      const heap = new Heap(world, () => {});
      const [http, db] = [world.gate("http", 2), world.gate("db", 2)];
      const admission = world.admission({ memory: heap.gate });
      const crowd = new Crowd(world, admission);
      heap.ratio = 0.97;
      const demands = [http, db, http, db].map((gate) => new Demand().add(gate));
      crowd.admitAll([...demands, new Demand(), new Demand().add(http, 2), new Demand()]);
      await world.settle();
      assert.deepEqual(crowd.granted, [4, 6]);
      const held = world.events.filter(({ type }) => type === "HELD").map(({ waiters }) => waiters);
      assert.deepEqual(held, [1, 2, 3, 4, 5]);
      assert.equal(world.clock.nextTimerMs, 1000 + 2000, "it is looked at every two seconds");
      await world.clock.advance(1999);
      crowd.admit(new Demand().add(db));
      await world.settle();
      assert.equal(world.clock.nextTimerMs, 1000 + 1999 + 2000);
      heap.ratio = 0.5;
      for (let i = 0; i < 20; i++) {
        await world.clock.advance(2000);
        for (const grant of crowd.grants.values()) grant.release();
      }
      assert.deepEqual(crowd.waiting, []);
      await crowd.empty();
    }),
  );

  it(
    "MON-36 members that memory lets through are held on what else they are short of, and the other way round",
    scenario(async (world) => {
      const heap = new Heap(world, () => {});
      const tokens = world.bucket("tokens", { tpm: 60_000, rpm: 1000 });
      const admission = world.admission({ memory: heap.gate });
      const crowd = new Crowd(world, admission);
      assert.ok(tokens.tryTake([60_000], []));
      const demand = (sum: number) => new Demand().add(tokens, sum);
      crowd.admitAll([demand(5000), demand(30), demand(20)]);
      await world.settle();
      heap.ratio = 0.97;
      crowd.admitAll([demand(10), demand(40)]);
      await world.settle();
      world.tell(`${world.clock.nextTimerMs}`);
      heap.ratio = 0.5;
      await world.clock.advance(5000);
      await world.clock.advance(60_000);
      assert.equal(crowd.waiting.length, 0);
      await crowd.empty();
    }),
  );
});
