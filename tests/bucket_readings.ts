// Buckets in a state, and what the bucket tests read off them.

import { type AbstractRateLimiter, TokenBucketRateLimiter } from "../mod.ts";
import type { World } from "./scenario.ts";

/** Of the buckets that are made here. */
export const CAPS = { rpm: 1000, tpm: 1_000_000 } as const;

/** Whole tokens and whole requests that are there now. */
export function levels(bucket: TokenBucketRateLimiter): { tokens: number; requests: number } {
  const { availableTokens, availableRequests } = bucket.status;
  return { tokens: availableTokens, requests: availableRequests };
}

/** Installs a public wake and counts how often it runs. */
export function countWakes(account: AbstractRateLimiter<never>): { readonly wakes: number } {
  const counter = { wakes: 0 };
  account.onCapacityChange(() => void counter.wakes++);
  return counter;
}

/** A bucket after so many 429s. */
export function slowed(world: World, failures: number): TokenBucketRateLimiter {
  const bucket = world.bucket("gpt", CAPS);
  for (let i = 0; i < failures; i++) bucket.record429();
  return bucket;
}

/** A bucket that logs what it says, level first. */
export function logging(world: World): { bucket: TokenBucketRateLimiter; lines: string[] } {
  const lines: string[] = [];
  const log = (level: string) => (message: string) => void lines.push(`${level} ${message}`);
  const logger = { info: log("INFO"), warn: log("WARN"), error: log("ERROR") };
  return { bucket: new TokenBucketRateLimiter("gpt", { ...CAPS, clock: world.clock, logger }), lines };
}

/** The throttle after each of so many successes. */
export function relax(bucket: TokenBucketRateLimiter, successes: number): number[] {
  return Array.from({ length: successes }, () => {
    bucket.recordSuccess();
    return bucket.throttle;
  });
}
