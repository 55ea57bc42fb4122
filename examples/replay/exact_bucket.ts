import { TICKS_PER_MINUTE } from "./trace.ts";

/**
 * A plain token bucket: full at first, refilled evenly, `cap` units a minute. Levels are whole numbers of
 * 1/60,000,000 unit, what one tick brings of a unit a minute, so nothing is ever rounded (up to `MAX_LIMIT`).
 */
export class ExactBucket {
  readonly #cap: number;
  readonly #fullLevel: number;
  #level: number;
  #atTicks = 0;

  /** @param cap units a minute, and the most the bucket holds: a whole number from 1 to `MAX_LIMIT` */
  constructor(cap: number) {
    this.#cap = cap;
    this.#fullLevel = cap * TICKS_PER_MINUTE;
    this.#level = this.#fullLevel;
  }

  /** The first instant, in ticks, not before `nowTicks`, at which `amount` is there; Infinity when it never is. */
  readyTicks(nowTicks: number, amount: number): number {
    if (amount > this.#cap) return Infinity;
    this.#refill(nowTicks);
    const missing = Math.max(0, amount * TICKS_PER_MINUTE - this.#level);
    const rest = missing % this.#cap;
    return nowTicks + (missing - rest) / this.#cap + (rest > 0 ? 1 : 0);
  }

  /** Takes `amount`, which the caller has seen to be there. */
  take(nowTicks: number, amount: number): void {
    this.#refill(nowTicks);
    this.#level -= amount * TICKS_PER_MINUTE;
  }

  /** The part of the bucket that is spent: 0 when it is full, 1 when it is dry. */
  spentShare(nowTicks: number): number {
    this.#refill(nowTicks);
    return 1 - this.#level / this.#fullLevel;
  }

  #refill(nowTicks: number): void {
    const elapsed = Math.min(TICKS_PER_MINUTE, nowTicks - this.#atTicks);
    this.#atTicks = nowTicks;
    this.#level = Math.min(this.#fullLevel, this.#level + elapsed * this.#cap);
  }
}
