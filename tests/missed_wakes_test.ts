import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Demand } from "../mod.ts";
import { ScriptedLimiter } from "../testing/mod.ts";
import { type Call, scenario } from "./scenario.ts";

describe("A failed attempt that another admission looked into", () => {
  it(
    "BEY-06 BEY-07 another admission that was refused for what a failed attempt held meanwhile is woken",
    scenario(async (world) => {
      const gate = world.gate("http", 1);
      const [own, other] = [world.admission(), world.admission()];
      let late: Call | null = null;
      class Asking extends ScriptedLimiter {
        override tryTake(): boolean {
          late ??= world.follow(other.admit(new Demand().add(gate)));
          return super.tryTake();
        }
      }
      void world.follow(own.admit(new Demand().add(gate).add(new Asking("decliner", "declines"), 1)));
      await world.settle();
      assert.notEqual((late as Call | null)?.grant, null, "the gate is free and somebody waits for it");
      assert.equal(other.queueSize, 0);
    }),
  );
});
