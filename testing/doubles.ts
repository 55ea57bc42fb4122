import {
  AbstractRateLimiter,
  type Clock,
  type LimiterCategory,
  type LimiterStatus,
  type Replenishment,
  SemaphoreLimiterStatus,
  UncorrectableError,
} from "../mod.ts";

/** How a ScriptedLimiter behaves. */
export type ScriptedMode =
  /** Everything fits and is taken. */
  | "fits"
  /** Nothing fits. */
  | "short"
  /** `fits` says yes, `tryTake` says no. */
  | "declines"
  /** Refuses with an UncorrectableError. */
  | "refuses"
  /** Throws a plain Error, as a bug would. */
  | "throws";

class PlainStatus implements LimiterStatus {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  summary(): string {
    return this.#text;
  }
}

/** An account that does what a test tells it, whatever the amounts. Its mode may be changed at any time; that wakes nobody. */
export class ScriptedLimiter extends AbstractRateLimiter<unknown> {
  readonly limiterName: string;
  readonly limiterCategory: LimiterCategory = "semaphore";
  readonly capacity = 1;
  mode: ScriptedMode;
  /** When true, `give` throws. */
  giveThrows = false;
  /** What `earliestFit` answers, in ms. */
  instant: number | null = null;
  takeCount = 0;
  giveCount = 0;

  constructor(name: string, mode: ScriptedMode = "fits") {
    super();
    this.limiterName = name;
    this.mode = mode;
  }

  get currentInUse(): number {
    return this.takeCount - this.giveCount;
  }

  get status(): LimiterStatus {
    return new PlainStatus(`${this.mode}, taken ${this.takeCount}, given ${this.giveCount}`);
  }

  fits(): boolean {
    return this.#answer() !== "short";
  }

  tryTake(): boolean {
    if (this.#answer() !== "fits") return false;
    this.takeCount++;
    return true;
  }

  give(): void {
    if (this.giveThrows) throw new Error(`${this.limiterName} cannot take anything back`);
    this.giveCount++;
  }

  earliestFit(): number | null {
    return this.instant;
  }

  /** Runs the installed wake. */
  wake(): void {
    this.capacityChanged();
  }

  #answer(): ScriptedMode {
    if (this.mode === "refuses") {
      throw new UncorrectableError(`${this.limiterName} refuses everyone, pick a different tool`, {
        account: this.limiterName,
      });
    }
    if (this.mode === "throws") throw new Error(`${this.limiterName} is broken`);
    return this.mode;
  }
}

/** A clocked account written without the kernel: a level that refills evenly up to its cap. An amount is a number. */
export class MeterLimiter extends AbstractRateLimiter<number> {
  readonly limiterName: string;
  readonly limiterCategory: LimiterCategory = "token_bucket";
  readonly capacity: number;
  readonly #perSecond: number;
  readonly #clock: Clock;
  #level: number;
  #readAtMs: number;
  takeCount = 0;
  giveCount = 0;

  /** Starts full. `perSecond` 0 never refills. */
  constructor(name: string, capacity: number, perSecond: number, clock: Clock) {
    super();
    this.limiterName = name;
    this.capacity = capacity;
    this.#perSecond = perSecond;
    this.#clock = clock;
    this.#level = capacity;
    this.#readAtMs = clock.now();
  }

  override get replenishment(): Replenishment {
    return "TIME";
  }

  /** What is there now. */
  get level(): number {
    this.#read();
    return this.#level;
  }

  get currentInUse(): number {
    return this.capacity - this.level;
  }

  get status(): LimiterStatus {
    return new PlainStatus(`${this.level}/${this.capacity}`);
  }

  fits(mine: readonly number[], ahead: readonly number[]): boolean {
    const asked = sum(mine);
    if (asked > this.capacity) {
      throw new UncorrectableError(`${asked} exceeds the ${this.capacity} of ${this.limiterName}`, {
        account: this.limiterName,
      });
    }
    return this.level >= asked + sum(ahead);
  }

  tryTake(mine: readonly number[], ahead: readonly number[]): boolean {
    if (!this.fits(mine, ahead)) return false;
    this.#level -= sum(mine);
    this.takeCount++;
    return true;
  }

  /** Refunds up to the cap, and wakes. */
  give(amounts: readonly number[]): void {
    this.#level = Math.min(this.capacity, this.level + sum(amounts));
    this.giveCount++;
    this.capacityChanged();
  }

  earliestFit(mine: readonly number[], ahead: readonly number[]): number | null {
    const asked = sum(mine) + sum(ahead);
    if (asked > this.capacity) return null;
    const missing = asked - this.level;
    if (missing <= 0) return this.#readAtMs;
    return this.#perSecond === 0 ? null : this.#readAtMs + missing / this.#perSecond * 1000;
  }

  /** Sets the level to 0. */
  drain(): void {
    this.#read();
    this.#level = 0;
  }

  /** Runs the installed wake. */
  wake(): void {
    this.capacityChanged();
  }

  #read(): void {
    const nowMs = this.#clock.now();
    this.#level = Math.min(this.capacity, this.#level + (nowMs - this.#readAtMs) / 1000 * this.#perSecond);
    this.#readAtMs = nowMs;
  }
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0);
}

/** A memory account that is open or closed as a test says. */
export class SwitchMemory extends AbstractRateLimiter<void> {
  readonly limiterName = "memory";
  readonly limiterCategory: LimiterCategory = "memory";
  readonly capacity = 1;
  readonly currentInUse = 0;
  isOpen = true;
  /** What `earliestFit` answers, in ms. */
  instant: number | null = null;
  giveCount = 0;

  get status(): LimiterStatus {
    return new SemaphoreLimiterStatus(1, this.isOpen ? 1 : 0, 0);
  }

  fits(): boolean {
    return this.isOpen;
  }

  tryTake(): boolean {
    return this.isOpen;
  }

  /** Counts, and wakes. */
  give(): void {
    this.giveCount++;
    this.capacityChanged();
  }

  earliestFit(): number | null {
    return this.instant;
  }

  /** Runs the installed wake. */
  wake(): void {
    this.capacityChanged();
  }
}
