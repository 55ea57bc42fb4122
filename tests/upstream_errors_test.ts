// The errors of upstreams: which status has which class, what they carry, and who hears of them.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  AdmissionError,
  CorrectableError,
  Demand,
  ExternalServiceError,
  UncorrectableError,
  UpstreamAuthError,
  UpstreamBadGatewayError,
  UpstreamBadRequestError,
  upstreamError,
  UpstreamFailure,
  UpstreamForbiddenError,
  UpstreamNotFoundError,
  UpstreamRateLimitError,
  UpstreamRequestError,
  UpstreamServerError,
  UpstreamTooLargeError,
  UpstreamUnauthorizedError,
  UpstreamUnavailableError,
  UpstreamUnprocessableError,
} from "../mod.ts";
import { Slots } from "./custom_accounts.ts";
import { scenario } from "./scenario.ts";

const OWN_CLASSES = [
  [400, UpstreamBadRequestError],
  [401, UpstreamUnauthorizedError],
  [403, UpstreamForbiddenError],
  [404, UpstreamNotFoundError],
  [413, UpstreamTooLargeError],
  [422, UpstreamUnprocessableError],
  [429, UpstreamRateLimitError],
  [500, UpstreamServerError],
  [502, UpstreamBadGatewayError],
  [503, UpstreamUnavailableError],
] as const;

const endpointOf = (endpoint: string | URL) => upstreamError({ status: 500, endpoint }).endpoint;

describe("Errors of an upstream", () => {
  it("UF-05 ten statuses have a class of their own, which nobody else is of", () => {
    for (const [status, type] of OWN_CLASSES) {
      const error = upstreamError({ status, service: "search" });
      const made = new type({ service: "search" });
      assert.deepEqual([error.status, made.status, error.name], [status, status, type.name]);
      const kinds = OWN_CLASSES.filter(([, other]) => error instanceof other).map(([own]) => own);
      assert.deepEqual(kinds, [status]);
      assert.ok(error instanceof AdmissionError);
    }
  });

  it("UF-05 any other status is an external service's error that carries it, also none at all", () => {
    for (const status of [0, 402, 408, 409, 418, 501, 504, 529, 599]) {
      const error = upstreamError({ status });
      assert.equal(error.constructor, ExternalServiceError);
      assert.deepEqual([error.status, error.code], [status, "external_service"]);
    }
  });

  it("UF-05 they carry what is known, and their text says it", () => {
    const cause = new Error("socket");
    const fields = { service: "search", detail: "slow down", retryAfterSeconds: 42 };
    const error = upstreamError({
      status: 429,
      ...fields,
      endpoint: "https://api.test/v1?key=s3cret",
      cause,
    });
    assert.equal(
      error.message,
      "The upstream failed: HTTP 429 from search: slow down (server asked for 42s), at https://api.test/v1",
    );
    assert.deepEqual([error.service, error.detail, error.retryAfterSeconds], ["search", "slow down", 42]);
    assert.equal(error.cause, cause);
    const bare = upstreamError({ status: 401 });
    assert.deepEqual([bare.service, bare.endpoint, bare.detail, bare.retryAfterSeconds], [null, null, "", 0]);
    assert.equal(bare.message, "The upstream failed: HTTP 401");
    assert.equal("cause" in bare, false);
  });

  it("UF-05 endpoints are reported without query string, fragment and credentials", () => {
    const address = "https://user:pa@ss@api.test:8443/v1/messages?key=s3cret&next=https://x/#part";
    assert.equal(endpointOf(address), "https://api.test:8443/v1/messages");
    assert.equal(endpointOf(new URL("https://u:p@api.test/v1?x=1")), "https://api.test/v1");
    assert.equal(endpointOf("/v1/messages?key=s3cret"), "/v1/messages");
    assert.equal(endpointOf("//u:p@api.test/v1#x"), "//api.test/v1");
    assert.equal(endpointOf("https://api.test/~a@b/c"), "https://api.test/~a@b/c", "a path may have an @");
    assert.equal(endpointOf("?only=query"), "");
  });

  it("UF-05 text from outside is cut, and never in the middle of a character", () => {
    const long = upstreamError({
      status: 500,
      detail: "x".repeat(10_000),
      endpoint: `/${"y".repeat(10_000)}`,
    });
    assert.deepEqual([long.detail.length, long.detail.slice(-5)], [1000, "xx..."]);
    assert.equal(long.endpoint!.length, 500);
    assert.ok(long.message.length < 1600);
    const odd = `${"x".repeat(996)}\u{1f600}${"x".repeat(10)}`;
    assert.equal(new UpstreamFailure({ statusCode: 500, detail: odd }).detail, `${"x".repeat(996)}...`);
    const whole = "x".repeat(1000);
    assert.equal(new UpstreamFailure({ statusCode: 500, detail: whole }).detail, whole);
    const thrown = Object.assign(new Error("z".repeat(5000)), { status: 500 });
    assert.equal(UpstreamFailure.from(thrown).detail.length, 1000);
  });

  it("UF-05 wrong fields are refused by name", () => {
    for (const status of [-1, 1.5, NaN, 1000]) {
      assert.throws(() => upstreamError({ status }), { name: "RangeError", message: /status is/ });
    }
    assert.throws(() => upstreamError({ status: "429" as never }), {
      name: "TypeError",
      message: /status is "429"/,
    });
    for (const retryAfterSeconds of [-1, NaN, Infinity]) {
      assert.throws(() => upstreamError({ status: 429, retryAfterSeconds }), {
        name: "RangeError",
        message: /retryAfterSeconds is/,
      });
    }
    assert.throws(() => upstreamError({ status: 429, detail: {} as never }), {
      name: "TypeError",
      message: /detail is an object/,
    });
    assert.throws(() => endpointOf(7 as never), { name: "TypeError", message: /endpoint is 7/ });
  });

  it("UF-06 input errors can be mended, refused credentials cannot, neither is a service's failure", () => {
    for (const status of [400, 404, 413, 422]) {
      const error = upstreamError({ status });
      assert.ok(error instanceof UpstreamRequestError && error instanceof CorrectableError);
      assert.deepEqual([error instanceof ExternalServiceError, error.code], [false, "correctable"]);
    }
    for (const status of [401, 403]) {
      const error = upstreamError({ status });
      assert.ok(error instanceof UpstreamAuthError && error instanceof UncorrectableError);
      assert.deepEqual([error instanceof ExternalServiceError, error.code], [false, "uncorrectable"]);
    }
    for (const status of [0, 402, 408, 429, 500, 502, 503, 504, 529]) {
      assert.ok(upstreamError({ status }) instanceof ExternalServiceError, String(status));
    }
  });

  it(
    "UF-06 limiters hear of a service's failures only, also of one that gave no answer",
    scenario(async (world) => {
      const heard: number[] = [];
      const slots = new Slots("search", 1);
      slots.onRateLimitError = ({ statusCode }) => void heard.push(statusCode);
      const admission = world.admission();
      for (const status of [400, 401, 403, 404, 413, 422, 0, 402, 429, 500, 502, 503, 529]) {
        const error = upstreamError({ status });
        await assert.rejects(admission.run(new Demand().add(slots), () => Promise.reject(error)), error);
      }
      assert.deepEqual(heard, [0, 402, 429, 500, 502, 503, 529]);
    }),
  );

  it("UF-02 a failure is read off such an error as off any other", () => {
    const http = upstreamError({ status: 503, service: "http", detail: "down", retryAfterSeconds: 7 });
    const tool = upstreamError({ status: 0, service: "tool", cause: http });
    const { statusCode, service, detail, retryAfterSeconds } = UpstreamFailure.from(tool);
    assert.deepEqual([statusCode, service, detail, retryAfterSeconds], [503, "tool", "down", 7]);
  });

  it("UF-03 the wait is read off the headers on an error, and junk there says nothing", () => {
    const secondsOf = (facts: Record<string, unknown>) =>
      UpstreamFailure.from(Object.assign(new Error("throttled"), facts)).retryAfterSeconds;
    assert.equal(secondsOf({ headers: new Headers({ "Retry-After": "60" }) }), 60);
    assert.equal(secondsOf({ headers: { "retry-after": " 7 " } }), 7);
    assert.equal(secondsOf({ responseHeaders: { "retry-after": "1.5" } }), 1.5);
    assert.equal(secondsOf({ response: new Response("", { headers: { "retry-after-ms": "2500" } }) }), 2.5);
    assert.equal(secondsOf({ headers: { "retry-after-ms": "80", "retry-after": "1" } }), 0.08);
    assert.equal(secondsOf({ headers: { "Retry-After": "6m0s" } }), 360);
    assert.equal(secondsOf({ retryAfterSeconds: 9, headers: { "retry-after": "1" } }), 9);
    const broken = { get: () => assert.fail("the headers are broken") };
    const trap = Object.defineProperty({}, "retry-after", { get: () => assert.fail("a trap") });
    for (const value of ["", "soon", "-3", "1e9", "Infinity", "0x10", "9".repeat(40), "7 8", 7, null]) {
      assert.equal(secondsOf({ headers: { "retry-after": value } }), 0, String(value));
    }
    for (const headers of [broken, trap, null, "retry-after: 7", [], new Map()]) {
      assert.equal(secondsOf({ headers }), 0);
    }
  });
});
