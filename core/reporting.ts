import type { LimiterIdentity } from "./account.ts";
import { isFreed } from "./accounts/native.ts";
import { type Clock, toMs } from "./clock.ts";
import type { JobSnapshot } from "./context.ts";
import type { Entry } from "./entry.ts";
import { type EventSink, limiterEvent, type RejectReason, type Transition } from "./events.ts";
import type { KernelHost } from "./host.ts";
import { dropFaults } from "./logger.ts";
import type { MemoryAccount } from "./options.ts";
import type { Waiter } from "./parking.ts";
import { MEMORY_ENTRY, NO_ENTRY } from "../assembly/layout.ts";

/** An account as events name it: an entry of the demand, or memory. */
interface Subject {
  identity: LimiterIdentity;
  record: number;
  amount: number;
}

/** Tells the sink what happened, account by account. Exists only when there is a sink. */
export class Reporter {
  readonly #sink: EventSink;
  readonly #host: KernelHost;
  readonly #clock: Clock;
  readonly #memory: MemoryAccount | null;
  readonly #memoryRecord: number;

  constructor(
    sink: EventSink,
    host: KernelHost,
    clock: Clock,
    memory: MemoryAccount | null,
    memoryRecord: number,
  ) {
    this.#sink = sink;
    this.#host = host;
    this.#clock = clock;
    this.#memory = memory;
    this.#memoryRecord = memoryRecord;
  }

  held(waiter: Waiter, entry: number): void {
    this.#emit(this.#subject(waiter.demand.entries, entry), { type: "HELD", snapshot: waiter.job! });
  }

  /** Every entry in demand order, then memory if it held the job. `heldTicks` as in a grant. */
  granted(entries: readonly Entry[], job: JobSnapshot, heldTicks: readonly number[] | null): void {
    entries.forEach((_, index) =>
      this.#granted(this.#subject(entries, index), job, heldTicks?.[index] ?? NaN)
    );
    const onMemory = heldTicks?.[entries.length] ?? NaN;
    if (!Number.isNaN(onMemory)) this.#granted(this.#subject(entries, MEMORY_ENTRY), job, onMemory);
  }

  released(entry: Entry, job: JobSnapshot): void {
    this.#emit(this.#subject([entry], 0), { type: "RELEASED", snapshot: job });
  }

  /** An account refused a demand that never was in line. */
  refused(entries: readonly Entry[], entry: number, job: JobSnapshot, rejectReason: RejectReason): void {
    this.#emit(this.#subject(entries, entry), { type: "REJECTED", snapshot: job, rejectReason });
  }

  /**
   * A waiter left without a grant: REJECTED on the account that refused it, if that never held it, then on every account
   * that did, in order of first hold, each with its own wait and its lowered count.
   */
  rejected(waiter: Waiter, rejectReason: RejectReason, now: number, refusedBy: number): void {
    const { kernel } = this.#host;
    const { entries } = waiter.demand;
    const snapshot = waiter.job!;
    if (refusedBy !== NO_ENTRY && Number.isNaN(kernel.heldSince(waiter.slot, refusedBy))) {
      this.refused(entries, refusedBy, snapshot, rejectReason);
    }
    for (let order = 1;; order++) {
      const entry = kernel.lowerNextHold(waiter.slot, order);
      if (entry === NO_ENTRY) return;
      const waitMs = toMs(now - kernel.heldSince(waiter.slot, entry));
      this.#emit(this.#subject(entries, entry), { type: "REJECTED", snapshot, rejectReason, waitMs });
    }
  }

  #granted(subject: Subject, snapshot: JobSnapshot, ticks: number): void {
    const type = Number.isNaN(ticks) ? "GRANTED_IMMEDIATE" : "GRANTED_FROM_HOLD";
    this.#emit(subject, { type, snapshot, waitMs: Number.isNaN(ticks) ? 0 : toMs(ticks) });
  }

  #subject(entries: readonly Entry[], entry: number): Subject {
    if (entry === MEMORY_ENTRY) return { identity: this.#memory!, record: this.#memoryRecord, amount: 1 };
    const { key, keyRecord, amount } = entries[entry]!;
    return { identity: key, record: keyRecord, amount };
  }

  #emit(subject: Subject, transition: Omit<Transition, "waiters" | "amount">): void {
    dropFaults(() => {
      // The last grant of a disposed account takes its record along.
      const waiters = isFreed(subject.identity) ? 0 : this.#host.kernel.heldOn(subject.record);
      const facts = { ...transition, waiters, amount: subject.amount };
      return this.#sink(limiterEvent(subject.identity, facts, this.#clock.wallNow()));
    });
  }
}
