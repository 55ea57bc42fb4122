// Arguments that are wrong: each is refused at once, by an error that names it, and nothing has changed.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  Admission,
  type AdmissionOptions,
  type AdmitOptions,
  CountingGate,
  Demand,
  type Grant,
  InvalidStateError,
  type RateLimiter,
  TokenBucketRateLimiter,
} from "../mod.ts";
import { BySize, Router, Slots } from "./custom_accounts.ts";
import { scenario } from "./scenario.ts";

/** Anything at all, where TypeScript would not let it through. */
function wrong<T>(value: unknown): T {
  return value as T;
}

const WRONG_KINDS: readonly unknown[] = ["3", null, {}, [], true, 3n, () => 3];
const WRONG_COUNTS: readonly number[] = [NaN, Infinity, -Infinity, -1, 1.5, 2 ** 31];

/** Adds a wrong amount to a demand; checks the error and that the demand is as it was. */
function refuses(limiter: RateLimiter<unknown>, amount: unknown, kind: "TypeError" | "RangeError"): void {
  const demand = new Demand();
  const said = amount === null ? "null" : typeof amount === "number" ? String(amount) : "";
  assert.throws(() => demand.add(limiter, amount), (error: Error) => {
    assert.equal(error.name, kind);
    assert.ok(error.message.includes('"account"') && error.message.includes(said), error.message);
    return true;
  });
  assert.equal(demand.isEmpty, true);
}

describe("Demand.add", () => {
  it(
    "BEY-60 refuses permits that are no positive whole number, naming the account and the value",
    scenario((world) => {
      const gate = world.gate("account", 5);
      for (const count of [...WRONG_COUNTS, 0]) refuses(gate, count, "RangeError");
      for (const count of WRONG_KINDS) refuses(gate, count, "TypeError");
      const demand = new Demand().add(gate, 2);
      assert.throws(() => demand.add(gate, 2 ** 31 - 1), RangeError, "the sum is too much");
      assert.equal(demand.entries[0]!.amounts.length, 2);
      demand.add(gate).add(gate, 3);
      assert.equal(demand.entries[0]!.amounts.length, 6, "n appends n unit amounts");
    }),
  );

  it(
    "BEY-60 BEY-61 refuses tokens that are no whole number from 0, and takes 0: one request without tokens",
    scenario(async (world) => {
      const bucket = world.bucket("account", { tpm: 1_000, rpm: 10 });
      for (const tokens of WRONG_COUNTS) refuses(bucket as RateLimiter<unknown>, tokens, "RangeError");
      for (const tokens of [...WRONG_KINDS, undefined]) {
        refuses(bucket as RateLimiter<unknown>, tokens, "TypeError");
      }
      const grant = await world.admission().admit(new Demand().add(bucket, 0));
      assert.equal(grant.isEmpty, false);
      assert.deepEqual([bucket.status.availableTokens, bucket.status.availableRequests], [1_000, 9]);
    }),
  );

  it(
    "BEY-60 checks the amounts of a built-in account's own verbs as well",
    scenario((world) => {
      const bucket = world.bucket("account", { tpm: 1_000, rpm: 10 });
      const gate = world.gate("account", 5);
      for (const verb of ["fits", "tryTake", "earliestFit"] as const) {
        assert.throws(() => bucket[verb]([-1], []), { name: "RangeError", message: /"account".*-1/ });
        assert.throws(() => bucket[verb]([], [wrong("3")]), { name: "TypeError", message: /"account".*"3"/ });
        assert.throws(() => bucket[verb](wrong(5), []), { name: "TypeError", message: /"account".*5/ });
        assert.throws(() => gate[verb](wrong(1), []), { name: "TypeError", message: /"account".*1/ });
      }
      assert.throws(() => bucket.give([1.5]), { name: "RangeError", message: /"account".*1\.5/ });
      assert.throws(() => gate.give(wrong(null)), { name: "TypeError", message: /"account".*null/ });
      assert.deepEqual([bucket.currentInUse, gate.currentInUse], [0, 0]);
    }),
  );

  it(
    "BEY-60 passes the amounts of routers and custom accounts unexamined",
    scenario(async (world) => {
      const slots = new Slots("slots", 10);
      const demand = new Demand();
      for (const amount of [...WRONG_COUNTS, ...WRONG_KINDS]) demand.add(slots, amount);
      assert.deepEqual(demand.entries[0]!.amounts, [...WRONG_COUNTS, ...WRONG_KINDS]);
      const bucket = world.bucket("small", { tpm: 1_000, rpm: 10 });
      demand.add(new BySize(bucket, bucket), -5);
      assert.equal(demand.entries.length, 2);
      await assert.rejects(world.admission().admit(new Demand().add(new BySize(bucket, bucket), -5)), {
        name: "UncorrectableError",
        message: /small.*-5/,
      });
    }),
  );

  it("BEY-60 refuses null, an object that lacks a verb, and one that does not say how it is replenished", () => {
    const demand = new Demand();
    for (const limiter of [null, undefined, 5, "gate", () => {}]) {
      assert.throws(() => demand.add(wrong<RateLimiter<void>>(limiter)), {
        name: "TypeError",
        message: /limiter is /,
      });
    }
    for (const verb of ["fits", "tryTake", "give", "earliestFit", "onCapacityChange", "accountFor"]) {
      const lacking = Object.assign(new Router({}), { [verb]: undefined });
      assert.throws(() => demand.add(lacking, "key"), {
        name: "TypeError",
        message: new RegExp(`${verb}\\(\\)`),
      });
    }
    const silent = Object.assign(new Router({}), { replenishment: undefined });
    assert.throws(() => demand.add(silent, "key"), { name: "TypeError", message: /replenishment/ });
    for (const key of [undefined, null, {}, { limiterName: "" }]) {
      const lost = Object.assign(new Router({}), { accountFor: () => key });
      assert.throws(() => demand.add(lost, "key"), { name: "TypeError", message: /accountFor/ });
    }
    assert.equal(demand.isEmpty, true);
  });
});

describe("Names and caps", () => {
  it(
    "BEY-62 a name may be any text that is not empty, and two accounts may share one",
    scenario(async (world) => {
      for (const name of [" ", "db:main", "größe ✓", "x".repeat(10_000), "__proto__"]) {
        assert.equal(new CountingGate(name, 1).limiterName, name);
      }
      for (const name of ["", null, undefined, 5, {}]) {
        assert.throws(() => new CountingGate(wrong(name), 1), { name: "TypeError", message: /name is / });
        assert.throws(() => new TokenBucketRateLimiter(wrong(name), { tpm: 1, rpm: 1 }), TypeError);
      }
      const twins = [world.gate("db", 1), world.gate("db", 1)];
      const admission = world.admission();
      const grant = await admission.admit(new Demand().add(twins[0]!).add(twins[1]!));
      assert.deepEqual(twins.map((gate) => gate.currentInUse), [1, 1]);
      admission.release(grant);
      assert.deepEqual(twins.map((gate) => gate.currentInUse), [0, 0]);
    }),
  );

  it(
    "BEY-63 caps are finite and positive, at construction and in setConfig",
    scenario((world) => {
      const bucket = world.bucket("gpt", { tpm: 1_000, rpm: 10 });
      for (const cap of [0, -1, NaN, Infinity, -Infinity, 0.5]) {
        for (const caps of [{ tpm: cap, rpm: 10 }, { tpm: 10, rpm: cap }]) {
          const said = { name: "RangeError", message: new RegExp(`"gpt".* ${cap},`) };
          assert.throws(() => new TokenBucketRateLimiter("gpt", caps), said);
          assert.throws(() => bucket.setConfig(caps), said);
        }
      }
      for (const caps of [{ tpm: "5", rpm: 10 }, { tpm: 5 }, null, 5]) {
        assert.throws(() => new TokenBucketRateLimiter("gpt", wrong(caps)), TypeError);
        assert.throws(() => bucket.setConfig(wrong(caps)), TypeError);
      }
      const { maxTokens, maxRequests, availableTokens, availableRequests } = bucket.status;
      assert.deepEqual([maxTokens, maxRequests, availableTokens, availableRequests], [1_000, 10, 1_000, 10]);
    }),
  );

  it("CNT-01 a gate's capacity is a whole number of permits from 1", () => {
    for (const capacity of [0, ...WRONG_COUNTS]) {
      assert.throws(() => new CountingGate("slot", capacity), RangeError);
    }
    for (const capacity of [...WRONG_KINDS, undefined]) {
      assert.throws(() => new CountingGate("slot", wrong(capacity)), {
        name: "TypeError",
        message: /"slot"/,
      });
    }
    assert.throws(() => new CountingGate("slot", 1, { clock: wrong({ now: () => 0 }) }), {
      message: /clock is /,
    });
  });
});

describe("Admission", () => {
  it("refuses options that are of the wrong kind", () => {
    const cases: [unknown, RegExp][] = [
      [null, /options are null/],
      [{ clock: Date }, /clock is /],
      [{ events: [] }, /events is /],
      [{ memory: {} }, /memory is .*fits\(\)/],
      [{ logger: { warn: () => {} } }, /logger.*info\(\)/],
    ];
    for (const [options, message] of cases) {
      assert.throws(() => new Admission(wrong<AdmissionOptions>(options)), { name: "TypeError", message });
    }
  });

  it(
    "BEY-60 refuses what is no Demand, no signal and no context, and neither takes nor parks anything",
    scenario(async (world) => {
      const gate = world.gate("slot", 1);
      const admission = world.admission();
      for (const demand of [undefined, null, {}, [], "slot", gate, new Map()]) {
        await assert.rejects(admission.admit(wrong(demand)), { name: "TypeError", message: /demand is / });
        assert.throws(() => admission.tryAdmit(wrong(demand)), { name: "TypeError", message: /demand is / });
      }
      const cases: [unknown, RegExp][] = [
        [5, /options are 5/],
        [null, /options are null/],
        [{ signal: new AbortController() }, /signal is /],
        [{ signal: null }, /signal is null/],
        [{ context: { id: "job" } }, /context is /],
      ];
      for (const [options, message] of cases) {
        const call = admission.admit(new Demand().add(gate), wrong<AdmitOptions>(options));
        await assert.rejects(call, { name: "TypeError", message });
      }
      assert.deepEqual([gate.currentInUse, admission.queueSize, world.story.length], [0, 0, 0]);
    }),
  );

  it(
    "settles its own grants only",
    scenario(async (world) => {
      const gate = world.gate("slot", 2);
      const [admission, other] = [world.admission(), world.admission()];
      const grant = await admission.admit(new Demand().add(gate));
      for (const settle of ["release", "rollback"] as const) {
        assert.throws(() => other[settle](grant), InvalidStateError);
        for (const junk of [null, undefined, {}, { isSettled: false }]) {
          assert.throws(() => admission[settle](wrong<Grant>(junk)), { message: /grant/ });
        }
      }
      assert.deepEqual([grant.isSettled, gate.currentInUse], [false, 1]);
    }),
  );
});
