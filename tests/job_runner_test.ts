// A job from its admission to its end.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  callUpstream,
  CancellationError,
  createJobContext,
  Demand,
  ExternalServiceError,
  JobRequirements,
  type JobScope,
  ModelBinding,
  type ModelSpecFields,
} from "../mod.ts";
import { scenario } from "./scenario.ts";
import { JobWorld, outcomeOf, rejectionOf, signalOf } from "./scripted_jobs.ts";

const LLM: ModelSpecFields = { id: "llm", tpm: 90_000, maxContextTokens: 100_000, maxOutputTokens: 8_000 };

function call(): ModelBinding {
  return new ModelBinding({ model: LLM, input: 100, output: 200, depth: "IMMEDIATE" });
}

const never = () => assert.fail("the work ran");

describe("Running a job", () => {
  it(
    "DB-31 BLD-14 UF-24 acquires, begins, works, tells, commits, awaits, closes and gives, in that order",
    scenario(async (world) => {
      const jobs = new JobWorld(world);
      const limiter = jobs.listener("a");
      const [one, two] = [jobs.database("one"), jobs.database("two")];
      const requirements = new JobRequirements({ timeoutMs: 1000 })
        .limiter(limiter, 3)
        .database(one, { transaction: true })
        .database(two, { readOnly: true });
      const result = await jobs.runner.run(requirements, (scope) => {
        jobs.log.push(`works on ${scope.resource(one).unwrap()} and ${scope.resource(two).unwrap()}`);
        assert.equal(scope.grant.isSettled, false);
        return "the answer";
      });
      assert.equal(result, "the answer");
      assert.deepEqual(jobs.log, [
        "a takes 1",
        "one acquire",
        "two acquire read-only",
        "one begin",
        "works on 1 and 1",
        "a hears success 3",
        "one commit",
        "one awaitCompletion",
        "one close",
        "two close",
        "a gives 1",
      ]);
      assert.equal(world.clock.pendingTimers, 0, "no time limit is left armed");
    }),
  );

  it(
    "BLD-14 UF-23 a service's failure is told to the declared limiters alone, with the amount, while permits are held",
    scenario(async (world) => {
      const jobs = new JobWorld(world);
      const [a, b] = [jobs.listener("a"), jobs.listener("b")];
      a.isDeaf = true;
      const error = new ExternalServiceError({ status: 503, retryAfterSeconds: 42 });
      const requirements = new JobRequirements({ timeoutMs: 1000 }).limiter(a, "x").limiter(b);
      assert.equal(await rejectionOf(jobs.runner.run(requirements, () => Promise.reject(error))), error);
      assert.deepEqual(jobs.log, [
        "a takes 1",
        "b takes 1",
        "a hears failure 503 42 x",
        "b hears failure 503 42 undefined",
        "a gives 1",
        "b gives 1",
      ]);
      assert.match(world.logs[0]!, /^error Account "a" failed.*a is deaf/);
    }),
  );

  it(
    "UF-25 nobody hears of retry signals, cancellations, time limits, other errors and mere causes",
    scenario(async (world) => {
      const jobs = new JobWorld(world, { maxRetries: 0 });
      const context = createJobContext();
      const cause = new ExternalServiceError({ status: 503 });
      const works: ((scope: JobScope) => unknown)[] = [
        () => Promise.reject(signalOf("RATE_LIMIT")),
        () => {
          context.cancel();
          throw new CancellationError("cancelled", "left");
        },
        () => Promise.reject(new Error("a bug", { cause })),
        (scope) => new Promise((_, reject) => scope.signal.addEventListener("abort", () => reject(cause))),
      ];
      for (const work of works) {
        const requirements = new JobRequirements({ timeoutMs: 1000 }).limiter(jobs.listener("a"));
        const options = work === works[1] ? { context } : {};
        const rejected = rejectionOf(jobs.runner.run(requirements, work, options));
        await world.clock.advance(1000);
        assert.notEqual(await rejected, cause);
      }
      assert.deepEqual(jobs.log, works.flatMap(() => ["a takes 1", "a gives 1"]));
    }),
  );

  it(
    "UF-26 model buckets and gates are told nothing; the work tells them through the account of a call",
    scenario(async (world) => {
      const jobs = new JobWorld(world);
      const binding = call();
      const bucket = jobs.registry.bucket(LLM);
      bucket.recordBackpressure(2);
      const requirements = new JobRequirements({ timeoutMs: 1000 }).model(binding).limiter(bucket, 5);
      for (let i = 0; i < 3; i++) await jobs.runner.run(requirements, () => {});
      assert.equal(bucket.throttle, 1);
      for (let i = 0; i < 3; i++) {
        await jobs.runner.run(requirements, (scope) => callUpstream(scope.account(binding), () => "fine"));
      }
      assert.equal(bucket.throttle, 0.8);
    }),
  );

  it(
    "BLD-11 parks a demand that does not fit as a whole, holding none of its accounts and no handle",
    scenario(async (world) => {
      const jobs = new JobWorld(world);
      const database = jobs.database("db", 1);
      const holder = await jobs.admission.admit(new Demand().add(database.admission));
      const requirements = new JobRequirements({ timeoutMs: 1000 }).model(call()).database(database);
      const job = outcomeOf(jobs.runner.run(requirements, () => "ran"));
      await world.clock.advance(5000);
      assert.equal(job.isDone, false, "the time limit begins with the grant");
      assert.deepEqual([jobs.admission.queueSize, jobs.http.currentInUse, jobs.log.length], [1, 0, 0]);
      assert.equal(jobs.registry.bucket(LLM).status.availableTokens, 90_000);
      holder.release();
      await world.settle();
      assert.equal(job.result, "ran");
      assert.deepEqual([database.admission.currentInUse, jobs.http.currentInUse], [0, 0]);
      assert.equal(jobs.registry.bucket(LLM).status.availableTokens, 89_700, "spent");
    }),
  );

  it(
    "BLD-13 refuses a job with any resource and no time limit, before anything is asked",
    scenario(async (world) => {
      const jobs = new JobWorld(world);
      const declared = [
        new JobRequirements().http(),
        new JobRequirements().model(call()),
        new JobRequirements().limiter(world.gate("gate", 1)),
        new JobRequirements().database(jobs.database("db")),
      ];
      for (const requirements of declared) {
        await assert.rejects(jobs.runner.run(requirements, never), {
          name: "TypeError",
          message: /no timeoutMs/,
        });
      }
      assert.deepEqual(world.events, []);
    }),
  );

  it(
    "BLD-01 a job that declares nothing needs no time limit, holds nothing and is never held",
    scenario(async (world) => {
      const jobs = new JobWorld(world);
      for (const requirements of [null, new JobRequirements(), new JobRequirements({ timeoutMs: 5 })]) {
        const isEmpty = await jobs.runner.run(requirements, (scope) => scope.grant.isEmpty);
        assert.equal(isEmpty, true);
      }
      assert.equal(world.clock.pendingTimers, 0);
    }),
  );

  it(
    "BEY-41 a job inside a job that asks for what the outer one holds is refused instead of hanging",
    scenario(async (world) => {
      const jobs = new JobWorld(world);
      const database = jobs.database("db", 1);
      const requirements = new JobRequirements({ timeoutMs: 1000 }).database(database);
      const outer = jobs.runner.run(requirements, () => jobs.runner.run(requirements, never));
      await assert.rejects(outer, { code: "nested_demand", account: "db:db" });
      assert.deepEqual([database.admission.currentInUse, database.out], [0, 0]);
    }),
  );

  it(
    "DB-30 what is declared after a job was started is for later jobs",
    scenario(async (world) => {
      const jobs = new JobWorld(world);
      const [one, two] = [jobs.database("one"), jobs.database("two")];
      const holder = await jobs.admission.admit(new Demand().add(one.admission));
      const requirements = new JobRequirements({ timeoutMs: 1000 }).database(one);
      const job = jobs.runner.run(requirements, () => "ran");
      requirements.database(two);
      holder.release();
      assert.equal(await job, "ran");
      assert.deepEqual(jobs.log, ["one acquire", "one close"]);
    }),
  );
});

describe("What the work of a job is given", () => {
  it(
    "DB-35 reads what was declared, and nothing else",
    scenario(async (world) => {
      const jobs = new JobWorld(world);
      const [declared, other] = [jobs.database("declared"), jobs.database("other")];
      const binding = call();
      const context = createJobContext({ id: "the job" });
      const requirements = new JobRequirements({ timeoutMs: 1000 }).database(declared).model(binding);
      await jobs.runner.run(requirements, (scope) => {
        assert.equal(scope.resource(declared).unwrap(), 1);
        assert.throws(() => scope.resource(other), {
          code: "invalid_state",
          message: /"other".*did not declare/,
        });
        assert.throws(() => scope.resource(null as never), { code: "invalid_state" });
        assert.throws(() => scope.account(call()), { code: "invalid_state", message: /did not declare/ });
        assert.equal(scope.account(binding), jobs.registry.bucket(LLM));
        assert.deepEqual(scope.models, [binding]);
        assert.equal(scope.models[0]!.reservation.total, 300);
        assert.deepEqual([scope.context, scope.attempt, scope.signal.aborted], [context, 1, false]);
      }, { context });
    }),
  );

  it(
    "BLD-03 work that sent nothing upstream may roll its grant back itself",
    scenario(async (world) => {
      const jobs = new JobWorld(world);
      const requirements = new JobRequirements({ timeoutMs: 1000 }).model(call());
      await jobs.runner.run(requirements, (scope) => scope.grant.rollback());
      assert.equal(jobs.registry.bucket(LLM).status.availableTokens, 90_000);
      assert.equal(jobs.http.currentInUse, 0);
    }),
  );

  it(
    "BLD-04 a call without a model is resolved once, by the runner's function, and then priced",
    scenario(async (world) => {
      const asked: string[] = [];
      const jobs = new JobWorld(world, {
        resolveModel: (binding, context) => {
          asked.push(`${binding.grade} ${context.id}`);
          return Promise.resolve(LLM);
        },
      });
      const binding = new ModelBinding({ grade: "fast", depth: "IMMEDIATE", input: 1, output: 1 });
      const requirements = new JobRequirements({ timeoutMs: 1000 }).model(binding);
      const context = createJobContext({ id: "j" });
      const both = [1, 2].map(() =>
        jobs.runner.run(requirements, (scope) => scope.models[0]!.model.id, { context })
      );
      assert.deepEqual(await Promise.all(both), ["llm", "llm"]);
      await jobs.runner.run(requirements, () => {});
      assert.deepEqual(asked, ["fast j", "fast j"], "once it is resolved nobody is asked");
      const open = new ModelBinding({ grade: "fast", depth: "IMMEDIATE", input: 1, output: 1 });
      const unresolved = new JobRequirements({ timeoutMs: 1000 }).model(open);
      await assert.rejects(new JobWorld(world).runner.run(unresolved, never), {
        code: "invalid_state",
        message: /not resolved/,
      });
    }),
  );
});
