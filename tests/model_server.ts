// A local provider that speaks as OpenAI and Anthropic do: enough for their clients, with usage that tests can tell apart.

import type { IncomingMessage, ServerResponse } from "node:http";
import { events, withProvider } from "./fetch_world.ts";

/** Tokens that each way of asking uses. */
export const USED = { chat: 42, responses: 41, embeddings: 8, messages: 37 } as const;

/** What the server saw. */
export interface Seen {
  /** Requests, refused ones included. */
  requests: number;
  /** Connections that the client broke off before the end of the answer. */
  broken: number;
}

/**
 * Runs with a provider that refuses each first request with a 429 and `retry-after-ms`, and answers every other. A chat whose
 * model is `endless` streams for ever.
 */
export async function withModels<R>(use: (url: string, seen: Seen) => Promise<R>): Promise<R> {
  const seen: Seen = { requests: 0, broken: 0 };
  return await withProvider((request, response) => {
    response.on("close", () => {
      if (!response.writableFinished) seen.broken++;
    });
    if (++seen.requests % 2 === 1) refuse(response);
    else answer(request, response);
  }, (url) => use(url, seen));
}

function refuse(response: ServerResponse): void {
  const error = { message: "slow down", type: "rate_limit_error", code: "rate_limit_exceeded" };
  response.writeHead(429, { "content-type": "application/json", "retry-after-ms": "20" });
  response.end(JSON.stringify({ type: "error", error }));
}

function answer(request: IncomingMessage & { text: string }, response: ServerResponse): void {
  const body = JSON.parse(request.text) as { model: string; stream?: boolean };
  const kind = request.url!.replace("/v1/", "").replace("chat/completions", "chat") as keyof typeof USED;
  if (body.stream !== true) {
    response.writeHead(200, {
      "content-type": "application/json",
      "x-ratelimit-limit-tokens": "90000",
      "x-ratelimit-limit-requests": "900",
    });
    response.end(JSON.stringify(WHOLE[kind]));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const parts = STREAMED[kind]!;
  if (body.model === "endless") {
    const timer = setInterval(() => response.write(events(parts[0]!)), 5);
    response.on("close", () => clearInterval(timer));
  } else {
    for (const part of parts) response.write(events(part));
    response.end();
  }
}

const chatUsage = { prompt_tokens: 30, completion_tokens: 12, total_tokens: USED.chat };
const responseUsage = {
  input_tokens: 30,
  input_tokens_details: { cached_tokens: 5 },
  output_tokens: 11,
  output_tokens_details: { reasoning_tokens: 2 },
  total_tokens: USED.responses,
};
const messageUsage = {
  input_tokens: 10,
  cache_creation_input_tokens: 20,
  cache_read_input_tokens: 900,
  output_tokens: 7,
};
const chunk = (delta: object, more: object = {}) => ({
  id: "c",
  object: "chat.completion.chunk",
  created: 1,
  model: "gpt",
  choices: [{ index: 0, delta, finish_reason: null }],
  ...more,
});
const outputText = { type: "output_text", text: "hello", annotations: [] };
const message = { type: "message", id: "m", role: "assistant", status: "completed", content: [outputText] };
const response = {
  id: "r",
  object: "response",
  created_at: 1,
  model: "gpt",
  status: "completed",
  error: null,
  incomplete_details: null,
};

const WHOLE: Readonly<Record<keyof typeof USED, object>> = {
  chat: {
    id: "c",
    object: "chat.completion",
    created: 1,
    model: "gpt",
    choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }],
    usage: chatUsage,
  },
  responses: { ...response, output: [message], usage: responseUsage },
  embeddings: {
    object: "list",
    model: "gpt",
    data: [{ object: "embedding", index: 0, embedding: [0.1, -0.2] }],
    usage: { prompt_tokens: USED.embeddings, total_tokens: USED.embeddings },
  },
  messages: {
    id: "m",
    type: "message",
    role: "assistant",
    model: "gpt",
    content: [{ type: "text", text: "hello" }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: messageUsage,
  },
};

const STREAMED: Readonly<Record<string, (object | string)[]>> = {
  chat: [
    chunk({ role: "assistant", content: "hel" }),
    chunk({ content: "lo" }),
    { ...chunk({}), choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
    { ...chunk({}), choices: [], usage: chatUsage },
    "[DONE]",
  ],
  responses: [
    {
      type: "response.created",
      sequence_number: 0,
      response: { ...response, status: "in_progress", output: [], usage: null },
    },
    {
      type: "response.output_item.added",
      sequence_number: 1,
      output_index: 0,
      item: { ...message, content: [] },
    },
    {
      type: "response.content_part.added",
      sequence_number: 2,
      item_id: "m",
      output_index: 0,
      content_index: 0,
      part: { ...outputText, text: "" },
    },
    {
      type: "response.output_text.delta",
      sequence_number: 3,
      item_id: "m",
      output_index: 0,
      content_index: 0,
      delta: "hello",
      logprobs: [],
    },
    { type: "response.output_item.done", sequence_number: 4, output_index: 0, item: message },
    {
      type: "response.completed",
      sequence_number: 5,
      response: { ...response, output: [message], usage: responseUsage },
    },
  ],
  messages: [
    {
      type: "message_start",
      message: {
        id: "m",
        type: "message",
        role: "assistant",
        model: "gpt",
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { ...messageUsage, output_tokens: 1 },
      },
    },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "hello" } },
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: { output_tokens: 7 },
    },
    { type: "message_stop" },
  ],
};
