// What a job says that its calls were billed, and what its buckets make of it.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Demand, JobRequirements, type JobScope, ModelBinding, type ModelSpecFields } from "../mod.ts";
import { scenario } from "./scenario.ts";
import { JobWorld } from "./scripted_jobs.ts";

const LLM: ModelSpecFields = { id: "llm", tpm: 90_000, maxContextTokens: 100_000, maxOutputTokens: 8_000 };
const OTHER: ModelSpecFields = { ...LLM, id: "other" };
const GATED: ModelSpecFields = {
  id: "gated",
  maxConcurrent: 2,
  maxContextTokens: 1_000,
  maxOutputTokens: 100,
};

/** A call for which 300 tokens are reserved. */
function call(model: ModelSpecFields = LLM): ModelBinding {
  return new ModelBinding({ model, input: 100, output: 200, depth: "IMMEDIATE" });
}

describe("Settling a call of a job", () => {
  /** What is left in the buckets after a job whose work settles. */
  const play = (
    calls: readonly ModelBinding[],
    { more, settle, left }: {
      more?: (requirements: JobRequirements, jobs: JobWorld) => void;
      settle: (scope: JobScope) => void;
      left: readonly [llm: number, other: number];
    },
  ) =>
    scenario(async (world) => {
      const jobs = new JobWorld(world);
      const requirements = new JobRequirements({ timeoutMs: 1000 });
      for (const each of calls) requirements.model(each);
      more?.(requirements, jobs);
      await jobs.runner.run(requirements, settle);
      const levels = [LLM, OTHER].map((model) => jobs.registry.bucket(model).status.availableTokens);
      assert.deepEqual(levels, left);
    });

  const [one, two, other, gated] = [call(), call(), call(OTHER), call(GATED)];

  it(
    "BEY-32 gives back what was not used, at once, and charges what was used beyond",
    play([one, other], {
      settle(scope) {
        const bucket = scope.account(one);
        scope.settle(one, 120);
        assert.equal(bucket.currentInUse, 120);
        scope.settle(other, 1_000);
      },
      left: [89_880, 89_000],
    }),
  );

  it(
    "calls that share a bucket are settled together, when the last was told",
    play([one, two, two], {
      settle(scope) {
        const bucket = scope.account(one);
        scope.settle(two, 10);
        scope.settle(one, 20);
        assert.equal(bucket.currentInUse, 900, "two is declared twice");
        scope.settle(two, 0);
        assert.equal(bucket.currentInUse, 30);
        scope.settle(two, 500);
      },
      left: [89_970, 90_000],
    }),
  );

  it(
    "one that nobody tells of leaves its bucket as it was reserved",
    play([one, two, other], {
      settle(scope) {
        scope.settle(one, 20);
        scope.settle(other, 50);
      },
      left: [89_400, 89_950],
    }),
  );

  it(
    "BEY-32 an unknown usage counts as what was reserved",
    play([one, two, other], {
      settle(scope) {
        scope.settle(one, 20);
        scope.settle(two, null);
        scope.settle(other, NaN);
      },
      left: [89_680, 89_700],
    }),
  );

  it(
    "tokens that the job declared on the bucket beside its calls stay spent",
    play([one], {
      more: (requirements, { registry }) =>
        requirements.limiter(registry.bucket(LLM), 40).include(new Demand().add(registry.bucket(LLM), 7)),
      settle: (scope) => scope.settle(one, 100),
      left: [89_853, 90_000],
    }),
  );

  it(
    "there is nothing to settle for a model with a gate",
    play([gated], {
      settle: (scope) => scope.settle(gated, 100),
      left: [90_000, 90_000],
    }),
  );

  it(
    "refuses what is no usage, and a call that was not declared, and changes nothing",
    play([one], {
      settle(scope) {
        const what = /^Cannot settle a call of "llm": actual is /;
        assert.throws(() => scope.settle(one, -1), { name: "RangeError", message: what });
        assert.throws(() => scope.settle(one, 1.5), { name: "RangeError", message: what });
        assert.throws(() => scope.settle(one, "9" as never), { name: "TypeError", message: what });
        assert.throws(() => scope.settle(two, 9), {
          code: "invalid_state",
          message: /^Cannot settle .*: the job did not declare that call/,
        });
        scope.settle(one, 100);
      },
      left: [89_900, 90_000],
    }),
  );
});
