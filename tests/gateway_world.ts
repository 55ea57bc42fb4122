// A gateway of examples/llm_gateway in front of its provider, both behind sockets, in the process of the test.

import assert from "node:assert/strict";
import { FakeProvider, type ProviderOptions } from "../examples/llm_gateway/fake_provider.ts";
import { type Gateway, type GatewayOptions, makeGateway } from "../examples/llm_gateway/gateway_app.ts";
import { minuteClock } from "../examples/llm_gateway/minute_clock.ts";
import { RawClient } from "./hono/raw_client.ts";
import type { HonoServer } from "./hono/servers.ts";

/** What differs from a calm provider with a large quota, and one gateway that has all of it. */
export interface WorldOptions {
  /** What a minute of the quotas lasts, in wall ms; a second when left out. */
  readonly minuteMs?: number;
  readonly gateways?: number;
  readonly provider?: Partial<ProviderOptions>;
  readonly gateway?: Partial<GatewayOptions>;
}

/** A gateway that listens. */
export interface Served extends Gateway {
  readonly port: number;
}

/** What a test has to do with. */
export interface GatewayWorld {
  readonly provider: FakeProvider;
  readonly gateways: readonly Served[];
  /** The first of them. */
  readonly gateway: Served;
}

/** The key of every gateway. */
export const KEY = "a key";
/** More than any test uses. */
export const AMPLE = { tpm: 100_000_000, rpm: 1_000_000 };

/** Runs with gateways on a server; everything is closed in the end. */
export async function withGateways(
  server: HonoServer,
  { minuteMs = 1000, gateways: count = 1, ...options }: WorldOptions,
  use: (world: GatewayWorld) => Promise<void>,
): Promise<void> {
  const quota = options.provider?.quota ?? AMPLE;
  const provider = new FakeProvider({
    quota,
    clock: minuteClock(minuteMs),
    serviceMs: [1, 20],
    usedShare: [0.5, 1],
    ...options.provider,
  });
  const providerUrl = await provider.listen();
  const made = Array.from({ length: count }, () =>
    makeGateway({
      ...{ providerUrl, key: KEY, model: "gpt", quota, share: 1, timeLimitMs: 30_000 },
      clock: minuteClock(minuteMs),
      ...options.gateway,
    }));
  const listening = await Promise.all(made.map(({ app }) => server.listen(app)));
  const gateways = made.map((gateway, index) => ({
    ...gateway,
    port: listening[index]!.port,
  }));
  try {
    await use({ provider, gateways, gateway: gateways[0]! });
  } finally {
    await provider.close();
    await Promise.all(listening.map((each) => each.close()));
  }
}

/** A chat that a caller asks. */
export interface Chat {
  /** What its answer may have; 100 when left out. */
  readonly maxTokens?: number;
  readonly isStream?: boolean;
  /** When the caller leaves, in wall ms, if there is no answer by then. */
  readonly leaveMs?: number;
}

/** What a caller got. */
export interface Answer {
  /** 0 when nothing came. */
  readonly status: number;
  /** Of the usage that it tells; 0 when it breaks off before. */
  readonly tokens: number;
}

/** Asks a gateway, until the connection is closed. By a socket of its own: Bun has no more than 256 fetches at a time. */
export async function ask({ port }: Served, chat: Chat = {}): Promise<Answer> {
  const { maxTokens = 100, isStream = false, leaveMs } = chat;
  const body = JSON.stringify({
    model: "gpt",
    messages: [{ role: "user", content: "hi" }],
    max_completion_tokens: maxTokens,
    ...(isStream ? { stream: true, stream_options: { include_usage: true } } : {}),
  });
  const headers = { "content-type": "application/json" };
  const client = new RawClient(port, "/v1/chat/completions", { method: "POST", headers, body });
  const timer = leaveMs === undefined ? undefined : setTimeout(() => client.leave(), leaveMs);
  await client.closed;
  clearTimeout(timer);
  return {
    status: client.status,
    tokens: Number(/"total_tokens":(\d+)/.exec(client.received)?.[1] ?? 0),
  };
}

/** Asks so many times at once; half of them stream. */
export function askAll(gateway: Served, count: number, maxTokens = 100): Promise<Answer[]> {
  return Promise.all(
    Array.from({ length: count }, (_, index) => ask(gateway, { maxTokens, isStream: index % 2 === 0 })),
  );
}

/** Nobody waits, no permit is out, nothing is in flight: it may take a moment until a server has noticed. */
export async function assertIdle({ gateways, provider }: GatewayWorld): Promise<void> {
  const counts = () => [
    provider.status(KEY).inFlight,
    ...gateways.flatMap(({ admission, open, http }) => [
      admission.queueSize,
      open.currentInUse,
      http.currentInUse,
    ]),
  ];
  await until(() => counts().every((count) => count === 0));
  assert.deepEqual(counts(), counts().map(() => 0));
  await Promise.all(gateways.map(({ admission }) => admission.drain()));
}

/** Waits for what does not take long; for ten seconds at most, whoever needs it looks again. */
export async function until(isSo: () => boolean): Promise<void> {
  for (let i = 0; i < 1000 && !isSo(); i++) await new Promise((resolve) => setTimeout(resolve, 10));
}
