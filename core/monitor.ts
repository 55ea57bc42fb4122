import { Alarm } from "./alarm.ts";
import { type Clock, toTicks } from "./clock.ts";
import { Closing } from "./closing.ts";
import { type AdmissionError, InvalidStateError } from "./errors.ts";
import { claimSettlement, Grant, type GrantStory, type Settler } from "./grant.ts";
import type { DemandSnapshot } from "./entry.ts";
import { Draining } from "./draining.ts";
import { Holds } from "./holds.ts";
import { currentHost, type KernelHost, opened, type WakeTarget } from "./host.ts";
import type { RejectReason } from "./events.ts";
import { messageOf } from "./faults.ts";
import { show } from "./invariant.ts";
import type { Logger } from "./logger.ts";
import { MemoryLink } from "./memory.ts";
import type { CheckedAdmissionOptions, MemoryAccount } from "./options.ts";
import { closedBy, type Departure, stopped, type Waiter, type Withdrawer } from "./parking.ts";
import { drive } from "./pass.ts";
import { Reporter } from "./reporting.ts";
import { bucketOf, giveBack, reconcileEntry } from "./settlement.ts";
import { timeoutOf } from "./time_limits.ts";
import { Timeouts } from "./timeouts.ts";
import { startRefusal } from "./unstarted.ts";
import { weakly } from "./weak.ts";
import { WaitingLine } from "./waiting_line.ts";
import { Wirings } from "./wiring.ts";

const DUE: Promise<void> = Promise.resolve();

/**
 * The state behind one Admission, and what moves it. A pass runs in a microtask after whatever asked for it, so never on the
 * stack of admit, release or a wake; while one runs user code may call anything, and what it asks for is done
 * after the step.
 */
export class Monitor implements WakeTarget, Withdrawer, Settler {
  readonly host: KernelHost<Waiter>;
  readonly line: WaitingLine;
  readonly clock: Clock;
  readonly memory: MemoryAccount | null;
  readonly memoryLink: MemoryLink;
  readonly logger: Logger;
  /** Null without a sink. */
  readonly reporter: Reporter | null;
  readonly wirings: Wirings;
  readonly holds: Holds;
  readonly closing: Closing = new Closing();
  readonly maxQueue: number;
  /** Whether its clock attends to callers. */
  readonly isAttended: boolean;
  /** Whether there is neither a sink nor a memory account, nor a clock that attends to callers. */
  readonly isPlain: boolean;
  readonly nested: "refuse" | "warn" | "off";
  /** What the account asked last threw. */
  fault: unknown = undefined;
  /** Steps of this admission on the stack: a pass, an inline attempt, or an event being reported. */
  #steps = 0;
  isStarted = false;
  #closed: (() => AdmissionError) | null = null;
  #closedReason: RejectReason = "shutdown";
  #isPassDue = false;
  readonly #alarm: Alarm;
  readonly #timeouts = new Timeouts();
  /** The earliest deadline that the last pass found. */
  #lookAt = Infinity;
  /** The earliest of them that lies ahead. */
  #laterLookAt = Infinity;
  #isPassing = false;
  /** Whether something asked for a pass while one ran. */
  #isWokenByPass = false;
  readonly #draining = new Draining();

  constructor(options: CheckedAdmissionOptions) {
    this.host = currentHost() as KernelHost<Waiter>;
    this.clock = options.clock;
    this.memory = options.memory;
    this.logger = options.logger;
    this.maxQueue = options.maxQueue;
    this.nested = options.nested;
    this.holds = new Holds(options.clock, options.logger);
    this.memoryLink = new MemoryLink(options.memory, this.host, this.logger);
    const memoryRecord = this.memoryLink.record;
    const record = opened(this.host.guard((kernel) => kernel.openLine(memoryRecord)), "another Admission");
    this.line = new WaitingLine(this.host, record, this);
    this.host.closeLineWith(this, record);
    this.reporter = options.events === null
      ? null
      : new Reporter(options.events, this.host, this.clock, this.memory, memoryRecord);
    this.isAttended = options.clock.attend !== undefined;
    this.isPlain = options.events === null && options.memory === null && !this.isAttended;
    this.#alarm = new Alarm(this.clock, () => this.#look());
    const self = weakly(this);
    this.wirings = new Wirings(this.host, () => self.deref()?.wakeByAccount());
  }

  get size(): number {
    return this.line.size;
  }

  get isClosed(): boolean {
    return this.#closed !== null;
  }

  /** Whether nobody waits and no step runs, so that an attempt may be made at once. */
  get isQuiet(): boolean {
    return this.#steps === 0 && this.line.size === 0;
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
    if (this.#closed !== null) throw startRefusal(this.#closed());
    this.assertOpen();
    if (this.isStarted) {
      throw new InvalidStateError("Cannot start this Admission: it was started before, start it once");
    }
    this.memoryLink.wire(this.wirings);
    this.isStarted = true;
    this.wake();
  }

  /** Ends a wait whose time is up, or is known to be too short. */
  expire(waiter: Waiter): void {
    this.withdraw(waiter, { error: timeoutOf(this, waiter), reason: "timeout" });
  }

  /** Limits a wait to `waiter.expiresAt`. */
  limit(waiter: Waiter): void {
    this.#timeouts.add(waiter);
    this.arm();
  }

  /** The instant of the next look, ms, or null when only an event leads to one. */
  get nextLookMs(): number | null {
    return this.#alarm.atMs;
  }

  /** Asks for one pass, however often it is called before that runs. */
  wake(): void {
    if (this.#isPassDue || this.size === 0 || !this.isStarted || this.#closed !== null) return;
    if (this.#isPassing) {
      this.#isWokenByPass = true;
      return;
    }
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
  someoneLeft(waiter: Waiter): void {
    this.#timeouts.remove(waiter);
    this.#alarm.moved();
    if (this.size > 0) return;
    this.#alarm.clear();
    this.#draining.look(0);
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

  /** A pass or an inline attempt begins, which is a step: what wakes meanwhile leads to another pass after it. */
  beginPass(): void {
    this.#isPassing = true;
    this.#steps++;
  }

  endPass(): void {
    this.#steps--;
    this.#isPassing = false;
  }

  /** Tells the sink, if there is one. */
  report(tell: (reporter: Reporter) => void): void {
    const { reporter } = this;
    if (reporter !== null) this.step(() => tell(reporter));
  }

  /** What a pass found: the earliest instant at which the clock alone may let somebody go, and the earliest that lies ahead. */
  lookAgainAt(firstTicks: number, laterTicks: number): void {
    this.#lookAt = firstTicks;
    this.#laterLookAt = laterTicks;
  }

  /** Waits for the next look, or for the end of a time limit. */
  arm(): void {
    const isIdle = this.size === 0 || this.#closed !== null;
    const isLooking = this.isStarted && !isIdle;
    const first = isLooking ? (this.#isWokenByPass ? -Infinity : this.#lookAt) : Infinity;
    const limit = isIdle ? Infinity : this.#timeouts.next;
    this.#isWokenByPass = false;
    if (this.#alarm.set(Math.min(first, limit), Math.min(this.#laterLookAt, limit))) this.wake();
  }

  makeGrant(demand: DemandSnapshot, story: GrantStory | null): Grant {
    this.#draining.granted();
    return new Grant(this, demand, story);
  }

  settle(grant: Grant, everything: boolean): void {
    if (!claimSettlement(grant, everything ? "rolled back" : "released")) return;
    this.holds.forget(grant);
    this.#draining.settled(this.size);
    giveBack(this, grant, everything);
  }

  /** Resolves when nobody waits and every grant is settled. */
  drain(): Promise<void> {
    return this.#draining.wait(this.size);
  }

  checkReconcilable(grant: Grant, entry: number): void {
    bucketOf(grant, entry);
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
    this.logger.error(`Admission closes: ${messageOf(defect)}`);
    this.logger.error(defect instanceof Error ? defect.stack ?? defect.message : show(defect));
    this.host.guard((kernel) => kernel.abandon(this.line.record));
    if (this.#closed === null) this.#close(() => closedBy(defect), "aborted");
    else this.sweep();
  }

  kernelFailed(defect: Error): void {
    this.#closed ??= () => closedBy(defect);
    this.#alarm.clear();
    this.line.failAll(() => closedBy(defect));
    this.#draining.look(0);
    this.closing.close(this.#closed, this.logger);
  }

  /** After a step: whoever is still in line of a closed admission leaves. */
  sweep(): void {
    if (this.#closed !== null && this.host.defect === null) this.line.shed(this.#closed, this.#closedReason);
  }

  readonly #pass = (): void => {
    this.#isPassDue = false;
    this.#look();
  };

  /** A pass, then an end to every wait whose time is up: at one instant the grant wins. */
  #look(): void {
    if (this.size === 0 || this.#closed !== null) return;
    if (this.isStarted) drive(this, false, true);
    if (this.isClosed) return;
    // The clock costs more than a pass: it is read again only for those who wait with a limit.
    if (this.#timeouts.first !== null) {
      for (const waiter of this.#timeouts.due(this.now())) this.expire(waiter);
    }
    if (!this.isStarted) this.arm();
  }

  #close(error: () => AdmissionError, reason: RejectReason): void {
    this.#closed = error;
    this.#closedReason = reason;
    this.#alarm.clear();
    for (const fault of this.step(() => this.wirings.clear())) {
      this.logger.error(`An account failed while its wake was cleared: ${messageOf(fault)}`);
    }
    this.line.shed(error, reason);
    this.closing.close(error, this.logger);
  }
}
