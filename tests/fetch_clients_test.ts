// The clients that people use, with an admitted fetch as their fetch, against a provider behind a socket.

import Anthropic from "@anthropic-ai/sdk";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import assert from "node:assert/strict";
import OpenAI from "openai";
import { describe, it } from "@std/testing/bdd";
import { Admission, CountingGate, type ProviderKey, RateLimiterFactory, systemClock } from "../mod.ts";
import { admittedFetch, type Fetch } from "../adapters/fetch.ts";
import { within } from "../testing/checks.ts";
import { type Seen, USED, withModels } from "./model_server.ts";

const MODELS = [{ id: "gpt", tpm: 60_000_000, rpm: 600_000 }, {
  id: "endless",
  tpm: 60_000_000,
  rpm: 600_000,
}];
const RESERVED = 1_000_000;

/** As much of the AI SDK as is used here. */
interface AISDK {
  generateText(options: object): Promise<{ text: string }>;
  streamText(options: object): { text: PromiseLike<string> };
  embed(options: object): Promise<{ embedding: number[] }>;
}

/** Its types end Deno's type check (2.9.6: "recursion limit exceeded"), so they are not looked at: the name is no literal. */
const AI_SDK: string = "ai";

function loadAISDK(): Promise<AISDK> {
  Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
  return import(AI_SDK) as Promise<AISDK>;
}

interface Client {
  readonly fetch: Fetch;
  readonly url: string;
  readonly seen: Seen;
  /** Tokens in use of the model's bucket, refills aside. */
  used(model?: string): number;
  readonly http: CountingGate;
}

/** Runs with an admitted fetch of real time, and checks that no permit is lost. */
async function withClient(provider: ProviderKey, use: (client: Client) => Promise<void>): Promise<void> {
  await withModels(async (url, seen) => {
    // Time stands still for the buckets, so that what was settled can be read to the token; pauses are short and real.
    const still = {
      now: () => 0,
      wallNow: () => Date.now(),
      setTimer: (ms: number, fn: () => void) => timer(ms, fn),
    };
    const accounts = new RateLimiterFactory({ clock: still });
    const admission = new Admission({ memory: null, clock: still }).start();
    const http = new CountingGate("http", 2);
    const own = admittedFetch({
      admission,
      provider,
      models: MODELS,
      accounts,
      http,
      learn: false,
      estimate: () => RESERVED,
      pauseMs: () => 1,
      clock: systemClock, // Pauses are real; the accounts stand still.
    });
    const used = (model = "gpt") => accounts.bucket({ id: model }).currentInUse;
    await use({ fetch: own, url, seen, used, http });
    await within(5_000, admission.drain(), "every permit comes back");
    assert.equal(http.currentInUse, 0);
  });
}

function timer(ms: number, fn: () => void): { cancel(): void } {
  const handle = setTimeout(fn, ms);
  return { cancel: () => clearTimeout(handle) };
}

/** The first attempt was refused and stays spent; the second was settled. */
function assertSettled({ used, seen }: Client, kind: keyof typeof USED): void {
  assert.deepEqual([used(), seen.requests], [RESERVED + USED[kind], 2]);
}

describe("The client of OpenAI", () => {
  const clientOf = ({ url, fetch }: Client) =>
    new OpenAI({ apiKey: "none", baseURL: `${url}/v1`, fetch, maxRetries: 0 });
  const messages = [{ role: "user" as const, content: "hi" }];

  it("chats, and never sees the 429 before", () =>
    withClient("openai", async (client) => {
      const chat = await clientOf(client).chat.completions.create({ model: "gpt", messages });
      assert.equal(chat.choices[0]!.message.content, "hello");
      assertSettled(client, "chat");
    }));

  it("chats in a stream, whose usage comes last", () =>
    withClient("openai", async (client) => {
      const stream = await clientOf(client).chat.completions.create({
        model: "gpt",
        messages,
        stream: true,
        stream_options: { include_usage: true },
      });
      let text = "";
      for await (const part of stream) text += part.choices[0]?.delta.content ?? "";
      assert.equal(text, "hello");
      assertSettled(client, "chat");
    }));

  it("asks for responses, whole and in a stream", async () => {
    await withClient("openai", async (client) => {
      const response = await clientOf(client).responses.create({ model: "gpt", input: "hi" });
      assert.equal(response.output_text, "hello");
      assertSettled(client, "responses");
    });
    await withClient("openai", async (client) => {
      let text = "";
      for await (
        const event of await clientOf(client).responses.create({ model: "gpt", input: "hi", stream: true })
      ) {
        if (event.type === "response.output_text.delta") text += event.delta;
      }
      assert.equal(text, "hello");
      assertSettled(client, "responses");
    });
  });

  it("embeds", () =>
    withClient("openai", async (client) => {
      const { data } = await clientOf(client).embeddings.create({
        model: "gpt",
        input: "hi",
        encoding_format: "float",
      });
      assert.equal(data[0]!.embedding.length, 2);
      assertSettled(client, "embeddings");
    }));

  it("leaves a stream half-way, or aborts it, and the permits are back", () =>
    withClient("openai", async (client) => {
      const ask = (signal?: AbortSignal) =>
        clientOf(client).chat.completions.create(
          { model: "endless", messages, stream: true },
          signal === undefined ? {} : { signal },
        );
      for await (const _ of await ask()) break;
      const controller = new AbortController();
      const stream = await ask(controller.signal);
      let parts = 0;
      for await (const _ of stream) if (++parts === 3) controller.abort();
      assert.equal(parts, 3);
      assert.equal(
        client.used("endless"),
        4 * RESERVED,
        "what was used is not known, so nothing is given back",
      );
      while (client.seen.broken < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    }));

  it("throws its own error when its time is up in line, and when there is nothing left to try", () =>
    withClient("openai", async (client) => {
      client.http.tryTake([undefined, undefined], []);
      const late = new OpenAI({
        apiKey: "none",
        baseURL: `${client.url}/v1`,
        fetch: client.fetch,
        maxRetries: 0,
        timeout: 30,
      });
      await assert.rejects(
        late.chat.completions.create({ model: "gpt", messages }),
        OpenAI.APIConnectionTimeoutError,
      );
      assert.equal(client.seen.requests, 0);
      client.http.give([undefined, undefined]);
      await assert.rejects(
        clientOf(client).chat.completions.create({ model: "unlisted", messages }),
        OpenAI.APIConnectionError,
      );
    }));
});

describe("The client of Anthropic", () => {
  const clientOf = ({ url, fetch }: Client) =>
    new Anthropic({ apiKey: "none", baseURL: url, fetch, maxRetries: 0 });
  const question = { model: "gpt", max_tokens: 100, messages: [{ role: "user" as const, content: "hi" }] };

  it("sends messages, and never sees the 429 before", () =>
    withClient("anthropic", async (client) => {
      const { content } = await clientOf(client).messages.create(question);
      assert.deepEqual(content.map((part) => part.type === "text" && part.text), ["hello"]);
      assertSettled(client, "messages");
    }));

  it("reads them in a stream, of either kind", async () => {
    await withClient("anthropic", async (client) => {
      assert.equal(await clientOf(client).messages.stream(question).finalText(), "hello");
      assertSettled(client, "messages");
    });
    await withClient("anthropic", async (client) => {
      const types: string[] = [];
      for await (const event of await clientOf(client).messages.create({ ...question, stream: true })) {
        types.push(event.type);
      }
      assert.equal(types.at(-1), "message_stop");
      assertSettled(client, "messages");
    });
  });
});

describe("Providers of the AI SDK", () => {
  const once = { maxRetries: 0, prompt: "hi" };

  it("of OpenAI generate and stream text, by responses and by chat, and embed", async () => {
    const { embed, generateText, streamText } = await loadAISDK();
    const openai = ({ url, fetch }: Client) => createOpenAI({ apiKey: "none", baseURL: `${url}/v1`, fetch });
    for (const kind of ["responses", "chat"] as const) {
      await withClient("openai", async (client) => {
        assert.equal((await generateText({ ...once, model: openai(client)[kind]("gpt") })).text, "hello");
        assertSettled(client, kind);
      });
      await withClient("openai", async (client) => {
        assert.equal(await streamText({ ...once, model: openai(client)[kind]("gpt") }).text, "hello");
        assertSettled(client, kind);
      });
    }
    await withClient("openai", async (client) => {
      const { embedding } = await embed({
        model: openai(client).embedding("gpt"),
        value: "hi",
        maxRetries: 0,
      });
      assert.equal(embedding.length, 2);
      assertSettled(client, "embeddings");
    });
  });

  it("of Anthropic generate and stream text", async () => {
    const { generateText, streamText } = await loadAISDK();
    const anthropic = ({ url, fetch }: Client) =>
      createAnthropic({ apiKey: "none", baseURL: `${url}/v1`, fetch });
    await withClient("anthropic", async (client) => {
      assert.equal((await generateText({ ...once, model: anthropic(client)("gpt") })).text, "hello");
      assertSettled(client, "messages");
    });
    await withClient("anthropic", async (client) => {
      assert.equal(await streamText({ ...once, model: anthropic(client)("gpt") }).text, "hello");
      assertSettled(client, "messages");
    });
  });
});
