// Accounts that keep the whole contract, for tests that plant one bad habit in them.

import { UncorrectableError } from "../mod.ts";
import { ManualClock } from "../testing/mod.ts";
import { Slots } from "./custom_accounts.ts";

/** A sound account of three permits, released by the job. */
export class SoundSlots extends Slots {
  constructor() {
    super("slots", 3);
    this.afterGive = () => this.wake();
  }

  override fits(mine: readonly unknown[], ahead: readonly unknown[]): boolean {
    this.refuseImpossible(mine);
    return this.currentInUse + mine.length + ahead.length <= this.capacity;
  }

  override tryTake(mine: readonly unknown[], ahead: readonly unknown[]): boolean {
    this.refuseImpossible(mine);
    return super.tryTake(mine, ahead);
  }

  protected refuseImpossible(mine: readonly unknown[]): void {
    if (mine.length > this.capacity) throw new UncorrectableError("more than there is");
  }
}

/** A sound account whose permits come back one every 100 ms. */
export class SoundMeter extends SoundSlots {
  readonly clock: ManualClock = new ManualClock();
  readonly #takenAt: number[] = [];

  constructor() {
    super();
    this.kind = "TIME";
  }

  override fits(mine: readonly unknown[], ahead: readonly unknown[]): boolean {
    this.#expire();
    return super.fits(mine, ahead);
  }

  override tryTake(mine: readonly unknown[], ahead: readonly unknown[]): boolean {
    this.#expire();
    const isTaken = super.tryTake(mine, ahead);
    if (isTaken) mine.forEach(() => this.#takenAt.push(this.clock.now()));
    return isTaken;
  }

  override give(amounts: readonly unknown[]): void {
    amounts.forEach(() => this.#takenAt.pop());
    super.give(amounts);
  }

  override earliestFit(mine: readonly unknown[] = [], ahead: readonly unknown[] = []): number | null {
    if (mine.length > this.capacity) return null;
    this.#expire();
    const missing = mine.length + ahead.length + this.currentInUse - this.capacity;
    return missing <= 0 ? this.clock.now() : this.#takenAt[missing - 1]! + 100;
  }

  #expire(): void {
    while (this.#takenAt.length > 0 && this.#takenAt[0]! + 100 <= this.clock.now()) this.#takenAt.shift();
    this.currentInUse = this.#takenAt.length;
  }
}
