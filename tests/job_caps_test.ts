// Jobs of a runner that wait under a cap for others of their workflow to end.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "@std/testing/bdd";
import {
  CostLedger,
  createJobContext,
  JobRequirements,
  ModelBinding,
  type RetrySignal,
  SpendCapError,
  SpendGates,
} from "../mod.ts";
import { scenario } from "./scenario.ts";
import { JobWorld, outcomeOf, rejectionOf, signalOf } from "./scripted_jobs.ts";
import { spec, sums, usd } from "./spending.ts";

function waitingLedger(dollars: number): CostLedger {
  const ledger = new CostLedger({ beyond: "wait" });
  ledger.cap("night", usd(dollars));
  return ledger;
}

/** The loop of examples/jobs/batch.ts, word for word: the test that uses it compares the two. */
async function withinCap(job: () => Promise<void>): Promise<void> {
  for (let again = 3;; again--) {
    try {
      return await job();
    } catch (error) {
      if (!(error instanceof SpendCapError) || error.isFinal || again === 0) throw error;
    }
  }
}

describe("Jobs that wait under a cap", () => {
  const MODEL = spec({ id: "llm", prices: { currency: "USD", inputPerMillion: 1, outputPerMillion: 1 } });
  const needs = (micros: number) =>
    new JobRequirements({ timeoutMs: 1000 })
      .model(new ModelBinding({ model: MODEL, depth: "IMMEDIATE", input: micros, output: 0 }));
  const night = (id: string) => createJobContext({ id, metadata: { workflow: "night" } });

  it(
    "SG-01 SG-10 hold nothing, run in their order as real costs make room, and none of sixty is lost",
    scenario(async (world) => {
      const ledger = waitingLedger(0.01);
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
      const ledger = waitingLedger(1);
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
      const ledger = waitingLedger(0.0015);
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
      assert.equal((error.cause as RetrySignal).kind, "RATE_LIMIT", "it says why the job had to ask anew");
      assert.equal(await run(), "ran");
    }),
  );

  it(
    "SG-12 given in again a number of times, they do not ask a provider that always says 429 without end",
    scenario(async (world) => {
      const ledger = waitingLedger(0.0035);
      const jobs = new JobWorld(world, { spendGates: new SpendGates().register(ledger), pauseMs: () => 20 });
      let asked = 0;
      const job = () =>
        jobs.runner.run(needs(3_500), () => {
          asked++;
          throw signalOf("RATE_LIMIT");
        }, { context: night("always") });
      const outcome = outcomeOf(withinCap(job));
      await world.clock.advance(1_000);
      assert.deepEqual([outcome.isDone, asked, sums(ledger)], [true, 4, [0, 0]]);
      const loop = (path: string) => {
        const text = readFileSync(new URL(path, import.meta.url), "utf8");
        return /^async function withinCap[\s\S]*?^\}/m.exec(text)?.[0];
      };
      assert.equal(loop("../examples/jobs/batch.ts"), loop("job_caps_test.ts"));
      const { isFinal, cause } = outcome.error as SpendCapError;
      assert.deepEqual([isFinal, (cause as RetrySignal).kind], [false, "RATE_LIMIT"]);
    }),
  );

  it(
    "SG-10 SG-12 a context that running jobs share does not switch the cap off: all but the first are refused",
    scenario(async (world) => {
      const ledger = waitingLedger(2.5);
      // Two registries of one ledger, as two runners have.
      const runners = [0, 1].map(() =>
        new JobWorld(world, { spendGates: new SpendGates().register(ledger) }).runner
      );
      const shared = night("w");
      const run = (index: number) =>
        outcomeOf(runners[index % 2]!.run(needs(1_000_000), async (scope) => {
          await Promise.resolve();
          scope.recordCost(usd(1));
        }, { context: shared }));
      const jobs = [0, 1, 2, 3, 4].map(run);
      await world.settle();
      assert.deepEqual(jobs.map(({ isDone, error }) => [isDone, (error as Error)?.message]), [
        [true, undefined],
        ...Array.from({ length: 4 }, () => [
          true,
          'Cannot start job "w": another job with this id is running, give each job a context of its own',
        ]),
      ]);
      assert.deepEqual(sums(ledger), [1, 0], "those that were refused did not end the one that ran");
      const after = [run(0)];
      await world.settle();
      assert.deepEqual([after[0]!.error, sums(ledger)], [undefined, [2, 0]], "the id may come again");
    }),
  );

  it(
    "SG-11 an orchestrator may share its context with one job after another; its own end is not theirs",
    scenario(async (world) => {
      const ledger = waitingLedger(2.5);
      const jobs = new JobWorld(world, { spendGates: new SpendGates().register(ledger) });
      const context = night("w");
      let end = () => {};
      const inner = jobs.runner.run(null, () => {
        const work = () => new Promise<void>((resolve) => end = resolve);
        return { left: jobs.runner.run(needs(1_000_000), work, { context }) };
      }, { context });
      const { left } = await inner;
      await world.settle();
      assert.deepEqual(sums(ledger), [0, 1], "the orchestrator has ended, its job runs");
      end();
      await left;
      assert.deepEqual(sums(ledger), [0, 0]);
    }),
  );
});
