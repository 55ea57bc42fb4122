// What can wait under a cap and what never fits; jobs that wait for others of their workflow to end.

import assert from "node:assert/strict";
import process from "node:process";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import {
  Cost,
  CostLedger,
  type CostLedgerOptions,
  createJobContext,
  type JobContext,
  JobRequirements,
  ModelBinding,
  SpendCapError,
  SpendGates,
} from "../mod.ts";
import { scenario } from "./scenario.ts";
import { JobWorld, type Outcome, outcomeOf, rejectionOf, signalOf } from "./scripted_jobs.ts";
import {
  call,
  cappedLedger,
  EUROS,
  job,
  refusal,
  reserving,
  spec,
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
      /committed 0\.001000 USD, 0\.001000 USD of it for this job's own earlier attempt, and/,
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

describe("Jobs that wait under a cap", () => {
  const MODEL = spec({ id: "llm", prices: { currency: "USD", inputPerMillion: 1, outputPerMillion: 1 } });
  const needs = (micros: number) =>
    new JobRequirements({ timeoutMs: 1000 })
      .model(new ModelBinding({ model: MODEL, depth: "IMMEDIATE", input: micros, output: 0 }));
  const night = (id: string) => createJobContext({ id, metadata: { workflow: "night" } });

  it(
    "SG-01 SG-10 hold nothing, run in their order as real costs make room, and none of sixty is lost",
    scenario(async (world) => {
      const ledger = waitingLedger(usd(0.01));
      const jobs = new JobWorld(world, { spendGates: new SpendGates().register(ledger) });
      const order: number[] = [];
      let atOnce = 0;
      const outcomes = Array.from(
        { length: 60 },
        (_, index) =>
          outcomeOf(jobs.runner.run(needs(1_000), async (scope) => {
            order.push(index);
            atOnce = Math.max(atOnce, jobs.http.currentInUse);
            await Promise.resolve();
            scope.recordCost(usd(0.0001));
          }, { context: night(`job ${index}`) })),
      );
      await world.settle();
      await world.clock.advance(1);
      assert.ok(outcomes.every(({ isDone, error }) => isDone && error === undefined));
      assert.deepEqual(order, outcomes.map((_, index) => index));
      assert.deepEqual([sums(ledger), ledger.waiting("night"), jobs.http.currentInUse], [[0.006, 0], 0, 0]);
      assert.equal(atOnce, 2, "the pool's two places were used");
    }),
  );

  it(
    "CAN-01 BEY-25 leave the line when they are aborted or cancelled, and those behind them go",
    scenario(async (world) => {
      const ledger = waitingLedger(usd(1));
      const jobs = new JobWorld(world, { spendGates: new SpendGates().register(ledger) });
      let end = () => {};
      const work = () => new Promise<void>((resolve) => end = resolve);
      const first = outcomeOf(jobs.runner.run(needs(600_000), work, { context: night("first") }));
      const leaving = new AbortController();
      const cancelled = night("cancelled");
      const never = () => assert.fail("the work ran");
      const [aborted, other, last] = [
        outcomeOf(
          jobs.runner.run(needs(900_000), never, { context: night("aborted"), signal: leaving.signal }),
        ),
        outcomeOf(jobs.runner.run(needs(900_000), never, { context: cancelled })),
        outcomeOf(jobs.runner.run(needs(400_000), () => "ran", { context: night("last") })),
      ];
      await world.settle();
      assert.deepEqual([ledger.waiting("night"), jobs.admission.queueSize, jobs.http.currentInUse], [
        3,
        0,
        1,
      ]);
      leaving.abort("left");
      await world.settle();
      assert.deepEqual([aborted!.error, ledger.waiting("night"), last!.isDone], ["left", 2, false]);
      cancelled.cancel();
      await world.settle();
      assert.equal((other!.error as { code?: unknown }).code, "cancelled");
      assert.equal(last!.result, "ran", "beside the first, which still runs");
      end();
      await world.settle();
      assert.deepEqual([first.isDone, sums(ledger), ledger.waiting("night")], [true, [0, 0], 0]);
    }),
  );

  it(
    "SG-12 refuse another attempt that has no room beside its own commitment; as another job it waits and runs",
    scenario(async (world) => {
      const ledger = waitingLedger(usd(0.0015));
      const jobs = new JobWorld(world, { spendGates: new SpendGates().register(ledger) });
      let attempts = 0;
      const run = () =>
        jobs.runner.run(needs(1_000), () => {
          if (++attempts === 1) throw signalOf("RATE_LIMIT");
          return "ran";
        }, { context: night(`job ${attempts}`) });
      const refused = rejectionOf(run());
      await world.clock.advance(5_000);
      const error = await refused as SpendCapError;
      assert.ok(error instanceof SpendCapError);
      assert.deepEqual([error.isFinal, attempts, sums(ledger)], [false, 1, [0, 0]]);
      assert.equal(await run(), "ran");
    }),
  );
});
