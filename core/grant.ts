import type { LimiterIdentity, RateLimiter } from "./account.ts";
import { KeyedRateLimiter, type LimiterKey } from "./accounts/keyed_rate_limiter.ts";
import { InvalidStateError } from "./errors.ts";
import { show } from "./invariant.ts";
import { wholeMs } from "./clock.ts";
import type { DemandSnapshot } from "./entry.ts";
import type { JobSnapshot } from "./context.ts";

/** What settles a grant: the Admission that made it. */
export interface Settler {
  readonly memory: LimiterIdentity | null;
  settle(grant: Grant, everything: boolean): void;
  /** @throws InvalidStateError when the entry debits no bucket. */
  checkReconcilable(grant: Grant, entry: number): void;
  reconcile(grant: Grant, entry: number, actual: number): void;
}

/** What only some grants have to tell: those that waited, and those of an Admission with a sink. */
export interface GrantStory {
  /** The job that events name; null without a sink. */
  readonly job: JobSnapshot | null;
  /** Ticks from `admit` to the grant. */
  readonly waitTicks: number;
  /** Ticks that each entry held the job, NaN when never; memory's stand last. Null when nobody held it. */
  readonly heldTicks: readonly number[] | null;
}

let readDemand: (grant: Grant) => DemandSnapshot;
let readJob: (grant: Grant) => JobSnapshot | null;
let isSettledBy: (grant: Grant, settler: Settler) => boolean;
let claim: (grant: Grant, how: "released" | "rolled back") => boolean;

/** What a grant grants. */
export function demandOf(grant: Grant): DemandSnapshot {
  return readDemand(grant);
}

/** The job that events name; null without a sink. */
export function jobOf(grant: Grant): JobSnapshot | null {
  return readJob(grant);
}

/** Whether that settler made the grant. */
export function isOwn(grant: Grant, settler: Settler): boolean {
  return isSettledBy(grant, settler);
}

/** Claims the one settlement of a grant; false when it was claimed before. */
export function claimSettlement(grant: Grant, how: "released" | "rolled back"): boolean {
  return claim(grant, how);
}

/**
 * Everything a demand asked for, taken in one step. It is settled once: the first `release` or `rollback` counts, later ones
 * do nothing. Disposing it is a release, so `using grant = await admission.admit(...)` settles at the end of the block.
 */
export class Grant implements Disposable, AsyncDisposable {
  readonly #settler: Settler;
  readonly #demand: DemandSnapshot;
  /** Null for a grant at once without a sink: most grants have nothing to tell, and cost less so. */
  readonly #story: GrantStory | null;
  #settlement: "released" | "rolled back" | null = null;
  #reconciled: Set<number> | null = null;

  static {
    readDemand = (grant) => grant.#demand;
    readJob = (grant) => grant.#story === null ? null : grant.#story.job;
    isSettledBy = (grant, settler) => grant.#settler === settler;
    claim = (grant, how) => {
      if (grant.#settlement !== null) return false;
      grant.#settlement = how;
      return true;
    };
  }

  /** Made by Admission only. */
  constructor(settler: Settler, demand: DemandSnapshot, story: GrantStory | null) {
    this.#settler = settler;
    this.#demand = demand;
    this.#story = story;
  }

  /** Whether the demand named no account. */
  get isEmpty(): boolean {
    return this.#demand.entries.length === 0;
  }

  /** Whether it was released or rolled back. */
  get isSettled(): boolean {
    return this.#settlement !== null;
  }

  /** From the `admit` call to the grant, in whole milliseconds; 0 when granted at once. */
  get wallWaitMs(): number {
    return this.#story === null ? 0 : wholeMs(this.#story.waitTicks);
  }

  /**
   * How long each account that refused the job kept it, by name, in whole milliseconds from its first refusal to the grant.
   * The times overlap, so they may add up to more than `wallWaitMs`; accounts of one name are added up. Empty when granted
   * at once. In demand order, memory last.
   */
  get waitTimesMs(): ReadonlyMap<string, number> {
    const heldTicks = this.#story?.heldTicks ?? null;
    const waits = new Map<string, number>();
    if (heldTicks === null) return waits;
    const seen = new Set<unknown>();
    heldTicks.forEach((ticks, index) => {
      const key = this.#demand.entries[index]?.key ?? null;
      // Two entries on one account were held there once.
      if (Number.isNaN(ticks) || seen.has(key)) return;
      seen.add(key);
      const name = key?.limiterName ?? this.#settler.memory?.limiterName ?? "memory";
      waits.set(name, (waits.get(name) ?? 0) + wholeMs(ticks));
    });
    return waits;
  }

  /** Returns the permits that come back at the end of the work; metered amounts stay spent. */
  release(): void {
    this.#settler.settle(this, false);
  }

  /** Returns everything, metered amounts too: for work that never went upstream. */
  rollback(): void {
    this.#settler.settle(this, true);
  }

  /**
   * Tells a bucket what the provider billed for the whole entry. Less than was reserved is refunded at once and wakes
   * waiters; more is charged, if need be as a debt of at most one cap. It counts once per entry; an unknown usage (null,
   * undefined, NaN) changes nothing. It still works after `release`.
   *
   * @param amount on a router, an amount that routes to the bucket meant.
   * @throws InvalidStateError after `rollback`, or when the account is no bucket; RangeError or TypeError when the account is
   * not in the demand or `actual` is not a whole number, 0 or more.
   */
  settle<T>(limiter: RateLimiter<T>, actual: number | null | undefined, amount?: T): void;
  /**
   * The same for the bucket of a key of a keyed limiter. Settle before the grant is released: until then the key keeps its
   * account, afterwards a key at rest may be given up, and what is charged later is lost with it.
   *
   * @param key that the demand was added on.
   * @throws as the other form.
   */
  settle<K extends LimiterKey>(
    limiter: KeyedRateLimiter<K>,
    actual: number | null | undefined,
    key: NoInfer<K>,
  ): void;
  settle(limiter: Settled, actual: number | null | undefined, amount?: unknown): void {
    const entry = entryOf(this.#demand, limiter, amount);
    checkActual(limiter, actual);
    if (this.#settlement === "rolled back") {
      throw new InvalidStateError(
        `Cannot settle ${
          show(nameOf(limiter))
        }: the grant was rolled back, so everything was refunded already`,
      );
    }
    if (actual === null || actual === undefined || Number.isNaN(actual)) return;
    this.#reconciled ??= new Set();
    if (this.#reconciled.has(entry)) return;
    this.#settler.checkReconcilable(this, entry);
    // Noted first: whoever is woken may throw, and the same usage must not count twice.
    this.#reconciled.add(entry);
    this.#settler.reconcile(this, entry, actual);
  }

  /** `release`, at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.release();
  }

  /** `release`, at the end of an `await using` block; there is nothing to wait for. */
  [Symbol.asyncDispose](): Promise<void> {
    this.release();
    return Promise.resolve();
  }
}

/** What a caller may settle. */
type Settled = RateLimiter<unknown> | KeyedRateLimiter<LimiterKey>;

function entryOf(demand: DemandSnapshot, limiter: Settled, amount: unknown): number {
  if (limiter instanceof KeyedRateLimiter) return entryOfKey(demand, limiter, amount);
  const key = amount === undefined ? null : limiter.accountFor(amount);
  const at = demand.entries.findIndex((entry) =>
    entry.limiter === limiter && (key === null || entry.key === key)
  );
  if (at >= 0) return at;
  throw new RangeError(
    `Cannot settle ${
      show(nameOf(limiter))
    }: the demand of this grant does not name it, pass an account that it names`,
  );
}

function entryOfKey({ entries }: DemandSnapshot, keyed: KeyedRateLimiter<LimiterKey>, key: unknown): number {
  const at = entries.findIndex((entry) => entry.wasReachedBy(keyed, key));
  if (at >= 0) return at;
  throw new RangeError(
    `Cannot settle key ${show(key)} of ${
      show(keyed.name)
    }: the demand of this grant does not name it, pass a key that it names`,
  );
}

function checkActual(limiter: Settled, actual: unknown): void {
  if (actual === null || actual === undefined || Number.isNaN(actual)) return;
  const what = `Cannot settle ${show(nameOf(limiter))}: actual is ${show(actual)}`;
  if (typeof actual !== "number") {
    throw new TypeError(`${what}, it should be a number of tokens, or null when unknown`);
  }
  if (!Number.isSafeInteger(actual) || actual < 0) {
    throw new RangeError(`${what}, it should be a whole number from 0, or null when unknown`);
  }
}

function nameOf(limiter: unknown): string {
  if (limiter instanceof KeyedRateLimiter) return limiter.name;
  const name = (limiter as Partial<LimiterIdentity> | null)?.limiterName;
  return typeof name === "string" ? name : "the account";
}
