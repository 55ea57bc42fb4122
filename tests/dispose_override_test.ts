import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { CountingGate, Demand, InvalidStateError } from "../mod.ts";
import { scenario } from "./scenario.ts";

class Watched extends CountingGate {
  override fits(mine: readonly void[], ahead: readonly void[]): boolean {
    return super.fits(mine, ahead);
  }
}

describe("A gate that overrides a verb", () => {
  it(
    "BEY-16 is disposed for new demands at once, and serves its waiters and grants to the end",
    scenario(async (world) => {
      const gate = new Watched("watched", 1);
      const admission = world.admission();
      const held = await admission.admit(new Demand().add(gate));
      const waiting = world.follow(admission.admit(new Demand().add(gate)));
      await world.settle();
      gate.dispose();
      await assert.rejects(admission.admit(new Demand().add(gate)), InvalidStateError);
      held.release();
      await world.settle();
      assert.notEqual(waiting.grant, null);
      waiting.grant!.release();
      assert.equal(gate.currentInUse, 0);
    }),
  );
});
