import { AbstractRateLimiter, SemaphoreLimiterStatus, UncorrectableError } from "../../mod.ts";

/** At most so many megabytes of uploads in flight. An amount is a number of megabytes; it comes back by release. */
export class UploadLimiter extends AbstractRateLimiter<number> {
  readonly limiterName = "uploads";
  readonly limiterCategory = "semaphore";
  #capacity: number;
  #inUse = 0;
  #held: () => number = () => 0;

  constructor(capacity: number) {
    super();
    this.#capacity = capacity;
  }

  get capacity(): number {
    return this.#capacity;
  }

  get currentInUse(): number {
    return this.#inUse;
  }

  get status(): SemaphoreLimiterStatus {
    return new SemaphoreLimiterStatus(this.#capacity, this.#capacity - this.#inUse, 0);
  }

  override get statusIndicator(): string | null {
    return this.#held() > 0 ? `held:${this.#held()}` : null;
  }

  fits(mine: readonly number[], ahead: readonly number[]): boolean {
    const asked = sum(mine);
    if (asked > this.#capacity) {
      throw new UncorrectableError(
        `${asked} MB can never be uploaded: ${this.#capacity} MB in flight is the most. Split the upload.`,
        { account: this.limiterName },
      );
    }
    return this.#inUse + asked + sum(ahead) <= this.#capacity;
  }

  tryTake(mine: readonly number[], ahead: readonly number[]): boolean {
    if (!this.fits(mine, ahead)) return false;
    this.#inUse += sum(mine);
    return true;
  }

  give(amounts: readonly number[]): void {
    this.#inUse -= sum(amounts);
    this.capacityChanged();
  }

  earliestFit(): null {
    return null;
  }

  override observeHeld(held: () => number): void {
    this.#held = held;
  }

  setCapacity(capacity: number): void {
    const grows = capacity > this.#capacity;
    this.#capacity = capacity;
    if (grows) this.capacityChanged();
  }
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0);
}
