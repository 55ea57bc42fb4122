import { AbstractRateLimiter, type LimiterIdentity, type RateLimiter } from "./account.ts";
import type { Clock } from "./clock.ts";
import { LimiterEvents } from "./events.ts";
import type { KernelHost } from "./host.ts";
import type { AccountRecord } from "./kernel.ts";

/** What a demand asks of one account. */
export interface DemandEntry<T = unknown> {
  /** The account that the demand names. */
  readonly limiter: RateLimiter<T>;
  /** What the amounts debit: the account itself, or the bucket that a router routes them to. */
  readonly key: LimiterIdentity;
  /** In the order they were added; `undefined` for a unit permit. Frozen. */
  readonly amounts: readonly T[];
}

/** A key of a keyed limiter. */
interface Way {
  readonly keyed: object;
  readonly key: unknown;
}

/** One entry as the monitor reads it. */
export class Entry implements DemandEntry {
  readonly limiter: RateLimiter<unknown>;
  readonly key: LimiterIdentity;
  count: number;
  sum: number;
  limiterRecord: AccountRecord = 0;
  keyRecord: AccountRecord = 0;
  /** Whether the kernel asks the account itself. */
  isNative = false;
  /** Null for unit permits: the count says it all. */
  readonly #list: unknown[] | null;
  #frozen: readonly unknown[] | null = null;
  /** Keys of keyed limiters that led to the account; null for none. More than one where keys share. */
  #ways: readonly Way[] | null = null;

  constructor(
    limiter: RateLimiter<unknown>,
    key: LimiterIdentity,
    list: readonly unknown[] | null,
    count = 0,
    sum = 0,
  ) {
    this.limiter = limiter;
    this.key = key;
    this.#list = list === null ? null : [...list];
    this.count = count;
    this.sum = sum;
  }

  get amounts(): readonly unknown[] {
    this.#frozen ??= Object.freeze(
      this.#list === null ? new Array<unknown>(this.count).fill(undefined) : [...this.#list],
    );
    return this.#frozen;
  }

  /** Whether an amount is one permit, so that the count says it all. */
  get isUnit(): boolean {
    return this.#list === null;
  }

  /** The amounts as events count them. */
  get amount(): number {
    return this.#list === null ? this.count : LimiterEvents.amountOf(this.#list);
  }

  copy(): Entry {
    const entry = new Entry(this.limiter, this.key, this.#list, this.count, this.sum);
    entry.#ways = this.#ways;
    return entry;
  }

  /** Whether an amount was added on that key of a keyed limiter. */
  wasReachedBy(keyed: object, key: unknown): boolean {
    return this.#ways?.some((way) => way.keyed === keyed && way.key === key) ?? false;
  }

  noteWay(keyed: object, key: unknown): void {
    if (!this.wasReachedBy(keyed, key)) this.#ways = [...this.#ways ?? [], { keyed, key }];
  }

  push(amount: unknown): void {
    this.#frozen = null;
    this.#list?.push(amount);
    this.count++;
    this.sum += amountOf(amount);
  }

  pushPermits(permits: number): void {
    this.#frozen = null;
    this.count += permits;
  }
}

/** A number counts as itself in an entry's sum, anything else as nothing. */
function amountOf(amount: unknown): number {
  return typeof amount === "number" ? amount : 0;
}

/** A demand as it was when it was admitted, and what can be known of it beforehand. Later additions do not reach it. */
export interface DemandSnapshot {
  readonly entries: readonly Entry[];
  /** Unlike any other snapshot's: what was staged last is known by it, and kept alive by nothing. */
  readonly number: number;
  readonly host: KernelHost;
  /** Whether the kernel can decide alone, without asking anyone. */
  readonly isNative: boolean;
  /** Whether an account has to be given a wake or a held view. */
  readonly needsWiring: boolean;
  /** Clocks of the built-in accounts that read one. */
  readonly clocks: readonly { clock: Clock; name: string }[];
  /** The first of these, or null. */
  readonly clock: Clock | null;
  /** Whether nobody has to be asked, wired or checked before an attempt, but for its one clock. */
  readonly isPlain: boolean;
  /** The entry of a demand that has just one. */
  readonly single: Entry | null;
}

let snapshots = 0;

/** A snapshot of entries that are bound to a kernel; `clocks` are those of the built-in accounts that read one. */
export function newSnapshot(
  entries: readonly Entry[],
  host: KernelHost,
  clocks: DemandSnapshot["clocks"],
): DemandSnapshot {
  const isNative = entries.every((entry) => entry.isNative);
  const mustBeWired = entries.some(needsWiring);
  const clock = clocks[0]?.clock ?? null;
  return {
    entries,
    number: ++snapshots,
    host,
    isNative,
    needsWiring: mustBeWired,
    clocks,
    clock,
    isPlain: isNative && !mustBeWired && clocks.every((each) => each.clock === clock),
    single: entries.length === 1 ? entries[0]! : null,
  };
}

function needsWiring({ isNative, limiter }: Entry): boolean {
  return !isNative || limiter.observeHeld !== AbstractRateLimiter.prototype.observeHeld;
}
