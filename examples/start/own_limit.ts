import { AbstractRateLimiter, Admission, Demand, SemaphoreLimiterStatus } from "../../mod.ts";

const sum = (amounts: readonly number[]) => amounts.reduce((total, amount) => total + amount, 0);

/** Megabytes of a graphics card. An amount is how many a job needs; none may need more than there are. */
class CardMemory extends AbstractRateLimiter<number> {
  readonly limiterName = "card";
  readonly limiterCategory = "semaphore";
  readonly capacity = 24_000;
  currentInUse = 0;

  get status(): SemaphoreLimiterStatus {
    return new SemaphoreLimiterStatus(this.capacity, this.capacity - this.currentInUse, 0);
  }
  fits(mine: readonly number[], ahead: readonly number[]): boolean {
    return this.currentInUse + sum(mine) + sum(ahead) <= this.capacity;
  }
  tryTake(mine: readonly number[], ahead: readonly number[]): boolean {
    const fits = this.fits(mine, ahead);
    if (fits) this.currentInUse += sum(mine);
    return fits;
  }
  give(amounts: readonly number[]): void {
    this.currentInUse -= sum(amounts);
    this.capacityChanged(); // Whoever waits is looked at again.
  }
  earliestFit(): null {
    return null; // No instant is known: only a give can help.
  }
}

const card = new CardMemory();
const admission = new Admission().start();
const train = (megabytes: number) =>
  admission.run(new Demand().add(card, megabytes), () => `${card.currentInUse} MB in use`);
console.log(await Promise.all([20_000, 8_000, 3_000].map(train)));
