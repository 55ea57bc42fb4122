// The parts of the gateway example: how its provider counts and refuses, and how a bucket is kept within what a window lets in.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { FakeProvider } from "../examples/llm_gateway/fake_provider.ts";
import { answerTo } from "../examples/llm_gateway/gateway_answers.ts";
import { SharedQuota } from "../examples/llm_gateway/shared_quota.ts";
import { skimBucket } from "../examples/llm_gateway/skim_bucket.ts";
import { SlidingWindow } from "../examples/llm_gateway/sliding_window.ts";
import { Admission, CorrectableError, Demand, headerReader, TokenBucketRateLimiter } from "../mod.ts";
import { ManualClock } from "../testing/mod.ts";

describe("A sliding window", () => {
  it("lets in at most the quota in any minute, and says when there is room again", () => {
    const window = new SlidingWindow({ tpm: 100, rpm: 3 });
    assert.deepEqual(window.take(0, 60), { atMs: 0, tokens: 60 });
    const second = window.take(10_000, 30);
    assert.equal(window.take(20_000, 20), 40_000, "the first leaves at 60 s");
    assert.equal(window.take(20_000, 101), Infinity, "it never fits");
    (second as { tokens: number }).tokens = 10;
    assert.deepEqual(window.take(20_000, 20), { atMs: 20_000, tokens: 20 }, "what was not used came back");
    assert.equal(window.take(20_000, 1), 40_000, "three requests are the most");
    assert.deepEqual(window.used(60_000), { tokens: 30, requests: 2 });
    assert.equal(window.fullestTokens, 90);
  });
});

describe("The fake provider", () => {
  it("refuses with the headers of OpenAI, as our reader and its callers understand them", async () => {
    const clock = new ManualClock(0);
    const provider = new FakeProvider({
      quota: { tpm: 300, rpm: 10 },
      clock,
      serviceMs: [0, 0],
      usedShare: [1, 1],
    });
    const url = await provider.listen();
    try {
      const body = JSON.stringify({ model: "gpt", messages: [], max_completion_tokens: 200 });
      const ask = () =>
        fetch(`${url}/v1/chat/completions`, { method: "POST", body, headers: { authorization: "Bearer k" } });
      const answer = await ask();
      assert.equal(answer.status, 200);
      const { usage } = await answer.json();
      assert.equal(provider.status("k").tokens, usage.total_tokens);
      await clock.advance(1500);
      const refused = await ask();
      assert.equal(refused.status, 429);
      assert.equal(refused.headers.get("retry-after"), "59");
      assert.equal(refused.headers.get("retry-after-ms"), "58500");
      assert.equal(refused.headers.get("x-ratelimit-reset-tokens"), "1m0s");
      const { headers, status } = refused;
      const info = headerReader("openai").onError("gpt", { status, headers, body: await refused.json() });
      assert.equal(info?.tokensLimit, 300);
      assert.equal(info?.tokensRemaining, 300 - usage.total_tokens);
      assert.equal(info?.retryAfterMs, 58_500);
      assert.equal(provider.status("k").refused, 1);
    } finally {
      await provider.close();
    }
  });
});

/** How full the fullest minute of a window gets by what a bucket lets pass that was idle first; both have 6,000 a minute. */
async function fullestMinute(keep: number | null): Promise<number> {
  const clock = new ManualClock(0);
  const bucket = new TokenBucketRateLimiter("gpt", { tpm: 6000, rpm: 6000, clock });
  const [admission, skimmer] = [1, 2].map(() => new Admission({ memory: null, clock }).start());
  const window = new SlidingWindow({ tpm: 6000, rpm: 6000 });
  await clock.advance(300_000);
  for (let i = 0; i < 200; i++) {
    if (keep !== null && admission!.queueSize === 0) skimBucket(bucket, skimmer!, keep);
    admission!.admit(new Demand().add(bucket, 100)).then(() => window.force(clock.now(), 100));
  }
  await clock.advance(300_000);
  assert.equal(window.stamps.length, 200, "everybody was admitted");
  return window.fullestTokens / 6000;
}

describe("A bucket in front of a window", () => {
  it("that was idle sends twice the quota in a minute, and skimmed no more than its rate and what it may keep", async () => {
    assert.ok(await fullestMinute(null) > 1.9);
    assert.ok(await fullestMinute(0.05) <= 1.05);
  });

  it("is skimmed of requests as well, and keeps what it may", () => {
    const clock = new ManualClock(0);
    const bucket = new TokenBucketRateLimiter("gpt", { tpm: 6000, rpm: 60, clock });
    const admission = new Admission({ memory: null, clock }).start();
    skimBucket(bucket, admission, 0.1);
    assert.equal(bucket.status.summary(), "6/60 requests, 600/6000 tokens available");
    skimBucket(bucket, admission, 0.1);
    assert.equal(bucket.status.summary(), "6/60 requests, 600/6000 tokens available");
  });
});

describe("A shared quota", () => {
  it("takes its part of what a spec says, and of what headers report", () => {
    const clock = new ManualClock(0);
    let reports = 0;
    const accounts = new SharedQuota(0.5, { clock, onLimits: () => void reports++ });
    const spec = { id: "gpt", tpm: 1001, rpm: 10 };
    const bucket = accounts.bucket(spec);
    assert.deepEqual([bucket.status.maxTokens, bucket.status.maxRequests], [500, 5]);
    accounts.updateLimits(spec, { tpm: 400, rpm: 8 });
    assert.deepEqual([bucket.status.maxTokens, bucket.status.maxRequests, reports], [200, 4, 1]);
    assert.equal(accounts.bucket(spec), bucket);
  });
});

describe("What a caller of the gateway is told", () => {
  it("of a model that there is not: 404, and which there are", async () => {
    const answer = answerTo(new CorrectableError("it should be one of gpt"), new AbortController().signal);
    assert.equal(answer.status, 404);
    assert.equal((await answer.json()).error.code, "model_not_found");
  });
});
