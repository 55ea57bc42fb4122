// Lines of several admissions over one account: whose turn it is when something is given back.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Admission, Demand, type Grant } from "../mod.ts";
import { scenario, type World } from "./scenario.ts";

/** Who gets the permit, four times, while a line that is never empty and another one wait for it. */
async function fourTurns(world: World, [bulk, urgent]: readonly Admission[], own: Demand, shared: Demand) {
  let out = bulk!.tryAdmit(own)!;
  const order: string[] = [];
  const follow = (admission: Admission, demand: Demand, name: string) =>
    void admission.admit(demand).then((grant: Grant) => {
      order.push(name);
      out = grant;
    }, () => {});
  for (let i = 0; i < 8; i++) follow(bulk!, own, "bulk");
  await world.settle();
  for (let i = 0; i < 2; i++) follow(urgent!, shared, "urgent");
  await world.settle();
  for (let turn = 0; turn < 4; turn++) {
    out.release();
    await world.settle();
  }
  bulk!.stop();
  out.release();
  return order;
}

describe("Two admissions that share an account", () => {
  it(
    "BEY-06 take turns, so a line that is never empty does not keep the other waiting",
    scenario(async (world) => {
      const one = new Demand().add(world.gate("http", 1));
      const order = await fourTurns(world, [world.admission(), world.admission()], one, one);
      assert.deepEqual(order, ["bulk", "urgent", "bulk", "urgent"]);
    }),
  );

  it(
    "BEY-06 take turns as well where one of them names a gate of its own before the shared one",
    scenario(async (world) => {
      const [own, shared] = [world.gate("own", 2), world.gate("http", 1)];
      const demand = new Demand().add(own).add(shared);
      const order = await fourTurns(
        world,
        [world.admission(), world.admission()],
        demand,
        new Demand().add(shared),
      );
      assert.deepEqual(order, ["bulk", "urgent", "bulk", "urgent"]);
    }),
  );

  it(
    "BEY-06 take turns where nobody hears of it",
    scenario(async (world) => {
      const [own, shared] = [world.gate("own", 2), world.gate("http", 1)];
      const [bulk, urgent] = [1, 2].map(() => new Admission({ memory: null, clock: world.clock }).start());
      const demand = new Demand().add(own).add(shared);
      const order = await fourTurns(world, [bulk!, urgent!], demand, new Demand().add(shared));
      assert.deepEqual(order, ["bulk", "urgent", "bulk", "urgent"]);
    }),
  );
});
