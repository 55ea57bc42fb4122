import { type Random, seededRandom } from "../replay/random.ts";

/** Who calls a gateway, and for how long. */
export interface CallersOptions {
  /** The gateways, which take turns. */
  readonly urls: readonly string[];
  readonly model: string;
  /** How many call at a time: each asks again as soon as it is answered. */
  readonly count: number;
  /** How long, in wall ms. */
  readonly durationMs: number;
  /** How long a caller that was refused stays away, in wall ms. */
  readonly refusedPauseMs: number;
  readonly seed: number;
}

/** What a call came to. */
export interface Call {
  /** From the call to the head of its answer, in wall ms. */
  readonly answerMs: number;
  /** 0 when the answer broke off, or none came. */
  readonly status: number;
  /** As the answer told; 0 when it did not. */
  readonly tokens: number;
}

/** Has callers ask until the time is up, and every one of them be answered. */
export async function callAll(options: CallersOptions): Promise<Call[]> {
  const calls: Call[] = [];
  const endMs = performance.now() + options.durationMs;
  const random = seededRandom(options.seed);
  const caller = async (index: number) => {
    const url = `${options.urls[index % options.urls.length]}/v1/chat/completions`;
    while (performance.now() < endMs) {
      const call = await callOnce(url, chatOf(options.model, random));
      calls.push(call);
      if (call.status !== 200) await sleep(options.refusedPauseMs);
    }
  };
  await Promise.all(Array.from({ length: options.count }, (_, index) => caller(index)));
  return calls;
}

/** A chat of 300 to 700 tokens that allows an answer of 800 to 1,600; half of them stream. */
function chatOf(model: string, random: Random): string {
  const content = "word ".repeat(240 + Math.floor(random.next() * 320));
  const isStream = random.next() < 0.5;
  return JSON.stringify({
    model,
    messages: [{ role: "user", content }],
    max_completion_tokens: 800 + Math.floor(random.next() * 800),
    ...(isStream ? { stream: true, stream_options: { include_usage: true } } : {}),
  });
}

/** Sends a chat and reads its answer to the end. Never rejects. */
export async function callOnce(url: string, body: string, signal?: AbortSignal): Promise<Call> {
  const startMs = performance.now();
  let answerMs = NaN;
  try {
    const headers = { "content-type": "application/json" };
    const response = await fetch(url, {
      method: "POST",
      headers,
      body,
      ...(signal === undefined ? {} : { signal }),
    });
    answerMs = performance.now() - startMs;
    const tokens = usedTokens(await response.text());
    return { answerMs, status: response.status, tokens };
  } catch {
    return {
      answerMs: Number.isNaN(answerMs) ? performance.now() - startMs : answerMs,
      status: 0,
      tokens: 0,
    };
  }
}

/** The total that an answer tells, buffered or streamed. */
function usedTokens(text: string): number {
  return Number(/"total_tokens":(\d+)/.exec(text)?.[1] ?? 0);
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
