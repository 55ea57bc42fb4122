// What the bucket of a model hears of one call upstream, and what becomes of the failure.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  callUpstream,
  Demand,
  QuotaExhaustedError,
  RateLimiterFactory,
  RetrySignal,
  streamUpstream,
  UncorrectableError,
  upstreamError,
} from "../mod.ts";
import { scenario } from "./scenario.ts";
import { chunks, pair, readAll, thrownBy } from "./upstream_calls.ts";

describe("Feedback of one call", () => {
  it(
    "UF-12 a normal return is one success: every third takes 0.2 off",
    scenario(async (world) => {
      const { told } = pair(world, 2);
      const throttles: number[] = [];
      for (let i = 0; i < 6; i++) {
        assert.equal(await callUpstream(told, () => (i % 2 === 0 ? i : Promise.resolve(i))), i);
        throttles.push(told.throttle);
      }
      assert.deepEqual(throttles, [1, 1, 0.8, 0.8, 0.8, 0.6]);
    }),
  );

  it(
    "UF-12 a rate limit is one slow-down and overload three, each like that many single ones, then thrown",
    scenario(async (world) => {
      for (const [status, kind, weight] of [[429, "RATE_LIMIT", 1], [529, "OVERLOAD", 3]] as const) {
        const { told, other } = pair(world, 1);
        const failure = upstreamError({ status });
        const signal = await thrownBy(() => callUpstream(told, () => Promise.reject(failure)));
        assert.ok(signal instanceof RetrySignal);
        assert.deepEqual([signal.kind, signal.cause], [kind, failure]);
        for (let i = 0; i < weight; i++) other.record429();
        assert.deepEqual([told.throttle, told.statusIndicator], [other.throttle, other.statusIndicator]);
        assert.equal(told.throttle, 0.5 + 0.5 * weight);
      }
    }),
  );

  it(
    "UF-12 a signal of weight 0 touches nothing, no other failure does, and no failure counts as a success",
    scenario(async (world) => {
      const { told } = pair(world, 2);
      await callUpstream(told, () => "one");
      await callUpstream(told, () => "two");
      const failures = [
        upstreamError({ status: 503 }),
        Object.assign(new Error("refused"), { code: "ECONNREFUSED" }),
        upstreamError({ status: 400 }),
        Object.assign(new Error("no money"), { status: 429, code: "insufficient_quota" }),
        Object.assign(new Error("lost"), { code: "ENOTFOUND" }),
        new Error("a bug"),
        "a string",
      ];
      for (const failure of failures) {
        const thrower = () => {
          throw failure;
        };
        await thrownBy(() => callUpstream(told, thrower));
        assert.equal(told.throttle, 1);
      }
      await callUpstream(told, () => "three");
      assert.equal(told.throttle, 0.8, "the third success");
    }),
  );

  it(
    "UF-16 exhausted quota is thrown as what it is, what is not known as it was",
    scenario(async (world) => {
      const { told } = pair(world);
      const quota = Object.assign(new Error("no money"), { status: 429, code: "insufficient_quota" });
      const thrown = await thrownBy(() => callUpstream(told, () => Promise.reject(quota)));
      assert.ok(thrown instanceof QuotaExhaustedError);
      assert.deepEqual([thrown.cause, told.throttle], [quota, 0]);
      const bug = new Error("a bug");
      assert.equal(await thrownBy(() => callUpstream(told, () => Promise.reject(bug))), bug);
    }),
  );

  it(
    "UF-13 an answer that is refused or cut short by its judge was a normal return",
    scenario(async (world) => {
      const { told } = pair(world, 2);
      for (const stop of ["refusal", "max_tokens", "refusal"]) {
        const judged = async () => {
          const answer = await callUpstream(told, () => ({ stop }));
          throw new Error(`the answer is no good: ${answer.stop}`);
        };
        assert.match(String(await thrownBy(() => judged())), /no good/);
      }
      assert.equal(told.throttle, 0.8);
    }),
  );

  it(
    "UF-14 a model with maxConcurrent hears nothing, its failures are judged all the same",
    scenario(async (world) => {
      const spec = { id: "judge", tpm: 1000, rpm: 10, maxConcurrent: 2 };
      const factory = new RateLimiterFactory({ clock: world.clock });
      const [gate, bucket] = [factory.gate(spec), factory.bucket(spec)];
      bucket.recordBackpressure(2);
      const heard: string[] = [];
      const spied = { onSuccess: () => heard.push("yes"), onRateLimitError: () => heard.push("no") };
      Object.assign(gate, spied);
      const overload = upstreamError({ status: 529 });
      for (let i = 0; i < 3; i++) {
        assert.equal(await callUpstream(gate, () => "fine"), "fine");
        assert.deepEqual(await readAll(streamUpstream(gate, () => chunks(1))), {
          seen: [1],
          error: undefined,
        });
        assert.ok(
          await thrownBy(() => callUpstream(gate, () => Promise.reject(overload))) instanceof RetrySignal,
        );
        const { error } = await readAll(streamUpstream(gate, () => chunks(1, overload)));
        assert.ok(error instanceof UncorrectableError);
      }
      assert.deepEqual([heard, gate.currentInUse, bucket.throttle], [[], 0, 1]);
    }),
  );

  it(
    "UF-12 a relaxation wakes who waits on the bucket",
    scenario(async (world) => {
      const bucket = world.bucket("bucket", { tpm: 1000, rpm: 10 });
      bucket.recordBackpressure(1);
      const admission = world.admission();
      await admission.admit(new Demand().add(bucket, 1000));
      const waiting = world.follow(admission.admit(new Demand().add(bucket, 1000)));
      for (let i = 0; i < 9; i++) await callUpstream(bucket, () => {});
      assert.equal(bucket.throttle, 0);
      await world.clock.advance(60_000);
      assert.equal(waiting.settledAtMs, 61_000, "a minute, not the stretched one");
    }),
  );

  it(
    "UF-12 refuses an account or a call that is none, before anything is sent",
    scenario(async (world) => {
      const { told } = pair(world);
      const sent = () => assert.fail("it was sent");
      for (const account of [null, undefined, "gpt", world.gate("gate", 1), {}]) {
        const error = { name: "TypeError", message: /account is .* TokenBucketRateLimiter or a ModelGate/ };
        await assert.rejects(callUpstream(account as never, sent), error);
        assert.throws(() => streamUpstream(account as never, sent), error);
      }
      await assert.rejects(callUpstream(told, 5 as never), { name: "TypeError", message: /call is 5/ });
      assert.throws(() => streamUpstream(told, chunks(1) as never), {
        name: "TypeError",
        message: /call is/,
      });
    }),
  );
});
