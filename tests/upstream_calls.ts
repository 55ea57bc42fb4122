// Calls upstream that go wrong, for tests: errors as clients make them, servers that misbehave, streams, and what is made of them.

import assert from "node:assert/strict";
import { createServer, type Server, type Socket } from "node:net";
import {
  classifyUpstreamFailure,
  QuotaExhaustedError,
  RetrySignal,
  type TokenBucketRateLimiter,
  UncorrectableError,
} from "../mod.ts";
import type { World } from "./scenario.ts";

/** An error with these members. */
export function failed(facts: object, message = "upstream said no", cause?: unknown): Error {
  return Object.assign(new Error(message, cause === undefined ? undefined : { cause }), facts);
}

/** A client's error for a body such as OpenAI sends: `error` is what stands under `error` in it. */
export function openai(status: number | undefined, error: Record<string, unknown>, headers = {}): Error {
  const { code, type, message } = error;
  return failed({ status, headers: new Headers(headers), error, code, type }, `${status} ${message}`);
}

/** A client's error for a body such as Anthropic sends: `error` is the whole body. */
export function anthropic(status: number | undefined, error: Record<string, unknown>): Error {
  const body = { type: "error", error };
  const { type } = error;
  return failed({ status, headers: new Headers(), error: body, type }, `${status} ${JSON.stringify(body)}`);
}

/** What it is taken for, in a word. */
export function kindOf(error: unknown): string {
  const verdict = classifyUpstreamFailure(error);
  if (verdict === error) return "unchanged";
  assert.ok(verdict instanceof Error);
  assert.equal(verdict.cause, error, "the original is the cause");
  if (verdict instanceof RetrySignal) return verdict.kind;
  if (verdict instanceof QuotaExhaustedError) return "QUOTA";
  assert.ok(verdict instanceof UncorrectableError);
  return "UNRESOLVABLE";
}

/** What a call throws. */
export async function thrownBy(call: () => unknown): Promise<unknown> {
  try {
    await call();
  } catch (error) {
    return error;
  }
  assert.fail("the call should fail");
}

/** Runs with a server on a port of its own; it is closed in the end. */
export async function withServer<R>(
  onSocket: (socket: Socket) => void,
  use: (url: string) => Promise<R>,
): Promise<R> {
  const server: Server = createServer((socket) => {
    socket.on("error", () => {});
    onSocket(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  try {
    return await use(`http://127.0.0.1:${address.port}/v1?q=429%20dns%20error`);
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}

/** An address of a port that nobody listens on any more. */
export function closedPort(): Promise<string> {
  return withServer(() => {}, (url) => Promise.resolve(url));
}

const LIMITS = { tpm: 1000, rpm: 10 };

/** A stream of chunks that fails after the last one, when there is something to fail with, and tells when it is closed. */
export async function* chunks(
  count: number,
  failure?: unknown,
  closed: () => void = () => {},
): AsyncGenerator<number> {
  try {
    for (let i = 1; i <= count; i++) yield await Promise.resolve(i);
    if (failure !== undefined) throw failure;
  } finally {
    closed();
  }
}

/** Reads a stream to its end: what came, and the error it ended in. */
export async function readAll<C>(stream: AsyncIterable<C>): Promise<{ seen: C[]; error: unknown }> {
  const seen: C[] = [];
  try {
    for await (const chunk of stream) seen.push(chunk);
    return { seen, error: undefined };
  } catch (error) {
    return { seen, error };
  }
}

/** A bucket that has heard of so many slow-downs, and one that has heard of as many one by one. */
export function pair(
  world: World,
  slowDowns = 0,
): { told: TokenBucketRateLimiter; other: TokenBucketRateLimiter } {
  const [told, other] = [world.bucket("told", LIMITS), world.bucket("other", LIMITS)];
  told.recordBackpressure(slowDowns);
  for (let i = 0; i < slowDowns; i++) other.record429();
  return { told, other };
}
