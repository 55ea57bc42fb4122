import { base, NativeAccount } from "./native.ts";
import { checkName } from "./native_checks.ts";
import type { NativeClass } from "./native_class.ts";
import { unitTally } from "./refusals.ts";
import type { LimiterCategory, Replenishment } from "../account.ts";
import type { Clock } from "../clock.ts";
import { show } from "../invariant.ts";
import { checkOptionNames, type OptionNames } from "../option_names.ts";
import { SemaphoreLimiterStatus } from "../statuses.ts";

/** Most permits of one gate. */
const MAX_PERMITS = 2 ** 31 - 1;

/** Further options of a gate. */
export interface CountingGateOptions {
  /** For `lastActivity` only; the system's clock when left out. */
  clock?: Clock;
}

const OPTIONS: OptionNames<CountingGateOptions> = { clock: true };

/**
 * So many permits, each in use from the grant to its settlement: a pool, a concurrency limit. An amount is one permit.
 * It never names an instant, because only an event frees a permit.
 */
export class CountingGate extends NativeAccount<void> {
  static readonly #native: NativeClass<CountingGate, void> = {
    prototype: CountingGate.prototype,
    readsClock: false,
    openRecord: (gate, kernel) => kernel.openGate(gate.#capacity),
    tally: (gate, amounts) => unitTally(gate.limiterName, amounts, "permit"),
    isLikeNew: (gate) => !gate.#isResized && gate.#inUse() === 0,
  };

  #capacity: number;
  #isResized = false;

  /**
   * A gate whose permits are all free.
   *
   * @param name any non-empty string; two accounts may share one.
   * @param capacity permits, a whole number from 1 to 2^31 - 1.
   * @throws TypeError or RangeError when one of them, or the clock, is not as said.
   */
  constructor(name: string, capacity: number, options: CountingGateOptions = {}) {
    checkName(new.target.name, name);
    checkOptionNames("Cannot make a CountingGate:", options, OPTIONS);
    super(name, CountingGate.#native, options.clock);
    this.#capacity = checkedCapacity(`Cannot make ${show(name)}: capacity is`, capacity);
  }

  /** `semaphore`. */
  override get limiterCategory(): LimiterCategory {
    return "semaphore";
  }

  /** Permits come back when the job settles. */
  override get replenishment(): Replenishment {
    return "RELEASE";
  }

  /** Permits in all, as made or as last set. */
  override get capacity(): number {
    return this.#capacity;
  }

  /** Permits in use now; above the capacity while running work exceeds a lowered one. */
  override get currentInUse(): number {
    return this.#inUse();
  }

  /** Capacity, free permits and the last take or give. */
  override get status(): SemaphoreLimiterStatus {
    return new SemaphoreLimiterStatus(
      this.#capacity,
      this.#capacity - this.currentInUse,
      base.lastActivity(this),
    );
  }

  /**
   * Changes the capacity in place: a larger one wakes waiters at once, a smaller one lets running work end by itself, and a
   * parked demand beyond it is refused when it is next asked.
   *
   * @throws TypeError or RangeError when it is not a whole number from 1 to 2^31 - 1.
   */
  setCapacity(capacity: number): void {
    const checked = checkedCapacity(`Cannot set the capacity of ${show(this.limiterName)}: it is`, capacity);
    const bits = base.call(this, (record, kernel) => kernel.resizeGate(record, checked));
    this.#capacity = checked;
    this.#isResized = true;
    base.wakeAll(this, bits);
  }

  #inUse(): number {
    return base.read(this, (record, kernel) => kernel.gateInUse(record), 0);
  }
}

/** `what` begins a message, up to the value. */
function checkedCapacity(what: string, capacity: number): number {
  if (typeof capacity !== "number") {
    throw new TypeError(`${what} ${show(capacity)}, it should be a number of permits`);
  }
  if (Number.isInteger(capacity) && capacity >= 1 && capacity <= MAX_PERMITS) return capacity;
  throw new RangeError(`${what} ${capacity}, it should be a whole number from 1 to ${MAX_PERMITS}`);
}
