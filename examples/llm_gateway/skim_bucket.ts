import { type Admission, Demand, type TokenBucketRateLimiter } from "../../mod.ts";

/**
 * Takes what a bucket has saved up beyond a part of its caps, so that a burst after a quiet time stays small. A bucket that is full
 * sends a minute's quota at once and another one while it refills, which a provider that looks at any minute does not let in.
 *
 * Call it before a demand is admitted, while nobody waits: whoever waits needs what is saved up.
 *
 * @param keep what stays, as a part of the caps: 0 to 1
 */
export function skimBucket(bucket: TokenBucketRateLimiter, admission: Admission, keep: number): void {
  const { maxTokens, availableTokens, maxRequests, availableRequests } = bucket.status;
  const tokens = availableTokens - Math.ceil(maxTokens * keep);
  const requests = availableRequests - Math.ceil(maxRequests * keep);
  if (tokens <= 0 && requests <= 0) return;
  const skimmed = new Demand().add(bucket, Math.max(0, tokens));
  for (let index = 1; index < requests; index++) skimmed.add(bucket, 0);
  admission.tryAdmit(skimmed)?.release(); // What is metered does not come back with the grant.
}
