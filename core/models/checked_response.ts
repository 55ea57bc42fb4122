import { type Clock, systemClock } from "../clock.ts";
import { show } from "../invariant.ts";
import {
  type HeaderReader,
  headerReader,
  type ProviderKey,
  readRetryAfterMs,
} from "./headers/header_reader.ts";
import { checkOptionNames, type OptionNames } from "../option_names.ts";
import { upstreamError } from "./upstream_error.ts";

/** Most bytes of an error's body that are read. */
const MAX_BODY_BYTES = 65_536;
const MS_IN_SECOND = 1000;
/** The first status that says no. */
const FIRST_FAILURE = 400;

/** Who answered, and when it is. */
export interface CheckedResponseOptions {
  /** The service that stands in the error; the `provider` when left out, else null. */
  readonly service?: string | null;
  /** The provider of a model: what its headers and bodies say about waiting is read as well. */
  readonly provider?: ProviderKey;
  /** Its wall time tells how far away a date in a header is; the system's when left out. */
  readonly clock?: Clock;
}

const OPTIONS: OptionNames<CheckedResponseOptions> = { service: true, provider: true, clock: true };

/**
 * Answers a response whose status is below 400, as it is and unread. Of any other it reads the headers and the begin of the body, 64
 * KiB at most, and throws the error of its status (`upstreamError`), with what the server said, how long it asked to wait, and the
 * body's facts by which `classifyUpstreamFailure` tells exhausted quota from a limit. The rest of the body is cancelled. Reading
 * ends as the request's own signal says; a body that breaks off is judged by what came.
 *
 * @throws (rejects) with such an error; TypeError when it is no Response or the clock none, RangeError for an unknown provider.
 */
export async function checkedResponse(
  response: Response,
  options: CheckedResponseOptions = {},
): Promise<Response> {
  if (!isResponse(response)) {
    throw new TypeError(`Cannot check a response: it is ${show(response)}, it should be what fetch answers`);
  }
  checkOptionNames("Cannot check a response:", options, OPTIONS);
  const { provider, service = provider ?? null, clock = systemClock } = options;
  const reader = provider === undefined ? null : headerReader(provider, { clock });
  const { status, headers, url } = response;
  const headersSayMs = readRetryAfterMs(headers, { clock }) ?? 0;
  if (status < FIRST_FAILURE) return response;
  const text = await beginOf(response);
  const body = parsed(text);
  const retryAfterMs = Math.max(headersSayMs, saidMs(reader, response, body));
  const error = upstreamError({
    status,
    service,
    endpoint: typeof url === "string" && url !== "" ? url : null,
    detail: messageIn(body) ?? (text.trim() === "" ? response.statusText : text),
    retryAfterSeconds: retryAfterMs / MS_IN_SECOND,
  });
  // Where clients keep it, and where it is looked for.
  throw Object.assign(error, { error: body });
}

/** Whether a value is a Response, this runtime's or that of a library. */
export function isResponse(value: unknown): value is Response {
  if (value instanceof Response) return true;
  if (typeof value !== "object" || value === null) return false;
  const { status, headers, ok, text } = value as Partial<Record<keyof Response, unknown>>;
  return typeof status === "number" && typeof ok === "boolean" && typeof text === "function" &&
    typeof (headers as Headers | null | undefined)?.get === "function";
}

/** What a provider's own headers and body say, in ms; 0 when nothing. */
function saidMs(reader: HeaderReader | null, { status, headers }: Response, body: unknown): number {
  return reader?.onError("answer", { status, headers, body })?.retryAfterMs ?? 0;
}

/** The begin of a body as text, blank when there is none or somebody reads it already. */
async function beginOf(response: Response): Promise<string> {
  const { body, bodyUsed } = response;
  if (bodyUsed || typeof body?.getReader !== "function" || body.locked) return "";
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (let bytes = 0; bytes < MAX_BODY_BYTES;) {
      const { value, done } = await reader.read();
      if (done) return text + decoder.decode();
      const part = value.subarray(0, MAX_BODY_BYTES - bytes);
      bytes += part.length;
      text += decoder.decode(part, { stream: true });
    }
  } catch {
    // It broke off, or the request was aborted: the status stands.
  }
  reader.cancel().catch(() => {});
  return text;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The message of a provider's error, or null. */
function messageIn(body: unknown): string | null {
  const { error, message } = (body ?? {}) as { error?: { message?: unknown } | null; message?: unknown };
  const said = error?.message ?? message;
  return typeof said === "string" ? said : null;
}
