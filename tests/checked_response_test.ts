// A response of fetch on its way into the library: handed on when it is good, thrown as the error of its status when it is not.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  callUpstream,
  checkedResponse,
  type CheckedResponseOptions,
  classifyUpstreamFailure,
  ExternalServiceError,
  ModelGate,
  ModelSpec,
  QuotaExhaustedError,
  RetrySignal,
  UpstreamBadRequestError,
  UpstreamNotFoundError,
  UpstreamRateLimitError,
} from "../mod.ts";
import { ManualClock } from "../testing/mod.ts";
import { scenario } from "./scenario.ts";
import { pair, thrownBy } from "./upstream_calls.ts";

function failed(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return new Response(text, { status, statusText: "its status text", headers });
}

/** A body that goes on for ever, a kilobyte at a time, and what is done with it. */
function endless(): { body: ReadableStream<Uint8Array>; seen: { bytes: number; isCancelled: boolean } } {
  const seen = { bytes: 0, isCancelled: false };
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      seen.bytes += 1_000;
      controller.enqueue(new TextEncoder().encode("x".repeat(1_000)));
    },
    cancel: () => void (seen.isCancelled = true),
  });
  return { body, seen };
}

async function errorOf(response: Response, options?: CheckedResponseOptions): Promise<ExternalServiceError> {
  return await thrownBy(() => checkedResponse(response, options)) as ExternalServiceError;
}

describe("A response that is checked", () => {
  it("is handed on, the same and unread, when its status is below 400", async () => {
    for (
      const response of [Response.json({ ok: 1 }), new Response(null, { status: 304 }), new Response("")]
    ) {
      assert.equal(await checkedResponse(response), response);
      assert.equal(response.bodyUsed, false);
    }
  });

  it("UF-05 UF-06 is thrown as the error of its status, with what the server said", async () => {
    const said = { type: "error", error: { type: "not_found_error", message: "no such model" } };
    const error = await errorOf(failed(404, said), { provider: "anthropic" });
    assert.ok(error instanceof UpstreamNotFoundError);
    assert.deepEqual([error.status, error.service, error.detail], [404, "anthropic", "no such model"]);
    const texts: readonly [body: string, detail: string][] = [
      ["plain words", "plain words"],
      ["", "its status text"],
      [' {"message": "at the top"}', "at the top"],
      ['{"message": 7, "error": null}', '{"message": 7, "error": null}'],
      ["null", "null"],
      ["x".repeat(2_000), `${"x".repeat(997)}...`],
    ];
    for (const [body, detail] of texts) {
      const unnamed = await errorOf(failed(500, body));
      assert.deepEqual([unnamed.detail, unnamed.service], [detail, null]);
    }
    assert.equal((await errorOf(failed(500, ""), { provider: "openai", service: "ours" })).service, "ours");
  });

  it("UF-05 says the address without its query", async () => {
    const response = failed(503, "");
    Object.defineProperty(response, "url", { value: "https://api.example.com/v1/chat?key=secret" });
    assert.equal((await errorOf(response)).endpoint, "https://api.example.com/v1/chat");
    assert.equal((await errorOf(failed(503, ""))).endpoint, null);
  });

  it("BEY-70 BEY-71 carries how long to wait, in whatever form the provider says it", async () => {
    const clock = new ManualClock(0, Date.UTC(2026, 10, 30, 12, 0, 0));
    const seconds = async (headers: Record<string, string>, body: unknown = "", options = {}) =>
      (await errorOf(failed(429, body, headers), { clock, ...options })).retryAfterSeconds;
    assert.equal(await seconds({ "retry-after": "7" }), 7);
    assert.equal(await seconds({ "retry-after-ms": "1500", "retry-after": "2" }), 1.5);
    assert.equal(await seconds({ "retry-after": "Mon, 30 Nov 2026 12:00:30 GMT" }), 30);
    assert.equal(await seconds({}), 0);
    assert.equal(await seconds({ "retry-after": "soon" }), 0);
    const gemini = {
      error: { code: 429, details: [{ "@type": "x/google.rpc.RetryInfo", retryDelay: "9s" }] },
    };
    assert.equal(await seconds({}, gemini, { provider: "gemini" }), 9);
    assert.equal(await seconds({}, gemini), 0, "without the provider nobody looks there");
  });

  it("UF-07 UF-16 is classified as clients' errors are: a limit, exhausted quota, used-up credit, a bad request", async () => {
    const verdict = async (status: number, error: object) =>
      classifyUpstreamFailure(await errorOf(failed(status, { error }, { "retry-after": "3" })));
    const limit = await verdict(429, { type: "rate_limit_error", message: "slow down" });
    assert.ok(limit instanceof RetrySignal);
    assert.deepEqual([limit.kind, limit.retryAfterMs, limit.failure.detail], [
      "RATE_LIMIT",
      3_000,
      "slow down",
    ]);
    assert.ok(limit.cause instanceof UpstreamRateLimitError);
    assert.ok(await verdict(429, { code: "insufficient_quota" }) instanceof QuotaExhaustedError);
    const credit = { type: "invalid_request_error", message: "Your credit balance is too low to access" };
    assert.ok(await verdict(400, credit) instanceof QuotaExhaustedError);
    assert.ok(await verdict(400, { message: "429 rate limit" }) instanceof UpstreamBadRequestError);
    const overload = await verdict(529, { type: "overloaded_error" });
    assert.equal((overload as RetrySignal).kind, "OVERLOAD");
  });

  it("reads 64 KiB of a body that never ends, and cancels the rest; one that breaks off is judged by what came", async () => {
    const { body, seen } = endless();
    const error = await errorOf(new Response(body, { status: 500 }));
    assert.equal(error.detail.length, 1_000);
    assert.equal(seen.isCancelled, true);
    assert.ok(seen.bytes >= 65_536 && seen.bytes < 70_000, `${seen.bytes} bytes`);
    const broken = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode("half a sent")),
      pull: (controller) => controller.error(new Error("reset")),
    });
    assert.equal((await errorOf(new Response(broken, { status: 500 }))).detail, "half a sent");
    const used = failed(500, "read before");
    await used.text();
    assert.equal((await errorOf(used)).detail, "its status text");
  });

  it("BEY-60 is refused when it is none, and so are a provider and a clock that are none", async () => {
    for (const wrong of [undefined, null, 7, "200", {}, { status: 429 }, Promise.resolve(new Response(""))]) {
      await assert.rejects(checkedResponse(wrong as Response), {
        name: "TypeError",
        message: /^Cannot check a response: it is .*, it should be what fetch answers$/,
      });
    }
    const good = () => new Response("");
    await assert.rejects(checkedResponse(good(), { provider: "claude" as "anthropic" }), RangeError);
    await assert.rejects(checkedResponse(good(), { clock: {} as never }), /clock is/);
  });
});

describe("A call upstream that answers a response", () => {
  it(
    "UF-12 with 429 is a rate limit, with 529 overload, and is thrown; a good one is a success and stays unread",
    scenario(async (world) => {
      const { told } = pair(world, 2);
      for (const [status, kind, throttle] of [[429, "RATE_LIMIT", 1.5], [529, "OVERLOAD", 3]] as const) {
        const signal = await thrownBy(() =>
          callUpstream(told, () => failed(status, "", { "retry-after": "4" }))
        );
        assert.ok(signal instanceof RetrySignal);
        assert.deepEqual([signal.kind, signal.retryAfterMs, told.throttle], [kind, 4_000, throttle]);
      }
      const good = Response.json({ text: "fine" });
      for (let nth = 0; nth < 3; nth++) assert.equal(await callUpstream(told, () => good), good);
      assert.deepEqual([told.throttle, good.bodyUsed], [2.8, false]);
    }),
  );

  it(
    "UF-12 with another refusal touches nothing and is thrown as the error of its status, also where the model has a gate",
    scenario(async (world) => {
      const { told } = pair(world, 2);
      const gate = new ModelGate(new ModelSpec({ id: "judge", maxConcurrent: 1 }));
      for (const account of [told, gate]) {
        const error = await thrownBy(() =>
          callUpstream(account, () => Promise.resolve(failed(404, "no model")))
        );
        assert.ok(error instanceof UpstreamNotFoundError);
        assert.equal(error.detail, "no model");
        assert.ok(await thrownBy(() => callUpstream(account, () => failed(503, ""))) instanceof RetrySignal);
      }
      assert.equal(told.throttle, 1);
    }),
  );

  it(
    "looks at what is no Response of the runtime, but of a library's fetch, and at nothing else that has a status",
    scenario(async (world) => {
      const { told } = pair(world);
      const headers = new Map([["retry-after", "2"]]);
      const theirs = { status: 429, ok: false, headers, text: () => Promise.resolve(""), statusText: "slow" };
      const signal = await thrownBy(() => callUpstream(told, () => theirs));
      assert.ok(signal instanceof RetrySignal);
      assert.deepEqual([signal.retryAfterMs, signal.failure.detail], [2_000, "slow"]);
      for (const answer of [{ status: 429 }, { status: 500, text: "a row" }, 429, null, "429"]) {
        assert.equal(await callUpstream(told, () => answer), answer);
      }
    }),
  );
});
