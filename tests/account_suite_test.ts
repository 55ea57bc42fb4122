import { describe, it } from "@std/testing/bdd";
import { CountingGate, ElasticWindowRateLimiter, TokenBucketRateLimiter } from "../mod.ts";
import { ManualClock, MeterLimiter, rateLimiterContract } from "../testing/mod.ts";

const runner = { describe, it };

rateLimiterContract("CountingGate", () => ({
  account: new CountingGate("gate", 3),
  clock: new ManualClock(),
  amount: undefined,
  room: 3,
  impossible: new Array<void>(4).fill(undefined),
}), runner);

rateLimiterContract("TokenBucketRateLimiter by tokens", () => {
  const clock = new ManualClock();
  return {
    account: new TokenBucketRateLimiter("bucket", { tpm: 1_000, rpm: 1_000, clock }),
    clock,
    amount: 250,
    room: 4,
    impossible: [1_001],
  };
}, runner);

rateLimiterContract("TokenBucketRateLimiter by requests", () => {
  const clock = new ManualClock();
  return {
    account: new TokenBucketRateLimiter("bucket", { tpm: 1_000_000, rpm: 5, clock }),
    clock,
    amount: 1,
    room: 5,
    impossible: new Array<number>(6).fill(1),
  };
}, runner);

rateLimiterContract("ElasticWindowRateLimiter", () => {
  const clock = new ManualClock();
  return {
    account: new ElasticWindowRateLimiter("window", { maxRequests: 3, baseWindowMs: 1_000, clock }),
    clock,
    amount: undefined,
    room: 3,
    impossible: new Array<void>(4).fill(undefined),
  };
}, runner);

rateLimiterContract("MeterLimiter", () => {
  const clock = new ManualClock();
  return {
    account: new MeterLimiter("meter", 100, 20, clock),
    clock,
    amount: 50,
    room: 2,
    impossible: [101],
  };
}, runner);

rateLimiterContract("A gate that overrides a verb", () => {
  class Watched extends CountingGate {
    asked = 0;

    override fits(mine: readonly void[], ahead: readonly void[]): boolean {
      this.asked++;
      return super.fits(mine, ahead);
    }
  }
  return { account: new Watched("watched", 2), clock: new ManualClock(), amount: undefined, room: 2 };
}, runner);
