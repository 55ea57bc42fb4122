import { InvalidStateError } from "./errors.ts";
import { Demand, snapshotOf } from "./demand.ts";
import { Grant, grantParts } from "./grant.ts";
import { show } from "./invariant.ts";
import { Monitor } from "./monitor.ts";
import {
  type AdmissionOptions,
  type AdmitOptions,
  checkAdmissionOptions,
  checkAdmitOptions,
} from "./options.ts";
import { cancelled } from "./parking.ts";

/**
 * Hands out demands whole: a job gets everything it asked for in one step, or waits holding nothing, in one fair line.
 *
 * The line is first in, first out, and its head is protected: what the oldest waiter asks for is set aside for it, and others
 * pass only with what is left over. A waiter is looked at when something was given back, when an account reports more room,
 * and at the instant that its accounts computed; nothing polls.
 */
export class Admission {
  readonly #monitor: Monitor;

  /** @throws TypeError when an option is of the wrong kind. */
  constructor(options: AdmissionOptions = {}) {
    this.#monitor = new Monitor(checkAdmissionOptions(options));
  }

  /** How many callers wait now. */
  get queueSize(): number {
    return this.#monitor.size;
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
   * - QueueFullError: the table of waiters is full.
   */
  admit(demand: Demand, options?: AdmitOptions): Promise<Grant> {
    try {
      return this.#admit(demand, options);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * The attempt alone: a grant, or null when the demand has to wait or somebody waits already. It never waits.
   *
   * @throws UncorrectableError when an account can never grant its part, and as `admit` rejects.
   */
  tryAdmit(demand: Demand): Grant | null {
    const monitor = this.#monitor;
    checkDemand(demand);
    monitor.assertOpen();
    return monitor.tryAdmit(snapshotOf(demand, monitor.host));
  }

  /**
   * Settles a grant at the end of the work: permits come back, metered amounts stay spent. The second time it does nothing.
   *
   * @throws what an account threw while it was given back to (several: AggregateError); all others were still given back to.
   */
  release(grant: Grant): void {
    this.#monitor.settle(this.#own(grant), false);
  }

  /** Settles a grant of work that never went upstream: everything comes back, metered amounts too. Throws as `release`. */
  rollback(grant: Grant): void {
    this.#monitor.settle(this.#own(grant), true);
  }

  /** Ends admission: every waiter and every later caller gets a CancellationError. Grants that are out can still be settled. */
  stop(): void {
    this.#monitor.stop();
  }

  #admit(demand: Demand, options: AdmitOptions | undefined): Promise<Grant> {
    const monitor = this.#monitor;
    checkDemand(demand);
    if (options !== undefined) checkAdmitOptions(options);
    monitor.assertOpen();
    if (options !== undefined) {
      if (options.signal?.aborted) return Promise.reject(options.signal.reason);
      if (options.context?.isCancelled) throw cancelled().error;
    }
    return monitor.admit(snapshotOf(demand, monitor.host), options);
  }

  #own(grant: Grant): Grant {
    if (!(grant instanceof Grant)) {
      throw new TypeError(`Cannot settle: grant is ${show(grant)}, it should be a Grant of this Admission`);
    }
    if (grantParts(grant).settler === this.#monitor) return grant;
    throw new InvalidStateError(
      "Cannot settle: the grant is another Admission's, give it to the one that made it",
    );
  }
}

function checkDemand(demand: Demand): void {
  if (demand instanceof Demand) return;
  throw new TypeError(
    `Cannot admit: demand is ${show(demand)}, it should be a Demand such as new Demand().add(gate)`,
  );
}
