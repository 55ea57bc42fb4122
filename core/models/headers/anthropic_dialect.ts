import type { RateLimitType } from "../rate_limit_info.ts";
import { type Dialect, type Facts, type Failure, hasLimit } from "./dialect.ts";
import { errorOf } from "./error_body.ts";
import type { HeaderView } from "./header_view.ts";
import { quietly } from "./quietly.ts";

const PREFIX = "anthropic-ratelimit-";
/** Statuses of answers that limits or load caused; 0 is a failure without one. */
const THROTTLED: readonly number[] = [0, 429, 529];
/** How much of a message is looked at, in characters. */
const MAX_MESSAGE_CHARS = 4096;

/**
 * Anthropic, also on Bedrock: `anthropic-ratelimit-*`, of which the resets are RFC 3339 timestamps
 * (https://platform.claude.com/docs/en/api/rate-limits, section "Response headers"; the same list at
 * https://docs.aws.amazon.com/claude-platform/latest/userguide/rate-limits.html). An error's info does not say when tokens
 * are back and is always flagged (RI-12).
 */
export const ANTHROPIC: Dialect = {
  success(headers) {
    const facts = limitsOf(headers);
    const tokensResetMs = headers.waitMs(`${PREFIX}tokens-reset`);
    return hasLimit(facts) ? { ...facts, tokensResetMs, type: "CAPACITY" } : null;
  },
  error(failure) {
    const { status, headers } = failure;
    const { retryAfterMs } = headers;
    const facts = limitsOf(headers);
    if (!THROTTLED.includes(status) && !hasLimit(facts) && retryAfterMs === null) return null;
    return { ...facts, retryAfterMs, wasRateLimited: true, type: typeOf(failure) };
  },
  log: (headers) => ({
    requestId: headers.token("request-id"),
    requestsResetMs: headers.waitMs(`${PREFIX}requests-reset`),
    tokensResetMs: headers.waitMs(`${PREFIX}tokens-reset`),
    ...kindOfTokens(headers, "input"),
    ...kindOfTokens(headers, "output"),
    amazonErrorType: headers.token("x-amzn-errortype"),
    amazonRequestId: headers.token("x-amzn-requestid"),
  }),
};

function limitsOf(headers: HeaderView): Facts {
  return {
    tokensLimit: headers.count(`${PREFIX}tokens-limit`),
    tokensRemaining: headers.count(`${PREFIX}tokens-remaining`),
    requestsLimit: headers.count(`${PREFIX}requests-limit`),
    requestsRemaining: headers.count(`${PREFIX}requests-remaining`),
  };
}

function kindOfTokens(headers: HeaderView, kind: "input" | "output"): Record<string, number | null> {
  return {
    [`${kind}TokensLimit`]: headers.count(`${PREFIX}${kind}-tokens-limit`),
    [`${kind}TokensRemaining`]: headers.count(`${PREFIX}${kind}-tokens-remaining`),
    [`${kind}TokensResetMs`]: headers.waitMs(`${PREFIX}${kind}-tokens-reset`),
  };
}

/** Whether the message complains of how fast use grew (RI-13): it has no code of its own. */
function typeOf({ message, body }: Failure): RateLimitType {
  const said = typeof message === "string" ? message : quietly(() => errorOf(body)?.message);
  if (typeof said !== "string") return "CAPACITY";
  const text = said.slice(0, MAX_MESSAGE_CHARS).toLowerCase();
  const growsTooFast = text.includes("acceleration") || text.includes("usage increase rate") ||
    (/scal(?:e|ing) up/.test(text) && text.includes("gradually"));
  return growsTooFast ? "ACCELERATION" : "CAPACITY";
}
