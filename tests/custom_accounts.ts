// Accounts written without the kernel, for scenarios that watch what an account is asked or that need a router.

import {
  AbstractRateLimiter,
  type CountingGate,
  type LimiterIdentity,
  type RateLimiter,
  type TokenBucketRateLimiter,
} from "../mod.ts";
import {
  type LimiterCategory,
  type LimiterStatus,
  type Replenishment,
  SemaphoreLimiterStatus,
} from "../mod.ts";

/** Permits counted outside the kernel. It wakes nobody by itself, tells what moves, and keeps the view of its line. */
export class Slots extends AbstractRateLimiter<unknown> {
  readonly limiterName: string;
  readonly limiterCategory: LimiterCategory = "semaphore";
  readonly capacity: number;
  readonly #tell: (line: string) => void;
  currentInUse = 0;
  kind: Replenishment = "RELEASE";
  /** What `tryTake` was asked to set aside, call by call. */
  readonly aheads: (readonly unknown[])[] = [];
  /** How many waiters this account holds, as admission tells it. */
  held: () => number = () => NaN;
  /** Runs inside `give`, after the permits are back. */
  afterGive: () => void = () => {};

  constructor(name: string, capacity: number, tell: (line: string) => void = () => {}) {
    super();
    this.limiterName = name;
    this.capacity = capacity;
    this.#tell = tell;
  }

  override get replenishment(): Replenishment {
    return this.kind;
  }

  get status(): LimiterStatus {
    return new SemaphoreLimiterStatus(this.capacity, this.capacity - this.currentInUse, 0);
  }

  fits(mine: readonly unknown[], ahead: readonly unknown[]): boolean {
    this.aheads.push(ahead);
    return this.currentInUse + mine.length + ahead.length <= this.capacity;
  }

  tryTake(mine: readonly unknown[], ahead: readonly unknown[]): boolean {
    if (this.currentInUse + mine.length + ahead.length > this.capacity) return false;
    this.currentInUse += mine.length;
    this.#tell(`${this.limiterName} takes ${mine.length}`);
    return true;
  }

  give(amounts: readonly unknown[]): void {
    this.currentInUse -= amounts.length;
    this.#tell(`${this.limiterName} gives ${amounts.length}`);
    this.afterGive();
  }

  earliestFit(): number | null {
    return null;
  }

  override observeHeld(held: () => number): void {
    this.held = held;
  }

  /** Runs the installed wake. */
  wake(): void {
    this.capacityChanged();
  }
}

/** Leads each amount, a name, to the gate of that name. It is no identity itself. */
export class Router implements RateLimiter<string> {
  readonly replenishment: Replenishment = "RELEASE";
  readonly #gates: Readonly<Record<string, CountingGate>>;

  constructor(gates: Readonly<Record<string, CountingGate>>) {
    this.#gates = gates;
  }

  fits(mine: readonly string[], ahead: readonly unknown[]): boolean {
    return this.#gateOf(mine).fits(permits(mine.length), permits(ahead.length));
  }

  tryTake(mine: readonly string[], ahead: readonly unknown[]): boolean {
    return this.#gateOf(mine).tryTake(permits(mine.length), permits(ahead.length));
  }

  give(amounts: readonly string[]): void {
    this.#gateOf(amounts).give(permits(amounts.length));
  }

  earliestFit(): number | null {
    return null;
  }

  onCapacityChange(wake: (() => void) | null): void {
    for (const gate of Object.values(this.#gates)) gate.onCapacityChange(wake);
  }

  accountFor(amount: string): LimiterIdentity {
    return this.#gateOf([amount]);
  }

  #gateOf(amounts: readonly string[]): CountingGate {
    return this.#gates[amounts[0]!]!;
  }
}

/** So many unit permits, as gates take them. */
export function permits(count: number): void[] {
  return new Array<void>(count).fill(undefined);
}

/** Leads token counts up to 1,000 to one bucket and larger ones to another. It is no identity itself. */
export class BySize implements RateLimiter<number> {
  readonly replenishment: Replenishment = "TIME";
  readonly #small: TokenBucketRateLimiter;
  readonly #large: TokenBucketRateLimiter;

  constructor(small: TokenBucketRateLimiter, large: TokenBucketRateLimiter) {
    this.#small = small;
    this.#large = large;
  }

  fits(mine: readonly number[], ahead: readonly number[]): boolean {
    return this.accountFor(mine[0]!).fits(mine, ahead);
  }

  tryTake(mine: readonly number[], ahead: readonly number[]): boolean {
    return this.accountFor(mine[0]!).tryTake(mine, ahead);
  }

  give(amounts: readonly number[]): void {
    this.accountFor(amounts[0]!).give(amounts);
  }

  earliestFit(mine: readonly number[], ahead: readonly number[]): number | null {
    return this.accountFor(mine[0]!).earliestFit(mine, ahead);
  }

  onCapacityChange(wake: (() => void) | null): void {
    this.#small.onCapacityChange(wake);
    this.#large.onCapacityChange(wake);
  }

  accountFor(tokens: number): TokenBucketRateLimiter {
    return tokens <= 1000 ? this.#small : this.#large;
  }
}
