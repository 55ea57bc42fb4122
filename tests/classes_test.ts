// Waiters of one class are looked at together. Nobody can tell: what follows is what is seen, on the kernel and on its twin.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Demand } from "../mod.ts";
import { currentHost } from "../core/host.ts";
import { kernelMemoryBytes } from "../core/kernel.ts";
import { MAX_COHORTS, MAX_METERS } from "../assembly/layout.ts";
import { Crowd } from "./crowd.ts";
import { KERNELS, playOn, scenario, type World } from "./scenario.ts";

function classCount(): number {
  return currentHost().kernel.cohortCount();
}

/** Demands of two shapes over a full gate, one of them with tokens: six waiters, three of each. */
function twoShapes(world: World) {
  const [http, db] = [world.gate("http", 3), world.gate("db", 9)];
  const tokens = world.bucket("tokens", { tpm: 60_000, rpm: 1000 });
  const plain = () => new Demand().add(http).add(db);
  const metered = (sum: number) => new Demand().add(tokens, sum).add(http);
  return { http, db, tokens, plain, metered };
}

function bucketsOf(world: World, count: number) {
  return Array.from({ length: count }, (_, i) => world.bucket(`bucket${i}`, { tpm: 60_000, rpm: 1000 }));
}

describe("A class of waiters", () => {
  it("BEY-08 is freed with its last member, and its memory is used again", async () => {
    await playOn(KERNELS.wasm(), async (world) => {
      const db = world.gate("db", 9);
      const buckets = bucketsOf(world, MAX_METERS);
      const admission = world.admission();
      const demand = (i: number) =>
        buckets.reduce((all, each) => all.add(each, i), new Demand().add(db, 1 + i % 9));
      const bytes: number[] = [];
      for (let round = 0; round < 15; round++) {
        const crowd = new Crowd(world, admission);
        const out = await admission.admit(new Demand().add(db, 9));
        for (let i = 0; i < 600; i++) crowd.admit(demand(i));
        await world.settle();
        assert.equal(classCount(), 9);
        out.release();
        await crowd.empty();
        assert.equal(classCount(), 0, `after round ${round}`);
        bytes.push(kernelMemoryBytes());
      }
      assert.equal(bytes.at(-1), bytes[0], "nothing was carved after the first round");
    });
  });

  it(
    "BEY-08 is one for the same accounts in the same order with the same counts, and for one line",
    scenario(async (world) => {
      const { http, db, tokens, plain, metered } = twoShapes(world);
      const admissions = [world.admission(), world.admission()];
      const out = await admissions[0]!.admit(new Demand().add(http, 3));
      const crowds = admissions.map((admission) => new Crowd(world, admission));
      const shapes = [
        plain(),
        new Demand().add(db).add(http),
        new Demand().add(http, 2).add(db),
        new Demand().add(http).add(db, 2),
        new Demand().add(http),
        metered(1),
        new Demand().add(http).add(tokens, 1),
      ];
      for (const crowd of crowds) crowd.admitAll([...shapes, ...shapes, metered(2), metered(0)]);
      await world.settle();
      if (classCount() !== 0) assert.equal(classCount(), 2 * shapes.length);
      out.release();
      await world.settle();
      for (let i = 0; i < 40; i++) {
        for (const crowd of crowds) for (const grant of crowd.grants.values()) grant.release();
        await world.settle();
      }
      assert.deepEqual(crowds.map(({ granted }) => granted.length), [16, 16]);
      assert.equal(classCount(), 0);
    }),
  );

  for (const limit of [0, 1, 2, MAX_COHORTS]) {
    it(
      `BEY-08 counts against a table of ${limit}; who finds it full is looked at one by one`,
      scenario(async (world) => {
        currentHost().kernel.limitCohorts(limit);
        const { http, db, plain, metered } = twoShapes(world);
        const admission = world.admission();
        const crowd = new Crowd(world, admission);
        const out = await admission.admit(new Demand().add(http, 3));
        for (let i = 0; i < 4; i++) {
          crowd.admitAll([plain(), metered(9 - i), new Demand().add(db).add(http), metered(20_000 + i)]);
        }
        await world.settle();
        assert.ok(classCount() <= limit, `${classCount()}`);
        crowd.leave([1, 2, 4, 5]);
        // Those whose class is gone find room in the table again.
        crowd.admitAll([plain(), metered(5)]);
        out.release();
        for (let i = 0; i < 10; i++) {
          await world.clock.advance(10_000);
          for (const grant of crowd.grants.values()) grant.release();
        }
        await crowd.empty();
        assert.deepEqual(crowd.granted, [0, 3, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]);
        assert.equal(classCount(), 0);
      }),
    );
  }

  it(
    "BEY-08 has eight metered amounts at most; a demand with nine is looked at alone",
    scenario(async (world) => {
      const buckets = Array.from(
        { length: MAX_METERS + 1 },
        (_, i) => world.bucket(`bucket${i}`, { tpm: 60_000, rpm: 1000 }),
      );
      const admission = world.admission();
      const crowd = new Crowd(world, admission);
      const demand = (count: number, sum: number) =>
        buckets.slice(0, count).reduce((all, bucket, i) => all.add(bucket, sum + i), new Demand());
      await admission.admit(demand(9, 59_000));
      for (let i = 0; i < 20; i++) crowd.admit(demand(8 + i % 2, 3000 - 100 * i));
      await world.settle();
      if (classCount() !== 0) assert.equal(classCount(), 1);
      for (let i = 0; i < 60; i++) await world.clock.advance(1000);
      assert.equal(crowd.granted.length, 20);
      assert.equal(classCount(), 0);
    }),
  );
});

describe("Refusals", () => {
  it(
    "ACC-06 FLT-07 a lowered cap refuses exactly the demands above it, in order of arrival over all classes",
    scenario(async (world) => {
      const { http, tokens, metered } = twoShapes(world);
      const admission = world.admission();
      const crowd = new Crowd(world, admission);
      const out = await admission.admit(new Demand().add(http, 3));
      const sums = [70, 10, 30_001, 40_000, 30_000, 5, 50_000, 0, 30_001];
      for (const sum of sums) crowd.admitAll([metered(sum), new Demand().add(http).add(tokens, sum)]);
      await world.settle();
      tokens.setConfig({ tpm: 30_000, rpm: 1000 });
      await world.settle();
      assert.deepEqual(crowd.failed, [], "a lowered cap wakes nobody");
      // Somebody comes: the next pass refuses.
      crowd.admit(metered(1));
      await world.settle();
      assert.deepEqual(crowd.failed, [4, 5, 6, 7, 12, 13, 16, 17]);
      tokens.setConfig({ tpm: 30_000, rpm: 1 });
      crowd.admit(metered(1));
      await world.settle();
      assert.equal(crowd.failed.length, 8, "a demand makes one request");
      out.release();
      await crowd.empty();
      assert.equal(classCount(), 0);
    }),
  );

  it(
    "FLT-05 a cap below one meter of two refuses, whatever the other meter and the gate say",
    scenario(async (world) => {
      const { http, tokens } = twoShapes(world);
      const other = world.bucket("other", { tpm: 1000, rpm: 1000 });
      const admission = world.admission();
      const crowd = new Crowd(world, admission);
      const out = await admission.admit(new Demand().add(http, 3));
      const demand = (a: number, b: number) => new Demand().add(other, a).add(tokens, b).add(http);
      await admission.admit(new Demand().add(other, 1000));
      for (let i = 0; i < 100; i++) crowd.admit(demand(i * 10, 50_000 - i));
      await world.settle();
      other.setConfig({ tpm: 900, rpm: 1000 });
      crowd.admit(demand(0, 0));
      await world.settle();
      assert.deepEqual(crowd.failed, [91, 92, 93, 94, 95, 96, 97, 98, 99]);
      tokens.setConfig({ tpm: 49_990, rpm: 1000 });
      crowd.admit(demand(0, 0));
      await world.settle();
      assert.deepEqual(crowd.failed.slice(9), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
      out.release();
      await crowd.empty();
    }),
  );
});

describe("Requests", () => {
  it(
    "FLT-07 a lowered cap of requests refuses the classes that make more, and no others",
    scenario(async (world) => {
      const { http, tokens, metered } = twoShapes(world);
      const admission = world.admission();
      const crowd = new Crowd(world, admission);
      const out = await admission.admit(new Demand().add(http, 3));
      const twice = () => metered(5).add(tokens, 6);
      crowd.admitAll([metered(1), twice(), metered(1), twice(), metered(2), twice()]);
      await world.settle();
      tokens.setConfig({ tpm: 60_000, rpm: 1 });
      crowd.admit(metered(1));
      await world.settle();
      assert.deepEqual(crowd.failed, [1, 3, 5]);
      out.release();
      await crowd.empty();
    }),
  );
});

describe("HELD", () => {
  it(
    "BEY-08 comes once for each account, in order of arrival, then demand order, over classes",
    scenario(async (world) => {
      const { http, db, tokens, plain, metered } = twoShapes(world);
      const admission = world.admission();
      const crowd = new Crowd(world, admission);
      const out = await admission.admit(new Demand().add(http, 3));
      const first = world.events.length;
      for (let i = 0; i < 5; i++) crowd.admitAll([plain(), metered(i), new Demand().add(db).add(http)]);
      await world.settle();
      const held = () => world.events.filter(({ type }) => type === "HELD");
      assert.equal(held().length, 15, `of ${world.events.length - first}`);
      assert.deepEqual(held().map(({ waiters }) => waiters), Array.from({ length: 15 }, (_, i) => i + 1));
      // The bucket runs low: only those above what it has are held there, none of them twice.
      assert.ok(tokens.tryTake([59_997], []));
      crowd.admit(metered(0));
      await world.settle();
      const onTokens = () => held().filter(({ limiterName }) => limiterName === "tokens");
      assert.deepEqual(onTokens().map(({ amount }) => amount), [4]);
      assert.ok(tokens.tryTake([2], []));
      db.setCapacity(1);
      assert.ok(db.tryTake([undefined], []));
      crowd.admit(metered(0));
      await world.settle();
      assert.deepEqual(onTokens().map(({ amount }) => amount), [4, 2, 3]);
      const order = "db db db db db tokens db db tokens db db db http".split(" ");
      assert.deepEqual(held().slice(-13).map(({ limiterName }) => limiterName), order);
      out.release();
      db.give([undefined]);
      await crowd.empty();
    }),
  );
});
