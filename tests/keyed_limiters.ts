// Keyed limiters for tests: of gates, of buckets, and whether a key was given up.

import assert from "node:assert/strict";
import { CountingGate, KeyedRateLimiter, KeysFullError, TokenBucketRateLimiter } from "../mod.ts";
import type { World } from "./scenario.ts";

/** Gates of users. */
export function gates(maxKeys: number, capacity = 1): KeyedRateLimiter<string, CountingGate> {
  return new KeyedRateLimiter("users", (key) => new CountingGate(`user ${key}`, capacity), { maxKeys });
}

/** Buckets of tenants: 600 tokens and 60 requests a minute. */
export function buckets({ clock }: World, maxKeys: number): KeyedRateLimiter<string, TokenBucketRateLimiter> {
  const caps = { tpm: 600, rpm: 60, clock };
  return new KeyedRateLimiter("tenants", (key) => new TokenBucketRateLimiter(`tenant ${key}`, caps), {
    maxKeys,
  });
}

/** Whether a new key finds a place in a limiter of one key: the one that has it was given up. */
export function isGivenUp(keyed: KeyedRateLimiter<string>): boolean {
  try {
    keyed.accountFor("another");
    return true;
  } catch (error) {
    assert.ok(error instanceof KeysFullError);
    return false;
  }
}
