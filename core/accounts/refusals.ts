import type { LimiterIdentity } from "../account.ts";
import { UncorrectableError } from "../errors.ts";
import { show } from "../invariant.ts";
import { NEVER_PERMITS, NEVER_REQUESTS } from "../../assembly/layout.ts";

/** The amounts of one entry as the kernel sees them. */
export interface Tally {
  /** How many amounts. */
  count: number;
  /** Their sum; 0 for unit permits. */
  sum: number;
}

/** The error for a demand that a gate or a bucket can never grant. */
export function neverError(account: LimiterIdentity, asked: Tally, verdict: number): UncorrectableError {
  return new UncorrectableError(neverText(account, asked, verdict), { account: account.limiterName });
}

function neverText(account: LimiterIdentity, asked: Tally, verdict: number): string {
  const name = show(account.limiterName);
  if (verdict === NEVER_PERMITS) {
    return `${asked.count} permits can never fit ${name}: its capacity is ${account.capacity}. Ask for at most that many.`;
  }
  if (verdict === NEVER_REQUESTS) {
    const { maxRequests } = account.status as unknown as { maxRequests: number };
    return `A demand of ${asked.count} requests exceeds the request cap of ${name}, ${maxRequests} per minute. Split the demand.`;
  }
  return `A demand of ${asked.sum} tokens exceeds the token cap of ${name}, ${account.capacity} per minute. Ask for at most that many.`;
}

/** Counts unit amounts. @throws TypeError when they are no array. */
export function unitTally(name: string, amounts: readonly void[], unit: string): Tally {
  if (Array.isArray(amounts)) return { count: amounts.length, sum: 0 };
  throw new TypeError(
    `Cannot ask ${show(name)}: amounts are ${
      show(amounts)
    }, they should be an array with one item for each ${unit}`,
  );
}
