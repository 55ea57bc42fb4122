import {
  AbstractRateLimiter,
  type Clock,
  type Replenishment,
  SemaphoreLimiterStatus,
  systemClock,
  UncorrectableError,
} from "../../mod.ts";

/** A few calls at once, then one in each gap. An amount is one call; it comes back by the clock. */
export class PaceLimiter extends AbstractRateLimiter<void> {
  readonly limiterName = "pace";
  readonly limiterCategory = "pace";
  readonly capacity: number;
  readonly #gapMs: number;
  readonly #clock: Clock;
  /** The instant at which all that was taken has come back. */
  #fullAtMs: number;

  constructor(capacity: number, gapMs: number, clock: Clock = systemClock) {
    super();
    this.capacity = capacity;
    this.#gapMs = gapMs;
    this.#clock = clock;
    this.#fullAtMs = clock.now();
  }

  override get replenishment(): Replenishment {
    return "TIME";
  }

  get currentInUse(): number {
    return Math.max(0, Math.ceil((this.#fullAtMs - this.#clock.now()) / this.#gapMs));
  }

  get status(): SemaphoreLimiterStatus {
    return new SemaphoreLimiterStatus(this.capacity, this.capacity - this.currentInUse, 0);
  }

  fits(mine: readonly void[], ahead: readonly void[]): boolean {
    if (mine.length > this.capacity) {
      throw new UncorrectableError(
        `${mine.length} calls at once can never be paced, ask for ${this.capacity}.`,
        {
          account: this.limiterName,
        },
      );
    }
    return this.#clock.now() >= this.#fitsAtMs(mine.length + ahead.length);
  }

  tryTake(mine: readonly void[], ahead: readonly void[]): boolean {
    if (!this.fits(mine, ahead)) return false;
    this.#fullAtMs = Math.max(this.#fullAtMs, this.#clock.now()) + mine.length * this.#gapMs;
    return true;
  }

  give(amounts: readonly void[]): void {
    this.#fullAtMs -= amounts.length * this.#gapMs;
    this.capacityChanged();
  }

  earliestFit(mine: readonly void[], ahead: readonly void[]): number | null {
    const atMs = this.#fitsAtMs(mine.length + ahead.length);
    return atMs === Infinity ? null : atMs;
  }

  #fitsAtMs(calls: number): number {
    if (calls > this.capacity) return Infinity;
    return this.#fullAtMs - (this.capacity - calls) * this.#gapMs;
  }
}
