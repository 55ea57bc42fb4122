// What a failure of an upstream call is: a retry signal, exhausted quota, or what it was before.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  CancellationError,
  classifyUpstreamFailure,
  QuotaExhaustedError,
  RetrySignal,
  UncorrectableError,
  upstreamError,
  UpstreamFailure,
} from "../mod.ts";
import { anthropic, failed, kindOf, openai } from "./upstream_calls.ts";

describe("A failure is judged by its status", () => {
  it("UF-07 429 is a rate limit, other 5xx and 408 are transient, and that is all", () => {
    const expected = new Map([[429, "RATE_LIMIT"], [529, "OVERLOAD"], [402, "QUOTA"], [408, "TRANSIENT"]]);
    for (let status = 100; status <= 999; status++) {
      const kind = expected.get(status) ?? (status >= 500 && status <= 599 ? "TRANSIENT" : "unchanged");
      assert.equal(kindOf(failed({ status })), kind, String(status));
      assert.equal(kindOf(upstreamError({ status })), kind, String(status));
    }
  });

  it("BEY-71 529 is overload from any client, wherever in the chain and under whatever name it stands", () => {
    const shapes = [
      { status: 529 },
      { statusCode: 529 },
      { $metadata: { httpStatusCode: 529 } },
      { response: new Response("", { status: 529 }) },
    ];
    for (const shape of shapes) {
      assert.equal(kindOf(shape), "OVERLOAD");
      assert.equal(kindOf(failed({}, "a tool failed", failed(shape))), "OVERLOAD");
    }
    assert.equal(kindOf(openai(529, { message: "busy", type: "server_error", code: null })), "OVERLOAD");
    assert.equal(kindOf(anthropic(529, { type: "overloaded_error", message: "Overloaded" })), "OVERLOAD");
  });

  it("UF-07 the signal knows status, detail and wait", () => {
    const error = openai(429, { message: "slow down", type: "requests", code: "rate_limit_exceeded" }, {
      "retry-after": "7",
    });
    const signal = classifyUpstreamFailure(error);
    assert.ok(signal instanceof RetrySignal);
    const { statusCode, detail, retryAfterSeconds } = signal.failure;
    assert.deepEqual([statusCode, detail, retryAfterSeconds], [429, "429 slow down", 7]);
    assert.deepEqual([signal.retryAfterMs, signal.weight], [7000, 1]);
  });

  it("UF-20 text plays no part: a 400 that talks of 429s stays a 400, and words without a status say nothing", () => {
    const words = "429 Too Many Requests: rate limit, 529 overloaded_error, insufficient_quota, ECONNREFUSED";
    for (const status of [400, 401, 403, 404, 409, 413, 422]) {
      assert.equal(kindOf(failed({ status }, words)), "unchanged");
      assert.equal(kindOf(openai(status, { message: words, type: "invalid_request_error" })), "unchanged");
      assert.equal(kindOf(anthropic(status, { message: words, type: "invalid_request_error" })), "unchanged");
    }
    assert.equal(kindOf(new Error(words)), "unchanged");
    assert.equal(kindOf(failed({ status: "429" })), "unchanged", "a status is a number");
    assert.equal(kindOf(failed({ status: 500 }, "HTTP 429")), "TRANSIENT");
    assert.equal(
      kindOf(failed({ status: 400 }, "bad", failed({ status: 429 }))),
      "unchanged",
      "the outer status",
    );
  });

  it("UF-18 in a stream that began with 200 the kind that the answer names stands for the status", () => {
    const kinds = {
      overloaded_error: "OVERLOAD",
      rate_limit_error: "RATE_LIMIT",
      api_error: "TRANSIENT",
      timeout_error: "TRANSIENT",
      invalid_request_error: "unchanged",
    };
    for (const [type, kind] of Object.entries(kinds)) {
      assert.equal(kindOf(anthropic(undefined, { type, message: "words" })), kind, type);
    }
    assert.equal(kindOf(openai(undefined, { message: "x", type: "server_error", code: null })), "TRANSIENT");
    assert.equal(
      kindOf(openai(undefined, { message: "x", type: "tokens", code: "rate_limit_exceeded" })),
      "RATE_LIMIT",
    );
    const signal = classifyUpstreamFailure(anthropic(undefined, { type: "overloaded_error", message: "x" }));
    assert.ok(signal instanceof RetrySignal);
    assert.equal(signal.failure.statusCode, 529);
    const bad = anthropic(400, { type: "overloaded_error", message: "x" });
    assert.equal(kindOf(bad), "unchanged", "a status, where there is one, decides");
  });
});

describe("Exhausted quota", () => {
  it("UF-16 OpenAI's arrives as 429 and is terminal, by its type or by the finer code", () => {
    const message = "You exceeded your current quota";
    assert.equal(
      kindOf(openai(429, { message, type: "insufficient_quota", code: "insufficient_quota" })),
      "QUOTA",
    );
    assert.equal(kindOf(openai(429, { message, type: "insufficient_quota", code: null })), "QUOTA");
    for (const who of ["organization_spend", "organization_usage", "project_spend"]) {
      assert.equal(kindOf(openai(429, { message, type: "x", code: `${who}_limit_exceeded` })), "QUOTA");
    }
    const plain = { status: 429, error: { error: { message, code: "credit_balance_exhausted" } } };
    assert.equal(kindOf(plain), "QUOTA");
    assert.equal(kindOf(failed({ service: "tool" }, "a tool failed", plain)), "QUOTA");
    assert.equal(kindOf(openai(429, { message, type: "tokens", code: "rate_limit_exceeded" })), "RATE_LIMIT");
  });

  it("UF-16 Anthropic's is a 400 that only its first words tell, a 402, or a 429 with a code", () => {
    const type = "invalid_request_error";
    const low = "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.";
    assert.equal(kindOf(anthropic(400, { type, message: low })), "QUOTA");
    assert.equal(kindOf(anthropic(400, { type, message: `messages.0: "${low}" is too long` })), "unchanged");
    assert.equal(kindOf(anthropic(400, { type: "other_error", message: low })), "unchanged");
    assert.equal(kindOf(anthropic(500, { type: "api_error", message: low })), "TRANSIENT");
    assert.equal(kindOf(anthropic(402, { type: "billing_error", message: "x" })), "QUOTA");
    const details = { error_code: "enforced_spend_limit_reached" };
    assert.equal(kindOf(anthropic(429, { type: "rate_limit_error", message: "x", details })), "QUOTA");
    assert.equal(
      kindOf(anthropic(429, { type: "rate_limit_error", message: "x", details: null })),
      "RATE_LIMIT",
    );
  });

  it("UF-16 the error is uncorrectable and knows what the upstream said", () => {
    const error = openai(429, { message: "no money", type: "insufficient_quota", code: null }, {
      "retry-after": "1",
    });
    const quota = classifyUpstreamFailure(error);
    assert.ok(quota instanceof QuotaExhaustedError && quota instanceof UncorrectableError);
    assert.deepEqual([quota.code, quota.isCorrectable, quota.retryAfterMs], ["quota_exhausted", false, null]);
    assert.deepEqual([quota.name, quota.failure.statusCode], ["QuotaExhaustedError", 429]);
    assert.match(quota.message, /quota .* exhausted: HTTP 429: 429 no money/);
  });
});

describe("What was judged before, and what is none of ours", () => {
  it("UF-15 a signal and exhausted quota stay as they are, also as a cause", () => {
    const signal = new RetrySignal("OVERLOAD", new UpstreamFailure({ statusCode: 529 }));
    const quota = new QuotaExhaustedError(new UpstreamFailure({ statusCode: 429 }));
    for (const known of [signal, quota]) {
      assert.equal(classifyUpstreamFailure(known), known);
      assert.equal(classifyUpstreamFailure(new Error("wrapped", { cause: known })), known);
    }
  });

  it("UF-15 other errors of this library stand, whatever is behind them", () => {
    const cause = failed({ status: 429 });
    const ours = [
      new UncorrectableError("the stream broke off", { cause }),
      new CancellationError("cancelled", "the job was cancelled", { cause }),
      upstreamError({ status: 404, cause }),
      upstreamError({ status: 401, cause }),
    ];
    for (const error of ours) {
      assert.equal(kindOf(error), "unchanged");
      assert.equal(kindOf(new Error("wrapped", { cause: error })), "unchanged");
    }
  });

  it("UF-15 what is no error, or says nothing, is unchanged", () => {
    const things = [undefined, null, 429, "429", {}, [], Symbol("x"), new Error("a bug"), () => 429];
    for (const thing of things) assert.equal(classifyUpstreamFailure(thing), thing);
  });

  it("UF-15 the chain is followed 32 deep, and to no end where it leads back", () => {
    const chain = (depth: number): Error => {
      let error = failed({ status: 429 });
      for (let i = 1; i < depth; i++) error = new Error("wrapped", { cause: error });
      return error;
    };
    assert.equal(kindOf(chain(32)), "RATE_LIMIT");
    assert.equal(kindOf(chain(33)), "unchanged");
    const loop = new Error("loop");
    loop.cause = new Error("back", { cause: loop });
    assert.equal(kindOf(loop), "unchanged");
  });

  it("UF-15 members that throw when they are read count as absent", () => {
    const trap = Object.defineProperties(
      new Error("trap"),
      Object.fromEntries(
        ["status", "statusCode", "code", "type", "error", "cause", "headers", "response", "$metadata"].map((
          key,
        ) => [
          key,
          { get: () => assert.fail(`${key} was read`) },
        ]),
      ),
    );
    assert.equal(kindOf(trap), "unchanged");
    assert.equal(kindOf(Object.assign(Object.create(trap), {})), "unchanged");
    assert.equal(kindOf(new Error("wrapped", { cause: trap })), "unchanged");
    assert.equal(kindOf(Object.assign(Object.create(null), { status: 503 })), "TRANSIENT");
  });

  it("UF-15 a message of any length costs little", () => {
    const long = `error sending request for url (${
      "a".repeat(5_000_000)
    }): client error (Connect): dns error`;
    assert.equal(kindOf(new Error(long)), "unchanged");
    const verdict = classifyUpstreamFailure(failed({ status: 503 }, "x".repeat(5_000_000)));
    assert.ok(verdict instanceof RetrySignal && verdict.message.length < 1200);
  });
});
