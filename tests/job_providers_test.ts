// Jobs on providers that keep the contract: those of the base class and the counting one.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  CountingDBResourceProvider,
  InvalidStateError,
  JobRequirements,
  type JobScope,
  JobTimeoutError,
  UncorrectableError,
} from "../mod.ts";
import { scenario } from "./scenario.ts";
import { JobWorld, outcomeOf, rejectionOf } from "./scripted_jobs.ts";
import { never, ScriptedProvider } from "./scripted_provider.ts";

describe("Jobs on database providers", () => {
  it(
    "DB-13 six jobs on a bound of two all commit, with at most two connections out at any time and none afterwards",
    scenario(async (world) => {
      const { runner } = new JobWorld(world);
      const provider = new ScriptedProvider();
      let [out, most] = [0, 0];
      provider.script = { checkOut: () => void (most = Math.max(most, ++out)), handBack: () => void out-- };
      const requirements = new JobRequirements({ timeoutMs: 1000 }).database(provider, { transaction: true });
      const all = Array.from({ length: 6 }, () =>
        runner.run(requirements, async (scope) => {
          await null;
          return scope.resource(provider).unwrap().number;
        }));
      assert.deepEqual(await Promise.all(all), [1, 2, 3, 4, 5, 6]);
      assert.equal(provider.log.filter((line) => line === "commitOn").length, 6);
      assert.deepEqual([most, out, provider.admission.currentInUse], [2, 0, 0]);
    }),
  );

  it(
    "DB-25 a counting provider bounds the jobs that use the host's own pool, at its capacity",
    scenario(async (world) => {
      const { runner } = new JobWorld(world);
      const provider = new CountingDBResourceProvider("orders", 2);
      const requirements = new JobRequirements({ timeoutMs: 1000 }).database(provider, { transaction: true });
      let [out, most] = [0, 0];
      const all = Array.from({ length: 6 }, () =>
        runner.run(requirements, async (scope) => {
          assert.equal(scope.resource(provider).unwrap(), null);
          most = Math.max(most, ++out);
          await null;
          out--;
        }));
      await Promise.all(all);
      assert.deepEqual([most, out, provider.admission.currentInUse], [2, 0, 0]);
    }),
  );

  it(
    "DB-34 a driver that hangs in a commit, a rollback or a close is cut off, and its connection handed back as unsound",
    scenario(async (world) => {
      for (const hook of ["commitOn", "rollbackOn", "restore"] as const) {
        const { runner } = new JobWorld(world);
        const provider = new ScriptedProvider();
        provider.script[hook] = never;
        const requirements = new JobRequirements({ timeoutMs: 1000 }).database(provider, {
          transaction: true,
        });
        const job = outcomeOf(runner.run(requirements, () => {
          if (hook === "rollbackOn") throw new Error("failed");
        }));
        await world.clock.advance(1499);
        assert.equal(job.isDone, false);
        await world.clock.advance(1);
        assert.ok(job.error instanceof JobTimeoutError);
        assert.deepEqual(provider.log.slice(-2), ["sever", "handBack unsound"]);
        assert.equal(provider.admission.currentInUse, 0);
        assert.equal(world.clock.pendingTimers, 0);
      }
    }),
  );

  it(
    "DB-20 a statement that runs when the time is up ends with its connection; the handle cannot be used any more",
    scenario(async (world) => {
      const { runner } = new JobWorld(world);
      const provider = new ScriptedProvider();
      const requirements = new JobRequirements({ timeoutMs: 1000 }).database(provider);
      let use = (): unknown => null;
      const job = outcomeOf(runner.run(requirements, (scope) => {
        use = () => scope.resource(provider).unwrap();
        use();
        return never();
      }));
      await world.clock.advance(1500);
      assert.ok(job.error instanceof JobTimeoutError);
      assert.throws(use, { code: "invalid_state", message: /closed/ });
    }),
  );

  it(
    "DB-30 what a driver threw is said once, with the provider and the verb, and is the cause",
    scenario(async (world) => {
      const said = {
        checkOut: 'Cannot acquire on provider "scripted": no room',
        beginOn: 'Cannot begin on provider "scripted": no room',
        commitOn: 'Cannot commit on provider "scripted": no room',
      };
      for (const [hook, message] of Object.entries(said)) {
        const { runner } = new JobWorld(world);
        const provider = new ScriptedProvider();
        const cause = new Error("no room");
        provider.script[hook as keyof typeof said] = () => Promise.reject(cause);
        const requirements = new JobRequirements({ timeoutMs: 1000 }).database(provider, {
          transaction: true,
        });
        const error = await rejectionOf(runner.run(requirements, () => {})) as UncorrectableError;
        assert.ok(error instanceof UncorrectableError);
        assert.deepEqual([error.message, error.cause], [message, cause]);
      }
    }),
  );

  it(
    "DB-30 a handle that the work closed itself fails the commit, with the provider's words",
    scenario(async (world) => {
      const { runner } = new JobWorld(world);
      const provider = new ScriptedProvider();
      const requirements = new JobRequirements({ timeoutMs: 1000 }).database(provider, { transaction: true });
      const work = async (scope: JobScope) => await provider.close(scope.resource(provider));
      const error = await rejectionOf(runner.run(requirements, work)) as UncorrectableError;
      assert.ok(error instanceof UncorrectableError && error.cause instanceof InvalidStateError);
      assert.match(
        error.message,
        /^Cannot commit on provider "scripted": the handle was closed, acquire another$/,
      );
    }),
  );
});
