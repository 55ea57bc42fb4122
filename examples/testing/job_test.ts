import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  Admission,
  HttpConnectionGate,
  JobRequirements,
  JobRunner,
  JobTimeoutError,
  ModelBinding,
  RateLimiterFactory,
  RetrySignal,
  UpstreamFailure,
} from "../../mod.ts";
import { ManualClock } from "../../testing/mod.ts";

const GPT = { id: "gpt", tpm: 60_000, rpm: 600, maxContextTokens: 100_000, maxOutputTokens: 8_000 };

/** One clock for the accounts and the Admission, which its runner goes by. */
function open() {
  const clock = new ManualClock();
  const admission = new Admission({ memory: null, clock }).start();
  const accounts = new RateLimiterFactory({ clock });
  const runner = new JobRunner(admission, { accounts, pauseMs: () => 2_000 });
  const call = new ModelBinding({ model: GPT, depth: "IMMEDIATE", input: 20_000, output: 5_000 });
  return { clock, accounts, runner, needs: new JobRequirements({ timeoutMs: 10_000 }).model(call) };
}

describe("A job", () => {
  it("is run again after its pause, and the tokens of both attempts are spent", async () => {
    const { clock, accounts, runner, needs } = open();
    const doneAtMs = runner.run(needs, ({ attempt }) => {
      const detail = "too early";
      if (attempt === 1) {
        throw new RetrySignal("RATE_LIMIT", new UpstreamFailure({ statusCode: 429, detail }));
      }
      return clock.now();
    });
    await clock.advance(1_999);
    assert.equal(runner.pausedJobs, 1);
    await clock.advance(1);
    assert.equal(await doneAtMs, 2_000);
    assert.equal(accounts.bucket(GPT).currentInUse, 25_000 - 2_000 + 25_000);
  });

  it("ends when its time is up, and nothing is left behind", async () => {
    const { clock, accounts, runner, needs } = open();
    const hung = runner.run(
      needs,
      ({ signal }) =>
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    );
    const failed = assert.rejects(hung, JobTimeoutError);
    await clock.advance(10_000);
    await failed;
    assert.deepEqual([clock.pendingTimers, accounts.limiter(HttpConnectionGate).currentInUse], [0, 0]);
  });
});
