// What happens when a job's time is up.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { createJobContext, Demand, type JobPart, JobRequirements, JobTimeoutError } from "../mod.ts";
import { scenario, type World } from "./scenario.ts";
import {
  hangs,
  JobWorld,
  outcomeOf,
  type ScriptedDatabase,
  signalOf,
  suppressedBy,
  type Verb,
} from "./scripted_jobs.ts";

/** A job of one second on one database, with a transaction. */
function open(world: World, timeoutMs = 1000) {
  const jobs = new JobWorld(world);
  const database = jobs.database("db");
  const requirements = new JobRequirements({ timeoutMs }).database(database, { transaction: true }).http();
  return { jobs, database, requirements };
}

/** Permits that are out, of HTTP and of the database, and handles. */
function held(jobs: JobWorld, database: ScriptedDatabase): number[] {
  return [jobs.http.currentInUse, database.admission.currentInUse, database.out];
}

const AFTER_BEGIN = 2;

describe("The time limit of a job", () => {
  it(
    "DB-20 signals the job and starts to close; work that ends then is all that is waited for",
    scenario(async (world) => {
      const { jobs, database, requirements } = open(world);
      const context = createJobContext();
      const job = outcomeOf(jobs.runner.run(requirements, async (scope) => {
        await new Promise<void>((resolve) => scope.signal.addEventListener("abort", () => resolve()));
        jobs.log.push(
          `hears ${(scope.signal.reason as Error).name}, cancelled: ${scope.context.isCancelled}`,
        );
        scope.signal.throwIfAborted();
      }, { context }));
      await world.clock.advance(999);
      assert.deepEqual([job.isDone, context.isCancelled, held(jobs, database)], [false, false, [1, 1, 1]]);
      await world.clock.advance(1);
      const error = job.error as JobTimeoutError;
      assert.ok(error instanceof JobTimeoutError);
      assert.deepEqual([error.code, error.job, error.timeoutMs, error.part, error.provider], [
        "job_timeout",
        context.id,
        1000,
        "execute",
        null,
      ]);
      assert.match(error.message, new RegExp(`^Job "${context.id}" .*1000 ms.*execute`));
      assert.deepEqual(jobs.log.slice(AFTER_BEGIN), ["db close", "hears JobTimeoutError, cancelled: true"]);
      assert.deepEqual(held(jobs, database), [0, 0, 0]);
      assert.equal(world.clock.pendingTimers, 0);
    }),
  );

  it(
    "DB-20 the grace is a tenth of the limit, at least 500 ms and at most 30 s; then the permits come back without the work",
    scenario(async (world) => {
      for (
        const [timeoutMs, graceMs] of [[1, 500], [1000, 500], [20_000, 2_000], [600_000, 30_000]] as const
      ) {
        const { jobs, database, requirements } = open(world, timeoutMs);
        const job = outcomeOf(jobs.runner.run(requirements, hangs));
        await world.clock.advance(timeoutMs);
        assert.deepEqual(held(jobs, database), [1, 1, 0], "closed, and the work may still be at it");
        await world.clock.advance(graceMs - 0.5);
        assert.equal(job.isDone, false);
        await world.clock.advance(0.5);
        assert.ok(job.error instanceof JobTimeoutError);
        assert.deepEqual(held(jobs, database), [0, 0, 0]);
        assert.deepEqual(jobs.log.slice(AFTER_BEGIN), ["db close"], "what is closed is not aborted");
      }
    }),
  );

  it(
    "DB-20 DB-34 a close that is stuck is cut by the abort after the grace, and the permit returns once",
    scenario(async (world) => {
      const { jobs, database, requirements } = open(world);
      database.script.close = hangs;
      const job = outcomeOf(jobs.runner.run(requirements, () => "done"));
      await world.clock.advance(1499);
      assert.deepEqual([job.isDone, held(jobs, database)], [false, [1, 1, 1]]);
      await world.clock.advance(1);
      const error = job.error as JobTimeoutError;
      assert.deepEqual([error.part, error.provider], ["close", "db"]);
      assert.match(suppressedBy(error).join(), /close on provider "db".*cut/);
      assert.deepEqual(jobs.log.slice(-3), ["db close", "db abort", "db close again"]);
      assert.deepEqual(held(jobs, database), [0, 0, 0]);
      assert.equal(
        world.events.filter(({ type }) => type === "RELEASED").length,
        2,
        "http and the database, once",
      );
    }),
  );

  it(
    "DB-34 a close that nothing cuts is waited for during one more grace, and the permit comes back without it",
    scenario(async (world) => {
      const { jobs, database, requirements } = open(world);
      database.script.close = hangs;
      database.cutsCloses = false;
      const other = jobs.database("other");
      database.close = hangs;
      requirements.database(other);
      const job = outcomeOf(jobs.runner.run(requirements, () => "done"));
      await world.clock.advance(1500);
      assert.deepEqual(
        [other.out, other.admission.currentInUse],
        [0, 1],
        "what stood behind it is closed at least",
      );
      assert.deepEqual(jobs.log.slice(-3), ["db abort", "other abort", "other close aborted"]);
      await world.clock.advance(499);
      assert.equal(job.isDone, false);
      await world.clock.advance(1);
      assert.ok(job.error instanceof JobTimeoutError);
      assert.deepEqual([database.admission.currentInUse, other.admission.currentInUse], [0, 0]);
      assert.equal(world.clock.pendingTimers, 0);
    }),
  );

  it(
    "DB-34 each handle is closed by force once, and the permits wait for all of them, in whatever order they are stuck",
    scenario(async (world) => {
      const { jobs, database, requirements } = open(world);
      const [next, last] = [jobs.database("next"), jobs.database("last")];
      requirements.database(next).database(last);
      database.script.close = hangs;
      last.script.close = hangs;
      last.cutsCloses = false;
      const job = outcomeOf(jobs.runner.run(requirements, () => "done"));
      await world.clock.advance(1500);
      assert.deepEqual(jobs.log.slice(-7), [
        "db close",
        "db abort",
        "db close again",
        "next abort",
        "next close aborted",
        "last abort",
        "last close",
      ]);
      assert.deepEqual([job.isDone, database.out, next.out, database.admission.currentInUse], [
        false,
        0,
        0,
        1,
      ]);
      await world.clock.advance(500);
      assert.ok(job.error instanceof JobTimeoutError);
      assert.deepEqual([database, next, last].map(({ admission }) => admission.currentInUse), [0, 0, 0]);
    }),
  );

  it(
    "DB-34 an abort that throws leaves its own handle alone; the others and the grant are ended",
    scenario(async (world) => {
      const { jobs, database, requirements } = open(world);
      const other = jobs.database("other");
      requirements.database(other);
      database.script.close = hangs;
      database.script.abort = () => {
        throw new Error("no abort");
      };
      const abortOther = other.abort.bind(other);
      other.abort = (handle) => {
        abortOther(handle);
        return Promise.reject(new Error("later"));
      };
      const job = outcomeOf(jobs.runner.run(requirements, () => "done"));
      await world.clock.advance(1500);
      assert.match(suppressedBy(job.error).join(), /abort on provider "db".*no abort/);
      assert.match(world.logs.join(), /abort on provider "other".*later/);
      assert.deepEqual([...database.closes.values()], [1], "called once, and it hangs");
      assert.deepEqual([database.admission.currentInUse, other.admission.currentInUse, other.out], [0, 0, 0]);
    }),
  );

  it(
    "DB-20 DB-36 a verb that never answers is named, and the failure path does not roll back what the limit closed",
    scenario(async (world) => {
      const cases: readonly [Verb, JobPart, string[]][] = [
        ["acquire", "acquire", ["db acquire"]],
        ["begin", "begin", ["db acquire", "db begin", "db close"]],
        ["commit", "commit", ["db acquire", "db begin", "db commit", "db close"]],
        ["awaitCompletion", "commit", [
          "db acquire",
          "db begin",
          "db commit",
          "db awaitCompletion",
          "db close",
        ]],
      ];
      for (const [verb, part, log] of cases) {
        const { jobs, database, requirements } = open(world);
        let fail = (_: Error) => {};
        database.script[verb] = () => new Promise((_, reject) => fail = reject);
        const meter = jobs.listener("meter");
        meter.kind = "TIME";
        requirements.limiter(meter);
        const job = outcomeOf(jobs.runner.run(requirements, () => {}));
        await world.clock.advance(1000);
        assert.equal(job.isDone, false, "it may still answer");
        await world.clock.advance(500);
        const error = job.error as JobTimeoutError;
        assert.deepEqual([error.part, error.provider], [part, "db"]);
        assert.match(error.message, new RegExp(`${part} on provider "db"`));
        assert.deepEqual(jobs.log.filter((line) => line.startsWith("db")), log);
        assert.deepEqual(held(jobs, database), [0, 0, 0]);
        assert.equal(meter.currentInUse, part === "commit" ? 1 : 0, "spent only if the work began");
        fail(new Error("late"));
        await world.settle();
        assert.deepEqual(jobs.log.filter((line) => line.startsWith("db")), log, "nothing more is done");
      }
    }),
  );

  it(
    "DB-35 DB-36 a rollback that never answers is cut as well, and the error it was for is the cause",
    scenario(async (world) => {
      const { jobs, database, requirements } = open(world);
      database.script.rollback = hangs;
      const failed = new Error("failed");
      const job = outcomeOf(jobs.runner.run(requirements, () => Promise.reject(failed)));
      await world.clock.advance(1500);
      const error = job.error as JobTimeoutError;
      assert.deepEqual([error.part, error.cause], ["rollback", failed]);
      assert.deepEqual(held(jobs, database), [0, 0, 0]);
    }),
  );

  it(
    "DB-30 a handle that arrives after the limit is closed at once, in the grace and after it",
    scenario(async (world) => {
      for (const lateMs of [1200, 5000]) {
        const { jobs, database, requirements } = open(world);
        database.script.acquire = () => new Promise((resolve) => void world.clock.setTimer(lateMs, resolve));
        const job = outcomeOf(jobs.runner.run(requirements, () => assert.fail("the work ran")));
        await world.clock.advance(1500);
        assert.equal((job.error as JobTimeoutError).part, "acquire");
        assert.deepEqual(held(jobs, database).slice(0, 2), [0, 0]);
        await world.clock.advance(5000);
        assert.deepEqual([database.out, jobs.log], [0, ["db acquire", "db close"]]);
        assert.deepEqual([...database.closes.values()], [1]);
      }
    }),
  );

  it(
    "UF-25 work that returns after the limit tells nobody of a success",
    scenario(async (world) => {
      const jobs = new JobWorld(world);
      const limiter = jobs.listener("a");
      const requirements = new JobRequirements({ timeoutMs: 1000 }).limiter(limiter);
      const job = outcomeOf(
        jobs.runner.run(
          requirements,
          (scope) => new Promise((resolve) => scope.signal.addEventListener("abort", () => resolve("late"))),
        ),
      );
      await world.clock.advance(1000);
      assert.ok(job.error instanceof JobTimeoutError);
      assert.deepEqual(jobs.log, ["a takes 1", "a gives 1"]);
    }),
  );

  it(
    "DB-20 begins anew with each attempt, does not count pauses and waits, and is never followed by another attempt",
    scenario(async (world) => {
      const { jobs, database, requirements } = open(world);
      const holder = await jobs.admission.admit(new Demand().add(database.admission));
      void world.clock.setTimer(3000, () => holder.release());
      const job = outcomeOf(jobs.runner.run(requirements, async ({ attempt, signal }) => {
        await new Promise<void>((resolve) => void world.clock.setTimer(attempt === 1 ? 900 : 1100, resolve));
        if (attempt === 1 || signal.aborted) throw signalOf("TRANSIENT");
      }));
      await world.clock.advance(3000 + 900 + 5000 + 999);
      assert.equal(job.isDone, false);
      await world.clock.advance(100);
      assert.equal(job.isDone, false, "its second second is over, the work is not");
      await world.clock.advance(1);
      assert.ok(job.error instanceof JobTimeoutError);
      await world.clock.advance(60_000);
      assert.equal(jobs.log.filter((line) => line === "db acquire").length, 2);
      assert.deepEqual(held(jobs, database), [0, 0, 0]);
    }),
  );
});
