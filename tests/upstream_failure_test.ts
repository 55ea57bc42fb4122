// What is read off an error chain about an upstream's failed answer, and how it is summed up.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { UpstreamFailure } from "../mod.ts";

/** An error that carries facts about an answer. */
function carrier(message: string, facts: Record<string, unknown>, cause?: unknown): Error {
  return Object.assign(new Error(message, { cause }), facts);
}

function fieldsOf({ statusCode, service, detail, retryAfterSeconds }: UpstreamFailure): unknown[] {
  return [statusCode, service, detail, retryAfterSeconds];
}

describe("An upstream's failure", () => {
  it("UF-01 has status, service, detail and retry-after, where 0 means no answer and no instruction", () => {
    const full = { statusCode: 503, service: "search", detail: "down", retryAfterSeconds: 7 };
    assert.deepEqual(fieldsOf(new UpstreamFailure(full)), [503, "search", "down", 7]);
    assert.deepEqual(fieldsOf(new UpstreamFailure({ statusCode: 0 })), [0, null, "", 0]);
    assert.throws(() => Object.assign(new UpstreamFailure(full), { statusCode: 1 }), TypeError);
    for (const statusCode of [-1, 1.5, NaN, 1000]) {
      assert.throws(() => new UpstreamFailure({ statusCode }), RangeError);
    }
    for (const retryAfterSeconds of [-1, NaN, Infinity]) {
      assert.throws(() => new UpstreamFailure({ statusCode: 429, retryAfterSeconds }), RangeError);
    }
  });

  it("UF-02 takes status and detail from the first HTTP answer, the wait from the first that has one", () => {
    const answer = carrier("Too Many Requests", { statusCode: 429, detail: "slow down", service: "http" });
    const throttle = carrier("throttled", { retryAfterSeconds: 42, service: "throttle" }, answer);
    const tool = carrier("the tool failed", { service: "search" }, throttle);
    assert.deepEqual(fieldsOf(UpstreamFailure.from(tool)), [429, "search", "slow down", 42]);
  });

  it("UF-02 lets what is nearer to the outside win", () => {
    const inner = carrier("inner", { status: 500, detail: "inner", retryAfterSeconds: 9 });
    const outer = carrier("outer", { status: 529, retryAfterSeconds: 4 }, inner);
    assert.deepEqual(
      fieldsOf(UpstreamFailure.from(outer)),
      [529, null, "outer", 4],
      "a message serves as detail",
    );
    const named = carrier("wrapped", {}, carrier("named", { service: "inner service", status: 500 }));
    assert.equal(UpstreamFailure.from(named).service, null, "the service is the outermost error's");
  });

  it("UF-03 has status 0 and the outer error's own detail when no answer came", () => {
    const refused = carrier("connection refused", { service: "search" }, new Error("ECONNREFUSED"));
    assert.deepEqual(fieldsOf(UpstreamFailure.from(refused)), [0, "search", "connection refused", 0]);
    const throttle = carrier("throttled by a header", { retryAfterSeconds: 60 });
    assert.deepEqual(fieldsOf(UpstreamFailure.from(throttle)), [0, null, "throttled by a header", 60]);
    for (const junk of [null, undefined, "text", 7]) {
      assert.deepEqual(fieldsOf(UpstreamFailure.from(junk)), [0, null, "", 0]);
    }
  });

  it("UF-03 reads junk as absent, and ends on a chain that leads back to itself", () => {
    const junk = { statusCode: "429", status: 1.5, retryAfterSeconds: NaN, service: 5, detail: {} };
    assert.deepEqual(fieldsOf(UpstreamFailure.from(carrier("junk", junk))), [0, null, "junk", 0]);
    const loop = carrier("loop", { service: "search" });
    loop.cause = loop;
    assert.deepEqual(fieldsOf(UpstreamFailure.from(loop)), [0, "search", "loop", 0]);
  });

  it("UF-04 sums itself up and leaves out what is blank or zero", () => {
    const summary = (statusCode: number, service: string | null, detail: string, retryAfterSeconds: number) =>
      new UpstreamFailure({ statusCode, service, detail, retryAfterSeconds }).summary();
    assert.equal(summary(500, null, "", 0), "HTTP 500");
    assert.equal(
      summary(429, "search", "slow down", 42),
      "HTTP 429 from search: slow down (server asked for 42s)",
    );
    assert.equal(summary(0, null, "", 0), "no response");
    assert.equal(summary(0, "search", " ", 5), "no response from search (server asked for 5s)");
    assert.equal(summary(503, "  ", "down", 0), "HTTP 503: down");
  });
});
