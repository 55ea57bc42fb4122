import {
  AbstractRateLimiter,
  Admission,
  Demand,
  SemaphoreLimiterStatus,
  UncorrectableError,
} from "../../mod.ts";

/** At most so many megabytes of uploads in flight. An amount is a number of megabytes. */
class UploadLimiter extends AbstractRateLimiter<number> {
  readonly limiterName = "uploads";
  readonly limiterCategory = "semaphore";
  readonly capacity = 100;
  currentInUse = 0;

  get status(): SemaphoreLimiterStatus {
    return new SemaphoreLimiterStatus(this.capacity, this.capacity - this.currentInUse, 0);
  }

  fits(mine: readonly number[], ahead: readonly number[]): boolean {
    const asked = sum(mine);
    if (asked > this.capacity) {
      throw new UncorrectableError(`${asked} MB can never be uploaded: ${this.capacity} MB is the most.`, {
        account: this.limiterName,
      });
    }
    return this.currentInUse + asked + sum(ahead) <= this.capacity;
  }

  tryTake(mine: readonly number[], ahead: readonly number[]): boolean {
    if (!this.fits(mine, ahead)) return false;
    this.currentInUse += sum(mine);
    return true;
  }

  give(amounts: readonly number[]): void {
    this.currentInUse -= sum(amounts);
    this.capacityChanged(); // Whoever waits is looked at again.
  }

  earliestFit(): null {
    return null; // Only a give can help.
  }
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0);
}

const uploads = new UploadLimiter();
const admission = new Admission().start();
const sizes = [60, 30, 50];
const upload = async (size: number) => {
  using _grant = await admission.admit(new Demand().add(uploads, size));
  return await Promise.resolve(`${size} MB beside ${uploads.currentInUse - size}`);
};
console.log(await Promise.all(sizes.map(upload)));
console.log(await upload(120).catch((error: Error) => error.message)); // It could never fit, so it is not left to wait.
