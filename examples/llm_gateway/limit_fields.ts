import { REAL_MINUTE_MS } from "./minute_clock.ts";
import type { Quota } from "./sliding_window.ts";

/** Headers of an answer. */
export type Fields = Readonly<Record<string, string>>;

/** The limits as OpenAI tells them (https://platform.openai.com/docs/guides/rate-limits, "Rate limits in headers"). */
export function limitFields(quota: Quota, used: { tokens: number; requests: number }): Fields {
  return {
    "x-ratelimit-limit-requests": String(quota.rpm),
    "x-ratelimit-limit-tokens": String(quota.tpm),
    "x-ratelimit-remaining-requests": String(Math.max(0, quota.rpm - used.requests)),
    "x-ratelimit-remaining-tokens": String(Math.max(0, quota.tpm - used.tokens)),
    "x-ratelimit-reset-requests": span(used.requests > 0 ? REAL_MINUTE_MS : 0),
    "x-ratelimit-reset-tokens": span(used.tokens > 0 ? REAL_MINUTE_MS : 0),
  };
}

/** The same for a refusal, and when to come back: in whole seconds, rounded up, and in ms. What never fits says no time. */
export function refusalFields(limits: Fields, retryAfterMs: number): Fields {
  if (!Number.isFinite(retryAfterMs)) return limits;
  return {
    ...limits,
    "retry-after": String(Math.ceil(retryAfterMs / 1000)),
    "retry-after-ms": String(Math.ceil(retryAfterMs)),
  };
}

/** A span as OpenAI writes it: `1m30s`, `250ms`. */
function span(ms: number): string {
  if (ms < 1000) return `${ms}ms`;
  const minutes = Math.floor(ms / 60_000);
  return `${minutes > 0 ? `${minutes}m` : ""}${(ms - minutes * 60_000) / 1000}s`;
}
