// A model's gate.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { CountingGate, Demand, ModelGate, ModelSpec, UpstreamFailure } from "../mod.ts";
import { ManualClock, rateLimiterContract } from "../testing/mod.ts";
import { nativeBinding } from "../core/accounts/native.ts";
import { permits } from "./custom_accounts.ts";
import { scenario } from "./scenario.ts";

describe("A model gate", () => {
  it("MG-01 CNT-09 takes its name from the id and its capacity from maxConcurrent, and comes back by release", () => {
    const gate = new ModelGate(new ModelSpec({ id: "kev-gated", maxConcurrent: 1 }));
    assert.deepEqual([gate.limiterName, gate.capacity, gate.replenishment], ["kev-gated", 1, "RELEASE"]);
    assert.equal(gate.limiterCategory, "semaphore");
    assert.ok(gate instanceof CountingGate);
    assert.equal(new ModelGate({ id: "plain", maxConcurrent: 7 }).capacity, 7, "the bare fields do as well");
  });

  it("MG-01 refuses a spec that declares no maxConcurrent, naming the entry", () => {
    for (const fields of [{ id: "gpt", tpm: 60_000 }, { id: "gpt", tpm: 60_000, maxConcurrent: null }]) {
      assert.throws(() => new ModelGate(fields), {
        name: "TypeError",
        message: /maxConcurrent of "gpt" is null.*should be a number/,
      });
    }
  });

  it(
    "MG-02 holds one permit for each request in flight, to the end of the call, and feedback changes nothing",
    scenario(async (world) => {
      const gate = new ModelGate({ id: "kev", maxConcurrent: 2 });
      const admission = world.admission();
      const demand = new Demand().add(gate);
      const calls = [await admission.admit(demand), await admission.admit(demand)];
      const third = world.follow(admission.admit(demand));
      await world.settle();
      assert.deepEqual([gate.currentInUse, third.grant], [2, null]);
      gate.onRateLimitError(new UpstreamFailure({ statusCode: 429, retryAfterSeconds: 60 }));
      gate.onSuccess();
      await world.clock.advance(3_600_000);
      assert.deepEqual([gate.currentInUse, gate.statusIndicator, third.grant], [2, null, null]);
      admission.release(calls[0]!);
      await world.settle();
      assert.ok(third.grant, "the first call has ended");
      assert.equal(gate.earliestFit(permits(1), []), null);
    }),
  );

  it(
    "MG-02 is asked by the kernel itself",
    scenario((world) => {
      world.admission();
      assert.equal(nativeBinding(new ModelGate({ id: "kev", maxConcurrent: 2 }))?.isNative, true);
    }),
  );
});

rateLimiterContract("ModelGate", () => ({
  account: new ModelGate({ id: "model", maxConcurrent: 3 }),
  clock: new ManualClock(),
  amount: undefined,
  room: 3,
  impossible: permits(4),
}), { describe, it });
