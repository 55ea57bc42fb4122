import { CancellationError, UncorrectableError } from "./errors.ts";
import type { JobContext, JobSnapshot } from "./context.ts";
import type { DemandSnapshot } from "./entry.ts";
import type { RejectReason } from "./events.ts";
import type { Grant } from "./grant.ts";
import { messageOf } from "./faults.ts";
import { dropFaults } from "./logger.ts";
import { hearAbort, listenTo, type SignalListener, stopListening } from "./signals.ts";

/** Why a waiter leaves without a grant: what its caller gets, and what events say. */
export interface Departure {
  error: unknown;
  reason: RejectReason;
}

/** Who takes a waiter out of its line. */
export interface Withdrawer {
  withdraw(waiter: Waiter, departure: Departure): void;
}

/** What only few waiters have; made when it is needed first, so that a million others do without. */
class Extras {
  /** The job that events name. */
  job: JobSnapshot | null = null;
  /** Set while a step runs that has not met this waiter yet: it leaves then, and a grant in progress is undone. */
  departure: Departure | null = null;
  /** What it was settled with before it had a promise. */
  grant: Grant | null = null;
  error: unknown = undefined;
  expiresAt = Infinity;
  timeoutIndex = -1;
  context: JobContext | null = null;
  forgetContext: (() => void) | null = null;
}

/**
 * Resolving a promise with it rejects the promise, a microtask later. So a waiter keeps one function of its promise instead
 * of two, which is 64 bytes less of 320 on V8 (November 2026).
 */
class Failure implements PromiseLike<never> {
  readonly #error: unknown;

  constructor(error: unknown) {
    this.#error = error;
  }

  then(_fulfilled?: unknown, rejected?: ((error: unknown) => unknown) | null): this {
    rejected?.(this.#error);
    return this;
  }
}

/** The slot of a waiter that was settled. */
const SETTLED = -2;

/** One parked `admit` call, beside its record in the kernel. It is settled once, by a grant or an error. */
export class Waiter implements SignalListener {
  readonly demand: DemandSnapshot;
  readonly monitor: Withdrawer;
  /** Tick of the `admit` call. */
  readonly arrivedAt: number;
  /** Its place in the order of arrival. */
  number = 0;
  /** Where it stands in the kernel, -1 before it does. */
  slot = -1;
  #resolve: ((outcome: Grant | Failure) => void) | null = null;
  #signal: AbortSignal | null = null;
  #extras: Extras | null = null;

  constructor(monitor: Withdrawer, demand: DemandSnapshot, arrivedAt: number, job: JobSnapshot | null) {
    this.monitor = monitor;
    this.demand = demand;
    this.arrivedAt = arrivedAt;
    if (job !== null) this.#needExtras().job = job;
  }

  /** Whether `maxQueue` counts it: an empty demand is not. */
  get isCounted(): boolean {
    return this.demand.entries.length > 0;
  }

  get job(): JobSnapshot | null {
    return this.#extras === null ? null : this.#extras.job;
  }

  /** What it was given, for who looks at the line. */
  get context(): JobContext | null {
    return this.#extras === null ? null : this.#extras.context;
  }

  get isSettled(): boolean {
    return this.slot === SETTLED;
  }

  /** The grant of a waiter that was settled before it had a promise; null for others. */
  get grant(): Grant | null {
    return this.#extras === null ? null : this.#extras.grant;
  }

  /** Likewise the error. */
  get error(): unknown {
    return this.#extras === null ? undefined : this.#extras.error;
  }

  /** Set while a step runs that has not met this waiter yet: it leaves then, and a grant in progress is undone. */
  get departure(): Departure | null {
    return this.#extras === null ? null : this.#extras.departure;
  }

  /** Tick at which the caller's patience ends, Infinity for none. */
  get expiresAt(): number {
    return this.#extras === null ? Infinity : this.#extras.expiresAt;
  }

  set expiresAt(ticks: number) {
    if (ticks !== Infinity) this.#needExtras().expiresAt = ticks;
  }

  /** Its place among those with a time limit, -1 for none. */
  get timeoutIndex(): number {
    return this.#extras === null ? -1 : this.#extras.timeoutIndex;
  }

  set timeoutIndex(index: number) {
    this.#needExtras().timeoutIndex = index;
  }

  /** The caller's promise; for a waiter that is settled already, a settled one. */
  promise(): Promise<Grant> {
    if (this.isSettled) return this.grant !== null ? Promise.resolve(this.grant) : Promise.reject(this.error);
    return new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** Notes how it leaves, unless that is known already. */
  mark(departure: Departure): void {
    this.#needExtras().departure ??= departure;
  }

  succeed(grant: Grant): void {
    this.#settled();
    if (this.#resolve === null) this.#needExtras().grant = grant;
    else this.#resolve(grant);
  }

  fail(error: unknown): void {
    this.#settled();
    if (this.#resolve === null) this.#needExtras().error = error;
    else this.#resolve(new Failure(error));
  }

  /** Leaves the line when the signal aborts or the context is cancelled, whichever comes first. */
  listen(signal: AbortSignal | null, context: JobContext | null): void {
    if (signal !== null) {
      this.#signal = signal;
      listenTo(signal, this);
    }
    if (context !== null) {
      const extras = this.#needExtras();
      extras.context = context;
      extras.forgetContext = context.onCancel(() => this.monitor.withdraw(this, cancelled())) ?? null;
    }
  }

  handleEvent(): void {
    hearAbort(this.#signal!, this);
  }

  leave(reason: unknown): void {
    this.monitor.withdraw(this, { error: reason, reason: "cancelled" });
  }

  #settled(): void {
    this.slot = SETTLED;
    const signal = this.#signal;
    if (signal !== null) dropFaults(() => stopListening(signal, this));
    const forgetContext = this.#extras === null ? null : this.#extras.forgetContext;
    if (forgetContext !== null) dropFaults(forgetContext);
  }

  #needExtras(): Extras {
    this.#extras ??= new Extras();
    return this.#extras;
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

/** What every caller gets once admission closed on a defect. */
export function closedBy(defect: unknown): UncorrectableError {
  const what = messageOf(defect);
  return new UncorrectableError(`This Admission closed on a defect: ${what}`, {
    code: "defect",
    cause: defect,
  });
}
