import { RateLimiterFactory, type RateLimiterFactoryOptions, type TokenBucketCaps } from "../../mod.ts";
import type { ModelSpecFields, TokenBucketRateLimiter } from "../../mod.ts";

/**
 * Accounts that take a part of what a provider grants: the others' part is not ours, and some of it is left as a margin. Limits
 * that its headers report are cut down in the same way.
 */
export class SharedQuota extends RateLimiterFactory {
  readonly #share: number;
  readonly #onLimits: () => void;

  /**
   * @param share above 0, at most 1
   * @param onLimits is called when limits were reported, and have been applied
   */
  constructor(share: number, { onLimits, ...options }: RateLimiterFactoryOptions & { onLimits: () => void }) {
    super(options);
    this.#share = share;
    this.#onLimits = onLimits;
  }

  override bucket(spec: ModelSpecFields): TokenBucketRateLimiter {
    return super.bucket({ ...spec, ...this.#cut({ tpm: spec.tpm ?? 0, rpm: spec.rpm ?? 0 }) });
  }

  override updateLimits(model: ModelSpecFields | string, limits: TokenBucketCaps): void {
    super.updateLimits(model, this.#cut(limits));
    this.#onLimits();
  }

  #cut({ tpm, rpm }: TokenBucketCaps): TokenBucketCaps {
    return { tpm: Math.floor(tpm * this.#share), rpm: Math.floor(rpm * this.#share) };
  }
}
