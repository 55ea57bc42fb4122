import { type Dialect, type Facts, hasLimit } from "./dialect.ts";
import type { HeaderView } from "./header_view.ts";

/**
 * OpenAI, servers that speak as it does, and OpenAI's models on Azure: `x-ratelimit-*`, of which the resets are durations
 * such as `6m0s` (https://platform.openai.com/docs/guides/rate-limits, section "Rate limits in headers"). Azure counts them
 * in seconds, adds `retry-after-ms` (https://learn.microsoft.com/azure/foundry/openai/how-to/quota), and says -1 for limits
 * that it does not tell (https://learn.microsoft.com/answers/questions/5625878).
 */
export const OPENAI: Dialect = {
  success(headers) {
    const facts = limitsOf(headers);
    return hasLimit(facts) ? { ...facts, type: "CAPACITY" } : null;
  },
  error({ status, headers }) {
    const wasRateLimited = status === 429;
    const { retryAfterMs } = headers;
    const facts: Facts = { ...limitsOf(headers), retryAfterMs, wasRateLimited, type: "CAPACITY" };
    return wasRateLimited || hasLimit(facts) || retryAfterMs !== null ? facts : null;
  },
  log: (headers) => ({
    requestId: headers.token("x-request-id"),
    requestsResetMs: headers.waitMs("x-ratelimit-reset-requests"),
  }),
};

function limitsOf(headers: HeaderView): Facts {
  return {
    tokensLimit: headers.count("x-ratelimit-limit-tokens"),
    tokensRemaining: headers.count("x-ratelimit-remaining-tokens"),
    tokensResetMs: headers.waitMs("x-ratelimit-reset-tokens"),
    requestsLimit: headers.count("x-ratelimit-limit-requests"),
    requestsRemaining: headers.count("x-ratelimit-remaining-requests"),
  };
}
