// Where tests of the admitted fetch happen: one clock, accounts on it, and a provider that answers as it is told, in the process or
// behind a socket.

import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { Admission, CountingGate, RateLimiterFactory, type TokenBucketRateLimiter } from "../mod.ts";
import { admittedFetch, type AdmittedFetchOptions, type Fetch } from "../adapters/fetch.ts";
import { ManualClock } from "../testing/mod.ts";

/** What was sent in one request. */
export interface Sent {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: string;
  /** The clock when it arrived, ms. */
  readonly atMs: number;
}

/** Answers a request. */
export type Provider = (sent: Sent, index: number, request: Request) => Response | Promise<Response>;

export const GPT = { id: "gpt", tpm: 60_000, rpm: 600 } as const;
export const CHAT_URL = "https://api.test/v1/chat/completions";

/** One clock, an Admission and accounts on it, and what was logged and sent. */
export class FetchWorld {
  readonly clock: ManualClock = new ManualClock(1000, 1_700_000_000_000);
  readonly accounts: RateLimiterFactory = new RateLimiterFactory({ clock: this.clock });
  readonly admission: Admission = new Admission({ memory: null, clock: this.clock }).start();
  readonly http: CountingGate = new CountingGate("http", 1000);
  readonly logs: string[] = [];
  readonly sent: Sent[] = [];

  get bucket(): TokenBucketRateLimiter {
    return this.accounts.bucket(GPT);
  }

  /** A fetch whose requests that provider answers, without a socket. */
  fetch(provider: Provider, options: Partial<AdmittedFetchOptions> = {}): Fetch {
    const log = (level: string) => (message: string) => void this.logs.push(`${level} ${message}`);
    return admittedFetch({
      admission: this.admission,
      provider: "openai",
      models: [GPT],
      accounts: this.accounts,
      http: this.http,
      clock: this.clock,
      logger: { info: log("info"), warn: log("warn"), error: log("error") },
      estimate: () => 100,
      pauseMs: () => 1000,
      fetch: (input, init) => this.#answer(provider, new Request(input, init)),
      ...options,
    });
  }

  async #answer(provider: Provider, request: Request): Promise<Response> {
    request.signal.throwIfAborted();
    const body = await request.clone().text();
    const { url, method, headers } = request;
    const sent = { url, method, headers, body, atMs: this.clock.now() };
    this.sent.push(sent);
    return await provider(sent, this.sent.length - 1, request);
  }

  /** Lets everything that is due happen. */
  async settle(): Promise<void> {
    for (let i = 0; i < 3; i++) await this.clock.advance(0);
  }

  /** Nobody waits, no permit is out. */
  assertIdle(): void {
    assert.deepEqual([this.admission.queueSize, this.http.currentInUse], [0, 0]);
  }
}

/** A request of a chat as a client makes it. */
export function chat(more: Record<string, unknown> = {}, init: RequestInit = {}): RequestInit {
  const body = JSON.stringify({ model: "gpt", messages: [{ role: "user", content: "hi" }], ...more });
  return { method: "POST", headers: { "content-type": "application/json" }, body, ...init };
}

/** A JSON answer. */
export function json(body: unknown, init: ResponseInit = {}): Response {
  return Response.json(body, init);
}

/** A chat's answer that used so many tokens; none are told without a number. */
export function completion(total?: number): Response {
  const usage = total === undefined
    ? {}
    : { usage: { prompt_tokens: 1, completion_tokens: total - 1, total_tokens: total } };
  return json({ id: "c", object: "chat.completion", choices: [], ...usage });
}

/** A refused answer as OpenAI words it. */
export function refusal(status: number, headers: Record<string, string> = {}, error: object = {}): Response {
  return json({ error: { message: "slow down", type: "requests", code: "rate_limit_exceeded", ...error } }, {
    status,
    headers,
  });
}

/** A body that arrives in these pieces, and counts how many were asked for. */
export function pieces(
  texts: readonly string[],
  type = "text/event-stream",
  end?: unknown,
): { response: Response; asked: () => number; cancelled: () => boolean } {
  let asked = 0;
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const text = texts[asked++];
      if (text !== undefined) controller.enqueue(new TextEncoder().encode(text));
      else if (end === undefined) controller.close();
      else controller.error(end);
    },
    cancel() {
      isCancelled = true;
    },
  }, { highWaterMark: 0 });
  return {
    response: new Response(body, { headers: { "content-type": type } }),
    asked: () => asked,
    cancelled: () => isCancelled,
  };
}

/** Events of a stream, one for each object, as providers write them. */
export function events(...data: readonly (object | string)[]): string {
  return data.map((each) => {
    const type = typeof each === "string" ? undefined : (each as { type?: string }).type;
    const line = typeof each === "string" ? each : JSON.stringify(each);
    return `${type === undefined ? "" : `event: ${type}\n`}data: ${line}\n\n`;
  }).join("");
}

/** Follows a promise: what it came to so far. */
export function follow<T>(promise: Promise<T>): { value?: T; error?: unknown } {
  const outcome: { value?: T; error?: unknown } = {};
  promise.then((value) => outcome.value = value, (error) => outcome.error = error);
  return outcome;
}

/** What a promise rejects with. */
export async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then((value) => assert.fail(`it should reject, and is ${value}`), (error) => error);
}

/** Runs with a server on a port of its own; it is closed in the end, with whatever hangs on it. */
export async function withProvider<R>(
  handler: (request: IncomingMessage & { text: string }, response: ServerResponse) => void,
  use: (url: string) => Promise<R>,
): Promise<R> {
  const server: Server = createServer((request, response) => {
    const parts: Uint8Array[] = [];
    request.on("data", (part: Uint8Array) => parts.push(part));
    request.on("error", () => {});
    request.on(
      "end",
      () => handler(Object.assign(request, { text: Buffer.concat(parts).toString() }), response),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  try {
    return await use(`http://127.0.0.1:${address.port}`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}
