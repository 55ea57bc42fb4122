// Jobs that are run again after a retry signal.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  CancellationError,
  createJobContext,
  Demand,
  JobRequirements,
  ModelBinding,
  type ModelSpecFields,
  retryDelayMs,
  UncorrectableError,
} from "../mod.ts";
import { scenario } from "./scenario.ts";
import { JobWorld, outcomeOf, rejectionOf, signalOf } from "./scripted_jobs.ts";

const LLM: ModelSpecFields = { id: "llm", tpm: 90_000, maxContextTokens: 100_000, maxOutputTokens: 8_000 };

function withModel(): JobRequirements {
  const binding = new ModelBinding({ model: LLM, input: 1_000, output: 2_000, depth: "IMMEDIATE" });
  return new JobRequirements({ timeoutMs: 1000 }).model(binding);
}

describe("A job that meets a retry signal", () => {
  it(
    "UF-11 BLD-15 closes everything before the pause, and is admitted afresh after it: what was spent stays spent",
    scenario(async (world) => {
      const jobs = new JobWorld(world);
      const database = jobs.database("db");
      const requirements = withModel().database(database, { transaction: true });
      const attempts: number[] = [];
      const job = outcomeOf(jobs.runner.run(requirements, (scope) => {
        attempts.push(scope.attempt);
        assert.equal(scope.resource(database).unwrap(), scope.attempt, "a handle of its own");
        if (scope.attempt === 1) throw signalOf("RATE_LIMIT");
        return "ran";
      }));
      await world.settle();
      assert.deepEqual(jobs.log, ["db acquire", "db begin", "db rollback", "db close"]);
      assert.deepEqual([database.admission.currentInUse, jobs.http.currentInUse], [0, 0]);
      const bucket = jobs.registry.bucket(LLM);
      assert.equal(bucket.status.availableTokens, 87_000);
      await world.clock.advance(4_999);
      assert.equal(attempts.length, 1);
      await world.clock.advance(1);
      assert.equal(job.result, "ran");
      assert.equal(
        bucket.status.availableTokens,
        87_000,
        "5 s refilled 7,500, up to the cap, and it was debited again",
      );
      assert.deepEqual(jobs.log.slice(4), [
        "db acquire",
        "db begin",
        "db commit",
        "db awaitCompletion",
        "db close",
      ]);
      assert.equal(world.clock.pendingTimers, 0);
    }),
  );

  it(
    "BLD-15 the next attempt waits in line like everybody else",
    scenario(async (world) => {
      const jobs = new JobWorld(world);
      const database = jobs.database("db", 1);
      const requirements = new JobRequirements({ timeoutMs: 1000 }).database(database);
      const job = outcomeOf(jobs.runner.run(requirements, ({ attempt }) => {
        if (attempt === 1) throw signalOf("TRANSIENT");
        return "ran";
      }));
      await world.settle();
      const other = await jobs.admission.admit(new Demand().add(database.admission));
      await world.clock.advance(5_000);
      assert.deepEqual([job.isDone, jobs.admission.queueSize], [false, 1]);
      other.release();
      await world.settle();
      assert.equal(job.result, "ran");
    }),
  );

  it(
    "UF-10 is run again three times over all signals; then it fails, naming the budget, with the last signal as cause",
    scenario(async (world) => {
      const jobs = new JobWorld(world);
      const kinds = ["RATE_LIMIT", "OVERLOAD", "TRANSIENT", "RATE_LIMIT"] as const;
      const signals = kinds.map((kind) => signalOf(kind));
      const startedAt: number[] = [];
      const job = outcomeOf(jobs.runner.run(withModel(), ({ attempt }) => {
        startedAt.push(world.clock.now() - 1000);
        throw signals[attempt - 1];
      }));
      await world.clock.advance(100_000);
      assert.deepEqual(startedAt, [0, 5_000, 35_000, 50_000], "5, 2 x 15 and 3 x 5 seconds");
      const error = job.error as UncorrectableError;
      assert.ok(error instanceof UncorrectableError);
      assert.match(error.message, /retry budget of 3 is used up.*later/);
      assert.equal(error.cause, signals[3]);
    }),
  );

  it(
    "UF-10 a budget of 0 is one execution",
    scenario(async (world) => {
      const jobs = new JobWorld(world, { maxRetries: 0 });
      const signal = signalOf("OVERLOAD");
      let times = 0;
      const error = await rejectionOf(jobs.runner.run(withModel(), () => {
        times++;
        throw signal;
      })) as Error;
      assert.deepEqual([times, error.cause], [1, signal]);
      assert.match(error.message, /retry budget of 0/);
    }),
  );

  it(
    "UF-09 BEY-71 the pause is that of retryDelayMs, by the runner's chance, and at least what the provider said",
    scenario(async (world) => {
      const random = () => 0.25;
      const jobs = new JobWorld(world, { random });
      const signals = [signalOf("RATE_LIMIT", 42.5), signalOf("OVERLOAD"), signalOf("TRANSIENT", 3_600)];
      const startedAt: number[] = [];
      const job = outcomeOf(jobs.runner.run(withModel(), ({ attempt }) => {
        startedAt.push(world.clock.now());
        const signal = signals[attempt - 1];
        if (signal !== undefined) throw signal;
      }));
      await world.clock.advance(5_000_000);
      assert.equal(job.isDone, true);
      const pauses = startedAt.slice(1).map((at, index) => at - startedAt[index]!);
      assert.deepEqual(pauses, signals.map((signal, reruns) => retryDelayMs(signal, { reruns, random })));
      assert.deepEqual(pauses, [48_750, 67_500, 3_618_750]);
    }),
  );

  it(
    "BEY-51 BEY-71 a provider that asks for months is waited for, with timers that runtimes can hold",
    scenario(async (world) => {
      const jobs = new JobWorld(world);
      const days = 86_400;
      const startedAt: number[] = [];
      void jobs.runner.run(withModel(), ({ attempt }) => {
        startedAt.push(world.clock.now() - 1000);
        if (attempt === 1) throw signalOf("RATE_LIMIT", 60 * days);
      });
      await world.settle();
      assert.equal(world.clock.nextTimerMs, 1000 + 2 ** 31 - 1);
      await world.clock.advance(60 * days * 1000 - 1);
      assert.equal(startedAt.length, 1);
      await world.clock.advance(1);
      assert.deepEqual(startedAt, [0, 60 * days * 1000]);
    }),
  );

  it(
    "BEY-25 an abort or a cancellation ends the pause at once, and leaves no timer",
    scenario(async (world) => {
      const jobs = new JobWorld(world);
      const leaving = new AbortController();
      const context = createJobContext();
      const work = () => Promise.reject(signalOf("RATE_LIMIT"));
      const aborted = outcomeOf(jobs.runner.run(withModel(), work, { signal: leaving.signal }));
      const cancelled = outcomeOf(jobs.runner.run(withModel(), work, { context }));
      await world.clock.advance(10);
      assert.deepEqual([aborted.isDone, cancelled.isDone, world.clock.pendingTimers], [false, false, 2]);
      leaving.abort("left");
      context.cancel();
      await world.settle();
      assert.equal(aborted.error, "left");
      assert.ok(cancelled.error instanceof CancellationError);
      assert.equal(world.clock.pendingTimers, 0);
    }),
  );

  it(
    "UF-10 a job that was aborted meanwhile gets its own reason, and is not run again",
    scenario(async (world) => {
      const jobs = new JobWorld(world, { maxRetries: 0 });
      const leaving = new AbortController();
      const job = jobs.runner.run(withModel(), () => {
        leaving.abort("left");
        throw signalOf("TRANSIENT");
      }, { signal: leaving.signal });
      assert.equal(await rejectionOf(job), "left");
    }),
  );

  it(
    "UF-10 only what the work itself throws is run again: not the failure of a provider, nor a signal that is a mere cause",
    scenario(async (world) => {
      const jobs = new JobWorld(world);
      const database = jobs.database("db");
      database.script.commit = () => Promise.reject(signalOf("TRANSIENT"));
      const requirements = new JobRequirements({ timeoutMs: 1000 }).database(database, { transaction: true });
      await assert.rejects(jobs.runner.run(requirements, () => {}), /commit on provider "db"/);
      const wrapped = new Error("wrapped", { cause: signalOf("TRANSIENT") });
      assert.equal(await rejectionOf(jobs.runner.run(requirements, () => Promise.reject(wrapped))), wrapped);
      assert.equal(world.clock.pendingTimers, 0);
    }),
  );

  it(
    "UF-11 a clean-up that fails before the pause is logged, and the job goes on",
    scenario(async (world) => {
      const jobs = new JobWorld(world);
      const database = jobs.database("db");
      database.script.close = () => {
        database.script = {};
        throw new Error("close failed");
      };
      const requirements = new JobRequirements({ timeoutMs: 1000 }).database(database);
      const job = outcomeOf(jobs.runner.run(requirements, ({ attempt }) => {
        if (attempt === 1) throw signalOf("TRANSIENT");
        return "ran";
      }));
      await world.clock.advance(5_000);
      assert.equal(job.result, "ran");
      assert.match(world.logs.join(), /close failed/);
    }),
  );
});
