import type { Caller } from "./clock.ts";
import type { JobSnapshot } from "./context.ts";
import type { DemandSnapshot } from "./entry.ts";
import { messageOf } from "./faults.ts";
import type { Grant } from "./grant.ts";
import { dropFaults } from "./logger.ts";
import type { Monitor } from "./monitor.ts";
import { cancelled, Waiter } from "./parking.ts";

/** A parked caller whose clock attends to it until its grant is settled. Other clocks' waiters keep none of this. */
export class AttendedWaiter extends Waiter implements Caller {
  override readonly monitor: Monitor;
  #given: Grant | null = null;
  #waitEnds: (() => void) | null = null;

  constructor(monitor: Monitor, demand: DemandSnapshot, arrivedAt: number, job: JobSnapshot | null) {
    super(monitor, demand, arrivedAt, job);
    this.monitor = monitor;
  }

  get isWaiting(): boolean {
    return !this.isSettled;
  }

  get isOver(): boolean {
    return this.isSettled && (this.#given === null || this.#given.isSettled);
  }

  abandon(): void {
    if (this.#given === null) this.monitor.withdraw(this, cancelled());
    else releaseQuietly(this.monitor, this.#given);
  }

  /** Nothing to attend to when it was refused at once. */
  attend(): void {
    if (!this.isOver) this.#waitEnds = this.monitor.clock.attend!(this);
  }

  override succeed(grant: Grant): void {
    // Noted first: the request of its caller may be gone, and then nobody else ever hears of this grant.
    this.#given = grant;
    super.succeed(grant);
    this.#endWait();
  }

  override fail(error: unknown): void {
    super.fail(error);
    this.#endWait();
  }

  #endWait(): void {
    if (this.#waitEnds !== null) dropFaults(this.#waitEnds);
  }
}

/** Shows a grant that was made at once to a clock that attends to callers. Whatever that throws, nothing stays taken. */
export function attendGrant(monitor: Monitor, grant: Grant): Grant {
  if (!monitor.isAttended) return grant;
  try {
    monitor.clock.attend!({
      isWaiting: false,
      get isOver() {
        return grant.isSettled;
      },
      abandon: () => releaseQuietly(monitor, grant),
    });
  } catch (fault) {
    grant.rollback();
    throw fault;
  }
  return grant;
}

/** Shows a parked caller to such a clock. Whatever that throws, nobody stays in line and nothing stays taken. */
export function attendWaiter(monitor: Monitor, waiter: Waiter): void {
  if (!(waiter instanceof AttendedWaiter)) return;
  try {
    waiter.attend();
  } catch (fault) {
    if (waiter.isSettled) waiter.grant?.rollback();
    else monitor.line.retract(waiter);
    throw fault;
  }
}

/** Takes back what a request that is gone held. Nobody is there to hear of an account that fails meanwhile. */
function releaseQuietly({ logger }: Monitor, grant: Grant): void {
  try {
    grant.release();
  } catch (fault) {
    logger.error(
      `An account failed while the grant of a request that is gone was released: ${messageOf(fault)}`,
    );
  }
}
