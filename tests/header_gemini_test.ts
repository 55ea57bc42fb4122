// What Gemini says in the bodies of errors, and System One's decision endpoint in its one header.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { headerReader, type HeaderSource } from "../mod.ts";
import { assertSays, failure, success } from "./header_readings.ts";

/** What others send. */
const HEADERS = {
  "x-ratelimit-limit-tokens": "40000000",
  "x-ratelimit-limit-requests": "15000",
  "anthropic-ratelimit-tokens-limit": "96000",
};

describe("Gemini, and System One", () => {
  const retryInfo = (retryDelay: unknown) => ({
    "@type": "type.googleapis.com/google.rpc.RetryInfo",
    retryDelay,
  });
  const bodyOf = (...details: unknown[]) => ({
    error: { code: 429, message: "You exceeded your current quota", status: "RESOURCE_EXHAUSTED", details },
  });

  it("BEY-70 Gemini's RetryInfo tells the wait, in a body of text or parsed, alone or in a list", () => {
    const body = bodyOf({ "@type": "type.googleapis.com/google.rpc.Help", links: [] }, retryInfo("13s"));
    for (const form of [body, [body], body.error, JSON.stringify(body), JSON.stringify([body], null, 2)]) {
      assertSays(failure("gemini", { status: 429, body: form }), {
        retryAfterMs: 13_000,
        wasRateLimited: true,
      });
      assertSays(failure("gemini", { body: form }), { retryAfterMs: 13_000, wasRateLimited: true });
      assertSays(failure("gemini", { status: 503, body: form }), { retryAfterMs: 13_000 });
    }
  });

  it("BEY-70 a delay may have a fraction or be seconds and nanoseconds, and the longer wait counts", () => {
    const waits = (delay: unknown, headers?: HeaderSource) =>
      failure("gemini", { status: 429, body: bodyOf(retryInfo(delay)), headers })?.retryAfterMs;
    assert.equal(waits("10.689924287s"), 10_689.925);
    assert.deepEqual([waits({ seconds: "13", nanos: 5e8 }), waits({ seconds: 13 }), waits({ nanos: 1 })], [
      13_500,
      13_000,
      0.001,
    ]);
    assert.deepEqual([waits("2s", { "retry-after": "3" }), waits("4s", { "retry-after": "3" })], [
      3000,
      4000,
    ]);
    for (const junk of ["-3s", "soon", "", "1e3s", 13, null, {}, { seconds: -1 }, { seconds: {} }, ["13s"]]) {
      assert.equal(waits(junk), null, JSON.stringify(junk));
    }
  });

  it("BEY-70 quotas per minute that were hit are limits, those per day are not", () => {
    const violation = (quotaId: string, quotaValue: unknown) => ({ quotaId, quotaValue });
    const quotas = {
      "@type": "type.googleapis.com/google.rpc.QuotaFailure",
      violations: [
        violation("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "250"),
        violation("GenerateRequestsPerMinutePerProjectPerModel-FreeTier", "15"),
        violation("GenerateContentInputTokensPerModelPerMinute-FreeTier", "250000"),
        violation("GenerateContentInputTokensPerModelPerMinute", "125000"),
        violation("GenerateRequestsPerMinutePerProjectPerModel", "-1"),
        violation("GenerateSecondsPerMinute", "5"),
        null,
      ],
    };
    assertSays(failure("gemini", { status: 429, body: bodyOf(quotas, retryInfo("8s")) }), {
      requestsLimit: 15,
      tokensLimit: 125_000,
      retryAfterMs: 8000,
      wasRateLimited: true,
    });
  });

  it("BEY-70 Gemini says nothing in a success, nor in a failure that is neither a 429 nor tells a wait", () => {
    assert.equal(success("gemini", HEADERS), null);
    assert.deepEqual(headerReader("gemini").logFields(HEADERS), {});
    for (const body of [undefined, null, "", "{", "[]", 7, { error: null }, { error: { details: "x" } }]) {
      assert.equal(failure("gemini", { status: 500, body }), null);
      assertSays(failure("gemini", { status: 429, body }), { wasRateLimited: true });
    }
  });

  it("RI-15 the decision endpoint's 429 tells how long to wait, its successes nothing", () => {
    assertSays(failure("system-one", { status: 429, headers: { "retry-after": "7" } }), {
      retryAfterMs: 7000,
      wasRateLimited: true,
    });
    assertSays(failure("system-one", { status: 429 }), { wasRateLimited: true });
    assert.equal(failure("system-one", { status: 503, headers: { "retry-after": "7" } }), null);
    assert.equal(success("system-one", HEADERS), null);
  });
});
