// How a grant ends: `settle` with the provider's bill, and disposal.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Demand, InvalidStateError } from "../mod.ts";
import { BySize, Slots } from "./custom_accounts.ts";
import { scenario, type World } from "./scenario.ts";

const CAPS = { tpm: 6_000, rpm: 600 };

/** A bucket of 6,000 a minute with a grant of 4,000 on it, and an admission. */
async function reserved(world: World) {
  const gpt = world.bucket("gpt", CAPS);
  const admission = world.admission();
  const grant = await admission.admit(new Demand().add(gpt, 3_000).add(gpt, 1_000));
  return { gpt, admission, grant };
}

describe("Settling a bucket's entry", () => {
  it(
    "BEY-32 refunds what was not used, and wakes whoever waits for it",
    scenario(async (world) => {
      const { gpt, admission, grant } = await reserved(world);
      const parked = world.follow(admission.admit(new Demand().add(gpt, 5_000)));
      grant.settle(gpt, 999);
      assert.deepEqual([gpt.status.availableTokens, parked.grant], [5_001, null]);
      await world.settle();
      assert.ok(parked.grant);
      assert.deepEqual([gpt.currentInUse, gpt.status.availableRequests], [5_999, 597], "requests stay spent");
    }),
  );

  it(
    "BEY-32 charges more than was reserved, as a debt if need be, of at most one cap",
    scenario(async (world) => {
      const { gpt, grant, admission } = await reserved(world);
      grant.settle(gpt, 4_500);
      assert.deepEqual([gpt.currentInUse, gpt.status.availableTokens], [4_500, 1_500]);
      const second = await admission.admit(new Demand().add(gpt, 1_500));
      second.settle(gpt, 2_500);
      assert.deepEqual([gpt.currentInUse, gpt.status.availableTokens], [7_000, 0], "1,000 below zero");
      await world.clock.advance(11_000);
      assert.deepEqual([gpt.fits([100], []), gpt.fits([101], [])], [true, false], "1,100 came back in 11 s");
      const third = await admission.admit(new Demand().add(gpt, 100));
      third.settle(gpt, 1_000_000);
      assert.equal(gpt.currentInUse, 2 * CAPS.tpm, "one cap below zero");
      assert.equal(gpt.earliestFit([1], []), world.clock.now() + 60_010);
    }),
  );

  it(
    "BEY-32 never raises a level by a debt, also after the cap was lowered",
    scenario(async (world) => {
      const { gpt, grant, admission } = await reserved(world);
      const second = await admission.admit(new Demand().add(gpt, 1_000));
      grant.settle(gpt, 1_000_000);
      assert.equal(gpt.currentInUse, 12_000, "6,000 below zero");
      gpt.setConfig({ tpm: 600, rpm: 600 });
      assert.equal(gpt.currentInUse, 6_600, "still 6,000 below zero, of 600");
      second.settle(gpt, 1_100);
      assert.equal(gpt.currentInUse, 6_600, "one cap below zero would be 5,400 up");
      const nothing = world.follow(admission.admit(new Demand().add(gpt, 0)));
      await world.clock.advance(599_999.999);
      assert.equal(nothing.grant, null, "even 0 tokens wait until the debt is paid");
      await world.clock.advance(0.001);
      assert.ok(nothing.grant);
    }),
  );

  it(
    "BEY-32 counts once for an entry, and for each entry on its own",
    scenario(async (world) => {
      const [gpt, mini] = [world.bucket("gpt", CAPS), world.bucket("mini", CAPS)];
      const grant = await world.admission().admit(new Demand().add(gpt, 4_000).add(mini, 4_000));
      grant.settle(gpt, 1_000);
      grant.settle(gpt, 5_000);
      assert.deepEqual([gpt.currentInUse, mini.currentInUse], [1_000, 4_000]);
      grant.settle(mini, 5_000);
      assert.deepEqual([gpt.currentInUse, mini.currentInUse], [1_000, 5_000]);
    }),
  );

  it(
    "BEY-32 settles the bucket that an amount leads to, behind a router",
    scenario(async (world) => {
      const [small, large] = [world.bucket("small", CAPS), world.bucket("large", CAPS)];
      const router = new BySize(small, large);
      const grant = await world.admission().admit(
        new Demand().add(router, 500).add(router, 2_000).add(router, 700),
      );
      assert.deepEqual([small.currentInUse, large.currentInUse], [1_200, 2_000]);
      grant.settle(router, 1_500, 2_000);
      assert.deepEqual([small.currentInUse, large.currentInUse], [1_200, 1_500]);
      grant.settle(router, 1_300, 700);
      assert.deepEqual([small.currentInUse, large.currentInUse], [1_300, 1_500]);
    }),
  );

  it(
    "BEY-32 refuses a router's amounts that are no token counts, since what they reserved is not known",
    scenario(async (world) => {
      const gpt = world.bucket("gpt", CAPS);
      const router = new Slots("router", 10);
      router.accountFor = () => gpt;
      const grant = await world.admission().admit(new Demand().add(router, { tokens: 500 }));
      assert.throws(() => grant.settle(router, 400), { name: "InvalidStateError", message: /"gpt"/ });
      assert.equal(gpt.currentInUse, 0, "it was not charged beside what the router took");
    }),
  );

  it(
    "BEY-32 takes an unknown usage for no answer and never for zero",
    scenario(async (world) => {
      const { gpt, grant } = await reserved(world);
      for (const unknown of [null, undefined, NaN]) grant.settle(gpt, unknown);
      assert.equal(gpt.currentInUse, 4_000);
      grant.settle(gpt, 0);
      assert.equal(gpt.currentInUse, 0, "an unknown usage did not use up the one answer");
    }),
  );

  it(
    "BEY-32 still works after the release, and is refused after a rollback",
    scenario(async (world) => {
      const { gpt, grant, admission } = await reserved(world);
      grant.release();
      grant.settle(gpt, 1_500);
      assert.equal(gpt.currentInUse, 1_500);
      const undone = await admission.admit(new Demand().add(gpt, 500));
      undone.rollback();
      assert.throws(() => undone.settle(gpt, 100), InvalidStateError);
      assert.equal(gpt.currentInUse, 1_500);
    }),
  );

  it(
    "BEY-32 refuses junk and accounts that it cannot reconcile, and changes nothing then",
    scenario(async (world) => {
      const { gpt, admission } = await reserved(world);
      const gate = world.gate("slot", 2);
      const grant = await admission.admit(new Demand().add(gpt, 1_000).add(gate));
      assert.throws(() => grant.settle(gpt, -1), RangeError);
      assert.throws(() => grant.settle(gpt, 1.5), RangeError);
      assert.throws(() => grant.settle(gpt, Infinity), RangeError);
      assert.throws(() => grant.settle(gpt, "5" as unknown as number), TypeError);
      assert.throws(() => grant.settle(world.bucket("gpt", CAPS), 5), {
        name: "RangeError",
        message: /"gpt"/,
      });
      assert.throws(() => grant.settle(gate, 1), { name: "InvalidStateError", message: /"slot"/ });
      assert.deepEqual([gpt.currentInUse, gate.currentInUse], [5_000, 1]);
      grant.settle(gpt, 0);
      assert.equal(gpt.currentInUse, 4_000);
    }),
  );
});

describe("A disposable grant", () => {
  it(
    "BEY-30 is released when it is disposed, once, and not at all after a rollback",
    scenario(async (world) => {
      const gate = world.gate("slot", 2);
      const bucket = world.bucket("gpt", { tpm: 600, rpm: 60 });
      const admission = world.admission();
      const demand = new Demand().add(gate).add(bucket, 100);
      {
        using grant = await admission.admit(demand);
        assert.deepEqual([grant.isSettled, gate.currentInUse], [false, 1]);
      }
      assert.deepEqual(
        [gate.currentInUse, bucket.currentInUse],
        [0, 100],
        "tokens stay spent, as after a release",
      );
      {
        await using grant = await admission.admit(demand);
        grant[Symbol.dispose]();
        grant[Symbol.dispose]();
      }
      assert.deepEqual([gate.currentInUse, bucket.currentInUse, world.count("RELEASED", "slot")], [
        0,
        200,
        2,
      ]);
      {
        using grant = await admission.admit(demand);
        grant.rollback();
      }
      assert.deepEqual([gate.currentInUse, bucket.currentInUse, world.count("RELEASED", "slot")], [
        0,
        200,
        3,
      ]);
    }),
  );

  it(
    "BEY-32 counts a usage once, also when the account's public wake throws",
    scenario(async (world) => {
      const bucket = world.bucket("gpt", { tpm: 1_000, rpm: 10 });
      const grant = await world.admission().admit(new Demand().add(bucket, 500));
      bucket.onCapacityChange(() => {
        throw new Error("the wake is broken");
      });
      assert.throws(() => grant.settle(bucket, 200), /the wake is broken/);
      assert.equal(bucket.status.availableTokens, 800);
      grant.settle(bucket, 200);
      assert.equal(bucket.status.availableTokens, 800);
    }),
  );
});
