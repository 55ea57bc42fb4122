import {
  type Demand,
  type DemandEntry,
  ElasticWindowStatus,
  SemaphoreLimiterStatus,
  TokenBucketStatus,
} from "../../mod.ts";
import { plainName } from "./structured_fields.ts";

/** One limit as clients are told it. */
export interface Policy {
  /** Printable ASCII. */
  readonly name: string;
  /** The account behind it; a bucket has two policies. */
  readonly account: string;
  readonly quota: number;
  readonly remaining: number;
  /** Seconds in which the quota is granted, 1 or more; null where it comes back by release. */
  readonly windowS: number | null;
  /** What is counted; null for requests. */
  readonly unit: string | null;
  /** Seconds after which nothing of the quota is used any more, if nothing is asked; null where only a release tells. */
  readonly restS: number | null;
}

/** Most policies that a response tells: headers have a limit, and a demand may name 256 accounts. */
const MAX_POLICIES = 16;

/** The limits that a demand meets, in its order. Accounts whose status is none of the built-in ones are left out. */
export function policiesOf(demand: Demand): Policy[] {
  const policies: Policy[] = [];
  for (const entry of demand.entries) {
    if (policies.length >= MAX_POLICIES) break;
    policies.push(...policiesOfEntry(entry));
  }
  return policies;
}

function policiesOfEntry(entry: DemandEntry): Policy[] {
  const { status, limiterName } = entry.key;
  const named = { name: plainName(limiterName), account: limiterName };
  if (status instanceof TokenBucketStatus) return policiesOfBucket(named, status, entry);
  if (status instanceof ElasticWindowStatus) {
    const windowS = Math.max(1, Math.ceil(status.effectiveWindowMs / 1000));
    const { maxRequests: quota, availablePermits: remaining } = status;
    return [{ ...named, quota, remaining, windowS, unit: null, restS: windowS }];
  }
  if (status instanceof SemaphoreLimiterStatus) {
    const { maxConcurrent: quota, availablePermits: remaining } = status;
    return [{ ...named, quota, remaining, windowS: null, unit: "concurrent-requests", restS: null }];
  }
  return [];
}

/** Requests under the bucket's own name, and where tokens are asked, the tokens beside them. */
function policiesOfBucket(
  named: { name: string; account: string },
  status: TokenBucketStatus,
  entry: DemandEntry,
): Policy[] {
  const { maxRequests, availableRequests, maxTokens, availableTokens } = status;
  const rest = (quota: number, remaining: number) => Math.ceil(60 * (quota - remaining) / quota);
  const minute = { windowS: 60, unit: null };
  const requests: Policy = {
    ...named,
    ...minute,
    quota: maxRequests,
    remaining: availableRequests,
    restS: rest(maxRequests, availableRequests),
  };
  if (!entry.amounts.some((amount) => typeof amount === "number" && amount > 0)) return [requests];
  return [requests, {
    ...named,
    windowS: 60,
    name: `${named.name}:tokens`,
    quota: maxTokens,
    remaining: availableTokens,
    unit: "tokens",
    restS: rest(maxTokens, availableTokens),
  }];
}
