import { show } from "./invariant.ts";
import type { UpstreamFailure } from "./models/upstream_failure.ts";
import type { LimiterStatus } from "./statuses.ts";

/** How a permit comes back: when the job settles its grant (`RELEASE`), or by the clock alone (`TIME`). */
export type Replenishment = "RELEASE" | "TIME";

/** What kind of limit an account is, for events and tables. */
export type LimiterCategory =
  | "memory"
  | "token_bucket"
  | "elastic_window"
  | "semaphore"
  | (string & Record<never, never>);

/**
 * What an amount debits. Reservation, held counts and events key on this object, by reference. All members must be cheap,
 * and reading them must change nothing.
 */
export interface LimiterIdentity {
  /** Any non-empty string; two accounts may share one. */
  readonly limiterName: string;
  /** The kind of limit, for events and tables; admission does not act on it. */
  readonly limiterCategory: LimiterCategory;
  /** In the account's own unit: permits, slots, tokens, bytes. */
  readonly capacity: number;
  /** In the same unit, 0 or more; may exceed `capacity` by a debt or after the capacity was lowered. */
  readonly currentInUse: number;
  /** Null when nominal, else `blocked`, `probing`, `throttle:<n>x` or `pace:<n>ms`. */
  readonly statusIndicator: string | null;
  /** A snapshot that does not change any more. */
  readonly status: LimiterStatus;
}

/**
 * One limit that demands can name. It answers about amounts and moves counters; it never waits and never parks anyone.
 *
 * `T` is the type of an amount: `number` for tokens, `void` for unit permits, a routing key for a router. `mine` are the
 * asker's own amounts, `ahead` those that the head of the line holds reserved here, empty for the head itself.
 */
export interface RateLimiter<T> {
  /** There is no default: a wrong guess leaks permits one way and disables the limit the other way. */
  readonly replenishment: Replenishment;
  /**
   * Whether `mine` fits now with `ahead` set aside. Must change nothing.
   *
   * @throws UncorrectableError when `mine` alone can never fit, or the account refuses everyone. Anything else that is
   * thrown counts as a bug of the account and fails this one waiter.
   */
  fits(mine: readonly T[], ahead: readonly T[]): boolean;
  /** The same check and the debit of `mine` in one step: true when taken, false when it does not fit at this instant. */
  tryTake(mine: readonly T[], ahead: readonly T[]): boolean;
  /** Credits what was taken: at settlement (RELEASE), at rollback, and when another account of the demand declined. */
  give(amounts: readonly T[]): void;
  /**
   * The instant, in ms on the account's clock, at which `fits` becomes true by the clock alone; null when only an event can
   * change the answer. An instant that has passed means now.
   */
  earliestFit(mine: readonly T[], ahead: readonly T[]): number | null;
  /**
   * Installs the one wake that the account runs after any change of its own that can only raise what fits; null clears it.
   * The wake only marks: it may be run from anywhere. Decreases wake nobody.
   */
  onCapacityChange(wake: (() => void) | null): void;
  /** What the amount debits: this account, or the bucket that a router routes it to. */
  accountFor(amount: T): LimiterIdentity;
  /** Installs a view of how many waiters this account holds right now. */
  observeHeld?(held: () => number): void;
  /** Hears of a success upstream; `input` is the amount that was asked. */
  onSuccess?(input?: T): void;
  /** Hears of a failure upstream. */
  onRateLimitError?(failure: UpstreamFailure, input?: T): void;
  /** Whether work under this account uses the shared HTTP pool. False when absent. */
  readonly requiresHttpConnection?: boolean;
}

/**
 * A base for accounts of your own: its own identity, replenished by release, nominal, with the one wake slot.
 * A subclass supplies name, category, numbers and the four verbs.
 */
export abstract class AbstractRateLimiter<T> implements RateLimiter<T>, LimiterIdentity {
  #wake: (() => void) | null = null;

  abstract readonly limiterName: string;
  abstract readonly limiterCategory: LimiterCategory;
  abstract readonly capacity: number;
  abstract readonly currentInUse: number;
  abstract readonly status: LimiterStatus;
  abstract fits(mine: readonly T[], ahead: readonly T[]): boolean;
  abstract tryTake(mine: readonly T[], ahead: readonly T[]): boolean;
  abstract give(amounts: readonly T[]): void;
  abstract earliestFit(mine: readonly T[], ahead: readonly T[]): number | null;

  /** `RELEASE` unless a subclass says otherwise. */
  get replenishment(): Replenishment {
    return "RELEASE";
  }

  /** Null: nominal. */
  get statusIndicator(): string | null {
    return null;
  }

  /** False unless a subclass says otherwise. */
  get requiresHttpConnection(): boolean {
    return false;
  }

  /** Itself, for every amount. */
  accountFor(_amount: T): LimiterIdentity {
    return this;
  }

  /** Replaces the wake; null clears it. */
  onCapacityChange(wake: (() => void) | null): void {
    if (wake !== null && typeof wake !== "function") {
      throw new TypeError(
        `Cannot install a wake on ${show(this.limiterName)}: it is ${
          show(wake)
        }, it should be a function or null`,
      );
    }
    this.#wake = wake;
  }

  /** Ignored; the view is never called. */
  observeHeld(_held: () => number): void {}

  /** Ignored. */
  onSuccess(_input?: T): void {}

  /** Ignored. */
  onRateLimitError(_failure: UpstreamFailure, _input?: T): void {}

  /** Runs the installed wake. Call it after any change of your own that can only raise what fits. */
  protected capacityChanged(): void {
    this.#wake?.();
  }
}
