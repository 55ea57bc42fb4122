// What each provider says about its limits, read off headers and bodies as they are sent.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { type FailedAnswer, headerReader } from "../mod.ts";
import { assertSays, clock, failure, success } from "./header_readings.ts";

const OPENAI = {
  "x-ratelimit-limit-tokens": "40000000",
  "x-ratelimit-remaining-tokens": "39999000",
  "x-ratelimit-limit-requests": "15000",
  "x-ratelimit-remaining-requests": "14999",
};
const OPENAI_NUMBERS = {
  tokensLimit: 40_000_000,
  tokensRemaining: 39_999_000,
  requestsLimit: 15_000,
  requestsRemaining: 14_999,
};
const ANTHROPIC = {
  "anthropic-ratelimit-requests-limit": "1000",
  "anthropic-ratelimit-requests-remaining": "999",
  "anthropic-ratelimit-tokens-limit": "96000",
  "anthropic-ratelimit-tokens-remaining": "95000",
};
const ANTHROPIC_NUMBERS = {
  requestsLimit: 1000,
  requestsRemaining: 999,
  tokensLimit: 96_000,
  tokensRemaining: 95_000,
};

describe("OpenAI, its like, and Azure", () => {
  it("RI-07 a success tells both limits and what is left, whatever the letter case and kind of headers", () => {
    const upper = Object.fromEntries(
      Object.entries(OPENAI).map(([name, value]) => [name.toUpperCase(), value]),
    );
    const repeated = Object.fromEntries(Object.entries(OPENAI).map(([name, value]) => [name, [value, "7"]]));
    const twice = new Headers(OPENAI);
    for (const name of Object.keys(OPENAI)) twice.append(name, "7");
    for (
      const headers of [OPENAI, upper, repeated, new Headers(OPENAI), new Map(Object.entries(OPENAI)), twice]
    ) {
      for (const provider of ["openai", "openai-compatible"] as const) {
        assertSays(success(provider, headers), OPENAI_NUMBERS);
      }
    }
  });

  it("RI-07 there is an info once one limit is known, and none for junk", () => {
    assertSays(
      success("openai", { "x-ratelimit-limit-tokens": "40000000", "x-ratelimit-limit-requests": "lots" }),
      {
        tokensLimit: 40_000_000,
      },
    );
    assertSays(success("openai", { "x-ratelimit-limit-requests": "0" }), { requestsLimit: 0 });
    assert.equal(
      success("openai", { "x-ratelimit-limit-tokens": "lots", "x-ratelimit-limit-requests": "" }),
      null,
    );
    assert.equal(
      success("openai", { "x-ratelimit-remaining-tokens": "5" }),
      null,
      "what is left is no limit",
    );
    assert.equal(success("openai", {}), null);
  });

  it("RI-07 the request's id and the requests' reset are for logs", () => {
    const reader = headerReader("openai", { clock });
    const headers = { "X-Request-Id": "req_42", "x-ratelimit-reset-requests": "12ms" };
    assert.deepEqual(reader.logFields(headers), { requestId: "req_42", requestsResetMs: 12 });
    const forged = { "x-request-id": "req\nadmin: yes" };
    assert.deepEqual(reader.logFields(forged), { requestId: null, requestsResetMs: null });
  });

  it("RI-08 an error tells the same and how long to wait, and is flagged on 429 alone", () => {
    const headers = { ...OPENAI, "Retry-After": "7" };
    const says = { ...OPENAI_NUMBERS, retryAfterMs: 7000 };
    assertSays(failure("openai", { status: 429, headers }), { ...says, wasRateLimited: true });
    for (const status of [400, 500, 503]) assertSays(failure("openai", { status, headers }), says);
    assertSays(failure("openai", { headers }), says);
    assertSays(failure("openai", { status: 429 }), { wasRateLimited: true });
    assert.equal(failure("openai", { status: 500, headers: {} }), null);
    assert.equal(failure("openai", { status: 500, headers: null }), null);
  });

  it("BEY-70 a compatible server's error keeps its limits, and a wait also when it is no 429", () => {
    const headers = { ...OPENAI, "retry-after": "2" };
    const says = { ...OPENAI_NUMBERS, retryAfterMs: 2000 };
    assertSays(failure("openai-compatible", { status: 429, headers }), { ...says, wasRateLimited: true });
    assertSays(failure("openai-compatible", { status: 503, headers: { "retry-after": "2" } }), {
      retryAfterMs: 2000,
    });
  });

  it("BEY-70 OpenAI's resets say when the tokens are back", () => {
    const headers = { "x-ratelimit-limit-tokens": "150000", "x-ratelimit-reset-tokens": "6m0s" };
    assertSays(success("openai", headers), { tokensLimit: 150_000, tokensResetMs: 360_000 });
    const soon = { ...headers, "x-ratelimit-reset-tokens": "soon" };
    assertSays(failure("openai", { status: 500, headers: soon }), { tokensLimit: 150_000 });
  });

  it("BEY-70 a limit of -1, as Azure sends it, is none", () => {
    const untold = { "x-ratelimit-limit-tokens": "-1", "x-ratelimit-remaining-tokens": "-1" };
    const headers = { ...untold, "x-ratelimit-reset-tokens": "0", "x-ratelimit-limit-requests": "60" };
    assertSays(success("azure", headers), { tokensResetMs: 0, requestsLimit: 60 });
    assert.equal(success("azure", untold), null);
  });

  it("RI-10 Azure's OpenAI surface reads as OpenAI, its embeddings tell a wait on 429 alone", () => {
    const headers = { ...OPENAI, "retry-after": "8", "retry-after-ms": "7500" };
    assertSays(success("azure", headers), OPENAI_NUMBERS);
    assertSays(failure("azure", { status: 429, headers }), {
      ...OPENAI_NUMBERS,
      retryAfterMs: 7500,
      wasRateLimited: true,
    });
    assert.equal(success("azure-embeddings", headers), null);
    assertSays(failure("azure-embeddings", { status: 429, headers }), {
      retryAfterMs: 7500,
      wasRateLimited: true,
    });
    assert.equal(failure("azure-embeddings", { status: 503, headers }), null);
  });
});

describe("Anthropic, and Bedrock", () => {
  it("BEY-70 a success of Anthropic's tells what is no junk, and when the tokens are back", () => {
    const reset = { "anthropic-ratelimit-tokens-reset": "2025-08-21T12:40:30Z" };
    assertSays(success("anthropic", { ...ANTHROPIC, ...reset }), {
      ...ANTHROPIC_NUMBERS,
      tokensResetMs: 30_000,
    });
    const partly = { ...ANTHROPIC, "anthropic-ratelimit-tokens-limit": "many" };
    assertSays(success("anthropic", partly), { ...ANTHROPIC_NUMBERS, tokensLimit: null });
    assert.equal(success("anthropic", { ...partly, "anthropic-ratelimit-requests-limit": "-5" }), null);
    assert.equal(success("anthropic", reset), null);
  });

  it("RI-12 an error of Anthropic's adds the wait, is always flagged, and tells no reset", () => {
    const headers = {
      ...ANTHROPIC,
      "retry-after": "7",
      "anthropic-ratelimit-tokens-reset": "2025-08-21T12:40:30Z",
    };
    const says = { ...ANTHROPIC_NUMBERS, retryAfterMs: 7000, wasRateLimited: true };
    for (const status of [429, 529, 500]) assertSays(failure("anthropic", { status, headers }), says);
    for (const status of [429, 529, 0]) {
      assertSays(failure("anthropic", { status }), { wasRateLimited: true });
    }
    assert.equal(failure("anthropic", { status: 400, message: "bad request" }), null);
  });

  it("RI-12 what else Anthropic says is for logs", () => {
    const headers = new Headers({
      "request-id": "req_011",
      "anthropic-ratelimit-requests-reset": "2025-08-21T12:40:01.5Z",
      "anthropic-ratelimit-tokens-reset": "1755780002",
      "anthropic-ratelimit-input-tokens-limit": "80000",
      "anthropic-ratelimit-input-tokens-remaining": "79000",
      "anthropic-ratelimit-input-tokens-reset": "2025-08-21T14:40:03+02:00",
      "anthropic-ratelimit-output-tokens-limit": "16000",
      "anthropic-ratelimit-output-tokens-remaining": "n/a",
      "x-amzn-errortype": "ThrottlingException",
      "x-amzn-requestid": "aws-1",
    });
    const fields = {
      requestId: "req_011",
      requestsResetMs: 1500,
      tokensResetMs: 2000,
      inputTokensLimit: 80_000,
      inputTokensRemaining: 79_000,
      inputTokensResetMs: 3000,
      outputTokensLimit: 16_000,
      outputTokensRemaining: null,
      outputTokensResetMs: null,
      amazonErrorType: "ThrottlingException",
      amazonRequestId: "aws-1",
    };
    for (const provider of ["anthropic", "bedrock-anthropic"] as const) {
      assert.deepEqual(headerReader(provider, { clock }).logFields(headers), fields);
    }
  });

  it("RI-13 a message about growth is ACCELERATION, any other CAPACITY", () => {
    const typeOf = (answer: FailedAnswer) => failure("anthropic", { status: 429, ...answer })?.type;
    const growth = [
      "You have hit the ACCELERATION limit",
      "This would exceed your organization's maximum usage increase rate for input tokens",
      "Please scale up your input tokens usage more gradually",
      "Try scaling up gradually",
    ];
    for (const message of growth) {
      assert.equal(typeOf({ message }), "ACCELERATION", message);
      const body = { type: "error", error: { type: "rate_limit_error", message } };
      assert.equal(typeOf({ body }), "ACCELERATION");
      assert.equal(typeOf({ body: JSON.stringify(body) }), "ACCELERATION");
      assert.equal(typeOf({ message: "slow down", body }), "CAPACITY", "a message of one's own decides");
    }
    const others = [
      "scale up your plan",
      "gradually",
      "would exceed 20,000 input tokens per minute",
      "",
      undefined,
    ];
    for (const message of others) assert.equal(typeOf({ message }), "CAPACITY", String(message));
  });

  it("RI-14 Bedrock tells no numbers, and is limited by its status; Claude on it reads as Anthropic", () => {
    const headers = { ...OPENAI, ...ANTHROPIC, "retry-after": "7", "x-amzn-requestid": "aws-1" };
    assert.equal(success("bedrock", headers), null);
    assertSays(failure("bedrock", { status: 429, headers }), { wasRateLimited: true });
    for (const status of [400, 500, 503, 0]) assert.equal(failure("bedrock", { status, headers }), null);
    const fields = headerReader("bedrock").logFields(headers);
    assert.deepEqual(fields, { amazonErrorType: null, amazonRequestId: "aws-1" });
    assertSays(success("bedrock-anthropic", headers), ANTHROPIC_NUMBERS);
    assertSays(failure("bedrock-anthropic", { status: 429 }), { wasRateLimited: true });
  });
});
