// The pauses of jobs that are run again: how long they are, and who sees them.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Admission, createJobContext, JobRequirements, JobRunner, type RetrySignal } from "../mod.ts";
import { scenario } from "./scenario.ts";
import { JobWorld, outcomeOf, rejectionOf, signalOf } from "./scripted_jobs.ts";

const needs = () => new JobRequirements({ timeoutMs: 1000 }).http();

describe("The pauses of a runner", () => {
  it(
    "BEY-71 are as long as pauseMs says, asked with the signal and the re-runs before, and never shorter than the provider said",
    scenario(async (world) => {
      const asked: [signal: RetrySignal, reruns: number][] = [];
      const answers = [0, 250.5, 10];
      const jobs = new JobWorld(world, {
        pauseMs: (signal, reruns) => {
          asked.push([signal, reruns]);
          return answers[reruns]!;
        },
      });
      const signals = [signalOf("OVERLOAD"), signalOf("TRANSIENT"), signalOf("RATE_LIMIT", 7)];
      const startedAt: number[] = [];
      const job = outcomeOf(jobs.runner.run(needs(), ({ attempt }) => {
        startedAt.push(world.clock.now() - 1000);
        const signal = signals[attempt - 1];
        if (signal !== undefined) throw signal;
      }));
      await world.clock.advance(10_000);
      assert.equal(job.isDone, true);
      assert.deepEqual(startedAt, [0, 0, 250.5, 7_250.5]);
      assert.deepEqual(asked, signals.map((signal, reruns) => [signal, reruns]));
    }),
  );

  it(
    "fails the job that asked when pauseMs throws or answers no span of time, with everything given back",
    scenario(async (world) => {
      const answers: readonly [answer: unknown, error: object][] = [
        [NaN, { name: "RangeError", message: /answer of pauseMs is NaN, it should be a number from 0/ }],
        [-1, { name: "RangeError", message: /answer of pauseMs is -1/ }],
        [Infinity, { name: "RangeError", message: /answer of pauseMs is Infinity/ }],
        ["5", { name: "TypeError", message: /answer of pauseMs is "5", it should be a number/ }],
        [Promise.resolve(5), { name: "TypeError", message: /answer of pauseMs is/ }],
      ];
      for (const [answer, error] of answers) {
        const jobs = new JobWorld(world, { pauseMs: () => answer as number });
        await assert.rejects(
          jobs.runner.run(needs(), () => Promise.reject(signalOf("TRANSIENT"))),
          error,
        );
        assert.deepEqual([jobs.runner.pausedJobs, jobs.http.currentInUse], [0, 0]);
      }
      const bug = new Error("a bug");
      const throwing = new JobWorld(world, {
        pauseMs: () => {
          throw bug;
        },
      });
      const run = throwing.runner.run(needs(), () => Promise.reject(signalOf("TRANSIENT")));
      assert.equal(await rejectionOf(run), bug);
      assert.throws(() => new JobRunner(new Admission(), { pauseMs: 5 as never }), {
        name: "TypeError",
        message: "Cannot make a JobRunner: pauseMs is 5, it should be a function",
      });
    }),
  );

  it(
    "are counted, and told to the logger one by one, with their fields",
    scenario(async (world) => {
      const told: unknown[] = [];
      const logger = {
        info: (...line: unknown[]) => void told.push(line),
        warn: () => assert.fail("nothing is wrong"),
        error: () => assert.fail("nothing failed"),
      };
      const jobs = new JobWorld(world, { maxRetries: 2, logger });
      const { runner } = jobs;
      const start = (id: string) =>
        outcomeOf(runner.run(needs(), ({ attempt }) => {
          if (attempt === 1) throw signalOf("RATE_LIMIT", id === "slow" ? 30 : 0);
        }, { context: createJobContext({ id }) }));
      const both = [start("fast"), start("slow")];
      await world.settle();
      assert.deepEqual([runner.pausedJobs, jobs.http.currentInUse, jobs.admission.queueSize], [2, 0, 0]);
      assert.deepEqual(told, [
        [
          'Job "fast" pauses for 5000 ms and asks anew, retry 1 of 2: HTTP 429: later',
          { job: "fast", retry: 1, pauseMs: 5_000, kind: "RATE_LIMIT" },
        ],
        [
          'Job "slow" pauses for 30000 ms and asks anew, retry 1 of 2: HTTP 429: later (server asked for 30s)',
          { job: "slow", retry: 1, pauseMs: 30_000, kind: "RATE_LIMIT" },
        ],
      ]);
      await world.clock.advance(5_000);
      assert.deepEqual([runner.pausedJobs, both.map(({ isDone }) => isDone)], [1, [true, false]]);
      await world.clock.advance(25_000);
      assert.deepEqual([runner.pausedJobs, both[1]!.isDone], [0, true]);
    }),
  );
});
