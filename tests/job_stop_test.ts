// What the stop of an Admission is for jobs that are not in its line: those that pause, and those that are still on their way.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  CancellationError,
  CostLedger,
  createJobContext,
  Demand,
  JobRequirements,
  ModelBinding,
  SpendGates,
} from "../mod.ts";
import { ScriptedLimiter } from "../testing/mod.ts";
import { scenario } from "./scenario.ts";
import { hangs, JobWorld, type Outcome, outcomeOf, rejectionOf, signalOf } from "./scripted_jobs.ts";
import { spec, sums, usd } from "./spending.ts";

const needs = () => new JobRequirements({ timeoutMs: 1000 }).http();

/** An account that breaks when an attempt is undone, which closes an Admission. */
class Breaking extends ScriptedLimiter {
  override give(): void {
    throw new Error("give is broken");
  }
}

function assertStopped({ error }: Outcome): void {
  assert.ok(error instanceof CancellationError);
  assert.equal(error.code, "stopped");
}

describe("Jobs of a stopped Admission", () => {
  it(
    "CAN-10 BLD-16 that pause end at once, each with an error of its own, and leave no timer",
    scenario(async (world) => {
      const jobs = new JobWorld(world);
      const work = () => Promise.reject(signalOf("RATE_LIMIT", 3_600));
      const paused = [1, 2].map(() => outcomeOf(jobs.runner.run(needs(), work)));
      await world.settle();
      assert.deepEqual([jobs.runner.pausedJobs, world.clock.pendingTimers], [2, 2]);
      jobs.admission.stop();
      await world.settle();
      for (const each of paused) assertStopped(each);
      assert.notEqual(paused[0]!.error, paused[1]!.error);
      assert.deepEqual([jobs.runner.pausedJobs, world.clock.pendingTimers, jobs.http.currentInUse], [
        0,
        0,
        0,
      ]);
      await jobs.admission.drain();
    }),
  );

  it(
    "BEY-27 that run end as they do, with their handles committed and closed; a signal to run again begins no pause",
    scenario(async (world) => {
      const jobs = new JobWorld(world);
      const database = jobs.database("db", 2);
      const ends: ((failure?: Error) => void)[] = [];
      const work = () =>
        new Promise<string>((resolve, reject) =>
          void ends.push((failure) => failure === undefined ? resolve("ran") : reject(failure))
        );
      const requirements = new JobRequirements({ timeoutMs: 1000 }).database(database, { transaction: true });
      const [good, again] = [1, 2].map(() => outcomeOf(jobs.runner.run(requirements, work)));
      await world.settle();
      jobs.admission.stop();
      let isDrained = false;
      void jobs.admission.drain().then(() => isDrained = true);
      await world.settle();
      assert.deepEqual([good!.isDone, again!.isDone, isDrained], [false, false, false]);
      ends[0]!();
      ends[1]!(signalOf("OVERLOAD"));
      await world.settle();
      assert.equal(good!.result, "ran");
      assertStopped(again!);
      assert.deepEqual([isDrained, database.out, database.admission.currentInUse], [true, 0, 0]);
      assert.deepEqual([world.clock.pendingTimers, world.logs], [0, []], "no retry was told of");
      assert.equal(jobs.log.filter((line) => line === "db commit").length, 1);
      assert.equal(jobs.log.filter((line) => line === "db rollback").length, 1);
    }),
  );

  it(
    "BLD-16 that wait under a cap or for their model end at once, and what they had committed is given back",
    scenario(async (world) => {
      const ledger = new CostLedger({ beyond: "wait", workflowOf: () => "night" });
      ledger.cap("night", usd(1));
      const jobs = new JobWorld(world, {
        spendGates: new SpendGates().register(ledger),
        resolveModel: () => hangs() as Promise<never>,
      });
      const declare = (fields: object) =>
        new JobRequirements({ timeoutMs: 1000 })
          .model(new ModelBinding({ depth: "IMMEDIATE", input: 400_000, output: 0, ...fields }));
      let end = () => {};
      const work = () => new Promise<void>((resolve) => end = resolve);
      const [running, waiting, unresolved] = [{ model: spec() }, { model: spec() }, { grade: "any" }].map(
        (fields) => outcomeOf(jobs.runner.run(declare(fields), work)),
      );
      await world.settle();
      assert.deepEqual([ledger.waiting("night"), sums(ledger)], [1, [0, 0.8]]);
      jobs.admission.stop();
      await world.settle();
      assertStopped(waiting!);
      assertStopped(unresolved!);
      assert.deepEqual([running!.isDone, ledger.waiting("night"), sums(ledger)], [false, 0, [0, 0.8]]);
      end();
      await world.settle();
      assert.deepEqual([running!.isDone, sums(ledger)], [true, [0, 0]]);
    }),
  );

  it(
    "CAN-11 that come later are refused, also by a runner that is made later; an abort keeps its own reason",
    scenario(async (world) => {
      const jobs = new JobWorld(world);
      const leaving = new AbortController();
      const left = outcomeOf(
        jobs.runner.run(needs(), () => Promise.reject(signalOf("TRANSIENT")), { signal: leaving.signal }),
      );
      await world.settle();
      leaving.abort("left");
      jobs.admission.stop();
      await world.settle();
      assert.equal(left.error, "left");
      const context = createJobContext();
      const late = await rejectionOf(
        jobs.runner.run(needs(), () => assert.fail("the work ran"), { context }),
      );
      assert.equal((late as CancellationError).code, "stopped");
    }),
  );

  it(
    "CAN-12 that pause when it closes on a defect get what later callers get: the defect",
    scenario(async (world) => {
      const jobs = new JobWorld(world);
      const paused = outcomeOf(jobs.runner.run(needs(), () => Promise.reject(signalOf("TRANSIENT"))));
      await world.settle();
      const demand = new Demand().add(new Breaking("a"), 1).add(new ScriptedLimiter("b", "declines"), 1);
      await rejectionOf(jobs.admission.admit(demand));
      await world.settle();
      assert.equal((paused.error as { code?: unknown }).code, "defect");
    }),
  );
});
