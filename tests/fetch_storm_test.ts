// Many requests at once, and providers that misbehave: no permit is lost, no quota overrun, and every caller gets an answer.

import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "@std/testing/bdd";
import { UncorrectableError } from "../mod.ts";
import {
  chat,
  CHAT_URL,
  completion,
  errorOf,
  events,
  FetchWorld,
  follow,
  json,
  pieces,
  refusal,
  withProvider,
} from "./fetch_world.ts";

const KINDS = [
  "answers",
  "streams",
  "refuses",
  "fails",
  "breaks off",
  "hangs",
  "hangs amid its body",
  "is unreachable",
] as const;
const unreached = Object.assign(new TypeError("fetch failed"), { code: "ECONNREFUSED" });

/** A response of a provider that has a bad day. It hears the request's signal, as fetch does. */
function answer(kind: typeof KINDS[number], { signal }: Request): Response | Promise<Response> {
  const aborted = new Promise<never>((_, reject) =>
    signal.addEventListener("abort", () => reject(signal.reason))
  );
  aborted.catch(() => {});
  switch (kind) {
    case "answers":
      return completion(50);
    case "streams":
      return pieces([events({ i: 1 }), events({ usage: { total_tokens: 60 } }), events("[DONE]")]).response;
    case "refuses":
      return refusal(429, { "retry-after": "2" });
    case "fails":
      return refusal(503);
    case "breaks off":
      return pieces([events({ i: 1 })], undefined, unreached).response;
    case "hangs":
      return aborted;
    case "hangs amid its body":
      return new Response(new ReadableStream({ pull: () => aborted }, { highWaterMark: 0 }));
    case "is unreachable":
      return Promise.reject(unreached);
  }
}

describe("Many requests at once", () => {
  it("survive a storm of aborts, whatever the provider does: each is answered, and nothing stays taken", async () => {
    const call = fc.record({
      kinds: fc.array(fc.constantFrom(...KINDS), { minLength: 1, maxLength: 3 }),
      abortMs: fc.option(fc.integer({ min: 0, max: 5000 }), { nil: null }),
      use: fc.constantFrom("text", "cancel", "one piece", "clone"),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: 20, maxLength: 60 }), async (calls) => {
        const world = new FetchWorld();
        world.http.setCapacity(4);
        const tries = new Map<number, number>();
        const own = world.fetch((sent, _, request) => {
          const { n } = JSON.parse(sent.body) as { n: number };
          const tried = tries.get(n) ?? 0;
          tries.set(n, tried + 1);
          const { kinds } = calls[n]!;
          return answer(kinds[tried % kinds.length]!, request);
        });
        const outcomes = calls.map(({ abortMs, use }, n) => {
          const controller = new AbortController();
          // Whoever would hang is ended in any case.
          world.clock.setTimer(abortMs ?? 60_000, () => controller.abort(`reason ${n}`));
          return follow(
            own(CHAT_URL, chat({ n }, { signal: controller.signal })).then((response) =>
              usedUp(response, use)
            ),
          );
        });
        await world.clock.advance(600_000);
        assert.ok(
          outcomes.every((outcome) => "value" in outcome || "error" in outcome),
          "every caller is answered",
        );
        for (const [n, { error }] of outcomes.entries()) {
          assert.ok(error === undefined || error === unreached || error === `reason ${n}`, String(error));
        }
        await world.admission.drain();
        world.assertIdle();
        assert.equal(world.clock.pendingTimers, 0);
        assert.deepEqual(world.logs.filter((line) => line.startsWith("error")), []);
        assert.equal(world.bucket.currentInUse, 0, "ten minutes later the bucket is full");
      }),
      { numRuns: 30 },
    );
  });

  it("keep to a limit that falls while 500 wait: beyond it goes at most what was in flight when it fell", async () => {
    const { overdrawn, inFlight } = await falling(true);
    assert.ok(inFlight > 0 && overdrawn <= inFlight, `${overdrawn} beyond the limit, ${inFlight} in flight`);
    const unlearned = await falling(false);
    assert.ok(unlearned.overdrawn > unlearned.inFlight, "the scenario tells the difference");
  });

  it("of 58, 80, 175, 175 and 175 tokens on a bucket of 100: what can never fit is refused with a reason, the rest take turns", async () => {
    const world = new FetchWorld();
    const small = { id: "gpt", tpm: 100, rpm: 1000 };
    const used: number[] = [];
    const own = world.fetch((sent) => {
      used.push(world.accounts.bucket(small).currentInUse, sent.atMs);
      return completion();
    }, { models: [small], estimate: ({ json }) => Number(json!["n"]) });
    const outcomes = [58, 80, 175, 175, 175].map((n) =>
      follow(own(CHAT_URL, chat({ n })).then((response) => response.text()))
    );
    await world.settle();
    for (const { error } of outcomes.slice(2)) {
      assert.ok(error instanceof UncorrectableError);
      assert.match(error.message, /175.*100/);
      assert.equal(error.account, "gpt");
    }
    assert.deepEqual(used, [58, 1000]);
    // 42 are left; 38 more take 22.8 s at 100 a minute.
    await world.clock.advance(22_799);
    assert.equal(used.length, 2);
    await world.clock.advance(1);
    assert.deepEqual(used, [58, 1000, 100, 23_800]);
    await world.settle();
    assert.ok(outcomes.slice(0, 2).every(({ value }) => value !== undefined));
    world.assertIdle();
  });
});

describe("A provider behind a socket", () => {
  it("that hangs keeps nobody: who is sent and who waits in line are answered when their time is up", async () => {
    let isWell = false;
    await withProvider((_, response) => {
      if (isWell) response.writeHead(200, { "content-type": "application/json" }).end("{}");
    }, async (url) => {
      const world = new FetchWorld();
      world.http.setCapacity(5);
      const own = world.fetch(() => assert.fail(), { fetch: (input, init) => fetch(input, init) });
      const errors = await Promise.all(
        Array.from({ length: 20 }, () => errorOf(own(url, chat({}, { signal: AbortSignal.timeout(100) })))),
      );
      assert.deepEqual(new Set(errors.map((error) => (error as Error).name)), new Set(["TimeoutError"]));
      world.assertIdle();
      isWell = true;
      assert.equal(await (await own(url, chat())).text(), "{}");
      world.assertIdle();
    });
  });

  it("that closes mid-stream breaks the body off, and is asked once", async () => {
    let requests = 0;
    await withProvider((request, response) => {
      requests++;
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(events({ i: 1 }), () => setTimeout(() => request.socket.destroy(), 10));
    }, async (url) => {
      const world = new FetchWorld();
      const own = world.fetch(() => assert.fail(), { fetch: (input, init) => fetch(input, init) });
      const responses = await Promise.all(Array.from({ length: 10 }, () => own(url, chat())));
      assert.equal(world.http.currentInUse, 10);
      const ends = await Promise.all(responses.map((response) => errorOf(response.text())));
      assert.ok(ends.every((error) => error instanceof Error));
      assert.equal(requests, 10);
      world.assertIdle();
      assert.equal(world.bucket.currentInUse, 1000, "what they used is not known");
    });
  });
});

/** Uses a body in one of several ways; an error of the body is an outcome like others. */
async function usedUp(response: Response, use: string): Promise<void> {
  if (use === "text") await response.text();
  else if (use === "cancel") await response.body?.cancel();
  else if (use === "clone") await Promise.all([response.clone().text(), response.text()]);
  else {
    const reader = response.body!.getReader();
    await reader.read();
    await reader.cancel();
  }
}

/**
 * 560 requests of 100 tokens, 20 at a time, to a provider whose limit falls from 60,000 to 6,000 a minute. Answers the most
 * tokens by which it was overdrawn afterwards, and those that were in flight when it fell.
 */
async function falling(learn: boolean): Promise<{ overdrawn: number; inFlight: number }> {
  const world = new FetchWorld();
  world.http.setCapacity(20);
  const [TOKENS, HIGH, LOW] = [100, 60_000, 6000];
  const provider = { cap: HIGH, level: HIGH, atMs: world.clock.now(), least: 0, inFlight: 0, fellWith: 0 };
  const refill = () => {
    const now = world.clock.now();
    provider.level = Math.min(provider.cap, provider.level + provider.cap * (now - provider.atMs) / 60_000);
    provider.atMs = now;
  };
  const own = world.fetch(async (_, index) => {
    refill();
    provider.level -= TOKENS;
    provider.inFlight += TOKENS;
    provider.least = Math.min(provider.least, provider.level);
    await new Promise<void>((resolve) => void world.clock.setTimer(1000, resolve));
    refill();
    if (index === 30) {
      Object.assign(provider, {
        cap: LOW,
        level: Math.min(provider.level, LOW),
        fellWith: provider.inFlight,
        least: 0,
      });
    }
    provider.inFlight -= TOKENS;
    const headers = { "x-ratelimit-limit-tokens": String(provider.cap), "x-ratelimit-limit-requests": "600" };
    return json({ usage: { total_tokens: TOKENS } }, { headers });
  }, { estimate: () => TOKENS, learn });
  const all = Array.from({ length: 560 }, () => own(CHAT_URL, chat()).then((response) => response.text()));
  await world.clock.advance(1500);
  assert.ok(world.admission.queueSize >= 500);
  await world.clock.advance(600_000);
  assert.equal((await Promise.all(all)).length, 560);
  world.assertIdle();
  return { overdrawn: -provider.least, inFlight: provider.fellWith };
}
