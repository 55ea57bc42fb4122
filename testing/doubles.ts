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
  /** The name that it was made with. */
  readonly limiterName: string;
  /** Always `semaphore`. */
  readonly limiterCategory: LimiterCategory = "semaphore";
  /** Always 1; what fits is the mode's business. */
  readonly capacity = 1;
  /** What it answers from now on. */
  mode: ScriptedMode;
  /** When true, `give` throws. */
  giveThrows = false;
  /** What `earliestFit` answers, in ms. */
  instant: number | null = null;
  /** Takes that succeeded, whatever their amounts. */
  takeCount = 0;
  /** Gives that did not throw, whatever their amounts. */
  giveCount = 0;

  /** An account of that mode that nobody has asked yet. */
  constructor(name: string, mode: ScriptedMode = "fits") {
    super();
    this.limiterName = name;
    this.mode = mode;
  }

  /** Takes less gives. */
  get currentInUse(): number {
    return this.takeCount - this.giveCount;
  }

  /** Mode and counts; its summary changes no more. */
  get status(): LimiterStatus {
    return new PlainStatus(`${this.mode}, taken ${this.takeCount}, given ${this.giveCount}`);
  }

  /** True unless `short`. @throws UncorrectableError when `refuses`, Error when `throws`. */
  fits(): boolean {
    return this.#answer() !== "short";
  }

  /** True, and counted, when `fits`; else false. @throws as `fits`. */
  tryTake(): boolean {
    if (this.#answer() !== "fits") return false;
    this.takeCount++;
    return true;
  }

  /** Counts; wakes nobody. @throws Error when `giveThrows`. */
  give(): void {
    if (this.giveThrows) throw new Error(`${this.limiterName} cannot take anything back`);
    this.giveCount++;
  }

  /** `instant`. */
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
  /** The name that it was made with. */
  readonly limiterName: string;
  /** Always `token_bucket`. */
  readonly limiterCategory: LimiterCategory = "token_bucket";
  /** The level when full. */
  readonly capacity: number;
  readonly #perSecond: number;
  readonly #clock: Clock;
  #level: number;
  #readAtMs: number;
  /** Takes that succeeded, whatever their amounts. */
  takeCount = 0;
  /** Gives, whatever their amounts. */
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

  /** The clock alone brings it back. */
  override get replenishment(): Replenishment {
    return "TIME";
  }

  /** What is there now. */
  get level(): number {
    this.#read();
    return this.#level;
  }

  /** What is missing from a full level now. */
  get currentInUse(): number {
    return this.capacity - this.level;
  }

  /** Level and capacity; its summary changes no more. */
  get status(): LimiterStatus {
    return new PlainStatus(`${this.level}/${this.capacity}`);
  }

  /** Whether the level holds both sums. @throws UncorrectableError when `mine` exceeds the capacity. */
  fits(mine: readonly number[], ahead: readonly number[]): boolean {
    const asked = sum(mine);
    if (asked > this.capacity) {
      throw new UncorrectableError(`${asked} exceeds the ${this.capacity} of ${this.limiterName}`, {
        account: this.limiterName,
      });
    }
    return this.level >= asked + sum(ahead);
  }

  /** Takes and counts `mine` when it fits. @throws as `fits`. */
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

  /** When the level holds both sums, in ms of its clock; null when it never will by itself. */
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
  /** Always `memory`. */
  readonly limiterName = "memory";
  /** Always `memory`. */
  readonly limiterCategory: LimiterCategory = "memory";
  /** Always 1. */
  readonly capacity = 1;
  /** Always 0. */
  readonly currentInUse = 0;
  /** Whether jobs are let through. A change wakes nobody; see `wake`. */
  isOpen = true;
  /** What `earliestFit` answers, in ms. */
  instant: number | null = null;
  /** Jobs that gave their place back. */
  giveCount = 0;

  /** One permit, free while open. */
  get status(): LimiterStatus {
    return new SemaphoreLimiterStatus(1, this.isOpen ? 1 : 0, 0);
  }

  /** `isOpen`. */
  fits(): boolean {
    return this.isOpen;
  }

  /** `isOpen`; takes nothing. */
  tryTake(): boolean {
    return this.isOpen;
  }

  /** Counts, and wakes. */
  give(): void {
    this.giveCount++;
    this.capacityChanged();
  }

  /** `instant`. */
  earliestFit(): number | null {
    return this.instant;
  }

  /** Runs the installed wake. */
  wake(): void {
    this.capacityChanged();
  }
}
