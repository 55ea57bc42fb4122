import { AttendedWaiter } from "./attending.ts";
import type { JobSnapshot } from "./context.ts";
import type { DemandSnapshot } from "./entry.ts";
import { type AdmissionError, QueueFullError } from "./errors.ts";
import type { RejectReason } from "./events.ts";
import type { KernelHost } from "./host.ts";
import type { LineRecord } from "./kernel.ts";
import type { Monitor } from "./monitor.ts";
import { type Departure, Waiter } from "./parking.ts";
import { NO_ENTRY } from "../assembly/layout.ts";

/** The parked callers of one Admission: how they come into its line and how they leave it. */
export class WaitingLine {
  readonly host: KernelHost<Waiter>;
  readonly record: LineRecord;
  readonly #monitor: Monitor;
  #size = 0;
  #counted = 0;
  #parked = 0;

  constructor(host: KernelHost<Waiter>, record: LineRecord, monitor: Monitor) {
    this.host = host;
    this.record = record;
    this.#monitor = monitor;
  }

  get size(): number {
    return this.#size;
  }

  /** Those that `maxQueue` counts. */
  get counted(): number {
    return this.#counted;
  }

  /** In order of arrival. */
  get waiters(): readonly Waiter[] {
    return this.#mine().sort((a, b) => a.number - b.number);
  }

  /** The oldest, or null. */
  get head(): Waiter | null {
    const slot = this.host.guard((kernel) => kernel.headSlot(this.record));
    return slot < 0 ? null : this.host.waiters[slot]!;
  }

  /** @throws QueueFullError when the kernel's table is full; then nothing has changed. */
  park(demand: DemandSnapshot, job: JobSnapshot | null, arrivedAt: number): Waiter {
    const waiter = this.tryPark(demand, job, arrivedAt);
    if (waiter !== null) return waiter;
    const message =
      `Cannot wait: the kernel's table of waiters is full (${this.#size} wait here); try again later`;
    throw new QueueFullError(message, { queueSize: this.#size, retryAfterMs: null });
  }

  /** The same, but null when the table is full. */
  tryPark(demand: DemandSnapshot, job: JobSnapshot | null, arrivedAt: number): Waiter | null {
    const slot = this.host.park(this.record, demand);
    if (slot < 0) return null;
    const Kind = this.#monitor.isAttended ? AttendedWaiter : Waiter;
    const waiter = new Kind(this.#monitor, demand, arrivedAt, job);
    waiter.slot = slot;
    this.host.waiters[slot] = waiter;
    waiter.number = this.#parked++;
    if (waiter.isCounted) this.#counted++;
    if (++this.#size === 1) this.host.targets.set(this.record, this.#monitor);
    return waiter;
  }

  /** Takes a waiter out for a reason of its own; while a step runs it is marked, and leaves when the step meets it. */
  withdraw(waiter: Waiter, departure: Departure): void {
    if (this.#takeOut(waiter)) this.depart(waiter, departure, this.#reportedNow(), NO_ENTRY);
    else waiter.mark(departure);
  }

  /** A waiter that the kernel has let go leaves without a grant; `refusedBy` is the entry that refused it, or NO_ENTRY. */
  depart(waiter: Waiter, departure: Departure, now: number, refusedBy: number): void {
    this.#shrink(waiter);
    if (this.#monitor.reporter !== null) {
      // Who hears of it may abort or cancel the same waiter: that comes too late, and must not reach the kernel.
      this.host.waiters[waiter.slot] = undefined;
      this.#monitor.report((reporter) => reporter.rejected(waiter, departure.reason, now, refusedBy));
    }
    this.#recycle(waiter);
    waiter.fail(departure.error);
  }

  /** A waiter that was granted is out of the line; nothing is reported. */
  forget(waiter: Waiter): void {
    this.#shrink(waiter);
    this.#recycle(waiter);
  }

  /** Takes a waiter out that only tried; nothing is reported. */
  retract(waiter: Waiter): void {
    this.#takeOut(waiter);
    this.forget(waiter);
  }

  /** Everyone leaves, oldest first, each with an error of its own. */
  shed(error: () => AdmissionError, reason: RejectReason): void {
    const { host, record } = this;
    const now = this.#reportedNow();
    const headSlot = () => host.guard((kernel) => kernel.headSlot(record));
    for (let slot = headSlot(); slot >= 0; slot = headSlot()) {
      const waiter = host.waiters[slot]!;
      if (!this.#takeOut(waiter)) return this.#mark(error, reason);
      this.depart(waiter, { error: error(), reason }, now, NO_ENTRY);
    }
  }

  /** The kernel is gone: everyone fails without a call to it. */
  failAll(error: () => AdmissionError): void {
    this.#size = 0;
    this.#counted = 0;
    for (const waiter of this.#mine()) waiter.fail(error());
  }

  /** A step is running: it asks nobody any more and meets the marked ones; whoever it does not meet is shed after it. */
  #mark(error: () => AdmissionError, reason: RejectReason): void {
    for (const waiter of this.#mine()) {
      this.#takeOut(waiter);
      waiter.mark({ error: error(), reason });
    }
  }

  /** Takes a waiter out of the kernel's line; false when a running step only marks it, or when it has left. */
  #takeOut(waiter: Waiter): boolean {
    const { host } = this;
    const { slot } = waiter;
    // Its slot may be another's by now.
    if (host.waiters[slot] !== waiter) return false;
    return host.guard((kernel) => kernel.withdraw(slot, kernel.generationOf(slot))) === 1;
  }

  /** The clock costs more than a departure: it is read only where somebody hears of it. */
  #reportedNow(): number {
    return this.#monitor.reporter === null ? 0 : this.#monitor.now();
  }

  #mine(): Waiter[] {
    return this.host.waiters.filter((waiter): waiter is Waiter => waiter?.monitor === this.#monitor);
  }

  #shrink(waiter: Waiter): void {
    if (waiter.isCounted) this.#counted--;
    if (--this.#size === 0) this.host.targets.delete(this.record);
    this.#monitor.someoneLeft(waiter);
  }

  #recycle(waiter: Waiter): void {
    this.host.recycle(waiter.slot);
    this.host.waiters[waiter.slot] = undefined;
  }
}
