import { admit, tryAdmit } from "./admitting.ts";
import type { Clock } from "./clock.ts";
import { type AdmissionError, InvalidStateError } from "./errors.ts";
import { Demand, snapshotOf } from "./demand.ts";
import { type Explanation, explanation, viewAccounts } from "./explanation.ts";
import { Grant, isOwn } from "./grant.ts";
import type { HeldGrant } from "./holds.ts";
import { show } from "./invariant.ts";
import { Monitor } from "./monitor.ts";
import {
  type AdmissionOptions,
  type AdmitOptions,
  checkAdmissionOptions,
  checkAdmitOptions,
  type MemoryAccount,
} from "./options.ts";
import { cancelled } from "./parking.ts";
import { type Work, workUnder } from "./run.ts";
import { type WaiterView, waiterViews } from "./waiter_views.ts";

const NO_OPTIONS: AdmitOptions = Object.freeze({});

/**
 * Hands out demands whole: a job gets everything it asked for in one step, or waits holding nothing, in one fair line.
 *
 * The line is first in, first out, and its head is protected: what the oldest waiter asks for is set aside for it, and others
 * pass only with what is left over. A waiter is looked at when something was given back, when an account reports more room,
 * and at the instant that its accounts computed; nothing polls.
 */
export class Admission {
  readonly #monitor: Monitor;

  /**
   * An Admission without waiters. The line moves once it is started; see `start`.
   *
   * @throws TypeError or RangeError when an option is not as said.
   */
  constructor(options: AdmissionOptions = {}) {
    this.#monitor = new Monitor(checkAdmissionOptions(options));
  }

  /** How many callers wait now. */
  get queueSize(): number {
    return this.#monitor.size;
  }

  /** The clock that it goes by. */
  get clock(): Clock {
    return this.#monitor.clock;
  }

  /** The account that every demand with entries meets first: as given, or the runtime's own gate; null for none. */
  get memory(): MemoryAccount | null {
    return this.#monitor.memory;
  }

  /**
   * Lets the line move. Before it, a demand that fits an empty line is granted at once and others wait. Answers this.
   *
   * @throws InvalidStateError the second time; CancellationError after `stop`.
   */
  start(): this {
    this.#monitor.start();
    return this;
  }

  /**
   * Asks for everything in a demand. Resolves with the grant once all of it was taken in one step; until then nothing is
   * held. An aborted signal rejects with its reason. It never throws; it rejects with
   *
   * - TypeError, RangeError: an argument is wrong.
   * - UncorrectableError: an account can never grant its part, or failed (`cause`); or admission closed on a defect.
   * - CancellationError: the context was cancelled, or admission stopped.
   * - InvalidStateError: an account reads another clock, was disposed, or lives in another kernel.
   * - TimeoutError: `timeoutMs` passed, or with `failFast` it is known that it will.
   * - QueueFullError: `maxQueue` wait already, or the kernel's table of waiters is full.
   * - NestedDemandError: work inside `run` asks for what the work around it holds.
   */
  admit(demand: Demand, options: AdmitOptions = NO_OPTIONS): Promise<Grant> {
    try {
      if (options !== NO_OPTIONS) return this.#admitWith(demand, options);
      const monitor = this.#monitor;
      checkDemand(demand);
      monitor.assertOpen();
      return admit(monitor, snapshotOf(demand, monitor.host), options);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * The attempt alone: a grant, or null when the demand has to wait. It never waits and never overtakes: while anybody waits, for
   * whatever account, it is null, also where `explain` says that the demand fits.
   *
   * @throws UncorrectableError when an account can never grant its part, and as `admit` rejects.
   */
  tryAdmit(demand: Demand): Grant | null {
    const monitor = this.#monitor;
    checkDemand(demand);
    monitor.assertOpen();
    return tryAdmit(monitor, snapshotOf(demand, monitor.host));
  }

  /**
   * Settles a grant at the end of the work: permits come back, metered amounts stay spent. The second time it does nothing.
   *
   * @throws what an account threw while it was given back to (several: AggregateError); all others were still given back to.
   */
  release(grant: Grant): void {
    if (!(grant instanceof Grant) || !isOwn(grant, this.#monitor)) throw foreignGrant(grant);
    this.#monitor.settle(grant, false);
  }

  /** Settles a grant of work that never went upstream: everything comes back, metered amounts too. Throws as `release`. */
  rollback(grant: Grant): void {
    if (!(grant instanceof Grant) || !isOwn(grant, this.#monitor)) throw foreignGrant(grant);
    this.#monitor.settle(grant, true);
  }

  /**
   * Admits, works, tells the accounts how it went while their permits are still held (buckets hear from whoever saw the
   * response), and settles: what the work throws is thrown on, after a release. Work that knows that nothing went upstream
   * may call `grant.rollback()` itself. An abort that comes before the work starts returns everything.
   */
  async run<R>(demand: Demand, work: Work<R>, options: AdmitOptions = NO_OPTIONS): Promise<R> {
    if (typeof work !== "function") {
      throw new TypeError(`Cannot run: work is ${show(work)}, it should be a function of the grant`);
    }
    const grant = await this.admit(demand, options);
    return await workUnder(grant, work, options, this.#monitor.logger);
  }

  /**
   * Says what every account would answer now about a demand that a new caller brings, behind the head of the line if somebody
   * waits; changes nothing. It costs what one attempt costs. Who waits already is in `waiters()`, the head as the head.
   *
   * @throws as `admit` rejects for wrong arguments.
   */
  explain(demand: Demand): Explanation {
    const monitor = this.#monitor;
    checkDemand(demand);
    const { entries } = snapshotOf(demand, monitor.host);
    return explanation(monitor, viewAccounts(monitor, entries, monitor.line.head?.demand.entries ?? null));
  }

  /** Everyone in line, oldest first: who is short, by how much, since when. Changes nothing; costs an attempt each. */
  waiters(): WaiterView[] {
    return waiterViews(this.#monitor);
  }

  /** The grants that were admitted with `maxHoldMs` and are not settled, oldest first. */
  grants(): HeldGrant[] {
    return this.#monitor.holds.list;
  }

  /** Resolves once nobody waits and every grant is settled. New callers go on being admitted; `stop` ends the waits. */
  drain(): Promise<void> {
    return this.#monitor.drain();
  }

  /**
   * Ends admission: every waiter and every later caller gets a CancellationError, and so does a job that pauses before it is run
   * again. Grants that are out can still be settled.
   */
  stop(): void {
    this.#monitor.stop();
  }

  /**
   * Calls `listener` once, when admission closes: by `stop`, or on a defect; at once when it is closed already. It is given the
   * error that callers get from then on, one of its own. What it throws is logged. For work that stands in no line, such as
   * pauses before a retry. Answers a function that takes the listener back.
   *
   * @throws TypeError when the listener is no function.
   */
  onClose(listener: (error: AdmissionError) => void): () => void {
    if (typeof listener !== "function") {
      throw new TypeError(
        `Cannot listen: listener is ${show(listener)}, it should be a function of the error`,
      );
    }
    return this.#monitor.closing.listen(listener);
  }

  #admitWith(demand: Demand, options: AdmitOptions): Promise<Grant> {
    return options?.maxHoldMs === undefined
      ? this.#admit(demand, options)
      : this.#admitWatched(demand, options);
  }

  async #admitWatched(demand: Demand, options: AdmitOptions): Promise<Grant> {
    const admittedAt = new Error("admitted here").stack ?? "";
    const grant = await this.#admit(demand, options);
    if (!grant.isSettled) this.#monitor.holds.watch(grant, options.maxHoldMs!, admittedAt);
    return grant;
  }

  #admit(demand: Demand, options: AdmitOptions): Promise<Grant> {
    const monitor = this.#monitor;
    checkDemand(demand);
    checkAdmitOptions(options);
    monitor.assertOpen();
    if (options.signal?.aborted) return Promise.reject(options.signal.reason);
    if (options.context?.isCancelled) throw cancelled().error;
    return admit(monitor, snapshotOf(demand, monitor.host), options);
  }
}

function foreignGrant(grant: unknown): TypeError | InvalidStateError {
  if (!(grant instanceof Grant)) {
    return new TypeError(`Cannot settle: grant is ${show(grant)}, it should be a Grant of this Admission`);
  }
  return new InvalidStateError(
    "Cannot settle: the grant is another Admission's, give it to the one that made it",
  );
}

function checkDemand(demand: Demand): void {
  if (demand instanceof Demand) return;
  throw new TypeError(
    `Cannot admit: demand is ${show(demand)}, it should be a Demand such as new Demand().add(gate)`,
  );
}
