import {
  classifyUpstreamFailure,
  type Clock,
  type HeaderReader,
  readRetryAfterMs,
  RetrySignal,
  upstreamError,
  UpstreamFailure,
} from "../../mod.ts";
import type { OpenBody } from "./held_response.ts";

/** Most bytes of an error's body that are looked at. */
const MAX_BODY_BYTES = 65_536;

/** What a response, or the lack of one, says about the service. */
export interface Verdict {
  /** Set when the request may be sent again. */
  readonly signal: RetrySignal | null;
  /** What the accounts hear; null when the service is not at fault. */
  readonly failure: UpstreamFailure | null;
}

/** Nothing that limits need to hear of. */
export const NO_FAULT: Verdict = Object.freeze({ signal: null, failure: null });

/** A response that is judged. */
export interface Answer {
  readonly response: Response;
  /** Null when there is nothing to read. */
  readonly body: OpenBody | null;
  /** Who answered. */
  readonly service: string;
}

/** How headers of failures are read. */
export interface FailureReading {
  readonly reader: HeaderReader;
  readonly clock: Clock;
}

/** What an error means that fetch threw, or a body broke off with, or a stream told. */
export function verdictOnError(error: unknown): Verdict {
  const verdict = classifyUpstreamFailure(error);
  return verdict instanceof RetrySignal ? { signal: verdict, failure: verdict.failure } : NO_FAULT;
}

/**
 * What a response means by its status. Only a 429 is read further: its body tells exhausted quota from a limit, and may say how
 * long to wait. What was read of the body stays in `body.read`.
 */
export async function verdictOnAnswer(
  { response, body, service }: Answer,
  { reader, clock }: FailureReading,
): Promise<Verdict> {
  const { status, headers } = response;
  if (status < 400) return NO_FAULT;
  const parsed = status === 429 && body !== null ? parsedError(await begin(body)) : undefined;
  const said = reader.onError("answer", { status, headers, body: parsed })?.retryAfterMs ?? 0;
  const retryAfterMs = Math.max(said, readRetryAfterMs(headers, { clock }) ?? 0);
  const error = Object.assign(
    upstreamError({
      status,
      service,
      detail: messageOf(parsed) ?? response.statusText,
      retryAfterSeconds: retryAfterMs / 1000,
    }),
    { error: parsed },
  );
  return verdictOnError(error);
}

/** The begin of a body, as text. It stays to be read by the consumer. What breaks off is for the consumer to hear of. */
async function begin({ reader, read }: OpenBody): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for (let bytes = 0; bytes <= MAX_BODY_BYTES;) {
    const chunk = await reader.read().then(({ value }) => value, () => undefined);
    if (chunk === undefined) break;
    read.push(chunk);
    bytes += chunk.length;
    text += decoder.decode(chunk, { stream: true });
  }
  return text;
}

function parsedError(text: string): unknown {
  try {
    return text.length > MAX_BODY_BYTES ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function messageOf(parsed: unknown): string | null {
  const { error, message } = (parsed ?? {}) as { error?: { message?: unknown }; message?: unknown };
  const said = error?.message ?? message;
  return typeof said === "string" ? said : null;
}
