import { CancellationError } from "./errors.ts";
import type { JobContext, JobSnapshot } from "./context.ts";
import type { DemandSnapshot } from "./demand.ts";
import type { RejectReason } from "./events.ts";
import type { Grant } from "./grant.ts";
import { dropFaults } from "./logger.ts";

/** Why a waiter leaves without a grant: what its caller gets, and what events say. */
export interface Departure {
  error: unknown;
  reason: RejectReason;
}

/** Who takes a waiter out of its line. */
export interface Withdrawer {
  withdraw(waiter: Waiter, departure: Departure): void;
}

/** One parked `admit` call, beside its record in the kernel. It is settled once, by a grant or an error. */
export class Waiter {
  readonly demand: DemandSnapshot;
  readonly monitor: Withdrawer;
  /** Tick of the `admit` call. */
  readonly arrivedAt: number;
  readonly job: JobSnapshot | null;
  /** Its place in the order of arrival. */
  number = 0;
  slot = -1;
  generation = 0;
  grant: Grant | null = null;
  /** Set while a step runs that has not met this waiter yet: it leaves then, and a grant in progress is undone. */
  departure: Departure | null = null;
  /** Tick at which the caller's patience ends, Infinity for none. */
  expiresAt: number = Infinity;
  /** Its place among those with a time limit, -1 for none. */
  timeoutIndex = -1;
  /** Whether `maxQueue` counts it: an empty demand is not. */
  readonly isCounted: boolean;
  isSettled = false;
  /** The error of a settled waiter without a grant. */
  error: unknown = undefined;
  #resolve: ((grant: Grant) => void) | null = null;
  #reject: ((error: unknown) => void) | null = null;
  #signal: AbortSignal | null = null;
  #forgetContext: (() => void) | null = null;

  constructor(monitor: Withdrawer, demand: DemandSnapshot, arrivedAt: number, job: JobSnapshot | null) {
    this.monitor = monitor;
    this.demand = demand;
    this.arrivedAt = arrivedAt;
    this.job = job;
    this.isCounted = demand.entries.length > 0;
  }

  /** The caller's promise; for a waiter that is settled already, a settled one. */
  promise(): Promise<Grant> {
    if (this.isSettled) return this.grant !== null ? Promise.resolve(this.grant) : Promise.reject(this.error);
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  succeed(grant: Grant): void {
    this.#settled();
    this.grant = grant;
    this.#resolve?.(grant);
  }

  fail(error: unknown): void {
    this.#settled();
    this.error = error;
    this.#reject?.(error);
  }

  /** Leaves the line when the signal aborts or the context is cancelled, whichever comes first. */
  listen(signal: AbortSignal | null, context: JobContext | null): void {
    if (signal !== null) {
      this.#signal = signal;
      listenTo(signal, this);
    }
    if (context !== null) {
      this.#forgetContext = context.onCancel(() => this.monitor.withdraw(this, cancelled())) ?? null;
    }
  }

  #settled(): void {
    this.isSettled = true;
    const signal = this.#signal;
    if (signal !== null) dropFaults(() => stopListening(signal, this));
    if (this.#forgetContext !== null) dropFaults(this.#forgetContext);
  }
}

/** How a job leaves whose context was cancelled. */
export function cancelled(): Departure {
  const error = new CancellationError("cancelled", "The job was cancelled while it waited for admission");
  return { error, reason: "cancelled" };
}

/** How a job leaves when admission stops. */
export function stopped(): Departure & { error: CancellationError } {
  const error = new CancellationError("stopped", "This Admission was stopped; nobody is admitted any more");
  return { error, reason: "shutdown" };
}

interface Listeners {
  waiters: Set<Waiter>;
  onAbort: () => void;
}

/** One listener per signal, however many waiters share it: runtimes warn at the eleventh. */
const listening = new WeakMap<AbortSignal, Listeners>();

function listenTo(signal: AbortSignal, waiter: Waiter): void {
  const known = listening.get(signal);
  if (known !== undefined) {
    known.waiters.add(waiter);
    return;
  }
  const waiters = new Set([waiter]);
  const onAbort = () => {
    for (const each of [...waiters]) {
      each.monitor.withdraw(each, { error: signal.reason, reason: "cancelled" });
    }
  };
  listening.set(signal, { waiters, onAbort });
  signal.addEventListener("abort", onAbort, { once: true });
}

function stopListening(signal: AbortSignal, waiter: Waiter): void {
  const known = listening.get(signal);
  if (known === undefined || !known.waiters.delete(waiter) || known.waiters.size > 0) return;
  signal.removeEventListener("abort", known.onAbort);
  listening.delete(signal);
}
