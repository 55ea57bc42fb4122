// How a job ends before its time, and what a runner does not take.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  CancellationError,
  createJobContext,
  Demand,
  JobRequirements,
  JobRunner,
  JobTimeoutError,
  ModelBinding,
  RateLimiterRegistry,
} from "../mod.ts";
import { countedSignal, warningsOf } from "./counted_signals.ts";
import { scenario } from "./scenario.ts";
import { hangs, JobWorld, outcomeOf, rejectionOf } from "./scripted_jobs.ts";

const never = () => assert.fail("the work ran");

describe("A job that should end", () => {
  it(
    "BEY-25 rejects with the signal's reason when aborted while parked, and with a cancellation for its context",
    scenario(async (world) => {
      const jobs = new JobWorld(world, { resolveModel: () => assert.fail("a model was chosen") });
      const database = jobs.database("db", 1);
      const requirements = new JobRequirements({ timeoutMs: 1000 }).database(database);
      await jobs.admission.admit(new Demand().add(database.admission));
      const leaving = new AbortController();
      const reason = { it: "left" };
      const aborted = rejectionOf(jobs.runner.run(requirements, never, { signal: leaving.signal }));
      const context = createJobContext();
      const cancelled = rejectionOf(jobs.runner.run(requirements, never, { context }));
      await world.settle();
      assert.equal(jobs.admission.queueSize, 2);
      leaving.abort(reason);
      assert.equal(await aborted, reason);
      context.cancel();
      assert.ok(await cancelled instanceof CancellationError);
      assert.deepEqual([jobs.admission.queueSize, database.admission.currentInUse, jobs.log.length], [
        0,
        1,
        0,
      ]);
      const call = new ModelBinding({ grade: "any", depth: "IMMEDIATE", input: 1, output: 1 });
      requirements.model(call);
      for (const options of [{ signal: leaving.signal }, { context }]) {
        const late = await rejectionOf(jobs.runner.run(requirements, never, options));
        assert.ok("signal" in options ? late === reason : late instanceof CancellationError);
      }
    }),
  );

  it(
    "BLD-16 a stopped admission and a refused demand are ordinary failures, and nobody is asked again",
    scenario(async (world) => {
      const jobs = new JobWorld(world);
      const gate = world.gate("gate", 1);
      const tooMuch = new JobRequirements({ timeoutMs: 1000 }).limiter(gate, 2);
      await assert.rejects(jobs.runner.run(tooMuch, never), { code: "uncorrectable", account: "gate" });
      await jobs.admission.admit(new Demand().add(gate));
      const fitting = new JobRequirements({ timeoutMs: 1000 }).limiter(gate);
      const late = outcomeOf(jobs.runner.run(fitting, never, { admit: { timeoutMs: 20 } }));
      const parked = outcomeOf(jobs.runner.run(fitting, never));
      await world.clock.advance(20);
      assert.equal((late.error as { code: string }).code, "timeout");
      jobs.admission.stop();
      await world.settle();
      assert.equal((parked.error as CancellationError).code, "stopped");
      await assert.rejects(jobs.runner.run(fitting, never), { code: "stopped" });
      assert.equal(world.clock.pendingTimers, 0);
    }),
  );

  it(
    "BEY-24 an abort during the work is the work's to see, through the scope's signal",
    scenario(async (world) => {
      const jobs = new JobWorld(world);
      const leaving = new AbortController();
      const requirements = new JobRequirements({ timeoutMs: 1000 }).http();
      const result = await jobs.runner.run(requirements, (scope) => {
        const { signal } = scope;
        leaving.abort("left");
        assert.deepEqual([signal.aborted, signal.reason, scope.signal.reason], [true, "left", "left"]);
        assert.equal(jobs.http.currentInUse, 1);
        return "finished anyway";
      }, { signal: leaving.signal });
      assert.equal(result, "finished anyway");
      const context = createJobContext();
      const cancelled = await jobs.runner.run(requirements, (scope) => {
        context.cancel();
        return scope.signal.reason;
      }, { context });
      assert.ok(cancelled instanceof CancellationError);
    }),
  );

  it(
    "BEY-24 a signal that many jobs share carries one listener, and none when they have ended, in whatever way",
    scenario(async (world) => {
      const jobs = new JobWorld(world);
      const gate = world.gate("gate", 1);
      const requirements = new JobRequirements({ timeoutMs: 1000 }).limiter(gate);
      const { signal, counts, controller } = countedSignal();
      const warnings = await warningsOf(async () => {
        const all = Array.from(
          { length: 20 },
          (_, index) =>
            outcomeOf(jobs.runner.run(requirements, async () => {
              await null;
              if (index === 3) throw new Error("failed");
              if (index === 5) controller.abort("left");
            }, { signal })),
        );
        await world.settle();
        assert.equal(counts.added, 1);
        assert.ok(all.every(({ isDone }) => isDone));
        assert.deepEqual(all.map(({ error }) => error).filter((error) => error === "left").length, 14);
      });
      assert.deepEqual(warnings, []);
      const later = countedSignal();
      await jobs.runner.run(requirements, () => {}, { signal: later.signal });
      assert.deepEqual(later.counts, { added: 1, removed: 1 });
      const context = createJobContext();
      let listening = 0;
      const { onCancel } = context;
      context.onCancel = (fn) => {
        const forget = onCancel(fn);
        listening++;
        return () => {
          listening--;
          forget?.();
        };
      };
      await jobs.runner.run(requirements, () => assert.equal(listening, 1), { context });
      assert.equal(listening, 0);
    }),
  );

  it(
    "DB-20 CAN-09 a context whose callbacks fail ends the job all the same",
    scenario(async (world) => {
      const jobs = new JobWorld(world);
      const database = jobs.database("db");
      const requirements = new JobRequirements({ timeoutMs: 1000 }).database(database);
      const context = createJobContext();
      context.onCancel(() => {
        throw new Error("a bad callback");
      });
      const job = outcomeOf(jobs.runner.run(requirements, hangs, { context }));
      await world.clock.advance(1500);
      assert.ok(job.error instanceof JobTimeoutError);
      assert.deepEqual([context.isCancelled, database.admission.currentInUse], [true, 0]);
    }),
  );
});

describe("Bad arguments of a runner", () => {
  it(
    "BLD-13 are refused at once, by name",
    scenario(async (world) => {
      const { admission, runner } = new JobWorld(world);
      const registry = new RateLimiterRegistry();
      const wrong: [unknown, RegExp][] = [
        [{ accounts: {} }, /accounts is/],
        [{ spendGates: [] }, /spendGates is/],
        [{ clock: 5 }, /clock is/],
        [{ random: 0.5 }, /random is/],
        [{ resolveModel: "x" }, /resolveModel is/],
        [{ maxRetries: "3" }, /maxRetries is/],
        [{ logger: {} }, /logger/],
      ];
      for (const [options, message] of wrong) {
        assert.throws(() => new JobRunner(admission, { accounts: registry, ...options as object }), {
          name: "TypeError",
          message,
        });
      }
      for (const maxRetries of [-1, 1.5, NaN, Infinity]) {
        assert.throws(() => new JobRunner(admission, { maxRetries }), RangeError);
      }
      assert.throws(() => new JobRunner(null as never), { name: "TypeError", message: /admission is null/ });
      const calls: [unknown[], RegExp][] = [
        [[{}, never], /requirements is/],
        [[null, 5], /work is 5/],
        [[null, never, { signal: 5 }], /signal is 5/],
        [[null, never, { context: {} }], /context is/],
        [[null, never, { context: { ...createJobContext(), metadata: null } }], /context lacks/],
        [[null, never, { admit: { failFast: 1 } }], /failFast is/],
      ];
      for (const [args, message] of calls) {
        await assert.rejects(Reflect.apply(runner.run, runner, args), { name: "TypeError", message });
      }
    }),
  );
});
