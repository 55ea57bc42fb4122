import type { RateLimiter } from "./account.ts";
import { checkedInstant, checkedVerdict } from "./answers.ts";
import { toMs, toTicksUp } from "./clock.ts";
import type { Entry } from "./entry.ts";
import { messageOf } from "./faults.ts";
import { refusal } from "./accounts/native.ts";
import type { Monitor } from "./monitor.ts";
import type { MemoryAccount } from "./options.ts";
import { NO, YES } from "../assembly/layout.ts";

/** What one account would say about a demand now. */
export interface AccountView {
  /** The account's `limiterName`. */
  readonly account: string;
  /** What is asked: permits or tokens; other amounts count one each. */
  readonly amount: number;
  /** What the head of the line has set aside here. */
  readonly ahead: number;
  /** Whether it does not fit now. */
  readonly isShort: boolean;
  /** How much is missing now, with what is set aside; null where the account cannot tell. */
  readonly missing: number | null;
  /** The instant at which it fits by the clock alone, ms on the admission's clock; null when only an event can help. */
  readonly earliestMs: number | null;
  /** Why it can never be granted, or null. */
  readonly refusal: string | null;
}

/** Why a demand is or is not granted now. */
export interface Explanation {
  /** Whether an attempt would succeed now, if nobody were in line before it. False once admission is closed. */
  readonly fits: boolean;
  /** Callers in line. */
  readonly queueSize: number;
  /** Memory first, then in demand order. */
  readonly accounts: readonly AccountView[];
  /** The instant at which everything fits by the clock alone; null when only an event can help, or nothing is short. */
  readonly earliestMs: number | null;
  /** Why nobody is admitted any more, after `stop` or a defect; null while somebody can be. */
  readonly refusal: string | null;
}

/** Asks every account about a demand, with the amounts of the head set aside; changes nothing. */
export function viewAccounts(
  monitor: Monitor,
  entries: readonly Entry[],
  head: readonly Entry[] | null,
): AccountView[] {
  return monitor.step(() => {
    const views = entries.map((entry) =>
      viewAccount(monitor, entry, head?.find((each) => each.key === entry.key) ?? null)
    );
    if (monitor.memory === null || entries.length === 0) return views;
    return [viewMemory(monitor, monitor.memory), ...views];
  });
}

/** A memory gate is asked what it would answer: a look would move its floor and its latch. */
function viewMemory(monitor: Monitor, memory: MemoryAccount): AccountView {
  const { memoryLink } = monitor;
  const account = memory.limiterName;
  if (memoryLink.gate === null) return viewCustom(memory as RateLimiter<unknown>, account, 1, [], [], 0);
  const { fits, atTicks } = memoryLink.foresee(monitor.now());
  const earliestMs = fits || !Number.isFinite(atTicks) ? null : toMs(atTicks);
  return {
    account,
    amount: 1,
    ahead: 0,
    isShort: !fits,
    missing: fits ? 0 : null,
    earliestMs,
    refusal: null,
  };
}

function viewAccount(monitor: Monitor, entry: Entry, ahead: Entry | null): AccountView {
  if (entry.isNative) return viewNative(monitor, entry, ahead);
  const { limiter, key, amount, amounts } = entry;
  return viewCustom(limiter, key.limiterName, amount, amounts, ahead?.amounts ?? [], ahead?.amount ?? 0);
}

function viewNative(monitor: Monitor, entry: Entry, ahead: Entry | null): AccountView {
  const { limiterRecord: record, key, count, sum, amount, isUnit } = entry;
  const aheadCount = ahead?.count ?? 0;
  const aheadSum = ahead?.sum ?? 0;
  const now = monitor.now();
  const verdict = monitor.host.guard((kernel) => kernel.peek(record, count, sum, aheadCount, aheadSum, now));
  const earliest = monitor.host.guard((kernel) =>
    kernel.earliestFit(record, count + aheadCount, sum + aheadSum, now)
  );
  const free = isUnit
    ? key.capacity - key.currentInUse
    : monitor.host.guard((kernel) => kernel.bucketTokens(record, now));
  const isRefused = verdict !== YES && verdict !== NO;
  return {
    account: key.limiterName,
    amount,
    ahead: ahead?.amount ?? 0,
    isShort: verdict === NO,
    missing: Math.max(0, amount + (ahead?.amount ?? 0) - free),
    earliestMs: verdict === NO && Number.isFinite(earliest) ? toMs(earliest) : null,
    refusal: isRefused ? refusal(key, { count, sum }, verdict).message : null,
  };
}

/** A fault of the account, or an answer that is none, shows as its refusal: an attempt would refuse for it. */
function viewCustom(
  limiter: RateLimiter<unknown>,
  account: string,
  amount: number,
  mine: readonly unknown[],
  ahead: readonly unknown[],
  aheadAmount: number,
): AccountView {
  const view = {
    account,
    amount,
    ahead: aheadAmount,
    isShort: false,
    missing: null,
    earliestMs: null,
    refusal: null,
  };
  try {
    if (checkedVerdict("fits", limiter.fits(mine, ahead))) return { ...view, missing: 0 };
    const instant = limiter.earliestFit(mine, ahead);
    return { ...view, isShort: true, earliestMs: checkedInstant(instant) === Infinity ? null : instant };
  } catch (fault) {
    return { ...view, refusal: messageOf(fault) };
  }
}

/** The instant at which everything short fits by the clock alone; null when one of them names none, or nothing is short. */
export function latestInstant(views: readonly AccountView[]): number | null {
  let latest: number | null = null;
  for (const view of views) {
    if (!view.isShort) continue;
    if (view.earliestMs === null) return null;
    latest = Math.max(latest ?? -Infinity, view.earliestMs);
  }
  return latest;
}

/** Names of the accounts that are short: the one with the latest instant first, those without one last. */
export function shortNames(views: readonly AccountView[]): string[] {
  const short = views.filter((view) => view.isShort);
  const rank = (view: AccountView) => view.earliestMs ?? -Infinity;
  return short.sort((a, b) => rank(b) - rank(a)).map((view) => view.account);
}

/** Whole milliseconds from now to an instant, rounded up; null for none. */
export function msUntil(nowTicks: number, instantMs: number | null): number | null {
  return instantMs === null ? null : Math.max(0, Math.ceil((toTicksUp(instantMs) - nowTicks) / 1000));
}

/** The same, null also when one of them refuses. */
export function earliestInstant(views: readonly AccountView[]): number | null {
  return views.some((view) => view.refusal !== null) ? null : latestInstant(views);
}

/** Puts together what `explain` answers. */
export function explanation(monitor: Monitor, accounts: readonly AccountView[]): Explanation {
  const refusal = closedBecause(monitor);
  const fits = refusal === null && accounts.every((view) => !view.isShort && view.refusal === null);
  const earliestMs = refusal === null ? earliestInstant(accounts) : null;
  return { fits, queueSize: monitor.size, accounts, earliestMs, refusal };
}

function closedBecause(monitor: Monitor): string | null {
  try {
    monitor.assertOpen();
    return null;
  } catch (closed) {
    return messageOf(closed);
  }
}
