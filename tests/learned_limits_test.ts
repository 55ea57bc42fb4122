// Which answers teach a bucket its caps.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  type AnsweredCall,
  headerReader,
  RateLimiterFactory,
  RateLimiterRegistry,
  RateLimitInfo,
} from "../mod.ts";

const SPEC = { id: "gpt", rpm: 10, tpm: 1000 };
const HEADERS = { "x-ratelimit-limit-tokens": "9000", "x-ratelimit-limit-requests": "50" };

function call(changes: Partial<AnsweredCall> = {}): AnsweredCall {
  const info = headerReader("openai").onSuccess("gpt", HEADERS);
  return { info, kind: "LLM", isSuccess: true, isStreaming: false, ...changes };
}

function capsOf(registry: RateLimiterRegistry): number[] {
  const { maxTokens, maxRequests } = registry.status(SPEC);
  return [maxTokens, maxRequests];
}

describe("Learning caps", () => {
  it("RI-06 a successful LLM answer that was not streamed and names both numbers sets them, throttle kept", () => {
    const registry = new RateLimiterRegistry(new RateLimiterFactory());
    registry.bucket(SPEC).record429();
    assert.equal(registry.learnLimits("gpt", call()), true);
    assert.deepEqual([capsOf(registry), registry.bucket(SPEC).throttle], [[9000, 50], 0.5]);
    assert.equal(registry.learnLimits(SPEC, call()), true);
    assert.deepEqual(capsOf(registry), [9000, 50]);
  });

  it("RI-06 caps come before the success: the bucket that records it may be made by them", () => {
    const registry = new RateLimiterRegistry(new RateLimiterFactory());
    const unpublished = { id: "unseen" };
    assert.throws(() => registry.bucket(unpublished).recordSuccess(), RangeError);
    assert.equal(registry.learnLimits(unpublished, call()), true);
    registry.bucket(unpublished).recordSuccess();
    assert.equal(registry.bucket(unpublished).capacity, 9000);
  });

  it("RI-06 errors, streams, embeddings and decisions never change caps, nor does one number alone", () => {
    const registry = new RateLimiterRegistry(new RateLimiterFactory());
    const onError = headerReader("openai").onError("gpt", { status: 500, headers: HEADERS });
    assert.equal(onError?.tokensPerMinute, 9000, "an error's info has the numbers as well");
    const silent: Partial<AnsweredCall>[] = [
      { isSuccess: false, info: onError },
      { isSuccess: false },
      { info: headerReader("openai").onError("gpt", { status: 429, headers: HEADERS }) },
      { isStreaming: true },
      { kind: "EMBEDDINGS" },
      { kind: "DECISION" },
      { info: null },
      { info: new RateLimitInfo({ model: "gpt", tokensLimit: 9000 }) },
      { info: new RateLimitInfo({ model: "gpt", requestsLimit: 50 }) },
      { info: new RateLimitInfo({ model: "gpt", tokensLimit: 9000, requestsLimit: 0 }) },
    ];
    for (const changes of silent) assert.equal(registry.learnLimits("gpt", call(changes)), false);
    assert.deepEqual(registry.accounts, [], "no bucket was made either");
    registry.bucket(SPEC);
    for (const changes of silent) assert.equal(registry.learnLimits("gpt", call(changes)), false);
    assert.deepEqual(capsOf(registry), [1000, 10]);
  });

  it("refuses a call or a model that is none, and changes nothing", () => {
    const factory = new RateLimiterFactory();
    const junk: unknown[] = [
      { info: {} },
      { info: undefined },
      { kind: "llm" },
      { isSuccess: 1 },
      { isStreaming: undefined },
    ];
    for (const changes of junk) {
      const member = Object.keys(changes as object)[0];
      assert.throws(() => factory.learnLimits("gpt", { ...call(), ...(changes as Partial<AnsweredCall>) }), {
        name: "TypeError",
        message: new RegExp(`limits of "gpt": ${member} is`),
      });
    }
    assert.throws(() => factory.learnLimits("gpt", null as unknown as AnsweredCall), TypeError);
    assert.throws(() => factory.learnLimits("", call()), TypeError);
    assert.deepEqual(factory.accounts, []);
  });
});
