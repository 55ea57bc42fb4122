// The database handles of a job when something fails.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { JobRequirements, ModelBinding, type ModelSpecFields, UncorrectableError } from "../mod.ts";
import { scenario, type World } from "./scenario.ts";
import { fails, JobWorld, rejectionOf, type ScriptedDatabase, suppressedBy } from "./scripted_jobs.ts";

const LLM: ModelSpecFields = { id: "llm", tpm: 90_000, maxContextTokens: 100_000, maxOutputTokens: 8_000 };

/** Two databases of a transaction each, one without, and a model. */
function open(world: World) {
  const jobs = new JobWorld(world);
  const [a, b, c] = [jobs.database("a"), jobs.database("b"), jobs.database("c")] as const;
  const requirements = new JobRequirements({ timeoutMs: 1000 })
    .model(new ModelBinding({ model: LLM, input: 100, output: 200, depth: "IMMEDIATE" }))
    .database(a, { transaction: true })
    .database(b, { transaction: true })
    .database(c);
  return { jobs, a, b, c, requirements };
}

/** Nothing is held, nothing is out, and each handle was closed once. */
function assertNothingHeld(jobs: JobWorld, databases: readonly ScriptedDatabase[]): void {
  assert.equal(jobs.http.currentInUse, 0);
  for (const { admission, out, closes } of databases) {
    assert.deepEqual([admission.currentInUse, out], [0, 0]);
    for (const times of closes.values()) assert.equal(times, 1);
  }
}

const never = () => assert.fail("the work ran");

describe("The handles of a job", () => {
  it(
    "DB-30 BLD-09 a failed acquire closes what was opened, last first, rolls the whole grant back, and nothing runs",
    scenario(async (world) => {
      const { jobs, a, b, c, requirements } = open(world);
      const cause = new Error("no connection");
      c.script.acquire = () => Promise.reject(cause);
      b.script.close = fails("close of b");
      const error = await rejectionOf(jobs.runner.run(requirements, never)) as UncorrectableError;
      assert.ok(error instanceof UncorrectableError);
      assert.match(error.message, /acquire on provider "c".*no connection/);
      assert.equal(error.cause, cause);
      assert.match(suppressedBy(error).join(), /close on provider "b".*close of b/);
      assert.deepEqual(jobs.log, ["a acquire", "b acquire", "c acquire", "b close", "a close"]);
      assertNothingHeld(jobs, [a, b, c]);
      assert.equal(jobs.registry.bucket(LLM).status.availableTokens, 90_000, "metered amounts came back");
    }),
  );

  it(
    "DB-30 a begin that fails undoes all as well: nothing went upstream",
    scenario(async (world) => {
      const { jobs, a, b, c, requirements } = open(world);
      b.script.begin = fails("no transaction");
      await assert.rejects(jobs.runner.run(requirements, never), /begin on provider "b".*no transaction/);
      assert.deepEqual(jobs.log.slice(3), [
        "a begin",
        "b begin",
        "b rollback",
        "a rollback",
        "c close",
        "b close",
        "a close",
      ]);
      assertNothingHeld(jobs, [a, b, c]);
      assert.equal(jobs.registry.bucket(LLM).status.availableTokens, 90_000);
    }),
  );

  it(
    "DB-31 DB-35 failed work is rolled back, and clean-ups that fail are attached to its own error",
    scenario(async (world) => {
      const { jobs, a, b, c, requirements } = open(world);
      a.script.rollback = fails("rollback of a");
      c.script.close = fails("close of c");
      const error = Object.assign(new Error("the work's own"), { suppressed: [new Error("before")] });
      const work = () => {
        jobs.log.push("works");
        throw error;
      };
      assert.equal(await rejectionOf(jobs.runner.run(requirements, work)), error);
      assert.deepEqual(jobs.log.slice(5), [
        "works",
        "b rollback",
        "a rollback",
        "a close",
        "b close",
        "c close",
      ]);
      const [before, rollback, close, ...more] = suppressedBy(error);
      assert.equal(before, "before");
      assert.match(rollback!, /rollback on provider "a".*rollback of a/);
      assert.match(close!, /close on provider "c".*close of c/);
      assert.deepEqual([more, world.logs.length], [[], 2]);
      assertNothingHeld(jobs, [a, b, c]);
      assert.equal(jobs.registry.bucket(LLM).status.availableTokens, 89_700, "the work may have spent it");
    }),
  );

  it(
    "DB-35 an error that takes nothing on is thrown as it is, and the logger hears",
    scenario(async (world) => {
      for (const error of ["a string", null, Object.freeze(new Error("frozen"))]) {
        const { jobs, a, b, c, requirements } = open(world);
        a.script.rollback = fails("rollback of a");
        world.logs.length = 0;
        assert.equal(await rejectionOf(jobs.runner.run(requirements, () => Promise.reject(error))), error);
        assert.match(world.logs.join(), /^error Job "job-\d+".*rollback of a$/);
        assertNothingHeld(jobs, [a, b, c]);
      }
    }),
  );

  it(
    "DB-32 a commit that fails, or is not acknowledged, rolls the rest back, itself included; what was committed stays",
    scenario(async (world) => {
      for (const verb of ["commit", "awaitCompletion"] as const) {
        const { jobs, a, b, c, requirements } = open(world);
        const cause = new Error("no answer");
        b.script[verb] = () => Promise.reject(cause);
        b.script.rollback = fails("rollback of b");
        const d = jobs.database("d");
        requirements.database(d, { transaction: true });
        const error = await rejectionOf(jobs.runner.run(requirements, () => {})) as UncorrectableError;
        assert.ok(error instanceof UncorrectableError);
        assert.match(error.message, /commit on provider "b".*no answer/);
        assert.equal(error.cause, cause);
        assert.match(suppressedBy(error).join(), /rollback on provider "b"/);
        const upTo = verb === "commit" ? ["b commit"] : ["b commit", "b awaitCompletion"];
        assert.deepEqual(jobs.log.slice(7), [
          "a commit",
          "a awaitCompletion",
          ...upTo,
          "d rollback",
          "b rollback",
          "a close",
          "b close",
          "c close",
          "d close",
        ]);
        assertNothingHeld(jobs, [a, b, c, d]);
      }
    }),
  );

  it(
    "DB-33 BLD-10 closes every handle although some fail, releases, and reports all in one error",
    scenario(async (world) => {
      for (const failing of [["b"], ["a", "c"]]) {
        const { jobs, a, b, c, requirements } = open(world);
        for (const database of [a, b, c]) {
          if (failing.includes(database.name)) database.script.close = fails(`close of ${database.name}`);
        }
        const error = await rejectionOf(jobs.runner.run(requirements, () => "done")) as UncorrectableError;
        assert.ok(error instanceof UncorrectableError);
        assert.match(error.message, /work is done.*could not be closed/);
        for (const name of failing) assert.match(error.message, new RegExp(`close of ${name}`));
        const causes = error.cause instanceof AggregateError ? error.cause.errors : [error.cause];
        assert.equal(causes.length, failing.length);
        assert.deepEqual(jobs.log.slice(-3), ["a close", "b close", "c close"]);
        assertNothingHeld(jobs, [a, b, c]);
      }
    }),
  );

  it(
    "DB-33 an account that fails while the grant is settled is reported with the closes, and all others get theirs",
    scenario(async (world) => {
      const { jobs, a, b, c, requirements } = open(world);
      const limiter = jobs.listener("limiter");
      limiter.afterGive = fails("give");
      requirements.limiter(limiter);
      c.script.close = fails("close of c");
      await assert.rejects(jobs.runner.run(requirements, () => "done"), /close of c.*; give$/);
      const failed = new Error("failed");
      assert.equal(await rejectionOf(jobs.runner.run(requirements, () => Promise.reject(failed))), failed);
      assert.match(suppressedBy(failed).join(), /close of c.*,give$/);
      assertNothingHeld(jobs, [a, b, c]);
      assert.equal(limiter.currentInUse, 0);
    }),
  );

  it(
    "DB-31 a database without a transaction is neither begun nor committed nor rolled back",
    scenario(async (world) => {
      const { jobs, c } = open(world);
      const requirements = new JobRequirements({ timeoutMs: 1000 }).database(c);
      await jobs.runner.run(requirements, () => {});
      await assert.rejects(jobs.runner.run(requirements, fails("no")));
      assert.deepEqual(jobs.log, ["c acquire", "c close", "c acquire", "c close"]);
    }),
  );

  it(
    "DB-30 an acquire that answers no handle is a failure of its provider",
    scenario(async (world) => {
      const { jobs, a, b, c, requirements } = open(world);
      b.acquire = () => Promise.resolve(undefined as never);
      await assert.rejects(
        jobs.runner.run(requirements, never),
        /provider "b".*acquire\(\) answered undefined/,
      );
      assertNothingHeld(jobs, [a, b, c]);
      c.acquire = () => {
        throw new Error("at once");
      };
      requirements.database(b);
      await assert.rejects(
        jobs.runner.run(new JobRequirements({ timeoutMs: 5 }).database(a).database(c), never),
        /acquire on provider "c".*at once/,
      );
      assertNothingHeld(jobs, [a, b, c]);
    }),
  );
});
