import { REAL_MINUTE_MS } from "./minute_clock.ts";

/** Tokens and requests per minute. */
export interface Quota {
  readonly tpm: number;
  readonly rpm: number;
}

/** A request that counts. Its tokens are what it reserved, then what it used. */
export interface Stamp {
  readonly atMs: number;
  tokens: number;
}

/**
 * A provider's own way to count, unlike a bucket's: in any minute, however it lies, there are at most so many tokens and requests.
 * A bucket that is full may send a minute's worth at once and another one while it refills; a window refuses the half of that.
 */
export class SlidingWindow {
  quota: Quota;
  readonly #stamps: Stamp[] = [];
  #oldest = 0;
  #fullestTokens = 0;

  constructor(quota: Quota) {
    this.quota = quota;
  }

  /** Every request that ever counted, in order of arrival. */
  get stamps(): readonly Stamp[] {
    return this.#stamps;
  }

  /** The most tokens that any minute has had. */
  get fullestTokens(): number {
    return this.#fullestTokens;
  }

  /** What counts at an instant. */
  used(nowMs: number): { tokens: number; requests: number } {
    while ((this.#stamps[this.#oldest]?.atMs ?? Infinity) <= nowMs - REAL_MINUTE_MS) this.#oldest++;
    let tokens = 0;
    for (let index = this.#oldest; index < this.#stamps.length; index++) {
      tokens += this.#stamps[index]!.tokens;
    }
    return { tokens, requests: this.#stamps.length - this.#oldest };
  }

  /** Lets a request in, or answers how long until it would fit, in ms; Infinity when it never does. */
  take(nowMs: number, tokens: number): Stamp | number {
    const used = this.used(nowMs);
    if (used.tokens + tokens <= this.quota.tpm && used.requests < this.quota.rpm) {
      return this.force(nowMs, tokens);
    }
    let { tokens: left, requests } = used;
    for (let index = this.#oldest; index < this.#stamps.length; index++) {
      const { atMs, tokens: freed } = this.#stamps[index]!;
      left -= freed;
      requests--;
      if (left + tokens <= this.quota.tpm && requests < this.quota.rpm) return atMs + REAL_MINUTE_MS - nowMs;
    }
    return Infinity;
  }

  /** Counts a request, whether it fits or not. */
  force(nowMs: number, tokens: number): Stamp {
    const stamp = { atMs: nowMs, tokens };
    this.#stamps.push(stamp);
    this.#fullestTokens = Math.max(this.#fullestTokens, this.used(nowMs).tokens);
    return stamp;
  }
}
