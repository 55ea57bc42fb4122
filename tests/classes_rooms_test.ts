// Classes whose accounts get more room and less: who is told of it in the walk in which it happens, and whose turn it is then.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Demand } from "../mod.ts";
import { Crowd } from "./crowd.ts";
import { scenario, type World } from "./scenario.ts";

/** A line whose head waits for a gate that nobody gives back. */
async function behindHead(world: World) {
  const gate = world.gate("gate", 1);
  const admission = world.admission();
  await admission.admit(new Demand().add(gate));
  const crowd = new Crowd(world, admission);
  crowd.admit(new Demand().add(gate));
  await world.settle();
  return { admission, crowd };
}

describe("A class whose accounts change", () => {
  it(
    "BEY-08 is held by the gate that filled up, although the one that held it before is taken in the same walk",
    scenario(async (world) => {
      const [full, busy] = [world.gate("full", 1), world.gate("busy", 1)];
      const { admission, crowd } = await behindHead(world);
      const out = world.gate("out", 1);
      assert.ok(busy.tryTake([undefined], []));
      crowd.admitAll([new Demand().add(full).add(busy), new Demand().add(busy).add(out)]);
      await world.settle();
      assert.equal(admission.queueSize, 3);
      assert.ok(full.tryTake([undefined], []), "somebody takes the other gate, and nobody in line is told");
      const first = world.events.length;
      busy.give([undefined]);
      await world.settle();
      assert.deepEqual(crowd.granted, [2], "who needs the freed gate alone takes it");
      const held = world.events.slice(first).filter(({ type }) => type === "HELD");
      assert.deepEqual(held.map(({ limiterName }) => limiterName), ["full"]);
    }),
  );

  it(
    "BEY-08 is held by the gate that was made smaller, although the one that held it before is taken in the same walk",
    scenario(async (world) => {
      const [small, busy] = [world.gate("small", 2), world.gate("busy", 1)];
      const { crowd } = await behindHead(world);
      for (const gate of [small, busy]) assert.ok(gate.tryTake([undefined], []));
      crowd.admitAll([new Demand().add(small).add(busy), new Demand().add(busy)]);
      await world.settle();
      small.setCapacity(1);
      await world.settle();
      const first = world.events.length;
      busy.give([undefined]);
      await world.settle();
      assert.deepEqual(crowd.granted, [2], "who needs the freed gate alone takes it");
      const held = world.events.slice(first).filter(({ type }) => type === "HELD");
      assert.deepEqual(held.map(({ limiterName }) => limiterName), ["small"]);
    }),
  );

  it(
    "WAK-06 BEY-08 goes in its turn at its instant, although its bucket was debited between two walks",
    scenario(async (world) => {
      const { crowd } = await behindHead(world);
      const buckets = ["first", "second"].map((name) => world.bucket(name, { tpm: 60, rpm: 600 }));
      for (const bucket of buckets) assert.ok(bucket.tryTake([60], []));
      crowd.admitAll(buckets.map((bucket) => new Demand().add(bucket, 10)));
      await world.settle();
      assert.ok(buckets[0]!.tryTake([0], []), "a request without tokens moves no instant");
      await world.clock.advance(10_000);
      await world.settle();
      assert.deepEqual(crowd.granted, [1, 2]);
    }),
  );

  it(
    "WAK-04 BEY-08 waits on for the gate that holds it while another is given back, and goes once its own is",
    scenario(async (world) => {
      const [other, own] = [world.gate("other", 1), world.gate("own", 1)];
      const { crowd } = await behindHead(world);
      for (const gate of [other, own]) assert.ok(gate.tryTake([undefined], []));
      crowd.admit(new Demand().add(other).add(own));
      await world.settle();
      for (const gate of [other, own]) {
        assert.deepEqual(crowd.granted, []);
        gate.give([undefined]);
        await world.settle();
      }
      assert.deepEqual(crowd.granted, [1]);
    }),
  );

  it(
    "WAK-04 BEY-08 goes when a gate gains the many permits that it asks",
    scenario(async (world) => {
      const [many, bytes] = [40_000, world.gate("bytes", 50_000)];
      const { crowd } = await behindHead(world);
      const taken = new Array<void>(many).fill(undefined);
      assert.ok(bytes.tryTake(taken, []));
      crowd.admit(new Demand().add(bytes, many));
      await world.settle();
      bytes.give(taken);
      await world.settle();
      assert.deepEqual(crowd.granted, [1]);
    }),
  );

  it(
    "WAK-06 BEY-08 keeps the instant of its bucket while a gate gains room, and goes once tokens come back",
    scenario(async (world) => {
      const [gate, bucket] = [world.gate("wide", 2), world.bucket("bucket", { tpm: 60, rpm: 600 })];
      const { crowd } = await behindHead(world);
      assert.ok(gate.tryTake([undefined], []));
      assert.ok(bucket.tryTake([60], []));
      crowd.admitAll([10, 20].map((tokens) => new Demand().add(bucket, tokens).add(gate)));
      await world.settle();
      gate.give([undefined]);
      await world.settle();
      await world.clock.advance(9_999);
      assert.deepEqual(crowd.granted, []);
      await world.clock.advance(1);
      await world.settle();
      assert.deepEqual(crowd.granted, [1]);
      bucket.give([50]);
      await world.settle();
      assert.deepEqual(crowd.granted, [1, 2]);
    }),
  );
});
