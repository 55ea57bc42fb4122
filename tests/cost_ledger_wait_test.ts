// What can wait under a cap and what never fits; jobs that wait for others of their workflow to end.

import assert from "node:assert/strict";
import process from "node:process";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import { Cost, CostLedger, type CostLedgerOptions, type JobContext, SpendCapError } from "../mod.ts";
import { type Outcome, outcomeOf } from "./scripted_jobs.ts";
import {
  call,
  cappedLedger,
  EUROS,
  job,
  refusal,
  reserving,
  sums,
  THREE,
  UNPRICED,
  usd,
} from "./spending.ts";

const SEED = Number(process.env.SEED ?? 20_261_130);

function waitingLedger(...caps: readonly Cost[]): CostLedger {
  const ledger = new CostLedger({ beyond: "wait" });
  for (const cap of caps) ledger.cap("night", cap);
  return ledger;
}

/** Asks for so many millionths, and follows what becomes of it. */
function ask(ledger: CostLedger, micros: number, context: JobContext = job()): Outcome {
  return outcomeOf((async () => await ledger.check(context, [reserving(micros)]))());
}

/** Lets every promise that can settle do so. */
const turn = () => new Promise<void>((resolve) => void setImmediate(resolve));

describe("A refusal under a cap", () => {
  it("SG-09 SG-10 says whether it is final: not when the job would fit once others have ended", () => {
    const ledger = cappedLedger(usd(5));
    const first = job();
    ledger.check(first, [THREE]);
    assert.equal(refusal(() => ledger.check(job(), [THREE])).isFinal, false);
    assert.equal(refusal(() => ledger.check(job(), [THREE, THREE])).isFinal, true, "6 is never within 5");
    ledger.onFinished(first, [usd(3)]);
    assert.equal(refusal(() => ledger.check(job(), [THREE])).isFinal, true, "what is spent stays spent");
    ledger.cap("night", usd(6));
    ledger.check(job(), [THREE]);
  });

  it("SG-08 is final where a model cannot be counted, and names the final currency before a passing one", () => {
    const ledger = cappedLedger(usd(5), new Cost(0.5, "EUR"));
    assert.equal(refusal(() => ledger.check(job(), [call(5, 5, UNPRICED)])).isFinal, true);
    ledger.check(job(), [THREE]);
    const both = refusal(() => ledger.check(job(), [THREE, call(1_000_000, 0, EUROS)]));
    assert.deepEqual([both.isFinal, String(both.cap)], [true, "0.500000 EUR"]);
    assert.equal(new SpendCapError("no more").isFinal, true);
  });

  it("SG-12 of another attempt says what its own earlier one has committed", () => {
    const ledger = cappedLedger(usd(0.0015));
    const context = job();
    ledger.check(context, [reserving(1_000)]);
    const refused = refusal(() => ledger.check(context, [reserving(1_000)]));
    assert.equal(refused.isFinal, false, "it would fit as another job, once this one has ended");
    assert.match(
      refused.message,
      /^Cannot start job "job-\d+": the workflow "night" .*committed 0\.001000 USD, 0\.001000 USD of it for this job's own earlier attempt, and/,
    );
  });
});

describe("A ledger beyond which jobs wait", () => {
  it("SG-10 lets the third of three go once the first has ended, having spent less", async () => {
    const ledger = waitingLedger(usd(5));
    const first = job();
    assert.equal(ledger.check(first, [reserving(2_000_010)]), undefined, "nothing to wait for");
    const second = ask(ledger, 2_000_010);
    const third = ask(ledger, 2_000_010);
    await turn();
    assert.deepEqual([second.isDone, third.isDone, ledger.waiting("night")], [true, false, 1]);
    assert.deepEqual(sums(ledger), [0, 4.00002], "who waits has committed nothing");
    ledger.onFinished(first, [usd(0.4)]);
    assert.deepEqual([sums(ledger), ledger.waiting("night")], [[0.4, 4.00002], 0]);
    await turn();
    assert.deepEqual([third.isDone, third.error], [true, undefined]);
  });

  it("SG-09 refuses at once what can never fit, also behind others", async () => {
    const ledger = waitingLedger(usd(5));
    ledger.check(job(), [THREE]);
    const waiting = ask(ledger, 2_500_000);
    assert.equal(refusal(() => void ledger.check(job(), [reserving(5_000_001)])).isFinal, true);
    refusal(() => void ledger.check(job(), [call(5, 5, UNPRICED)]));
    await turn();
    assert.deepEqual([waiting.isDone, ledger.waiting("night")], [false, 1]);
  });

  it("lets nobody pass: a small job goes behind a large one that came before", async () => {
    const ledger = waitingLedger(usd(5));
    const running = job();
    ledger.check(running, [THREE]);
    const order: string[] = [];
    for (const [name, micros] of [["large", 4_000_000], ["small", 1], ["other", 1_000_000]] as const) {
      void Promise.resolve(ledger.check(job(), [reserving(micros)])).then(() => order.push(name));
    }
    await turn();
    assert.deepEqual([order, ledger.waiting("night")], [[], 3]);
    ledger.onFinished(running, []);
    await turn();
    assert.deepEqual([order, ledger.waiting("night")], [["large", "small"], 1]);
  });

  it("SG-11 refuses who waits once real costs have left too little for it, and lets the next go", async () => {
    const ledger = waitingLedger(usd(5));
    const running = job();
    ledger.check(running, [THREE]);
    const [large, small] = [ask(ledger, 3_000_000), ask(ledger, 1_000_000)];
    ledger.onFinished(running, [usd(4)]);
    await turn();
    const error = large.error as SpendCapError;
    assert.ok(error instanceof SpendCapError);
    assert.deepEqual([error.isFinal, error.spent?.amount], [true, 4]);
    assert.deepEqual([small.isDone, small.error, sums(ledger)], [true, undefined, [4, 1]]);
  });

  it("SG-12 judges another attempt of a job at once: whoever waits has committed nothing", async () => {
    const ledger = waitingLedger(usd(5));
    const context = job();
    ledger.check(context, [THREE]);
    const waiting = ask(ledger, 3_000_000);
    assert.equal(refusal(() => void ledger.check(context, [THREE])).isFinal, false);
    assert.equal(
      ledger.check(context, [reserving(2_000_000)]),
      undefined,
      "it fits beside its own, before those who wait",
    );
    assert.deepEqual(sums(ledger), [0, 2]);
    ledger.onFinished(context, []);
    await turn();
    assert.equal(waiting.isDone, true);
  });

  it("SG-13 lets go who waits when a cap is raised, and when there is none any more", async () => {
    const ledger = waitingLedger(usd(5), new Cost(1, "EUR"));
    ledger.check(job(), [THREE, call(500_000, 0, EUROS)]);
    const [first, second] = [job(), job()].map((context) => ask(ledger, 3_000_000, context));
    const foreign = outcomeOf((async () => await ledger.check(job(), [call(1_000_000, 0, EUROS)]))());
    ledger.cap("night", usd(6));
    await turn();
    assert.deepEqual([first!.isDone, second!.isDone, ledger.waiting("night")], [true, false, 2]);
    ledger.cap("night", usd(2));
    await turn();
    assert.equal((second!.error as SpendCapError).isFinal, true, "a cap that is lowered rules it out");
    ledger.uncap("night");
    ledger.uncap("never capped");
    await turn();
    assert.deepEqual([foreign.isDone, foreign.error, ledger.waiting("night")], [true, undefined, 0]);
    ledger.check(job(), [call(5, 5, UNPRICED)]);
  });

  it("BEY-60 refuses what is neither of its two ways", () => {
    for (const beyond of ["queue", null, true, 1]) {
      assert.throws(() => new CostLedger({ beyond } as CostLedgerOptions), {
        name: "TypeError",
        message: /^Cannot make a CostLedger: beyond is .*, it should be "refuse" or "wait"$/,
      });
    }
  });

  it("SG-09 SG-10 SG-11 keeps within its cap under random jobs, and leaves nobody waiting", async () => {
    const step = fc.record({ micros: fc.nat(6_000_000), real: fc.nat(3_000_000), ends: fc.nat(9) });
    const seen = { waited: 0, refused: 0, ran: 0, left: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
        const ledger = waitingLedger(usd(20));
        const open = new Map<JobContext, { outcome: Outcome; real: number; micros: number }>();
        const holds = () => {
          const { nanos: committed } = ledger.committed("night", "USD");
          assert.ok(ledger.spent("night", "USD").nanos + committed <= usd(20).nanos);
          const held = [...open.values()].filter(({ outcome }) =>
            outcome.isDone && outcome.error === undefined
          );
          const reserved = held.reduce((sum, { micros }) => sum + micros, 0);
          assert.equal(committed, BigInt(reserved) * 1_000n, "exactly the jobs that were let through");
        };
        const end = async (context: JobContext) => {
          const { outcome, real, micros } = open.get(context)!;
          open.delete(context);
          const isRunning = outcome.isDone && outcome.error === undefined;
          if (isRunning) seen.ran++;
          else if (outcome.isDone) seen.refused++;
          else seen.left++;
          ledger.onFinished(
            context,
            isRunning ? [Cost.fromNanos(BigInt(Math.min(real, micros)) * 1_000n, "USD")] : [],
          );
          await turn();
          holds();
        };
        for (const { micros, real, ends } of steps) {
          const context = job();
          open.set(context, { outcome: ask(ledger, micros, context), real, micros });
          await turn();
          if (!open.get(context)!.outcome.isDone) seen.waited++;
          holds();
          const some = [...open.keys()][ends];
          if (some !== undefined) await end(some);
        }
        for (let rounds = 0; open.size > 0; rounds++) {
          assert.ok(rounds < 100);
          const ended = [...open].find(([, { outcome }]) => outcome.isDone);
          assert.ok(ended, "somebody can always end");
          await end(ended[0]);
        }
        assert.deepEqual([ledger.waiting("night"), ledger.committed("night", "USD").nanos], [0, 0n]);
      }),
      { seed: SEED, numRuns: 40 },
    );
    for (const [what, count] of Object.entries(seen)) assert.ok(count >= 20, `${what}: ${count}`);
  });
});
