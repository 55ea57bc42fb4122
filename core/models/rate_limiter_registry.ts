import type { ModelGate } from "../accounts/model_gate.ts";
import type { TokenBucketCaps, TokenBucketRateLimiter } from "../accounts/token_bucket.ts";
import type { LimiterIdentity, RateLimiter } from "../account.ts";
import { show } from "../invariant.ts";
import type { AnsweredCall } from "./learned_limits.ts";
import type { ModelSpecFields } from "./model_spec.ts";
import { type LimiterClass, RateLimiterFactory } from "./rate_limiter_factory.ts";
import type { TokenBucketStatus } from "../statuses.ts";

/** The factory of every registry that is given none: one for the process. It makes no account before it is asked for one. */
const PROCESS_FACTORY = new RateLimiterFactory();

/**
 * Where a program asks for its accounts: a face of a factory, which keeps them. Registries without a factory of their own
 * share the process's, so that every part of a program gets the same accounts.
 */
export class RateLimiterRegistry {
  readonly #factory: RateLimiterFactory;

  /**
   * A face of this factory, or of the process's when left out.
   *
   * @throws TypeError when it is no factory.
   */
  constructor(factory: RateLimiterFactory = PROCESS_FACTORY) {
    if (!(factory instanceof RateLimiterFactory)) {
      throw new TypeError(
        `Cannot make a RateLimiterRegistry: factory is ${show(factory)}, it should be a RateLimiterFactory`,
      );
    }
    this.#factory = factory;
  }

  /** The one account of a class; see `RateLimiterFactory.limiter`. */
  limiter<L extends RateLimiter<never>>(type: LimiterClass<L>): L {
    return this.#factory.limiter(type);
  }

  /** The bucket of a model; see `RateLimiterFactory.bucket`. */
  bucket(spec: ModelSpecFields): TokenBucketRateLimiter {
    return this.#factory.bucket(spec);
  }

  /** The gate of a model; see `RateLimiterFactory.gate`. */
  gate(spec: ModelSpecFields): ModelGate {
    return this.#factory.gate(spec);
  }

  /** Applies a provider's limits; see `RateLimiterFactory.updateLimits`. */
  updateLimits(model: ModelSpecFields | string, limits: TokenBucketCaps): void {
    this.#factory.updateLimits(model, limits);
  }

  /** Learns a model's caps from an answered call, before its success is recorded; see `RateLimiterFactory.learnLimits`. */
  learnLimits(model: ModelSpecFields | string, call: AnsweredCall): boolean {
    return this.#factory.learnLimits(model, call);
  }

  /** The status of a model's bucket, which is made if there is none. */
  status(spec: ModelSpecFields): TokenBucketStatus {
    return this.#factory.status(spec);
  }

  /** Every account that was made, for `health` and `healthTable`. */
  get accounts(): LimiterIdentity[] {
    return this.#factory.accounts;
  }

  /** Forgets every account, also for other registries of the same factory. */
  clear(): void {
    this.#factory.clear();
  }
}
