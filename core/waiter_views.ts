import { toMs } from "./clock.ts";
import type { JobSnapshot } from "./context.ts";
import { viewAccounts } from "./explanation.ts";
import type { Monitor } from "./monitor.ts";
import type { Waiter } from "./parking.ts";
import { MEMORY_ENTRY } from "../assembly/layout.ts";

/** One account of a waiter. */
export interface WaitView {
  /** The account's `limiterName`. */
  readonly account: string;
  /** What is asked: permits or tokens; other amounts count one each. */
  readonly amount: number;
  /** Whether it is short now. */
  readonly isShort: boolean;
  /** How much is missing now, with what the head has set aside; null where the account cannot tell. */
  readonly missing: number | null;
  /** Milliseconds since this account first refused the waiter, or null when it never did. */
  readonly heldMs: number | null;
}

/** One parked caller. */
export interface WaiterView {
  /** The job that events name; null without a sink. */
  readonly job: JobSnapshot | null;
  /** Milliseconds since `admit`. */
  readonly waitedMs: number;
  /** Memory first, then in demand order. */
  readonly accounts: readonly WaitView[];
}

/** Everyone in line, oldest first: who is short, by how much, since when. Changes nothing. */
export function waiterViews(monitor: Monitor): WaiterView[] {
  const waiters = monitor.line.waiters;
  return waiters.map((waiter) => viewOf(monitor, waiter, waiters[0]!));
}

function viewOf(monitor: Monitor, waiter: Waiter, head: Waiter): WaiterView {
  const now = monitor.now();
  const { entries } = waiter.demand;
  const offset = monitor.memory === null || entries.length === 0 ? 0 : 1;
  const views = viewAccounts(monitor, entries, head === waiter ? null : head.demand.entries);
  const accounts = views.map(({ account, amount, isShort, missing }, index) => {
    const entry = index < offset ? MEMORY_ENTRY : index - offset;
    const since = monitor.host.guard((kernel) => kernel.heldSince(waiter.slot, entry));
    return { account, amount, isShort, missing, heldMs: Number.isNaN(since) ? null : toMs(now - since) };
  });
  return { job: waiter.job, waitedMs: toMs(now - waiter.arrivedAt), accounts };
}
