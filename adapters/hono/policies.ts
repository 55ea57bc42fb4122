import {
  type Demand,
  type DemandEntry,
  ElasticWindowStatus,
  type LimiterIdentity,
  SemaphoreLimiterStatus,
  TokenBucketStatus,
} from "../../mod.ts";
import { Label } from "./label.ts";

/** One limit as clients are told it. */
export interface Policy {
  /** How it is named and described. */
  readonly label: Label;
  readonly quota: number;
  readonly remaining: number;
  /** Seconds in which the quota is granted, 1 or more; null where it comes back by release. */
  readonly windowS: number | null;
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
    addPolicies(policies, entry);
  }
  return policies;
}

function addPolicies(policies: Policy[], entry: DemandEntry): void {
  const { status } = entry.key;
  if (status instanceof TokenBucketStatus) return addBucket(policies, status, entry);
  if (status instanceof ElasticWindowStatus) {
    const windowS = Math.max(1, Math.ceil(status.effectiveWindowMs / 1000));
    const { maxRequests: quota, availablePermits: remaining } = status;
    policies.push({ label: labelOf(entry.key), quota, remaining, windowS, restS: windowS });
  } else if (status instanceof SemaphoreLimiterStatus) {
    const { maxConcurrent: quota, availablePermits: remaining } = status;
    policies.push({
      label: labelOf(entry.key, "concurrent-requests"),
      quota,
      remaining,
      windowS: null,
      restS: null,
    });
  }
}

/** Requests under the bucket's own name, and where tokens are asked, the tokens beside them. */
function addBucket(policies: Policy[], status: TokenBucketStatus, { key, amounts }: DemandEntry): void {
  const { maxRequests, availableRequests, maxTokens, availableTokens } = status;
  policies.push(perMinute(labelOf(key), maxRequests, availableRequests));
  if (!amounts.some((amount) => typeof amount === "number" && amount > 0)) return;
  policies.push(perMinute(labelOf(key, "tokens"), maxTokens, availableTokens));
}

function perMinute(label: Label, quota: number, remaining: number): Policy {
  return { label, quota, remaining, windowS: 60, restS: Math.ceil(60 * (quota - remaining) / quota) };
}

/** Labels by account, for requests and for another unit: names do not change, and encoding them costs more than all else. */
const requestLabels = new WeakMap<LimiterIdentity, Label>();
const unitLabels = new WeakMap<LimiterIdentity, Label>();

function labelOf(key: LimiterIdentity, unit: string | null = null): Label {
  const labels = unit === null ? requestLabels : unitLabels;
  let label = labels.get(key);
  if (label === undefined || label.account !== key.limiterName) {
    label = new Label(key.limiterName, unit);
    labels.set(key, label);
  }
  return label;
}
