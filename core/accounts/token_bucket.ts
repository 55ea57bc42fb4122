import { base, NativeAccount } from "./native.ts";
import { checkName } from "./native_checks.ts";
import type { NativeClass } from "./native_class.ts";
import type { Tally } from "./refusals.ts";
import type { LimiterCategory, Replenishment } from "../account.ts";
import type { Clock } from "../clock.ts";
import { show } from "../invariant.ts";
import { type Logger, safeLogger } from "../logger.ts";
import { UpstreamFailure } from "../models/upstream_failure.ts";
import { checkOptionNames, type OptionNames } from "../option_names.ts";
import { TokenBucketStatus } from "../statuses.ts";

/** Most tokens in one amount. */
export const MAX_TOKENS: number = 2 ** 31 - 1;

/** The two caps of a bucket, per minute. */
export interface TokenBucketCaps {
  /** Tokens per minute: finite, 1 or more; fractions are cut off. */
  tpm: number;
  /** Requests per minute: finite, 1 or more; fractions are cut off. */
  rpm: number;
}

/** Caps and what else a bucket reads. */
export interface TokenBucketOptions extends TokenBucketCaps {
  /** The clock of levels and recovery; the system's when left out. It must be the Admission's own. */
  clock?: Clock;
  /** Hears of changed caps and of rate-limit errors; silent when left out. */
  logger?: Logger;
}

const OPTIONS: OptionNames<TokenBucketOptions> = { tpm: true, rpm: true, clock: true, logger: true };

/**
 * Tokens and requests per minute, as model providers count them. Both levels start full and refill by the clock; an amount
 * is a number of tokens and one request. A throttle, raised by 429s and relaxed by successes, stretches the minute.
 *
 * An answer never depends on how often the bucket was asked, and an announced instant is exact to the tick of 0.001 ms
 * (token arithmetic in integers, see docs/architecture.md).
 */
export class TokenBucketRateLimiter extends NativeAccount<number> {
  static readonly #native: NativeClass<TokenBucketRateLimiter, number> = {
    prototype: TokenBucketRateLimiter.prototype,
    readsClock: true,
    openRecord: (bucket, kernel, nowTicks) => kernel.openBucket(bucket.#tpm, bucket.#rpm, nowTicks),
    tally: (bucket, amounts) => tokenTally(bucket.limiterName, amounts),
    isLikeNew: (bucket) => bucket.#isLikeNew(),
  };

  readonly #logger: Logger;
  #tpm: number;
  #rpm: number;
  #isReconfigured = false;

  /**
   * A full bucket at throttle 0.
   *
   * @param name any non-empty string; the model's, as a rule.
   * @throws TypeError or RangeError when the name, a cap, the clock or the logger is not as said.
   */
  constructor(name: string, options: TokenBucketOptions) {
    checkName(new.target.name, name);
    checkOptionNames("Cannot make a TokenBucketRateLimiter:", options, OPTIONS);
    const caps = checkedCaps(`Cannot make ${show(name)}:`, options);
    super(name, TokenBucketRateLimiter.#native, options.clock);
    this.#tpm = caps.tpm;
    this.#rpm = caps.rpm;
    this.#logger = safeLogger(options.logger);
  }

  /** `token_bucket`. */
  override get limiterCategory(): LimiterCategory {
    return "token_bucket";
  }

  /** The clock alone brings tokens back. */
  override get replenishment(): Replenishment {
    return "TIME";
  }

  /** The token cap. */
  override get capacity(): number {
    return this.#tpm;
  }

  /** Whole tokens missing from a full bucket now; above the capacity while in debt. */
  override get currentInUse(): number {
    return base.read(this, (record, kernel) => kernel.bucketInUse(record, base.nowTicks(this)), 0);
  }

  /** Null at throttle 0, else for example `throttle:1.5x`. */
  override get statusIndicator(): string | null {
    const throttle = this.throttle;
    return throttle === 0 ? null : `throttle:${(1 + throttle).toFixed(1)}x`;
  }

  /** How much longer than a minute a refill takes: 0 nominal, 0.5 half as long again, at most 9. */
  get throttle(): number {
    return base.read(this, (record, kernel) => kernel.bucketThrottle(record), 0) / 10;
  }

  /** Both caps and what is left of each, in whole requests and tokens; a debt shows as 0. */
  override get status(): TokenBucketStatus {
    const requests = base.read(
      this,
      (record, kernel) => kernel.bucketRequests(record, base.nowTicks(this)),
      this.#rpm,
    );
    return new TokenBucketStatus(
      this.#rpm,
      requests,
      this.#tpm,
      Math.max(0, this.#tokens()),
      base.wallNow(this),
    );
  }

  /**
   * Sets new caps in place. The throttle stays; levels above a lowered cap are cut down, a raised cap adds nothing at once.
   * Waiters are woken when a cap grew; the same pair again does nothing.
   *
   * @throws TypeError or RangeError when a cap is not finite or below 1; then nothing has changed.
   */
  setConfig(caps: TokenBucketCaps): void {
    const what = `Cannot set the caps of ${show(this.limiterName)}:`;
    if (typeof caps !== "object" || caps === null) {
      throw new TypeError(`${what} they are ${show(caps)}, they should be { tpm, rpm }`);
    }
    const { tpm, rpm } = checkedCaps(what, caps);
    if (tpm === this.#tpm && rpm === this.#rpm) return;
    const bits = base.call(
      this,
      (record, kernel) => kernel.configureBucket(record, tpm, rpm, base.nowTicks(this)),
    );
    this.#tpm = tpm;
    this.#rpm = rpm;
    this.#isReconfigured = true;
    this.#logger.info(
      `Updated rate limits for ${this.limiterName}: ${rpm} requests and ${tpm} tokens per minute`,
    );
    base.wakeAll(this, bits);
  }

  /** One rate-limit answer: the throttle goes up by 0.5. The same as `recordBackpressure(1)`. */
  record429(): void {
    this.recordBackpressure(1);
  }

  /**
   * The upstream asks to slow down, with so much weight: the throttle goes up by 0.5 for each, to at most 9. Wakes nobody.
   *
   * @throws RangeError when the weight is not a whole number, 0 or more.
   */
  recordBackpressure(increments: number): void {
    if (!Number.isSafeInteger(increments) || increments < 0) {
      throw new RangeError(
        `Cannot slow ${show(this.limiterName)} down: increments is ${
          show(increments)
        }, it should be a whole number from 0`,
      );
    }
    base.call(this, (record, kernel) => kernel.slowDown(record, increments, base.nowTicks(this)));
  }

  /**
   * One success upstream. Every third takes 0.2 off the throttle, each takes 0.5 off once five minutes passed without a
   * slow-down. A relaxation wakes waiters.
   */
  recordSuccess(): void {
    base.wakeAll(this, base.call(this, (record, kernel) => kernel.succeed(record, base.nowTicks(this))));
  }

  /** The same as `recordSuccess`. */
  override onSuccess(): void {
    this.recordSuccess();
  }

  /** Logs what the upstream said and records one slow-down, whatever its status. */
  override onRateLimitError(failure: UpstreamFailure): void {
    if (!(failure instanceof UpstreamFailure)) {
      throw new TypeError(
        `Cannot tell ${show(this.limiterName)} of a failure: it is ${
          show(failure)
        }, it should be an UpstreamFailure`,
      );
    }
    this.#logger.warn(`${this.limiterName}: ${failure.summary()}`);
    this.record429();
  }

  /** At throttle 0 the kernel counts no successes, and whole levels have no fraction: full says it all. */
  #isLikeNew(): boolean {
    if (this.#isReconfigured) return false;
    const now = base.nowTicks(this);
    return base.call(
      this,
      (record, kernel) =>
        kernel.bucketThrottle(record) === 0 && kernel.bucketTokens(record, now) === this.#tpm &&
        kernel.bucketRequests(record, now) === this.#rpm,
    );
  }

  #tokens(): number {
    return base.read(this, (record, kernel) => kernel.bucketTokens(record, base.nowTicks(this)), this.#tpm);
  }
}

/** @throws TypeError or RangeError when they are no array of token counts. */
function tokenTally(name: string, amounts: readonly number[]): Tally {
  if (!Array.isArray(amounts)) {
    throw new TypeError(
      `Cannot ask ${show(name)}: amounts are ${show(amounts)}, they should be an array of token counts`,
    );
  }
  let sum = 0;
  for (const amount of amounts) sum += checkedTokens(name, amount);
  return { count: amounts.length, sum };
}

/** @throws TypeError or RangeError when it is not a token count: a whole number from 0 to 2^31 - 1. */
export function checkedTokens(name: string, amount: number): number {
  if (Number.isInteger(amount) && amount >= 0 && amount <= MAX_TOKENS) return amount;
  const what = `Cannot ask ${show(name)} for tokens: the amount is ${show(amount)}`;
  if (typeof amount !== "number") throw new TypeError(`${what}, it should be a number`);
  throw new RangeError(`${what}, it should be a whole number from 0 to ${MAX_TOKENS}`);
}

function checkedCaps(deed: string, caps: TokenBucketCaps): TokenBucketCaps {
  return { tpm: checkedCap(`${deed} tpm is`, caps.tpm), rpm: checkedCap(`${deed} rpm is`, caps.rpm) };
}

/** `is` begins a message, up to the value. */
function checkedCap(is: string, value: number): number {
  const what = `${is} ${show(value)}`;
  if (typeof value !== "number") throw new TypeError(`${what}, it should be a number per minute`);
  if (!(value >= 1 && value <= Number.MAX_SAFE_INTEGER)) {
    throw new RangeError(`${what}, it should be finite and 1 or more`);
  }
  return Math.trunc(value);
}
