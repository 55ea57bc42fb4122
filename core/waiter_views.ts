import { toMs } from "./clock.ts";
import type { JobSnapshot } from "./context.ts";
import { type AccountView, earliestInstant, viewAccounts } from "./explanation.ts";
import type { Monitor } from "./monitor.ts";
import type { Waiter } from "./parking.ts";
import { MEMORY_ENTRY } from "../assembly/layout.ts";

/** One account of a waiter. */
export interface WaitView extends AccountView {
  /** Milliseconds since this account first refused the waiter, or null when it never did. */
  readonly heldMs: number | null;
}

/** One parked caller. */
export interface WaiterView {
  /** The job that events name. Without a sink that of the context which `admit` was given, as it is now; null without either. */
  readonly job: JobSnapshot | null;
  /** Milliseconds since `admit`. */
  readonly waitedMs: number;
  /** Memory first, then in demand order. */
  readonly accounts: readonly WaitView[];
  /**
   * The instant at which everything fits by the clock alone, if nobody comes or leaves before, ms on the admission's clock; null
   * when only an event can help, or nothing is short.
   */
  readonly earliestMs: number | null;
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
  const accounts = views.map((view, index) => {
    const entry = index < offset ? MEMORY_ENTRY : index - offset;
    const since = monitor.host.guard((kernel) => kernel.heldSince(waiter.slot, entry));
    return { ...view, heldMs: Number.isNaN(since) ? null : toMs(now - since) };
  });
  const waitedMs = toMs(now - waiter.arrivedAt);
  const job = waiter.job ?? waiter.context?.snapshot() ?? null;
  return { job, waitedMs, accounts, earliestMs: earliestInstant(views) };
}
