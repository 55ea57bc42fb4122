// What a ledger commits for a job, from its first attempt to its end.

import assert from "node:assert/strict";
import process from "node:process";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import { callCost, Cost, createJobContext, type JobContext, ModelBinding, SpendGates } from "../mod.ts";
import { call, cappedLedger, EUROS, job, refusal, reserving, spec, sums, THREE, usd } from "./spending.ts";

const SEED = Number(process.env.SEED ?? 20_261_130);

describe("What a ledger knows of a job", () => {
  it("SG-11 keeps a reservation committed until the job's end, good or bad, which records the real cost", async () => {
    const ledger = cappedLedger(usd(5));
    const gates = new SpendGates().register(ledger).register({
      check: (context) => {
        if (context.metadata["isBad"]) throw new Error("a later gate says no");
      },
    });
    const good = gates.open(job());
    await good.consult([THREE]);
    good.record(callCost(THREE.model, { inputTokens: 1_000_000, outputTokens: 1_000 }));
    assert.deepEqual(sums(ledger), [0, 3]);
    good.finish();
    assert.deepEqual(sums(ledger), [2.01, 0]);
    const bad = job();
    bad.metadata["isBad"] = true;
    const refused = gates.open(bad);
    await assert.rejects(refused.consult([reserving(1_000_000)]), /a later gate/);
    assert.deepEqual(sums(ledger), [2.01, 1], "refused elsewhere, it is committed until it has ended");
    refused.finish();
    assert.deepEqual(sums(ledger), [2.01, 0]);
  });

  it("SG-11 the real cost may exceed what was reserved, and the cap", () => {
    const ledger = cappedLedger(usd(5));
    const context = job();
    ledger.check(context, [THREE]);
    ledger.onFinished(context, [usd(7)]);
    assert.deepEqual(sums(ledger), [7, 0]);
    assert.equal(refusal(() => ledger.check(job(), [reserving(1)])).spent?.amount, 7);
  });

  it("SG-12 a later attempt replaces its job's commitment, which counts while the attempt is judged", () => {
    const ledger = cappedLedger(usd(1));
    const embeddings = (input: number) => {
      const prices = { currency: "USD", inputPerMillion: 0.12 };
      const model = spec({ id: "embed", providerKey: "x-embeddings", prices });
      const binding = new ModelBinding({ model, input });
      binding.price();
      return binding;
    };
    const context = job();
    ledger.check(context, [embeddings(1_000_000)]);
    assert.deepEqual(sums(ledger), [0, 0.12]);
    const refused = refusal(() => ledger.check(context, [embeddings(8_000_000)]));
    assert.deepEqual([refused.committed?.amount, refused.asked?.amount], [0.12, 0.96]);
    assert.deepEqual(sums(ledger), [0, 0.12], "the earlier one stands");
    ledger.check(context, [embeddings(4_000_000)]);
    assert.deepEqual(sums(ledger), [0, 0.48], "replaced, not added");
    ledger.onFinished(context, []);
    assert.deepEqual(sums(ledger), [0, 0]);
  });

  it("SG-12 keeps the commitment of an earlier attempt in another currency", () => {
    const ledger = cappedLedger(usd(5), new Cost(5, "EUR"));
    const context = job();
    ledger.check(context, [call(1_000_000, 0, EUROS)]);
    ledger.check(context, [THREE]);
    assert.deepEqual([sums(ledger), sums(ledger, "EUR")], [[0, 3], [0, 1]]);
    ledger.onFinished(context, [usd(2)]);
    assert.deepEqual([sums(ledger), sums(ledger, "EUR")], [[2, 0], [0, 0]]);
  });

  it("SG-11 knows nothing of a job that has ended: its id may come again, in another workflow", () => {
    const ledger = cappedLedger(usd(5));
    ledger.cap("day", usd(5));
    const [first, second] = ["night", "day"].map((workflow) =>
      createJobContext({ id: "j", metadata: { workflow } })
    );
    ledger.check(first!, [THREE]);
    ledger.onFinished(first!, [usd(2)]);
    ledger.onFinished(first!, []);
    assert.deepEqual(sums(ledger), [2, 0], "there is nothing left to take back");
    ledger.check(second!, [THREE]);
    assert.deepEqual(sums(ledger), [2, 0]);
    assert.equal(ledger.committed("day", "USD").amount, 3);
  });

  it("SG-09 SG-11 SG-13 holds its laws under random jobs", () => {
    const step = fc.record({
      jobIndex: fc.integer({ min: 0, max: 4 }),
      isEnd: fc.integer({ min: 0, max: 3 }).map((chance) => chance === 0),
      micros: fc.integer({ min: 0, max: 3_000_000 }),
    });
    const seen = { admitted: 0, refused: 0, retried: 0, ended: 0 };
    fc.assert(
      fc.property(fc.array(step, { minLength: 20, maxLength: 60 }), (steps) => {
        const ledger = cappedLedger(usd(5));
        const jobs = [job(), job(), job(), job(), job()];
        const committed = new Map<JobContext, number>();
        let spent = 0;
        for (const { jobIndex, isEnd, micros } of steps) {
          const context = jobs[jobIndex]!;
          const reserved = [...committed.values()].reduce((sum, each) => sum + each, 0);
          if (isEnd) {
            const real = Math.min(micros, committed.get(context) ?? 0);
            ledger.onFinished(context, [Cost.fromNanos(BigInt(real) * 1_000n, "USD")]);
            jobs[jobIndex] = job();
            committed.delete(context);
            spent += real;
            seen.ended++;
          } else if (spent + reserved + micros > 5_000_000) {
            refusal(() => ledger.check(context, [reserving(micros)]));
            seen.refused++;
          } else {
            if (committed.has(context)) seen.retried++;
            ledger.check(context, [reserving(micros)]);
            committed.set(context, micros);
            seen.admitted++;
          }
          const open = [...committed.values()].reduce((sum, each) => sum + each, 0);
          assert.equal(ledger.spent("night", "USD").nanos, BigInt(spent) * 1_000n);
          assert.equal(ledger.committed("night", "USD").nanos, BigInt(open) * 1_000n);
          assert.ok(spent + open <= 5_000_000, "what may be spent stays within the cap");
        }
        for (const context of jobs) ledger.onFinished(context, []);
        assert.equal(ledger.committed("night", "USD").nanos, 0n);
      }),
      { seed: SEED, numRuns: 60 },
    );
    for (const [what, count] of Object.entries(seen)) assert.ok(count >= 20, `${what}: ${count}`);
  });
});
