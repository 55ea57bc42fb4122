import { RateLimitInfo } from "../rate_limit_info.ts";
import type { Dialect, Facts } from "./dialect.ts";
import { type ErrorBody, errorOf, isObject } from "./error_body.ts";
import { quietly } from "./quietly.ts";
import { durationMs } from "./waits.ts";

/** How many details of an error, and violations of a detail, are looked at. */
const MAX_DETAILS = 64;
/** The longest text in a detail that is looked at, in characters. */
const MAX_TEXT_CHARS = 256;

/**
 * Gemini sends no limits in headers. An error's body tells how long to wait in a `google.rpc.RetryInfo`, and which quota was
 * hit in a `google.rpc.QuotaFailure`
 * (https://github.com/googleapis/googleapis/blob/master/google/rpc/error_details.proto; for a whole body see
 * https://discuss.ai.google.dev/t/429-errors-despite-waiting-after-retrydelay/96899). Quotas per minute are its limits,
 * those per day are not. Of RetryInfo and a `retry-after` header the longer wait counts.
 */
export const GEMINI: Dialect = {
  success: () => null,
  error({ status, headers, body }) {
    const said = quietly(() => readError(errorOf(body))) ?? NOTHING;
    const wasRateLimited = status === 429 || (status === 0 && said.isExhausted);
    const retryAfterMs = longer(said.retryDelayMs, headers.retryAfterMs);
    if (!wasRateLimited && retryAfterMs === null) return null;
    return { ...said.limits, retryAfterMs, wasRateLimited, type: "CAPACITY" };
  },
  log: () => ({}),
};

interface Said {
  readonly isExhausted: boolean;
  readonly retryDelayMs: number | null;
  readonly limits: Facts;
}

const NOTHING: Said = { isExhausted: false, retryDelayMs: null, limits: {} };

function readError(error: ErrorBody | undefined): Said {
  if (error === undefined) return NOTHING;
  const details = listOf(error.details);
  return {
    isExhausted: error.status === "RESOURCE_EXHAUSTED" || error.code === 429,
    retryDelayMs: delayInDetails(details),
    limits: violatedLimits(details),
  };
}

/** The delay of the first RetryInfo that has one. */
function delayInDetails(details: readonly unknown[]): number | null {
  for (const detail of details) {
    if (!isDetail(detail, "google.rpc.RetryInfo")) continue;
    const ms = durationMs(delayText(detail.retryDelay));
    if (ms !== null) return ms;
  }
  return null;
}

/** JSON writes a Duration as seconds with an `s`, objects of gRPC have a pair of numbers. */
function delayText(delay: unknown): string {
  if (!isObject(delay)) return shortText(delay);
  const { seconds, nanos } = delay;
  return seconds === undefined && nanos === undefined
    ? ""
    : `${shortText(seconds ?? 0)}s${shortText(nanos ?? 0)}ns`;
}

/** The smallest quota per minute of each kind that was hit. */
function violatedLimits(details: readonly unknown[]): Facts {
  const limits: { tokensLimit: number | null; requestsLimit: number | null } = {
    tokensLimit: null,
    requestsLimit: null,
  };
  const failures = details.filter((detail) => isDetail(detail, "google.rpc.QuotaFailure"));
  for (const violation of failures.flatMap(({ violations }) => listOf(violations))) {
    if (!isObject(violation)) continue;
    const id = shortText(violation.quotaId);
    const field = id.includes("Tokens") ? "tokensLimit" : id.includes("Requests") ? "requestsLimit" : null;
    const value = RateLimitInfo.parseIntOrNull(shortText(violation.quotaValue));
    if (field === null || !id.includes("PerMinute") || value === null || value < 0) continue;
    limits[field] = Math.min(limits[field] ?? value, value);
  }
  return limits;
}

function isDetail(detail: unknown, type: string): detail is Readonly<Record<string, unknown>> {
  return isObject(detail) && shortText(detail["@type"]).endsWith(type);
}

/** A text or a number as text; blank for anything else, and for what is too long. */
function shortText(value: unknown): string {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value.length <= MAX_TEXT_CHARS ? value : "";
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, MAX_DETAILS) : [];
}

function longer(one: number | null, other: number | null): number | null {
  return one === null || other === null ? one ?? other : Math.max(one, other);
}
