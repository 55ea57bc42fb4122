import type { JobSnapshot } from "./context.ts";
import type { DemandSnapshot } from "./demand.ts";
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
    const message = `Cannot wait: the kernel's table of waiters is full (${this.#size} wait here)`;
    throw new QueueFullError(message, { queueSize: this.#size, retryAfterMs: null });
  }

  /** The same, but null when the table is full. */
  tryPark(demand: DemandSnapshot, job: JobSnapshot | null, arrivedAt: number): Waiter | null {
    const waiter = new Waiter(this.#monitor, demand, arrivedAt, job);
    this.host.stage(demand);
    const slot = this.host.guard((kernel) => kernel.park(this.record, demand.entries.length));
    if (slot < 0) return null;
    waiter.slot = slot;
    waiter.generation = this.host.kernel.generationOf(slot);
    this.host.waiters[slot] = waiter;
    waiter.number = this.#parked++;
    if (waiter.isCounted) this.#counted++;
    if (++this.#size === 1) this.host.targets.set(this.record, this.#monitor);
    return waiter;
  }

  /** Takes a waiter out for a reason of its own; while a step runs it is marked, and leaves when the step meets it. */
  withdraw(waiter: Waiter, departure: Departure): void {
    const isOut = this.host.guard((kernel) => kernel.withdraw(waiter.slot, waiter.generation)) === 1;
    if (isOut) this.depart(waiter, departure, this.#monitor.now(), NO_ENTRY);
    else waiter.departure ??= departure;
  }

  /** A waiter that the kernel has let go leaves without a grant; `refusedBy` is the entry that refused it, or NO_ENTRY. */
  depart(waiter: Waiter, departure: Departure, now: number, refusedBy: number): void {
    this.#shrink(waiter);
    this.#monitor.report((reporter) => reporter.rejected(waiter, departure.reason, now, refusedBy));
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
    this.host.guard((kernel) => kernel.withdraw(waiter.slot, waiter.generation));
    this.forget(waiter);
  }

  /** Everyone leaves, oldest first, each with an error of its own. */
  shed(error: () => AdmissionError, reason: RejectReason): void {
    const { host, record } = this;
    const now = this.#monitor.now();
    const headSlot = () => host.guard((kernel) => kernel.headSlot(record));
    for (let slot = headSlot(); slot >= 0; slot = headSlot()) {
      const waiter = host.waiters[slot]!;
      const isOut = host.guard((kernel) => kernel.withdraw(slot, waiter.generation)) === 1;
      if (!isOut) return this.#mark(error, reason);
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
      this.host.guard((kernel) => kernel.withdraw(waiter.slot, waiter.generation));
      waiter.departure ??= { error: error(), reason };
    }
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
    this.host.guard((kernel) => kernel.recycle(waiter.slot));
    this.host.waiters[waiter.slot] = undefined;
  }
}
