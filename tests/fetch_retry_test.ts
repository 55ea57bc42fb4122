// What is sent again, after which pause, and what is not.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { CountingGate, retryDelayMs } from "../mod.ts";
import type { AdmittedFetchOptions } from "../adapters/fetch.ts";
import {
  chat,
  CHAT_URL,
  completion,
  errorOf,
  events,
  FetchWorld,
  follow,
  pieces,
  type Provider,
  refusal,
  withProvider,
} from "./fetch_world.ts";

/** Answers one after another; the last one again and again. */
function inTurn(...answers: (() => Response | Promise<Response>)[]): Provider {
  return (_, index) => answers[Math.min(index, answers.length - 1)]!();
}

/** The pauses between the attempts of one call, ms, and what it came to. */
async function pausesOf(
  provider: Provider,
  options: Partial<AdmittedFetchOptions> = {},
  init: RequestInit = chat(),
): Promise<{ world: FetchWorld; pauses: number[]; response: Response }> {
  const world = new FetchWorld();
  const outcome = follow(world.fetch(provider, options)(CHAT_URL, init));
  await world.clock.advance(10_000_000);
  if (outcome.error !== undefined) throw outcome.error;
  const times = world.sent.map(({ atMs }) => atMs);
  return { world, pauses: times.slice(1).map((atMs, i) => atMs - times[i]!), response: outcome.value! };
}

describe("A retry", () => {
  it("UF-07 and BEY-71: comes after 429, 529, 5xx and 408 from anybody, and after a request that reached nobody", async () => {
    const unreached = Object.assign(new TypeError("fetch failed"), {
      cause: Object.assign(new Error("refused"), { code: "ECONNREFUSED" }),
    });
    for (const status of [408, 429, 500, 502, 503, 504, 529]) {
      const { world, response } = await pausesOf(inTurn(() => refusal(status), () => completion(5)));
      assert.deepEqual([response.status, world.sent.length], [200, 2], String(status));
    }
    const { world, response } = await pausesOf(inTurn(() => Promise.reject(unreached), () => completion(5)));
    assert.deepEqual([response.status, world.sent.length], [200, 2]);
  });

  it("UF-20 does not come after any other status, whatever the text says", async () => {
    for (const status of [400, 401, 403, 404, 413, 422, 304]) {
      const { world, response } = await pausesOf(() =>
        status === 304
          ? new Response(null, { status })
          : refusal(status, { "retry-after": "1" }, { message: "429 rate limit overloaded" })
      );
      assert.deepEqual([response.status, world.sent.length], [status, 1]);
    }
  });

  it("UF-16 does not come after exhausted quota, whose 429 is handed on whole and slows nobody down", async () => {
    const { world, response } = await pausesOf(() =>
      refusal(429, { "retry-after": "1" }, { code: "insufficient_quota", type: "insufficient_quota" })
    );
    assert.deepEqual([response.status, world.sent.length, world.bucket.throttle], [429, 1, 0]);
    assert.equal((await response.json()).error.code, "insufficient_quota");
    world.assertIdle();
  });

  it("UF-08 and UF-09: pauses by default as retryDelayMs says, longer each time and spread", async () => {
    const seen: [string, number][] = [];
    const { world, pauses } = await pausesOf(() => refusal(429), {
      pauseMs: (signal, reruns) => {
        seen.push([signal.kind, reruns]);
        return retryDelayMs(signal, { reruns, random: () => 0.5 });
      },
    });
    assert.deepEqual(pauses, [17_500, 35_000, 52_500]);
    assert.deepEqual(seen, [["RATE_LIMIT", 0], ["RATE_LIMIT", 1], ["RATE_LIMIT", 2]]);
    assert.equal(world.http.currentInUse, 1, "for the last response, which nobody has read yet");
    const spread = new Set<number>();
    const byDefault: object = { pauseMs: undefined, maxRetries: 1 };
    for (let i = 0; i < 10; i++) {
      const { pauses: [pause = 0] } = await pausesOf(() => refusal(529), byDefault);
      assert.ok(pause >= 15_000 && pause < 90_000, String(pause));
      spread.add(pause);
    }
    assert.ok(spread.size > 5, "those who are told the same do not come back together");
  });

  it("BEY-71 waits at least as long as any form of retry-after says", async () => {
    const date = new Date(1_700_000_000_000 + 45_000).toUTCString();
    for (
      const [headers, wait] of [
        [{ "retry-after": "45" }, 45_000],
        [{ "retry-after": "1.5", "retry-after-ms": "45000.5" }, 45_001],
        [{ "retry-after": date }, 45_000],
        [{ "retry-after": "45s" }, 45_000],
        [{ "retry-after": "0" }, 1000],
        [{ "retry-after": "soon" }, 1000],
        [{ "retry-after": "-5" }, 1000],
      ] as [Record<string, string>, number][]
    ) {
      for (const status of [429, 503, 529]) {
        const { pauses } = await pausesOf(inTurn(() => refusal(status, headers), () => completion(5)));
        assert.deepEqual(pauses, [wait], JSON.stringify(headers));
      }
    }
    const told = { details: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34s" }] };
    const { pauses } = await pausesOf(inTurn(() => refusal(429, {}, told), () => completion(5)), {
      provider: "gemini",
    });
    assert.deepEqual(pauses, [34_000], "Gemini tells it in the body");
    const silent = await pausesOf(inTurn(() => refusal(429, { "retry-after": "45" }), () => completion(5)), {
      provider: "bedrock",
    });
    assert.deepEqual(silent.pauses, [45_000], "one whose dialect knows no such header is heard as well");
  });

  it("is not made when its pause would be longer than allowed: the response is handed on at once", async () => {
    const world = new FetchWorld();
    const fetch = world.fetch(() => refusal(429, { "retry-after": "61" }), { maxPauseMs: 60_000 });
    const response = await fetch(CHAT_URL, chat());
    assert.deepEqual([response.status, response.headers.get("retry-after"), world.sent.length], [
      429,
      "61",
      1,
    ]);
    assert.equal(world.http.currentInUse, 1, "until its body is used up");
    await response.text();
    world.assertIdle();
    const { pauses } = await pausesOf(() => refusal(429, { "retry-after": "61" }), { maxPauseMs: 61_000 });
    assert.deepEqual(pauses, Array(3).fill(61_000));
    assert.match(
      world.logs.join(),
      /warn Does not ask again, the pause of 61000 ms would be too long: HTTP 429 from api\.test: slow down/,
    );
  });

  it("UF-10 comes three times by default, then the last response is handed on; with a budget of 0 never", async () => {
    const { world, response } = await pausesOf(
      inTurn(
        () => refusal(500),
        () => refusal(429),
        () => refusal(503),
        () => refusal(529, {}, { message: "the last" }),
      ),
    );
    assert.deepEqual([world.sent.length, response.status], [4, 529]);
    assert.equal((await response.json()).error.message, "the last");
    world.assertIdle();
    const none = await pausesOf(() => refusal(429), { maxRetries: 0 });
    assert.deepEqual([none.world.sent.length, none.response.status], [1, 429]);
    const unreached = Object.assign(new TypeError("fetch failed"), { code: "ECONNRESET" });
    const other = new FetchWorld();
    assert.equal(
      await errorOf(other.fetch(() => Promise.reject(unreached), { maxRetries: 0 })(CHAT_URL, chat())),
      unreached,
    );
  });

  it("UF-11 gives the attempt's permits back before its pause and is admitted anew after it; its tokens stay spent", async () => {
    const world = new FetchWorld();
    const unread = pieces(["never read"], "text/plain");
    const answers = [new Response(unread.response.body, { status: 503 }), refusal(503), completion()];
    const other = new CountingGate("other", 1);
    const fetch = world.fetch((_, index) => answers[index]!, { demand: (demand) => demand.add(other) });
    const outcome = follow(fetch(CHAT_URL, chat()));
    await world.settle();
    assert.deepEqual([world.http.currentInUse, other.currentInUse, unread.cancelled()], [0, 0, true]);
    assert.equal(world.bucket.currentInUse, 100);
    const taken = other.tryTake([undefined], []);
    await world.clock.advance(1000);
    assert.deepEqual(
      [taken, world.admission.queueSize, world.sent.length],
      [true, 1, 1],
      "it stands in line like everybody",
    );
    other.give([undefined]);
    await world.clock.advance(0);
    assert.equal(world.sent.length, 2);
    await world.clock.advance(1000);
    assert.equal(world.sent.length, 3);
    await outcome.value!.text();
    world.assertIdle();
  });

  it("sends the same bytes each time, whatever became of what the caller handed in", async () => {
    const world = new FetchWorld();
    const bytes = new TextEncoder().encode('{"model":"gpt","n":1}');
    const headers = new Headers({ "content-type": "application/json", "x-own": "1" });
    const url = new URL(CHAT_URL);
    const init: RequestInit = { method: "POST", headers, body: bytes };
    const outcome = follow(world.fetch(inTurn(() => refusal(429), () => completion(5)))(url, init));
    url.pathname = "/changed";
    headers.set("x-own", "2");
    bytes.fill(0);
    Object.assign(init, { method: "DELETE", body: null });
    await world.clock.advance(5000);
    assert.equal(outcome.value!.status, 200);
    const all = world.sent.map(({ url, method, headers, body }) => [url, method, headers.get("x-own"), body]);
    assert.deepEqual(all, Array(2).fill([CHAT_URL, "POST", "1", '{"model":"gpt","n":1}']));
  });

  it("is not made of a body that is a stream: one attempt, and a word in the log", async () => {
    const body = () => new Response('{"model":"gpt"}').body!;
    for (
      const input of [
        CHAT_URL,
        new Request(CHAT_URL, { method: "POST", body: body(), duplex: "half" } as RequestInit),
      ]
    ) {
      const init = typeof input === "string"
        ? { method: "POST", body: body(), duplex: "half" } as RequestInit
        : undefined;
      const world = new FetchWorld();
      const response = await world.fetch(() => refusal(429))(input, init);
      assert.deepEqual([response.status, world.sent.length, world.sent[0]!.body], [
        429,
        1,
        '{"model":"gpt"}',
      ]);
      assert.match(world.logs.join(), /its body is a stream and cannot be sent twice/);
    }
  });

  it("UF-18 does not come once the response has begun: a stream that breaks off, or tells of overload, ends as it is", async () => {
    const reset = Object.assign(new TypeError("terminated"), {
      cause: Object.assign(new Error("gone"), { code: "ECONNRESET" }),
    });
    const broken = await pausesOf(() => pieces([events({ i: 1 })], undefined, reset).response);
    assert.equal(await errorOf(broken.response.text()), reset);
    assert.deepEqual(
      [broken.world.sent.length, broken.world.bucket.throttle],
      [1, 0],
      "a cut connection weighs nothing",
    );
    const overloaded = { type: "error", error: { type: "overloaded_error", message: "busy" } };
    const { world, response } = await pausesOf(
      () => pieces([events({ type: "message_start" }, overloaded)]).response,
      { provider: "anthropic" },
    );
    assert.match(await response.text(), /overloaded_error/);
    assert.deepEqual([world.sent.length, world.bucket.throttle], [1, 1.5]);
    world.assertIdle();
  });

  it("that is refused in line rejects with the refusal", async () => {
    const world = new FetchWorld();
    const fetch = world.fetch(() => refusal(429), { admit: { timeoutMs: 10 } });
    const outcome = follow(fetch(CHAT_URL, chat()));
    await world.settle();
    world.http.tryTake(Array(1000).fill(undefined), []);
    await world.clock.advance(5000);
    assert.equal((outcome.error as { code: string }).code, "timeout");
  });

  it("honours a server's own words through a socket", async () => {
    let calls = 0;
    await withProvider((request, response) => {
      calls++;
      if (calls === 1) {
        response.writeHead(429, { "retry-after-ms": "30", "content-type": "application/json" }).end(
          '{"error":{}}',
        );
      } else if (calls === 2) request.socket.destroy();
      else {response.writeHead(200, { "content-type": "application/json" }).end(
          `{"usage":{"total_tokens":3},"body":${request.text}}`,
        );}
    }, async (url) => {
      const world = new FetchWorld();
      const own = world.fetch(() => assert.fail(), {
        fetch: (input, init) => fetch(input, init),
        pauseMs: () => 0,
      });
      const outcome = follow(own(`${url}/v1/chat/completions`, chat()));
      for (let i = 0; i < 500 && outcome.value === undefined && outcome.error === undefined; i++) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        await world.clock.advance(10);
      }
      assert.equal((await outcome.value!.json()).body.model, "gpt");
      assert.equal(calls, 3);
      world.assertIdle();
    });
  });
});
