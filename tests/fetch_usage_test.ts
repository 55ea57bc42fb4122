// What a response says of its usage, and what is settled by it: shapes of providers, streams and not, cut anywhere.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { headerReader, type ProviderKey } from "../mod.ts";
import { countedTokens } from "../adapters/fetch.ts";
import { chat, CHAT_URL, events, FetchWorld, json, pieces } from "./fetch_world.ts";
import {
  CHAT_STREAM,
  CHAT_USAGE,
  delta,
  MESSAGE_STREAM,
  MESSAGE_USAGE,
  RESPONSES_STREAM,
  RESPONSES_USAGE,
} from "./provider_streams.ts";

/** Tokens in use of a bucket from which 100 were reserved, once a response was used up. */
async function usedAfter(
  response: Response,
  provider: ProviderKey,
  use: (response: Response) => Promise<unknown> = (each) => each.text(),
): Promise<number> {
  const world = new FetchWorld();
  const answer = await world.fetch(() => response, { provider })(CHAT_URL, chat());
  assert.equal(world.bucket.currentInUse, 100);
  await use(answer).catch(() => {});
  world.assertIdle();
  assert.deepEqual(world.logs, []);
  return world.bucket.currentInUse;
}

function streamed(...data: (object | string)[]): Response {
  return pieces([events(...data)]).response;
}

describe("BEY-32 What was reserved is replaced by what the provider counted", () => {
  for (
    const [name, provider, response, used] of [
      [
        "a chat of OpenAI, cached tokens included",
        "openai",
        () => json({ choices: [], usage: CHAT_USAGE }),
        42,
      ],
      [
        "a response of OpenAI, cached tokens included",
        "openai",
        () => json({ output: [], usage: RESPONSES_USAGE }),
        41,
      ],
      [
        "embeddings",
        "openai",
        () => json({ data: [{ embedding: [0.5, -1e-7] }], usage: { prompt_tokens: 8, total_tokens: 8 } }),
        8,
      ],
      [
        "a chat without a total",
        "openai-compatible",
        () => json({ usage: { prompt_tokens: 3, completion_tokens: 4 } }),
        7,
      ],
      ["more than was reserved", "openai", () => json({ usage: { total_tokens: 1234 } }), 1234],
      ["zero that the provider says itself", "openai", () => json({ usage: { total_tokens: 0 } }), 0],
      [
        "a message of Anthropic, without what was read from the cache",
        "anthropic",
        () => json({ type: "message", usage: MESSAGE_USAGE }),
        37,
      ],
      [
        "a message whose cache is null",
        "anthropic",
        () => json({ usage: { input_tokens: 1, output_tokens: 2, cache_creation_input_tokens: null } }),
        3,
      ],
      ["a chat in a stream", "openai", () => streamed(...CHAT_STREAM), 42],
      [
        "a chat in a stream that tells in each event",
        "openai-compatible",
        () => streamed({ usage: { total_tokens: 5 } }, { usage: { total_tokens: 9 } }),
        9,
      ],
      ["a response in a stream", "openai", () => streamed(...RESPONSES_STREAM), 41],
      ["a message in a stream", "anthropic", () => streamed(...MESSAGE_STREAM), 37],
    ] as [string, ProviderKey, () => Response, number][]
  ) {
    it(name, async () => assert.equal(await usedAfter(response(), provider), used));
  }
});

describe("Usage that is not known", () => {
  for (
    const [name, provider, response] of [
      ["none is told", "openai", () => json({ choices: [] })],
      ["it is null", "openai", () => json({ usage: null })],
      [
        "it is junk",
        "openai",
        () => json({ usage: { total_tokens: "42", prompt_tokens: -1, completion_tokens: 1.5 } }),
      ],
      ["half of it is told", "openai", () => json({ usage: { prompt_tokens: 3 } })],
      ["it is a list", "openai", () => json({ usage: [42] })],
      ["it is too large for a number", "openai", () => json({ usage: { total_tokens: 1e300 } })],
      [
        "it stands elsewhere",
        "openai",
        () => json({ choices: [{ usage: { total_tokens: 1 } }], x: { y: { usage: { total_tokens: 2 } } } }),
      ],
      ["it stands in a text", "openai", () => json({ text: '","usage":{"total_tokens":1},"' })],
      [
        "the body is no JSON",
        "openai",
        () => new Response('{"usage":{"total_tokens":1', { headers: { "content-type": "application/json" } }),
      ],
      ["the body is a list", "openai", () => json([{ usage: { total_tokens: 1 } }])],
      [
        "the body is a text",
        "openai",
        () => new Response('{"usage":{"total_tokens":1}}', { headers: { "content-type": "text/plain" } }),
      ],
      [
        "the body is empty",
        "openai",
        () => new Response("", { headers: { "content-type": "application/json" } }),
      ],
      ["a stream tells none", "openai", () => streamed(delta("a"), "[DONE]")],
      [
        "a message ends before its output is told",
        "anthropic",
        () => streamed(MESSAGE_STREAM[0]!, { type: "message_delta", delta: {} }),
      ],
      ["a whole message lacks its output", "anthropic", () => json({ usage: { input_tokens: 10 } })],
    ] as [string, ProviderKey, () => Response][]
  ) {
    it(`leaves the reservation as it is, never zero: ${name}`, async () => {
      assert.equal(await usedAfter(response(), provider), 100);
    });
  }

  it("is that of a stream which was left, broke off, or was aborted before its usage was final", async () => {
    const half = () =>
      pieces([events({ choices: [{}], usage: { total_tokens: 5 } }), events("[DONE]")]).response;
    assert.equal(await usedAfter(half(), "openai"), 5);
    const readOne = async (response: Response) => {
      const reader = response.body!.getReader();
      await reader.read();
      await reader.cancel();
    };
    assert.equal(await usedAfter(half(), "openai", readOne), 100);
    assert.equal(await usedAfter(streamed(...MESSAGE_STREAM), "anthropic", readOne), 37, "it was all there");
    assert.equal(await usedAfter(streamed(...CHAT_STREAM), "openai", readOne), 42);
    const broken = pieces([events(...MESSAGE_STREAM.slice(0, 2))], undefined, new Error("reset")).response;
    assert.equal(await usedAfter(broken, "anthropic"), 100);
    const late = pieces([events(...RESPONSES_STREAM)], undefined, new Error("reset")).response;
    assert.equal(await usedAfter(late, "openai"), 41);
  });
});

describe("Counting", () => {
  it("refuses a provider that there is not, as its headers could not be read either", () => {
    for (const provider of ["anthropc", "toString", "", ["openai"], undefined] as unknown as ProviderKey[]) {
      assert.throws(() => headerReader(provider), RangeError);
      assert.throws(() => countedTokens(provider, { total_tokens: 5 }), {
        name: "RangeError",
        message: /^Cannot count tokens: provider is .*, it should be one of openai, .*anthropic/,
      });
    }
  });

  it("may be one's own: a model of Anthropic whose cache reads count", async () => {
    const world = new FetchWorld();
    const fetch = world.fetch(() => json({ usage: MESSAGE_USAGE }), {
      provider: "anthropic",
      count: (usage) => (countedTokens("anthropic", usage) ?? NaN) + Number(usage["cache_read_input_tokens"]),
    });
    await (await fetch(CHAT_URL, chat())).text();
    assert.equal(world.bucket.currentInUse, 5037);
    const silent = world.fetch(() => json({ usage: {} }), { count: () => null });
    await (await silent(CHAT_URL, chat())).text();
    assert.equal(world.bucket.currentInUse, 5137);
  });

  it("that fails, or answers what is no count, is logged and leaves the reservation", async () => {
    const world = new FetchWorld();
    const faults: (() => number)[] = [() => 1.5, () => {
      throw new Error("no idea");
    }];
    for (const count of faults) {
      await (await world.fetch(() => json({ usage: {} }), { count })(CHAT_URL, chat())).text();
    }
    assert.equal(world.bucket.currentInUse, 200);
    assert.deepEqual(world.logs.length, 2);
    assert.match(world.logs.join(), /error Cannot settle.*1\.5.*no idea/);
    world.assertIdle();
  });
});
