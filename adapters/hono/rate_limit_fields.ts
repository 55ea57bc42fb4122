import type { Policy } from "./policies.ts";
import { fieldInteger } from "./structured_fields.ts";

/**
 * The forms in which limits are told, by the draft of "RateLimit header fields for HTTP" that first had them or has them now:
 * https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/.
 *
 * - `draft-12`: `RateLimit-Policy` and `RateLimit` as lists of named limits, permits included.
 * - `draft-7`: one limit in `RateLimit: limit=.., remaining=.., reset=..`, with `RateLimit-Policy`.
 * - `draft-6`: one limit in `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset`, with `RateLimit-Policy`.
 */
export type RateLimitForm = "draft-12" | "draft-7" | "draft-6";

/** All forms. */
export const RATE_LIMIT_FORMS: readonly RateLimitForm[] = ["draft-12", "draft-7", "draft-6"];

/** A header field. */
export type Field = readonly [name: string, value: string];

/** What is short now: names of accounts, and the seconds after which asking again can help, or null. */
export interface Shortage {
  readonly accounts: readonly string[];
  readonly retryAfterS: number | null;
}

/** Nothing is short. */
export const NO_SHORTAGE: Shortage = { accounts: [], retryAfterS: null };

/** The header fields that tell some limits, none where there is nothing to tell. */
export function rateLimitFields(
  form: RateLimitForm,
  policies: readonly Policy[],
  shortage: Shortage,
): Field[] {
  if (form === "draft-12") return listFields(policies, shortage);
  const policy = closestOf(policies, shortage);
  return policy === null ? [] : singleFields(form, policy, shortage);
}

/** The draft's sections on RateLimit-Policy and RateLimit. `t` points at the instant of Retry-After, which may not lie before it. */
function listFields(policies: readonly Policy[], { accounts, retryAfterS }: Shortage): Field[] {
  if (policies.length === 0) return [];
  let quotas = "";
  let limits = "";
  for (const { label, quota, remaining, windowS } of policies) {
    const separator = quotas === "" ? "" : ", ";
    quotas += separator + label.policyOf(quota, windowS);
    limits += `${separator}${label.text};r=${fieldInteger(remaining)}`;
    if (retryAfterS !== null && accounts.includes(label.account)) limits += `;t=${retryAfterS}`;
  }
  return [["RateLimit-Policy", quotas], ["RateLimit", limits]];
}

/** The older forms know one limit, that of a window of time: what is short, else what has the least left. */
function closestOf(policies: readonly Policy[], { accounts }: Shortage): Policy | null {
  let closest: Policy | null = null;
  for (const policy of policies) {
    if (policy.restS === null) continue;
    if (closest === null || rankOf(policy, accounts) < rankOf(closest, accounts)) closest = policy;
  }
  return closest;
}

function rankOf({ label, quota, remaining }: Policy, short: readonly string[]): number {
  return remaining / quota - (short.includes(label.account) ? 1 : 0);
}

function singleFields(form: RateLimitForm, policy: Policy, { accounts, retryAfterS }: Shortage): Field[] {
  const limit = fieldInteger(policy.quota);
  const remaining = fieldInteger(policy.remaining);
  const isShort = accounts.includes(policy.label.account);
  const reset = fieldInteger((isShort ? retryAfterS : null) ?? policy.restS ?? 0);
  const quota: Field = ["RateLimit-Policy", `${limit};w=${fieldInteger(policy.windowS ?? 0)}`];
  if (form === "draft-7") {
    return [quota, ["RateLimit", `limit=${limit}, remaining=${remaining}, reset=${reset}`]];
  }
  return [quota, ["RateLimit-Limit", limit], ["RateLimit-Remaining", remaining], ["RateLimit-Reset", reset]];
}
