import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Clock } from "../../mod.ts";
import { seededRandom } from "../replay/random.ts";
import { bufferedAnswer, type ChatUse, errorBody, streamedAnswer } from "./chat_answer.ts";
import { limitFields, refusalFields } from "./limit_fields.ts";
import { type Quota, SlidingWindow, type Stamp } from "./sliding_window.ts";

/** What a provider does with a request that it has let in. */
export type Mood = "answers" | "hangs" | "hangs amid its body" | "closes amid its body";

/** How a provider is set up. */
export interface ProviderOptions {
  /** The quota of each key, by a sliding window. */
  readonly quota: Quota;
  /** Its own clock. */
  readonly clock: Clock;
  /** Shortest and longest time for an answer, in wall ms. */
  readonly serviceMs: readonly [number, number];
  /** Least and greatest part of `max_completion_tokens` that an answer uses, from 0 to 1. */
  readonly usedShare: readonly [number, number];
  /** Whether it refuses what is beyond the quota; it counts in any case. True when left out. */
  readonly isStrict?: boolean;
  /** What it does with the request of that index; it answers when left out. */
  readonly mood?: (index: number) => Mood;
  /** Is told of each answer whose head is about to be written, which waits for it. */
  readonly onAnswer?: (index: number) => void | Promise<void>;
}

/** What a provider counted for a key. */
export interface KeyStatus {
  /** When it let the first request in, ms on its clock; null when there was none. */
  readonly firstMs: number | null;
  readonly refused: number;
  readonly inFlight: number;
  /** The most tokens of any minute, reservations included. */
  readonly fullestTokens: number;
  /** Requests that were let in in the span that was asked for. */
  readonly requests: number;
  /** What these used, reservations of those in flight included. */
  readonly tokens: number;
}

/** A span of the provider's clock. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

interface Account {
  readonly window: SlidingWindow;
  refused: number;
  inFlight: number;
}

interface Ask {
  readonly model: string;
  readonly isStream: boolean;
  readonly promptTokens: number;
  readonly maxTokens: number;
}

/** A request longer than this is none of ours. */
const MAX_BODY_CHARS = 1_000_000;

/** Stands for a provider of models: OpenAI's chat, its limits and its headers, behind a socket. */
export class FakeProvider {
  readonly #options: ProviderOptions;
  readonly #accounts = new Map<string, Account>();
  readonly #random = seededRandom(7);
  readonly #server: Server;
  #requests = 0;

  constructor(options: ProviderOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => void this.#receive(request, response));
  }

  /** Begins to listen on the machine itself. Answers the address of its API. */
  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Stops listening and ends what is in flight. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  /** Its own. */
  get clock(): Clock {
    return this.#options.clock;
  }

  /** The window of a key. */
  window(key: string): SlidingWindow {
    return this.#account(key).window;
  }

  /** What it counted for a key in a span, or ever. */
  status(key: string, { fromMs, toMs }: Span = { fromMs: -Infinity, toMs: Infinity }): KeyStatus {
    const { window, refused, inFlight } = this.#account(key);
    const stamps = window.stamps.filter(({ atMs }) => atMs >= fromMs && atMs < toMs);
    const tokens = stamps.reduce((sum, stamp) => sum + stamp.tokens, 0);
    return {
      firstMs: window.stamps[0]?.atMs ?? null,
      refused,
      inFlight,
      fullestTokens: window.fullestTokens,
      requests: stamps.length,
      tokens,
    };
  }

  #account(key: string): Account {
    let account = this.#accounts.get(key);
    if (account === undefined) {
      account = { window: new SlidingWindow(this.#options.quota), refused: 0, inFlight: 0 };
      this.#accounts.set(key, account);
    }
    return account;
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    request.on("error", () => {});
    response.on("error", () => {});
    const url = new URL(request.url ?? "/", "http://provider");
    const key = (request.headers.authorization ?? "").replace(/^Bearer /, "");
    if (url.pathname === "/status") {
      const [fromMs, toMs] = ["from", "to"].map((name) => Number(url.searchParams.get(name) ?? NaN));
      const isSpan = Number.isFinite(fromMs) && Number.isFinite(toMs);
      const status = this.status(key, isSpan ? { fromMs: fromMs!, toMs: toMs! } : undefined);
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(status));
      return;
    }
    const ask = askOf(await bodyText(request));
    if (request.method === "POST" && url.pathname === "/v1/chat/completions" && ask !== null) {
      this.#chat(this.#account(key), ask, response);
    } else response.writeHead(400, JSON_TYPE).end(errorBody("This is no chat", "invalid_request_error"));
  }

  #chat(account: Account, ask: Ask, response: ServerResponse): void {
    const { clock, isStrict = true } = this.#options;
    const reserved = ask.promptTokens + ask.maxTokens;
    const nowMs = clock.now();
    const taken = isStrict ? account.window.take(nowMs, reserved) : account.window.force(nowMs, reserved);
    if (typeof taken === "number") {
      account.refused++;
      const { quota } = account.window;
      const fields = refusalFields(limitFields(quota, account.window.used(nowMs)), taken);
      const message = `Rate limit reached for ${ask.model}: Limit ${quota.tpm}, Requested ${reserved}`;
      response.writeHead(429, { ...JSON_TYPE, ...fields }).end(errorBody(message, "rate_limit_exceeded"));
      return;
    }
    void this.#serve(account, { ask, response, stamp: taken, index: this.#requests++ });
  }

  async #serve(account: Account, { ask, response, stamp, index }: Serving): Promise<void> {
    const { serviceMs, usedShare, mood = () => "answers", onAnswer } = this.#options;
    const between = ([least, most]: readonly [number, number]) =>
      least + this.#random.next() * (most - least);
    const use = {
      promptTokens: ask.promptTokens,
      answerTokens: Math.round(ask.maxTokens * between(usedShare)),
    };
    const service = { mood: mood(index), ms: between(serviceMs) };
    account.inFlight++;
    response.once("close", () => account.inFlight--);
    if (service.mood === "hangs") return;
    const pieces = ask.isStream ? streamedAnswer(ask.model, use) : [bufferedAnswer(ask.model, use)];
    await sleep(ask.isStream ? service.ms / pieces.length : service.ms);
    await onAnswer?.(index);
    response.writeHead(200, {
      "content-type": ask.isStream ? "text/event-stream" : "application/json",
      ...limitFields(account.window.quota, account.window.used(this.#options.clock.now())),
    });
    if (service.mood !== "answers") return leaveAmid(service.mood, pieces, response);
    for (const [place, piece] of pieces.entries()) {
      if (place > 0) await sleep(service.ms / pieces.length);
      response.write(piece);
    }
    stamp.tokens = tokensOf(use);
    response.end();
  }
}

interface Serving {
  readonly ask: Ask;
  readonly response: ServerResponse;
  readonly stamp: Stamp;
  readonly index: number;
}

const JSON_TYPE = { "content-type": "application/json" };

function tokensOf({ promptTokens, answerTokens }: ChatUse): number {
  return promptTokens + answerTokens;
}

/** Writes the half of an answer, and then nothing more, or closes the connection. */
function leaveAmid(mood: Mood, pieces: readonly string[], response: ServerResponse): void {
  const [first = ""] = pieces;
  response.write(first.slice(0, first.length / 2), () => {
    if (mood === "closes amid its body") setTimeout(() => response.destroy(), 5);
  });
}

async function bodyText(request: IncomingMessage): Promise<string> {
  let text = "";
  request.setEncoding("utf8");
  try {
    for await (const part of request) if (text.length < MAX_BODY_CHARS) text += part;
  } catch {
    return "";
  }
  return text;
}

/** A token for every four bytes that come in, and as many to write as the request allows; null for what is no chat. */
function askOf(text: string): Ask | null {
  try {
    const { model, stream, max_completion_tokens: maxTokens } = JSON.parse(text);
    if (typeof model !== "string" || !Number.isSafeInteger(maxTokens)) return null;
    return { model, isStream: stream === true, promptTokens: Math.ceil(text.length / 4), maxTokens };
  } catch {
    return null;
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
