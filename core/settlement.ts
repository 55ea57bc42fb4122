import { toTicks } from "./clock.ts";
import type { DemandSnapshot, Entry } from "./entry.ts";
import { InvalidStateError } from "./errors.ts";
import { collect, throwAll } from "./faults.ts";
import { demandOf, type Grant, jobOf } from "./grant.ts";
import { nativeBinding, runPublicWake } from "./accounts/native.ts";
import { TokenBucketRateLimiter } from "./accounts/token_bucket.ts";
import type { Monitor } from "./monitor.ts";
import { show } from "./invariant.ts";
import { GIVE_DECLINED, WAKE_SLOT } from "../assembly/layout.ts";

const NO_FAULTS: readonly unknown[] = Object.freeze([]);

/**
 * Gives a grant back: entries whose account answers RELEASE, or everything; in demand order, memory last. It always finishes:
 * what throws on the way is thrown at the end.
 */
export function giveBack(monitor: Monitor, grant: Grant, everything: boolean): void {
  const demand = demandOf(grant);
  const isUnheard = monitor.isPlain || (monitor.reporter === null && monitor.memoryLink.isPlainFor(1));
  const faults = demand.isNative && isUnheard
    ? giveAtOnce(monitor, demand, everything)
    : giveOneByOne(monitor, grant, everything);
  monitor.wake();
  throwAll(faults, (count) => `${count} accounts failed while a grant was settled`);
}

function giveAtOnce(monitor: Monitor, demand: DemandSnapshot, everything: boolean): readonly unknown[] {
  if (demand.entries.length === 0) return NO_FAULTS;
  const { host, clock } = monitor;
  host.stampWall(clock);
  const now = everything && demand.clock !== null ? monitor.now() : 0;
  const bits = host.settle(demand, everything, now);
  if (bits !== 0) host.deliverWakes(bits);
  const isHeard = (bits & (WAKE_SLOT | GIVE_DECLINED)) !== 0 || monitor.memory !== null;
  return isHeard ? asNews(monitor, () => tell(monitor, demand, bits)) : NO_FAULTS;
}

/** Runs the public wakes and tells memory; answers what went wrong. */
function tell(monitor: Monitor, { entries }: DemandSnapshot, bits: number): readonly unknown[] {
  const faults: unknown[] = (bits & GIVE_DECLINED) === 0 ? [] : [declined(entries)];
  if ((bits & WAKE_SLOT) !== 0) {
    for (const entry of entries) collect(faults, () => runPublicWake(entry.limiter));
  }
  collect(faults, () => monitor.memoryLink.giveBack());
  return faults;
}

/** A settlement is news wherever it happens, also while a failed attempt gives back. */
function asNews<T>({ host }: Monitor, work: () => T): T {
  const { quiet } = host;
  host.quiet = null;
  try {
    return work();
  } finally {
    host.quiet = quiet;
  }
}

function giveOneByOne(monitor: Monitor, grant: Grant, everything: boolean): readonly unknown[] {
  return asNews(monitor, () => giveEach(monitor, grant, everything));
}

function giveEach(monitor: Monitor, grant: Grant, everything: boolean): readonly unknown[] {
  const demand = demandOf(grant);
  const job = jobOf(grant);
  const faults: unknown[] = [];
  let allBits = 0;
  for (const entry of demand.entries) {
    const isReturned = everything || isReleased(entry, faults);
    collect(faults, () => {
      const bits = giveEntry(monitor, entry, isReturned);
      allBits |= bits;
      if (isReturned && job !== null) monitor.report(() => monitor.reporter?.released(entry, job));
      if ((bits & WAKE_SLOT) !== 0) runPublicWake(entry.limiter);
    });
  }
  // All at once, so that the lines look in their own order and not in that of the entries.
  monitor.host.deliverWakes(allBits);
  const { memoryLink } = monitor;
  if (monitor.memory !== null && demand.entries.length > 0) collect(faults, () => memoryLink.giveBack());
  return faults;
}

/** Whether an account says that its permits come back at the end of the work; one that fails to say keeps them. */
function isReleased({ limiter }: Entry, faults: unknown[]): boolean {
  try {
    return limiter.replenishment === "RELEASE";
  } catch (fault) {
    faults.push(fault);
    return false;
  }
}

/** Gives one entry back, if it is to be; the kernel drops its note of the grant in any case. Answers the kernel's bits. */
function giveEntry(monitor: Monitor, entry: Entry, isReturned: boolean): number {
  const { host, clock } = monitor;
  host.stampWall(clock);
  const { limiterRecord, count, sum } = entry;
  const now = isReturned ? toTicks(clock.now()) : 0;
  const bits = host.guard((kernel) => kernel.settleOne(limiterRecord, count, sum, isReturned ? 1 : 0, now));
  if ((bits & GIVE_DECLINED) !== 0) throw declined([entry]);
  if (isReturned && !entry.isNative) entry.limiter.give(entry.amounts);
  return bits;
}

function declined(entries: readonly Entry[]): InvalidStateError {
  const names = entries.map((entry) => show(entry.key.limiterName)).join(", ");
  return new InvalidStateError(
    `Cannot give all permits back to ${names}: fewer are in use, so somebody called give() outside a grant`,
  );
}

/**
 * The bucket that an entry of a grant debits.
 *
 * @throws InvalidStateError when it debits none, or what it reserved there is unknown.
 */
export function bucketOf(grant: Grant, index: number): TokenBucketRateLimiter {
  const { key, amounts } = demandOf(grant).entries[index]!;
  const bucket = key as unknown;
  const what = `Cannot settle ${show(key.limiterName)}`;
  if (!(bucket instanceof TokenBucketRateLimiter)) {
    throw new InvalidStateError(`${what}: it is not a token bucket, so there is nothing to reconcile`);
  }
  if (amounts.every((amount) => typeof amount === "number")) return bucket;
  throw new InvalidStateError(
    `${what}: its router's amounts are no token counts, so what they reserved is unknown`,
  );
}

/** Charges or refunds the difference between what an entry reserved and what was used; wakes come last. */
export function reconcileEntry(monitor: Monitor, grant: Grant, index: number, actual: number): void {
  const bucket = bucketOf(grant, index);
  const reserved = demandOf(grant).entries[index]!.sum;
  const { record } = nativeBinding(bucket, false)!;
  const now = toTicks(monitor.clock.now());
  const bits = monitor.host.guard((kernel) => kernel.reconcile(record, actual - reserved, now));
  monitor.host.deliverWakes(bits);
  if ((bits & WAKE_SLOT) !== 0) runPublicWake(bucket);
}
