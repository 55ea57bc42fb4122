import { type Clock, knownTurn, type Turn, turnWallNow } from "./clock.ts";
import { InvalidStateError, UncorrectableError } from "./errors.ts";
import type { LimiterIdentity } from "./account.ts";
import type { DemandSnapshot } from "./entry.ts";
import { type AccountRecord, type Kernel, type LineRecord, wasmKernel } from "./kernel.ts";
import { WAKE_LINES } from "../assembly/layout.ts";
import { show } from "./invariant.ts";
import { newRegistry, type Registry } from "./weak.ts";

/** What a kernel needs of an admission: to be told of wakes, and of the kernel's end. */
export interface WakeTarget {
  wake(): void;
  /** The kernel is broken: fail every caller without calling it any more. */
  kernelFailed(defect: Error): void;
}

/** A kernel with what the shell keeps beside it: who waits in which slot, and which records belong to custom accounts. */
export class KernelHost<Waiter extends object = object> {
  readonly kernel: Kernel;
  /** The waiter in each slot of the kernel. */
  readonly waiters: (Waiter | undefined)[] = [];
  /** Lines with at least one waiter. Others are not kept alive from here. */
  readonly targets: Map<LineRecord, WakeTarget> = new Map();
  /** Set while a failed attempt gives back: wakes of its owner, or of everyone, are no news then. */
  quiet: { owner: WakeTarget; isForAll: boolean } | null = null;
  #defect: Error | null = null;
  #wallMs = NaN;
  /** The turn whose wall time the kernel has. */
  #turn: Turn | null = null;
  /** The number of the demand that stands staged, 0 for none. */
  #staged = 0;
  /** Records of accounts that the shell asks. An account that overrides a built-in one has its own beside it. */
  readonly #customRecords = new WeakMap<LimiterIdentity, AccountRecord>();
  readonly #nativeRecords = new WeakMap<object, AccountRecord>();
  readonly #collectedAccounts: Registry<AccountRecord>;
  readonly #collectedLines: Registry<LineRecord>;

  constructor(kernel: Kernel) {
    this.kernel = kernel;
    this.#collectedAccounts = newRegistry((record: AccountRecord) => {
      if (this.#defect === null) kernel.closeAccount(record, 1);
    });
    this.#collectedLines = newRegistry((line: LineRecord) => {
      if (this.#defect === null) kernel.closeLine(line);
    });
  }

  /** Frees the line when its owner is collected; an owner with waiters is kept alive by `targets`. */
  closeLineWith(owner: object, line: LineRecord): void {
    this.#collectedLines.register(owner, line);
  }

  /** How many waiters an account holds now; 0 for one that no demand has named yet. */
  heldOn(identity: LimiterIdentity): number {
    const record = this.#customRecords.get(identity) ?? this.#nativeRecords.get(identity);
    return record === undefined || this.#defect !== null ? 0 : this.kernel.heldOn(record);
  }

  /** The trap that broke this kernel, or null. */
  get defect(): Error | null {
    return this.#defect;
  }

  /** Notes the record of a built-in account, which is freed when the account object is collected. */
  adopt(account: object, record: AccountRecord): void {
    this.#nativeRecords.set(account, record);
    this.#collectedAccounts.register(account, record, account);
  }

  /** Frees the record of a built-in account as soon as nothing names it. */
  closeRecord(account: object, record: AccountRecord): void {
    this.#collectedAccounts.unregister(account);
    this.guard((kernel) => kernel.closeAccount(record, 0));
  }

  /** The same for an account that lives on: its next use opens another record. */
  forgetRecord(account: object, record: AccountRecord): void {
    this.#nativeRecords.delete(account);
    this.closeRecord(account, record);
  }

  /**
   * The record of an account that is not built in; made on first use.
   *
   * @throws InvalidStateError when the kernel's account table is full.
   */
  customRecord(identity: LimiterIdentity): AccountRecord {
    const known = this.#customRecords.get(identity);
    if (known !== undefined) return known;
    const record = opened(this.kernel.openCustom(), show(identity.limiterName));
    this.#customRecords.set(identity, record);
    this.#collectedAccounts.register(identity, record);
    return record;
  }

  /** Whether a wake of this target is no news now. */
  isQuietFor(target: WakeTarget): boolean {
    return this.quiet !== null && (this.quiet.isForAll || this.quiet.owner === target);
  }

  /** Hands the wall time of this turn to the kernel, once a turn. */
  stampWall(clock: Clock): void {
    if (this.#turn === null || this.#turn !== knownTurn(clock)) this.#stamp(clock);
  }

  #stamp(clock: Clock): void {
    const wallMs = turnWallNow(clock);
    this.#turn = knownTurn(clock);
    if (wallMs === this.#wallMs) return;
    this.#wallMs = wallMs;
    this.kernel.setWallTime(wallMs);
  }

  /**
   * The inline attempt of a demand that the kernel decides alone: its verdict. `now` is 0 where no account reads a clock,
   * `reading` NaN where no memory gate is met.
   */
  attempt(line: LineRecord, demand: DemandSnapshot, now: number, reading: number): number {
    const { single } = demand;
    try {
      // With numbers as arguments nothing has to be staged: 10 to 17 ns less for an attempt and its settlement.
      if (single !== null) {
        return this.kernel.attemptOne(line, single.limiterRecord, single.count, single.sum, now, reading);
      }
      this.stage(demand);
      return this.kernel.attempt(line, demand.entries.length, now, reading);
    } catch (error) {
      throw this.trapped(error);
    }
  }

  /** Parks a demand at the end of a line: the waiter's slot, or -1 when a table of the kernel is full. */
  park(line: LineRecord, demand: DemandSnapshot): number {
    this.assertSound();
    this.stage(demand);
    try {
      return this.kernel.park(line, demand.entries.length);
    } catch (error) {
      throw this.trapped(error);
    }
  }

  /** Frees the slot of a waiter that has left its line. */
  recycle(slot: number): void {
    this.assertSound();
    try {
      this.kernel.recycle(slot);
    } catch (error) {
      throw this.trapped(error);
    }
  }

  /** Gives back what the kernel counts of a granted demand, all or only the gates: WAKE_ bits. */
  settle(demand: DemandSnapshot, everything: boolean, now: number): number {
    if (this.#defect !== null) throw brokenKernel(this.#defect);
    const { single } = demand;
    try {
      if (single !== null) {
        return this.kernel.settleOne(single.limiterRecord, single.count, single.sum, everything ? 1 : 0, now);
      }
      this.stage(demand);
      return this.kernel.settle(demand.entries.length, everything ? 1 : 0, now);
    } catch (error) {
      throw this.trapped(error);
    }
  }

  /** Writes the entries of a demand to where the kernel reads them. A demand that is admitted and settled stands there still. */
  stage(demand: DemandSnapshot): void {
    if (this.#staged === demand.number) return;
    const { entries } = demand;
    for (let i = 0; i < entries.length; i++) {
      const { limiterRecord, keyRecord, count, sum } = entries[i]!;
      this.kernel.stage(i, limiterRecord, keyRecord, count, sum);
    }
    this.#staged = demand.number;
  }

  /** Passes on which lines have to look again. What is no news is dropped for those that a failed attempt keeps quiet. */
  deliverWakes(bits: number, isNews = true): void {
    if ((bits & WAKE_LINES) === 0) return;
    for (let line = this.kernel.takeWoken(); line !== 0; line = this.kernel.takeWoken()) {
      const target = this.targets.get(line);
      if (target !== undefined && (isNews || !this.isQuietFor(target))) target.wake();
    }
  }

  /** Takes the kernel out of service after a trap: every admission on it closes. Answers the error to throw. */
  trapped(error: unknown): UncorrectableError {
    if (this.#defect === null) {
      this.#defect = error instanceof Error ? error : new Error(String(error));
      for (const target of [...this.targets.values()]) target.kernelFailed(this.#defect);
      this.targets.clear();
      this.waiters.length = 0;
    }
    return brokenKernel(this.#defect);
  }

  /** @throws UncorrectableError when the kernel is broken. */
  assertSound(): void {
    if (this.#defect !== null) throw brokenKernel(this.#defect);
  }

  /** Runs a rare call of the kernel; a trap in it takes the kernel out of service. */
  guard<T>(call: (kernel: Kernel) => T): T {
    this.assertSound();
    try {
      return call(this.kernel);
    } catch (error) {
      throw this.trapped(error);
    }
  }
}

/**
 * The handle that a kernel gave for a new record.
 *
 * @throws InvalidStateError when it gave none.
 */
export function opened(record: number, what: string): number {
  if (record !== 0) return record;
  throw new InvalidStateError(
    `Cannot use ${what}: the kernel's tables are full, dispose() what is not needed or use fewer at a time`,
  );
}

function brokenKernel(defect: Error): UncorrectableError {
  return new UncorrectableError(
    `Cannot use this account or Admission: its kernel trapped (${defect.message}). Make new ones; please report the defect.`,
    { code: "defect", cause: defect },
  );
}

let current: KernelHost | null = null;

/** The kernel for what is made now: one per process, made on first use, replaced after a trap. */
export function currentHost(): KernelHost {
  if (current === null || current.defect !== null) current = new KernelHost(wasmKernel());
  return current;
}

/** Replaces the kernel that accounts and admissions made from now on use; null brings the default back. For tests. */
export function useHost(host: KernelHost | null): void {
  current = host;
}
