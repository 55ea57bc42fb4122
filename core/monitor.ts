import { Alarm } from "./alarm.ts";
import { attemptNatively } from "./attempt.ts";
import { type Clock, toTicks } from "./clock.ts";
import { createJobContext, type JobSnapshot } from "./context.ts";
import type { DemandSnapshot } from "./demand.ts";
import { type AdmissionError, InvalidStateError, UncorrectableError } from "./errors.ts";
import { claimSettlement, Grant, type Settler } from "./grant.ts";
import { currentHost, type KernelHost, opened, type WakeTarget } from "./host.ts";
import { refusal } from "./accounts/native.ts";
import type { RejectReason } from "./events.ts";
import { show } from "./invariant.ts";
import type { Logger } from "./logger.ts";
import type { AdmitOptions, CheckedAdmissionOptions, MemoryAccount } from "./options.ts";
import { type Departure, stopped, type Waiter, type Withdrawer } from "./parking.ts";
import { drive } from "./pass.ts";
import { Reporter } from "./reporting.ts";
import { giveBack, reconcileEntry } from "./settlement.ts";
import { WaitingLine } from "./waiting_line.ts";
import { Wirings } from "./wiring.ts";
import { NO, YES } from "../assembly/layout.ts";

const DUE: Promise<void> = Promise.resolve();

/**
 * The state behind one Admission, and what moves it. A pass runs in a microtask after whatever asked for it, so never on the
 * stack of admit, release or a wake; while one runs (`isStepping`) user code may call anything, and what it asks for is done
 * after the step.
 */
export class Monitor implements WakeTarget, Withdrawer, Settler {
  readonly host: KernelHost<Waiter>;
  readonly line: WaitingLine;
  readonly clock: Clock;
  readonly memory: MemoryAccount | null;
  readonly logger: Logger;
  /** Null without a sink. */
  readonly reporter: Reporter | null;
  readonly wirings: Wirings;
  /** What the account asked last threw. */
  fault: unknown = undefined;
  /** Steps of this admission on the stack: a pass, an inline attempt, or an event being reported. */
  #steps = 0;
  #isStarted = false;
  #closed: (() => AdmissionError) | null = null;
  #closedReason: RejectReason = "shutdown";
  #isPassDue = false;
  readonly #alarm: Alarm;

  constructor(options: CheckedAdmissionOptions) {
    this.host = currentHost() as KernelHost<Waiter>;
    this.clock = options.clock;
    this.memory = options.memory;
    this.logger = options.logger;
    const memoryRecord = this.memory === null ? 0 : this.host.customRecord(this.memory);
    const record = opened(this.host.guard((kernel) => kernel.openLine(memoryRecord)), "another Admission");
    this.line = new WaitingLine(this.host, record, this);
    this.host.closeLineWith(this, record);
    this.reporter = options.events === null
      ? null
      : new Reporter(options.events, this.host, this.clock, this.memory, memoryRecord);
    this.#alarm = new Alarm(this.clock, () => this.#look());
    const self = new WeakRef(this);
    this.wirings = new Wirings(this.host, () => self.deref()?.wakeByAccount());
  }

  get size(): number {
    return this.line.size;
  }

  get isStepping(): boolean {
    return this.#steps > 0;
  }

  get memoryName(): string | null {
    return this.memory === null ? null : this.memory.limiterName;
  }

  now(): number {
    return toTicks(this.clock.now());
  }

  /** @throws the error that every caller gets once admission is closed or its kernel is broken. */
  assertOpen(): void {
    if (this.#closed !== null) throw this.#closed();
    this.host.assertSound();
  }

  start(): void {
    this.assertOpen();
    if (this.#isStarted) {
      throw new InvalidStateError("Cannot start this Admission: it was started before, start it once");
    }
    if (this.memory !== null) this.wirings.wireAccount(this.memory, this.memory);
    this.#isStarted = true;
    this.wake();
  }

  admit(demand: DemandSnapshot, options: AdmitOptions | undefined): Promise<Grant> {
    const job = this.#jobOf(options);
    const isPlain = this.#prepare(demand);
    const isInline = this.size === 0 && !this.isStepping;
    if (isInline && isPlain) {
      const grant = this.#attempt(demand, job, options?.signal);
      if (grant !== null) return Promise.resolve(grant);
    }
    const waiter = this.line.park(demand, job);
    waiter.listen(options?.signal ?? null, options?.context ?? null);
    if (isInline) drive(this, true, true);
    // Only accounts outside the kernel can answer differently when they are asked again at once.
    if (!waiter.isSettled && !(isInline && isPlain)) this.wake();
    return waiter.promise();
  }

  tryAdmit(demand: DemandSnapshot): Grant | null {
    const isPlain = this.#prepare(demand);
    if (this.size > 0 || this.isStepping) return null;
    const job = this.#jobOf(undefined);
    if (isPlain) return this.#attempt(demand, job, undefined);
    const waiter = this.line.park(demand, job);
    drive(this, true, false);
    if (waiter.grant !== null) return waiter.grant;
    if (waiter.isSettled) throw waiter.error;
    this.line.retract(waiter);
    return null;
  }

  /** Asks for a pass, once however often it is called before that runs. */
  wake(): void {
    if (this.#isPassDue || this.size === 0 || !this.#isStarted || this.#closed !== null) return;
    this.#isPassDue = true;
    DUE.then(this.#pass);
  }

  /** The wake that accounts outside the kernel run. What one runs while a failed attempt gives back to it is no news. */
  wakeByAccount(): void {
    if (!this.host.isQuietFor(this)) this.wake();
  }

  withdraw(waiter: Waiter, departure: Departure): void {
    if (waiter.isSettled || this.host.defect !== null) return;
    this.line.withdraw(waiter, departure);
    this.wake();
  }

  /** The line got shorter. */
  someoneLeft(): void {
    this.#alarm.moved();
    if (this.size === 0) this.#alarm.clear();
  }

  /** Runs something that may call user code, as a step: what that asks of this admission is done afterwards. */
  step<T>(work: () => T): T {
    this.#steps++;
    try {
      return work();
    } finally {
      this.#steps--;
    }
  }

  /** Tells the sink, if there is one. */
  report(tell: (reporter: Reporter) => void): void {
    const { reporter } = this;
    if (reporter !== null) this.step(() => tell(reporter));
  }

  /** After a pass: waits for the earliest instant at which the clock alone may let somebody go. */
  arm(atTicks: number): void {
    const isIdle = this.size === 0 || !this.#isStarted || this.#closed !== null;
    if (this.#alarm.set(isIdle ? Infinity : atTicks)) this.wake();
  }

  settle(grant: Grant, everything: boolean): void {
    if (claimSettlement(grant, everything ? "rolled back" : "released")) giveBack(this, grant, everything);
  }

  reconcile(grant: Grant, entry: number, actual: number): void {
    reconcileEntry(this, grant, entry, actual);
  }

  /** Refuses everyone who waits, and every later caller. */
  stop(): void {
    if (this.#closed !== null) return;
    this.#close(() => stopped().error, "shutdown");
  }

  /** Closes for good: a fault that no waiter alone is to blame for. */
  failWith(defect: unknown): void {
    this.logger.error(`Admission closes: ${defect instanceof Error ? defect.message : String(defect)}`);
    this.logger.error(defect instanceof Error ? defect.stack ?? defect.message : show(defect));
    this.host.guard((kernel) => kernel.abandon(this.line.record));
    if (this.#closed === null) this.#close(() => closedBy(defect), "aborted");
    else this.sweep();
  }

  kernelFailed(defect: Error): void {
    this.#closed ??= () => closedBy(defect);
    this.#alarm.clear();
    this.line.failAll(() => closedBy(defect));
  }

  /** After a step: whoever is still in line of a closed admission leaves. */
  sweep(): void {
    if (this.#closed !== null && this.host.defect === null) this.line.shed(this.#closed, this.#closedReason);
  }

  readonly #pass = (): void => {
    this.#isPassDue = false;
    this.#look();
  };

  #look(): void {
    if (this.size === 0 || this.#closed !== null) return;
    drive(this, false, true);
  }

  /** Wires what has to be wired; whether the kernel can decide this demand alone. */
  #prepare(demand: DemandSnapshot): boolean {
    for (const { clock, name } of demand.clocks) {
      if (clock !== this.clock) throw foreignClock(name);
    }
    if (demand.needsWiring) {
      for (const entry of demand.entries) this.wirings.wire(entry);
    }
    return demand.isNative && (this.memory === null || demand.entries.length === 0);
  }

  /** The inline attempt of a demand that the kernel decides alone: a grant, or null when it has to wait. */
  #attempt(demand: DemandSnapshot, job: JobSnapshot | null, signal: AbortSignal | undefined): Grant | null {
    const verdict = attemptNatively(this, demand);
    if (verdict === NO) return null;
    if (verdict !== YES) throw this.#refuseAttempt(demand, job, verdict);
    const grant = new Grant({ settler: this, demand, job, waitTicks: 0, heldTicks: null });
    if (this.reporter === null) return grant;
    this.report((reporter) => reporter.granted(demand.entries, job!, null));
    if (!signal?.aborted && this.#closed === null) return grant;
    this.settle(grant, true);
    throw this.#closed === null ? signal!.reason : this.#closed();
  }

  #refuseAttempt(demand: DemandSnapshot, job: JobSnapshot | null, verdict: number): UncorrectableError {
    const entry = this.host.kernel.attemptRefusal();
    this.report((reporter) => reporter.refused(demand.entries, entry, job!, "circuit_blocked"));
    const { key, count, sum } = demand.entries[entry]!;
    return refusal(key, { count, sum }, verdict);
  }

  #close(error: () => AdmissionError, reason: RejectReason): void {
    this.#closed = error;
    this.#closedReason = reason;
    this.#alarm.clear();
    for (const fault of this.step(() => this.wirings.clear())) {
      this.logger.error(
        `An account failed while its wake was cleared: ${fault instanceof Error ? fault.message : fault}`,
      );
    }
    this.line.shed(error, reason);
  }

  #jobOf(options: AdmitOptions | undefined): JobSnapshot | null {
    if (this.reporter === null) return null;
    return (options?.context ?? createJobContext()).snapshot();
  }
}

function closedBy(defect: unknown): UncorrectableError {
  const what = defect instanceof Error ? defect.message : show(defect);
  return new UncorrectableError(`This Admission closed on a defect: ${what}`, {
    code: "defect",
    cause: defect,
  });
}

function foreignClock(name: string): InvalidStateError {
  return new InvalidStateError(
    `Cannot admit a demand on ${
      show(name)
    }: it reads another clock than this Admission, give both the same clock`,
  );
}
