import type { LimiterIdentity, RateLimiter, Replenishment } from "./account.ts";
import { CountingGate } from "./accounts/counting_gate.ts";
import { ElasticWindowRateLimiter } from "./accounts/elastic_window.ts";
import { KeyedRateLimiter, type LimiterKey } from "./accounts/keyed_rate_limiter.ts";
import { disposalCount } from "./accounts/disposals.ts";
import { nativeBinding } from "./accounts/native.ts";
import { checkedTokens, TokenBucketRateLimiter } from "./accounts/token_bucket.ts";
import { type DemandEntry, type DemandSnapshot, Entry, newSnapshot } from "./entry.ts";
import { InvalidStateError } from "./errors.ts";
import type { Clock } from "./clock.ts";
import type { KernelHost } from "./host.ts";
import { show } from "./invariant.ts";
import { refuseMemory } from "./memory.ts";
import { MAX_DEMAND_ENTRIES } from "../assembly/layout.ts";

/** Most unit permits of one entry. */
const MAX_COUNT = 2 ** 31 - 1;

const VERBS = ["fits", "tryTake", "give", "earliestFit", "onCapacityChange", "accountFor"] as const;

let take: (demand: Demand, host: KernelHost) => DemandSnapshot;

/**
 * What the demand asks now, bound to a kernel. The same object until something is added.
 *
 * @throws InvalidStateError when an account was disposed, or lives in another kernel.
 */
export function snapshotOf(demand: Demand, host: KernelHost): DemandSnapshot {
  return take(demand, host);
}

/**
 * Everything a job needs at once, account by account. It can be admitted many times; adding to it afterwards does not change
 * what already waits or was granted. A demand with no entries is granted at the first look and never meets memory.
 */
export class Demand {
  #entries: Entry[] = [];
  #snapshot: DemandSnapshot | null = null;
  /** How many accounts had been disposed when these were last found usable. */
  #disposalsSeen = 0;

  static {
    take = (demand, host) => {
      const known = demand.#snapshot;
      const isUsable = known !== null && known.host === host && demand.#disposalsSeen === disposalCount();
      return isUsable ? known : demand.#take(host);
    };
  }

  /** A demand for nothing yet. @throws TypeError when it is given something: that is for `add`. */
  constructor() {
    // Asked by its number, because a rest parameter would be an array for each demand.
    if (arguments.length > 0) throw wasGiven(arguments[0]);
  }

  /** Whether nothing was added. */
  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  /** In the order their first amount was added. Frozen. */
  get entries(): readonly DemandEntry[] {
    return Object.freeze([...this.#entries]);
  }

  /**
   * Adds an amount on an account; on one that is named already, the amount joins the end of that entry. On a gate, the amount
   * is a number of permits, 1 when left out, and on a window of slots; on a bucket, tokens from 0 to 2^31 - 1 (one request
   * each). Answers this demand.
   *
   * @throws TypeError when the account lacks a verb or the amount is of the wrong kind; RangeError when the amount is out of
   * range or the demand has 256 entries. Nothing was added then.
   */
  add(limiter: RateLimiter<void>, count?: number): this;
  /**
   * Adds an amount on the account of a key, as if that account were named itself: one unit (a permit, a slot, a token) when it
   * is left out.
   *
   * @throws as the other forms, and as `KeyedRateLimiter.accountFor`.
   */
  add<K extends LimiterKey>(limiter: KeyedRateLimiter<K>, key: NoInfer<K>, amount?: number): this;
  /**
   * Adds an amount on any other account: tokens on a bucket, a routing key on a router, what your own account takes. Each
   * amount stands by itself in the entry.
   *
   * @throws as the first form.
   */
  add<T>(limiter: RateLimiter<T>, amount: NoInfer<T>): this;
  add(limiter: RateLimiter<unknown> | KeyedRateLimiter<LimiterKey>, amount?: unknown, units = 1): this {
    if (limiter instanceof KeyedRateLimiter) {
      this.#addTo(limiter.accountFor(amount as LimiterKey), units).noteWay(limiter, amount);
    } else {
      this.#addTo(limiter, amount);
    }
    return this;
  }

  #addTo(limiter: RateLimiter<unknown>, amount: unknown): Entry {
    checkLimiter(limiter);
    refuseMemory(limiter);
    if (limiter instanceof CountingGate || limiter instanceof ElasticWindowRateLimiter) {
      const permits = checkedPermits(limiter.limiterName, amount);
      const entry = this.#entryFor(limiter, limiter, true, permits);
      entry.pushPermits(permits);
      return entry;
    }
    if (limiter instanceof TokenBucketRateLimiter) checkedTokens(limiter.limiterName, amount as number);
    const key = checkedKey(limiter, limiter.accountFor(amount));
    const entry = this.#entryFor(limiter, key, false, 1);
    entry.push(amount);
    return entry;
  }

  #entryFor(limiter: RateLimiter<unknown>, key: LimiterIdentity, isUnit: boolean, more: number): Entry {
    const at = this.#entries.findIndex((entry) => entry.limiter === limiter && entry.key === key);
    if (at < 0 && this.#entries.length >= MAX_DEMAND_ENTRIES) {
      throw new RangeError(
        `Cannot add ${
          show(key.limiterName)
        } to the demand: it names ${MAX_DEMAND_ENTRIES} accounts already, which is the most`,
      );
    }
    if (at >= 0 && this.#entries[at]!.count + more > MAX_COUNT) {
      throw new RangeError(
        `Cannot add ${more} to the demand on ${show(key.limiterName)}: it asks ${
          this.#entries[at]!.count
        } there already, both together should be at most ${MAX_COUNT}`,
      );
    }
    if (this.#snapshot !== null) {
      this.#entries = this.#entries.map((entry) => entry.copy());
      this.#snapshot = null;
    }
    if (at >= 0) return this.#entries[at]!;
    const entry = new Entry(limiter, key, isUnit ? null : []);
    this.#entries.push(entry);
    return entry;
  }

  #take(host: KernelHost): DemandSnapshot {
    const disposals = disposalCount();
    if (this.#snapshot !== null && this.#snapshot.host === host && this.#entries.every(hasItsRecords)) {
      this.#disposalsSeen = disposals;
      return this.#snapshot;
    }
    if (this.#snapshot !== null) this.#entries = this.#entries.map((entry) => entry.copy());
    const clocks: { clock: Clock; name: string }[] = [];
    for (const entry of this.#entries) {
      const clock = bindEntry(entry, host);
      if (clock !== null) clocks.push({ clock, name: entry.key.limiterName });
    }
    this.#disposalsSeen = disposals;
    this.#snapshot = newSnapshot(this.#entries, host, clocks);
    return this.#snapshot;
  }
}

/**
 * Whether the records are still those of the entry's accounts. One that a keyed limiter let go has another by now.
 *
 * @throws InvalidStateError when an account of the entry was disposed: its record may be another account's by now.
 */
function hasItsRecords({ limiter, key, limiterRecord, keyRecord, isNative }: Entry): boolean {
  const own = nativeBinding(limiter);
  const bucket = nativeBinding(key);
  return (!isNative || own?.record === limiterRecord) && (!bucket?.isNative || bucket.record === keyRecord);
}

/** Finds the records of an entry; answers the clock it must share, or null. */
function bindEntry(entry: Entry, host: KernelHost): Clock | null {
  const binding = nativeBinding(entry.limiter);
  if (binding === null) {
    entry.limiterRecord = host.customRecord(entry.limiter as unknown as LimiterIdentity);
    return bindKey(entry, host);
  }
  checkHost(binding.host, host, entry.key.limiterName);
  entry.isNative = binding.isNative && entry.key === entry.limiter as unknown;
  // A subclass that overrides a verb is asked through the shell, so its own record must not be asked by the kernel.
  entry.limiterRecord = entry.isNative ? binding.record : host.customRecord(entry.key);
  entry.keyRecord = entry.limiterRecord;
  return binding.clock;
}

/** The bucket that a router routes to; answers the clock it must share, or null. */
function bindKey(entry: Entry, host: KernelHost): Clock | null {
  const binding = nativeBinding(entry.key);
  if (binding !== null) checkHost(binding.host, host, entry.key.limiterName);
  entry.keyRecord = binding?.isNative ? binding.record : host.customRecord(entry.key);
  return binding?.clock ?? null;
}

function checkHost(its: KernelHost, ours: KernelHost, name: string): void {
  if (its === ours) return;
  throw new InvalidStateError(
    `Cannot admit a demand on ${show(name)}: it lives in another kernel than this Admission. Make both anew.`,
  );
}

/** @throws TypeError when an object cannot serve as an account. */
function checkLimiter(limiter: unknown): asserts limiter is RateLimiter<unknown> {
  if (typeof limiter !== "object" || limiter === null) throw unfit(limiter, ", it should be a RateLimiter");
  const missing = VERBS.find((verb) => typeof (limiter as Record<string, unknown>)[verb] !== "function");
  if (missing !== undefined) throw unfit(limiter, ` without ${missing}(), it should be a RateLimiter`);
  const { replenishment } = limiter as { replenishment?: Replenishment };
  if (replenishment === "RELEASE" || replenishment === "TIME") return;
  throw unfit(limiter, ` whose replenishment is ${show(replenishment)}, it should be "RELEASE" or "TIME"`);
}

function wasGiven(value: unknown): TypeError {
  return new TypeError(
    `Cannot make a Demand: it is given ${show(value)}, it should be made empty: new Demand().add(...)`,
  );
}

/** Made only when it is thrown: a text takes longer than the whole `add`. */
function unfit(limiter: unknown, why: string): TypeError {
  return new TypeError(`Cannot add to the demand: limiter is ${show(limiter)}${why}`);
}

function checkedKey(limiter: RateLimiter<unknown>, key: LimiterIdentity): LimiterIdentity {
  if (
    typeof key === "object" && key !== null && typeof key.limiterName === "string" && key.limiterName !== ""
  ) return key;
  throw new TypeError(
    `Cannot add to the demand: accountFor() of ${show(limiter)} answered ${
      show(key)
    }, it should be an account with a name`,
  );
}

function checkedPermits(name: string, count: unknown): number {
  if (count === undefined) return 1;
  if (Number.isInteger(count) && count as number >= 1 && count as number <= MAX_COUNT) return count as number;
  const what = `Cannot ask ${show(name)} for permits: the count is ${show(count)}`;
  if (typeof count !== "number") throw new TypeError(`${what}, it should be a number`);
  throw new RangeError(`${what}, it should be a whole number from 1 to ${MAX_COUNT}`);
}
