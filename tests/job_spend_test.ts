// Spend gates from a job's side.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  Cost,
  createJobContext,
  Demand,
  type JobContext,
  JobRequirements,
  ModelBinding,
  type ModelSpecFields,
  SpendCapError,
  type SpendGate,
  SpendGates,
} from "../mod.ts";
import { scenario } from "./scenario.ts";
import { hangs, JobWorld, outcomeOf, rejectionOf, signalOf } from "./scripted_jobs.ts";
import { cappedLedger, spec, sums, usd } from "./spending.ts";

const LLM: ModelSpecFields = { id: "llm", tpm: 90_000, maxContextTokens: 100_000, maxOutputTokens: 8_000 };
const never = () => assert.fail("the work ran");

function call(model: ModelSpecFields = LLM, input = 100): ModelBinding {
  return new ModelBinding({ model, input, output: 0, depth: "IMMEDIATE" });
}

/** A gate that writes down what it is asked and told. */
function watching(name: string, log: string[], check: () => unknown = () => {}): SpendGate {
  return {
    check: async ({ id }, bindings) => {
      log.push(
        `${name} asked about ${id}: ${bindings.map(({ reservation }) => reservation.total).join(" ")}`,
      );
      await check();
    },
    onFinished: ({ id }, spent) => log.push(`${name} told of ${id}: ${spent.join(" ")}`),
  };
}

/** The context of job j. */
const named = (): JobContext => createJobContext({ id: "j", metadata: { workflow: "night" } });

describe("Spend gates around a job", () => {
  it(
    "BLD-12 SG-01 SG-02 are asked in order once per attempt, all priced and nothing held, and told of the end once",
    scenario(async (world) => {
      const spendGates = new SpendGates();
      const jobs = new JobWorld(world, { spendGates });
      const { log } = jobs;
      const holdsNothing = () => assert.equal(jobs.http.currentInUse, 0);
      const first = watching("first", log, holdsNothing);
      spendGates.register(first).register(watching("second", log, holdsNothing)).register(first);
      const requirements = new JobRequirements({ timeoutMs: 1000 }).model(call()).model(call(LLM, 50));
      const job = outcomeOf(jobs.runner.run(requirements, (scope) => {
        log.push(`attempt ${scope.attempt}`);
        scope.recordCost(usd(0.25));
        scope.recordCost(null);
        if (scope.attempt === 1) throw signalOf("TRANSIENT");
      }, { context: named() }));
      await world.clock.advance(5_000);
      assert.equal(job.error, undefined);
      const asked = ["first", "second", "first"].map((name) => `${name} asked about j: 100 50`);
      const told = ["first", "second"].map((name) => `${name} told of j: 0.500000 USD`);
      assert.deepEqual(log, [...asked, "attempt 1", ...asked, "attempt 2", ...told]);
    }),
  );

  it(
    "SG-02 BLD-12 are not asked about a job without models, and told of its end",
    scenario(async (world) => {
      const spendGates = new SpendGates();
      const jobs = new JobWorld(world, { spendGates });
      spendGates.register(watching("gate", jobs.log));
      for (const requirements of [null, new JobRequirements({ timeoutMs: 5 }).http()]) {
        await jobs.runner.run(requirements, () => {}, { context: named() });
      }
      assert.deepEqual(jobs.log, ["gate told of j: ", "gate told of j: "]);
    }),
  );

  it(
    "SG-03 BLD-12 a refusal ends that job before admission, and touches nothing that runs",
    scenario(async (world) => {
      const ledger = cappedLedger(usd(5));
      const jobs = new JobWorld(world, { spendGates: new SpendGates().register(ledger) });
      const asking = (input: number) =>
        new JobRequirements({ timeoutMs: 60_000 }).model(call(spec({ id: "priced" }), input));
      let finish = () => {};
      const running = jobs.runner.run(asking(1_500_000), (scope) => {
        scope.recordCost(usd(1));
        return new Promise<void>((resolve) => finish = resolve);
      }, { context: createJobContext({ metadata: { workflow: "night" } }) });
      await world.settle();
      assert.deepEqual(sums(ledger), [0, 3]);
      const before = world.events.length;
      const refused = await rejectionOf(jobs.runner.run(asking(1_500_000), never, { context: named() }));
      assert.ok(refused instanceof SpendCapError);
      assert.deepEqual([world.events.length, jobs.http.currentInUse], [before, 1]);
      assert.deepEqual(sums(ledger), [0, 3]);
      finish();
      await running;
      assert.deepEqual(sums(ledger), [1, 0]);
    }),
  );

  it(
    "SG-11 BLD-16 a job that is refused by admission, fails, or runs out of time gives its commitment back",
    scenario(async (world) => {
      const ledger = cappedLedger(usd(5));
      const jobs = new JobWorld(world, { spendGates: new SpendGates().register(ledger) });
      const model = spec({ id: "priced", tpm: 2_000_000 });
      const run = (input: number, work: () => unknown) => {
        const requirements = new JobRequirements({ timeoutMs: 1000 }).model(call(model, input));
        return outcomeOf(jobs.runner.run(requirements, work, { context: named() }));
      };
      for (const work of [() => Promise.reject(new Error("failed")), hangs]) {
        const job = run(500_000, work);
        await world.clock.advance(1500);
        assert.equal(job.isDone, true);
        assert.deepEqual(sums(ledger), [0, 0]);
      }
      const tooLarge = run(2_400_000, never);
      await world.settle();
      assert.equal((tooLarge.error as { code: string }).code, "uncorrectable");
      assert.deepEqual(sums(ledger), [0, 0]);
    }),
  );

  it(
    "BLD-12 nobody is asked when a call of the job cannot be priced",
    scenario(async (world) => {
      const spendGates = new SpendGates();
      const jobs = new JobWorld(world, { spendGates });
      spendGates.register(watching("gate", jobs.log));
      const requirements = new JobRequirements({ timeoutMs: 5 }).model(call()).model(call(LLM, 100_001));
      await assert.rejects(jobs.runner.run(requirements, never, { context: named() }), {
        code: "correctable",
      });
      assert.deepEqual(jobs.log, ["gate told of j: "]);
    }),
  );

  it(
    "BEY-25 a gate, or a choice of a model, that takes its time does not keep a job that should end",
    scenario(async (world) => {
      const spendGates = new SpendGates();
      const jobs = new JobWorld(world, { spendGates, resolveModel: hangs as never });
      spendGates.register(watching("gate", jobs.log, hangs));
      const open = new ModelBinding({ grade: "fast", depth: "IMMEDIATE", input: 1, output: 1 });
      for (const binding of [call(), open]) {
        const leaving = new AbortController();
        const requirements = new JobRequirements({ timeoutMs: 1000 }).model(binding);
        const job = outcomeOf(jobs.runner.run(requirements, never, { signal: leaving.signal }));
        await world.clock.advance(10_000);
        assert.equal(job.isDone, false);
        leaving.abort("left");
        await world.settle();
        assert.equal(job.error, "left");
      }
      assert.equal(jobs.log.filter((line) => line.startsWith("gate told")).length, 2);
    }),
  );

  it(
    "SG-11 what is recorded after the job's end is refused",
    scenario(async (world) => {
      const jobs = new JobWorld(world);
      let late = () => {};
      await jobs.runner.run(null, (scope) => {
        late = () => scope.recordCost(new Cost(1, "USD"));
        assert.throws(() => scope.recordCost(5 as never), TypeError);
      });
      assert.throws(() => late(), { code: "invalid_state" });
      await jobs.admission.admit(new Demand());
    }),
  );
});
