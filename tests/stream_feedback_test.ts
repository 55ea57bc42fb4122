// The same for answers that arrive in chunks: before the first, after it, at the end, and left early.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  callUpstream,
  QuotaExhaustedError,
  RetrySignal,
  streamUpstream,
  UncorrectableError,
  upstreamError,
} from "../mod.ts";
import { scenario } from "./scenario.ts";
import { chunks, pair, readAll, thrownBy } from "./upstream_calls.ts";

describe("Feedback of a stream", () => {
  it(
    "UF-18 chunks pass in order as they come, and the end is one success",
    scenario(async (world) => {
      const { told } = pair(world, 2);
      for (const count of [3, 0, 1]) {
        assert.equal(told.throttle, 1);
        const { seen, error } = await readAll(streamUpstream(told, () => Promise.resolve(chunks(count))));
        assert.deepEqual([seen, error], [Array.from({ length: count }, (_, i) => i + 1), undefined]);
      }
      assert.equal(told.throttle, 0.8);
    }),
  );

  it(
    "UF-18 before the first chunk a failure is what it is for a whole answer",
    scenario(async (world) => {
      const failure = upstreamError({ status: 529, retryAfterSeconds: 7 });
      const opens = [() => Promise.reject(failure), () => chunks(0, failure), () => {
        throw failure;
      }];
      for (const open of opens) {
        const { told } = pair(world);
        const { seen, error } = await readAll(streamUpstream(told, open));
        assert.ok(error instanceof RetrySignal);
        assert.deepEqual([seen, error.kind, error.cause, told.throttle], [[], "OVERLOAD", failure, 1.5]);
      }
      const { told } = pair(world);
      const bug = new Error("a bug");
      assert.equal((await readAll(streamUpstream(told, () => chunks(0, bug)))).error, bug);
      assert.equal(told.throttle, 0);
    }),
  );

  it(
    "UF-18 after a chunk the weight is told, then it fails for good and says mid-stream",
    scenario(async (world) => {
      for (const [status, throttle] of [[429, 0.5], [529, 1.5], [503, 0]] as const) {
        const { told } = pair(world);
        const failure = upstreamError({ status, detail: "enough" });
        const { seen, error } = await readAll(streamUpstream(told, () => chunks(2, failure)));
        assert.ok(error instanceof UncorrectableError);
        assert.match(error.message, new RegExp(`mid-stream.*HTTP ${status}: enough`));
        assert.ok(error.cause instanceof RetrySignal && error.cause.cause === failure);
        assert.deepEqual([seen, error.code, told.throttle], [[1, 2], "uncorrectable", throttle]);
        assert.equal(
          await thrownBy(() => callUpstream(told, () => Promise.reject(error))),
          error,
          "not run again",
        );
        assert.equal(told.throttle, throttle, "nor told twice");
      }
    }),
  );

  it(
    "UF-18 after a chunk an unrecognised failure passes unchanged, exhausted quota as what it is",
    scenario(async (world) => {
      const { told } = pair(world, 1);
      for (const failure of [new Error("a bug"), upstreamError({ status: 400 }), "a string"]) {
        assert.equal((await readAll(streamUpstream(told, () => chunks(1, failure)))).error, failure);
      }
      const quota = Object.assign(new Error("no money"), { error: { type: "insufficient_quota" } });
      const { error } = await readAll(streamUpstream(told, () => chunks(1, quota)));
      assert.ok(error instanceof QuotaExhaustedError);
      assert.equal(told.throttle, 0.5);
    }),
  );

  it(
    "UF-18 leaving early closes the stream and counts as a success, whatever the reader throws",
    scenario(async (world) => {
      const { told } = pair(world, 2);
      let closed = 0;
      const open = () => streamUpstream(told, () => chunks(5, undefined, () => closed++));
      for await (const chunk of open()) {
        if (chunk === 2) break;
      }
      const failing = async () => {
        for await (const chunk of open()) {
          throw upstreamError({ status: 429, detail: `the reader's own, at ${chunk}` });
        }
      };
      await assert.rejects(failing(), { name: "UpstreamRateLimitError" });
      assert.deepEqual([closed, told.throttle], [2, 1]);
      const thrownIn = open();
      await thrownIn.next();
      await assert.rejects(thrownIn.throw(upstreamError({ status: 429 })), {
        name: "UpstreamRateLimitError",
      });
      assert.deepEqual([closed, told.throttle], [3, 0.8], "the third success, and no slow-down");
    }),
  );

  it(
    "UF-18 nothing is sent, and nothing told, before the first chunk is asked for",
    scenario(async (world) => {
      const { told } = pair(world, 1);
      let opened = 0;
      const open = () => {
        opened++;
        return chunks(1);
      };
      const stream = streamUpstream(told, open);
      await world.settle();
      assert.equal(opened, 0);
      await stream.return();
      assert.deepEqual(await stream.next(), { done: true, value: undefined });
      assert.deepEqual([opened, told.throttle], [0, 0.5]);
    }),
  );
});
