// What the bucket of a model hears: caps that headers teach, slow-downs by weight.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { ModelSpec } from "../mod.ts";
import {
  chat,
  CHAT_URL,
  completion,
  events,
  FetchWorld,
  follow,
  json,
  pieces,
  refusal,
} from "./fetch_world.ts";

const LIMITS = { "x-ratelimit-limit-tokens": "30000", "x-ratelimit-limit-requests": "300" };

describe("Caps", () => {
  it("RI-06 are learned from a good answer that is no stream, before its success is recorded", async () => {
    const world = new FetchWorld();
    world.bucket.recordBackpressure(1);
    const seen: number[] = [];
    await (await world.fetch(() => json({}, { headers: LIMITS }))(CHAT_URL, chat())).text();
    seen.push(world.bucket.capacity, world.bucket.status.maxRequests);
    assert.deepEqual(seen, [30_000, 300]);
    assert.equal(world.bucket.throttle, 0.5);
  });

  it("RI-06 are not learned from errors, streams, embeddings, half a pair, junk, or when told not to", async () => {
    const world = new FetchWorld();
    const answers: [Response, string?, object?][] = [
      [refusal(400, LIMITS)],
      [
        new Response(pieces([events("[DONE]")]).response.body, {
          headers: { ...LIMITS, "content-type": "text/event-stream" },
        }),
      ],
      [json({}, { headers: LIMITS }), "https://api.test/v1/embeddings"],
      [json({}, { headers: { "x-ratelimit-limit-tokens": "5" } })],
      [json({}, {
        headers: { "x-ratelimit-limit-tokens": "-5", "x-ratelimit-limit-requests": "9".repeat(5000) },
      })],
      [json({}, { headers: LIMITS }), CHAT_URL, { learn: false }],
      [json({}, { headers: LIMITS }), CHAT_URL, { provider: "openai-compatible" }],
    ];
    for (const [answer, url = CHAT_URL, options = {}] of answers) {
      await (await world.fetch(() => answer, options)(url, chat())).text();
    }
    assert.deepEqual([world.bucket.capacity, world.bucket.status.maxRequests], [60_000, 600]);
    assert.deepEqual(world.logs, []);
  });

  it("of Anthropic are read from its own headers", async () => {
    const world = new FetchWorld();
    const headers = {
      "anthropic-ratelimit-tokens-limit": "12000",
      "anthropic-ratelimit-requests-limit": "50",
    };
    await (await world.fetch(() => json({}, { headers }), { provider: "anthropic" })(CHAT_URL, chat()))
      .text();
    assert.deepEqual([world.bucket.capacity, world.bucket.status.maxRequests], [12_000, 50]);
  });
});

describe("The throttle of a model's bucket", () => {
  it("UF-07 and UF-12: a 429 weighs 1, a 529 weighs 3, passing faults nothing, and a good answer is one success", async () => {
    for (
      const [status, throttle] of [[429, 0.5], [529, 1.5], [500, 0], [503, 0], [408, 0], [400, 0]] as const
    ) {
      const world = new FetchWorld();
      await (await world.fetch(() => refusal(status), { maxRetries: 0 })(CHAT_URL, chat())).text();
      assert.equal(world.bucket.throttle, throttle, String(status));
    }
    const world = new FetchWorld();
    world.bucket.recordBackpressure(1);
    for (
      const [answer, throttle] of [[completion, 0.5], [() => refusal(400), 0.5], [completion, 0.5], [
        completion,
        0.3,
      ]] as const
    ) {
      const response = await world.fetch(() => answer())(CHAT_URL, chat());
      await response.text();
      assert.equal(world.bucket.throttle, throttle);
    }
  });

  it("UF-12 each attempt of one call is told, before its permits are back", async () => {
    const world = new FetchWorld();
    const seen: string[] = [];
    const bucket = world.bucket;
    const record = bucket.recordBackpressure.bind(bucket);
    Object.assign(bucket, {
      recordBackpressure: (weight: number) => {
        seen.push(`${weight} ${world.http.currentInUse}`);
        record(weight);
      },
    });
    const answers = [refusal(429), refusal(529), completion()];
    const outcome = follow(world.fetch((_, index) => answers[index]!)(CHAT_URL, chat()));
    await world.clock.advance(10_000);
    await outcome.value!.text();
    assert.deepEqual(seen, ["1 1", "3 1"]);
  });

  it("UF-14 is none for a model with maxConcurrent: it takes a permit on its gate, and nothing is settled", async () => {
    const world = new FetchWorld();
    const judge = { id: "judge", maxConcurrent: 1, wireModelId: "gpt" };
    const fetch = world.fetch(() => json({ usage: { total_tokens: 9 } }), { models: [judge] });
    const first = await fetch(CHAT_URL, chat());
    const second = follow(fetch(CHAT_URL, chat()));
    await world.settle();
    assert.deepEqual([world.accounts.gate(judge).currentInUse, world.sent.length], [1, 1]);
    await first.text();
    await world.settle();
    await second.value!.text();
    assert.deepEqual([world.accounts.gate(judge).currentInUse, world.logs], [0, []]);
    assert.deepEqual(world.accounts.accounts.map(({ limiterName }) => limiterName), ["judge"]);
  });
});

describe("A demand of the caller's own", () => {
  it("stands in for the derived one, and what is no bucket of the model is not settled", async () => {
    const world = new FetchWorld();
    const own = world.accounts.bucket(new ModelSpec({ id: "own", tpm: 1000 }));
    const fetch = world.fetch(() => completion(7), {
      demand: (demand) => {
        const other = new (demand.constructor as new () => typeof demand)();
        return other.add(own, 300);
      },
    });
    const response = await fetch(CHAT_URL, chat());
    assert.deepEqual([world.http.currentInUse, world.bucket.currentInUse, own.currentInUse], [0, 0, 300]);
    await response.text();
    assert.deepEqual([own.currentInUse, world.logs], [300, []]);
  });
});
