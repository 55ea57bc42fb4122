// Waiters without a class, here because the table of classes has no room: each is attempted like the head, and what the head
// asks is set aside from them as well.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Demand } from "../mod.ts";
import { currentHost } from "../core/host.ts";
import { Crowd } from "./crowd.ts";
import { scenario } from "./scenario.ts";

describe("A waiter that stands alone", () => {
  it(
    "MON-21 finds the tokens of the head set aside, and takes what is there beyond them",
    scenario(async (world) => {
      currentHost().kernel.limitCohorts(0);
      const tokens = world.bucket("tokens", { tpm: 60_000, rpm: 1000 });
      const gate = world.gate("gate", 1);
      const crowd = new Crowd(world, world.admission());
      const out = await world.admission().admit(new Demand().add(gate).add(tokens, 60_000));
      crowd.admitAll([new Demand().add(tokens, 500).add(gate), new Demand().add(tokens, 300)]);
      await world.clock.advance(799);
      // Somebody comes, so the line is looked at.
      crowd.admit(new Demand().add(gate));
      await world.settle();
      assert.deepEqual(crowd.granted, []);
      await world.clock.advance(1);
      assert.deepEqual(crowd.granted, [1]);
      out.release();
      await crowd.empty();
    }),
  );

  it(
    "MON-20 finds the permits of the head set aside, and takes what is free beyond them",
    scenario(async (world) => {
      currentHost().kernel.limitCohorts(0);
      const [gate, full] = [world.gate("gate", 3), world.gate("full", 1)];
      const crowd = new Crowd(world, world.admission());
      const out = await world.admission().admit(new Demand().add(full).add(gate));
      crowd.admitAll([new Demand().add(gate, 2).add(full), new Demand().add(gate)]);
      await world.settle();
      assert.deepEqual(crowd.granted, []);
      gate.setCapacity(4);
      await world.settle();
      assert.deepEqual(crowd.granted, [1]);
      out.release();
      await crowd.empty();
    }),
  );

  it(
    "WAK-10 names the instant at which its own amount and the head's are there",
    scenario(async (world) => {
      currentHost().kernel.limitCohorts(0);
      const tokens = world.bucket("tokens", { tpm: 60_000, rpm: 1000 });
      const gate = world.gate("gate", 1);
      const crowd = new Crowd(world, world.admission());
      const out = await world.admission().admit(new Demand().add(gate).add(tokens, 60_000));
      crowd.admitAll([new Demand().add(tokens, 500).add(gate), new Demand().add(tokens, 300)]);
      await world.settle();
      assert.equal(world.clock.nextTimerMs, 1800);
      out.release();
      await crowd.empty();
    }),
  );
});
