import { checkedGateOptions, type MemoryPressureGateOptions } from "./memory_gate_options.ts";
import { base, NativeAccount } from "./native.ts";
import type { NativeClass } from "./native_class.ts";
import type { LimiterCategory, Replenishment } from "../account.ts";
import { toMs, wholeMs } from "../clock.ts";
import { type HeapSample, HeapSampler } from "../heap_sampler.ts";
import { messageOf } from "../faults.ts";
import { show } from "../invariant.ts";
import type { AccountRecord, Kernel } from "../kernel.ts";
import { dropFaults, type Logger, safeLogger } from "../logger.ts";
import { MemoryPressureStatus, type MemoryZone } from "../memory_status.ts";
import { NO, YES } from "../../assembly/layout.ts";

/** Most that a foreign view may count. */
const MAX_HELD = 2 ** 31 - 1;

type Question = (record: AccountRecord, kernel: Kernel, nowTicks: number, ratio: number) => number;

let sample: (gate: MemoryPressureGate, nowTicks: number, lent: Logger) => number;
let kept: (gate: MemoryPressureGate, nowTicks: number) => number | null;
let tell: (gate: MemoryPressureGate, turns: number, lent: Logger) => void;
let foresee: (gate: MemoryPressureGate, nowTicks: number) => { fits: boolean; atTicks: number };

/** The reading for a step that begins at this instant, NaN for none. `lent` hears of a fault if the gate has no logger. */
export function sampleHeap(gate: MemoryPressureGate, nowTicks: number, lent: Logger): number {
  return sample(gate, nowTicks, lent);
}

/** The same where one is kept that still serves, else null; calls nobody's code. */
export function keptHeap(gate: MemoryPressureGate, nowTicks: number): number | null {
  return kept(gate, nowTicks);
}

/** Tells of the latch's last turns. */
export function tellLatchTurns(gate: MemoryPressureGate, turns: number, lent: Logger): void {
  tell(gate, turns, lent);
}

/** What `fits` and then `earliestFit` would answer at this instant; changes nothing. */
export function foreseeMemory(
  gate: MemoryPressureGate,
  nowTicks: number,
): { fits: boolean; atTicks: number } {
  return foresee(gate, nowTicks);
}

/**
 * Holds jobs while the heap is nearly full, and lets them go one at a time as it empties. It is the account that an Admission
 * asks before any other, for every demand that names one; demands do not name it, and amounts mean nothing to it.
 *
 * At 95 % a latch sets and nobody goes; it clears below 90 %. Then whoever waits for memory goes singly: after a job finished,
 * or after a delay that rises from 50 ms at 80 % to 30 s at 95 % and doubles for each point by which the heap after
 * collections grew over the last two releases, up to an hour. With nobody in its line everyone passes at once. While it holds
 * somebody it looks at the heap at least every 2 s.
 *
 * Without a reading (no reader here, or it throws) nobody is held.
 */
export class MemoryPressureGate extends NativeAccount<void> {
  static readonly #native: NativeClass<MemoryPressureGate, void> = {
    prototype: MemoryPressureGate.prototype,
    readsClock: true,
    openRecord: (_gate, kernel) => kernel.openMemory(),
    tally: () => ({ count: 0, sum: 0 }),
  };

  readonly #sampler: HeapSampler;
  readonly #logger: Logger | null;
  #heldElsewhere: (() => number) | null = null;
  #isStopping = false;

  static {
    sample = (gate, nowTicks, lent) => gate.#sample(nowTicks, lent, gate.#isStopping);
    kept = (gate, nowTicks) => gate.#heldElsewhere === null ? gate.#sampler.kept(nowTicks) : null;
    tell = (gate, turns, lent) => gate.#tellTurns(turns, lent);
    foresee = (gate, nowTicks) => gate.#foresee(nowTicks);
  }

  /**
   * A gate with the latch clear, named `memory`. It reads the heap when it is first asked.
   *
   * @throws TypeError or RangeError naming the option, its value and what would do.
   */
  constructor(options: MemoryPressureGateOptions = {}) {
    const { reader, sampleTicks } = checkedGateOptions(options);
    super("memory", MemoryPressureGate.#native, options.clock);
    this.#sampler = new HeapSampler(reader, sampleTicks);
    this.#logger = options.logger === undefined ? null : safeLogger(options.logger);
  }

  /** `memory`. */
  override get limiterCategory(): LimiterCategory {
    return "memory";
  }

  /** A job that finishes gives its place on the heap back. */
  override get replenishment(): Replenishment {
    return "RELEASE";
  }

  /** The heap's limit in bytes; with a `reader` and no `limitBytes` 1; 0 when unknown. */
  override get capacity(): number {
    return this.#peek().limitBytes;
  }

  /** The heap in use, in the unit of `capacity`. */
  override get currentInUse(): number {
    return this.#peek().usedBytes;
  }

  /** `blocked` while the latch is set, `pace:<ms>ms` while the next one has to wait so long, else null. */
  override get statusIndicator(): string | null {
    if (this.#zone() === "CRITICAL") return "blocked";
    const ticks = this.#pacingTicks(this.#peek().ratio);
    return ticks > 0 ? `pace:${wholeMs(ticks)}ms` : null;
  }

  /** As a look at the heap would find it now; takes none. */
  override get status(): MemoryPressureStatus {
    return this.#statusOf(this.#peek());
  }

  /** Whether `stop` was called. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Whether the next job may go now. A look: it moves the floor and the latch. The lists mean nothing. */
  override fits(_mine: readonly void[] = [], _ahead: readonly void[] = []): boolean {
    return this.#decide((record, kernel, now, ratio) => kernel.memoryFits(record, now, ratio));
  }

  /** The same; a yes counts as a release, from which the next delay runs. */
  override tryTake(_mine: readonly void[] = [], _ahead: readonly void[] = []): boolean {
    return this.#decide((record, kernel, now, ratio) => kernel.memoryTake(record, now, ratio));
  }

  /** A job finished: the next one may go at once, unless the latch is set. Completions do not add up. Wakes. */
  override give(_amounts: readonly void[] = []): void {
    super.give([]);
  }

  /** When to ask again, ms: at the latest in 2 s; null when nothing keeps anybody. A look, unless the latch is set. */
  override earliestFit(_mine: readonly void[] = [], _ahead: readonly void[] = []): number | null {
    const ticks = this.#ask((record, kernel, now, ratio) => kernel.memoryEarliest(record, now, ratio));
    return Number.isFinite(ticks) ? toMs(ticks) : null;
  }

  /**
   * For a host that is no Admission: how many it holds on this gate. They count beside the waiters of every Admission, which
   * the gate knows without being told.
   */
  override observeHeld(held: () => number): void {
    if (typeof held !== "function") {
      throw new TypeError(`Cannot observe who is held: the view is ${show(held)}, it should be a function`);
    }
    this.#heldElsewhere = held;
  }

  /** From now on everyone is let through, whatever the heap reads. Wakes; later calls do nothing. */
  stop(): void {
    if (this.#isStopping) return;
    const bits = base.call(this, (record, kernel) => kernel.memoryStop(record));
    this.#isStopping = true;
    this.#logger?.info("Memory gate stopped: every job is let through from now on");
    base.wakeAll(this, bits);
  }

  #decide(verb: Question): boolean {
    // A stopped gate takes no look.
    const verdict = this.#ask(verb, this.#isStopping);
    this.#tellTurns(base.read(this, (record, kernel) => kernel.takeLatchTurns(record), 0), null);
    return verdict !== NO;
  }

  #ask(verb: Question, isBlind = false): number {
    const now = base.nowTicks(this);
    const ratio = this.#sample(now, null, isBlind);
    return base.call(this, (record, kernel) => verb(record, kernel, now, ratio));
  }

  #sample(nowTicks: number, lent: Logger | null, isBlind: boolean): number {
    this.#tellHeld();
    if (isBlind) return NaN;
    const { ratio } = this.#sampler.sample(nowTicks);
    this.#tellFault(lent);
    return ratio;
  }

  #peek(): HeapSample {
    this.#tellHeld();
    return this.#sampler.peek(base.nowTicks(this));
  }

  #foresee(nowTicks: number): { fits: boolean; atTicks: number } {
    this.#tellHeld();
    const { ratio } = this.#sampler.peek(nowTicks);
    const verdict = base.read(this, (record, kernel) => kernel.memoryWouldFit(record, nowTicks, ratio), YES);
    const atTicks = base.read(
      this,
      (record, kernel) => kernel.memoryWouldFitAt(record, nowTicks, ratio),
      Infinity,
    );
    return { fits: verdict !== NO, atTicks };
  }

  #tellHeld(): void {
    const view = this.#heldElsewhere;
    if (view === null) return;
    let held = 0;
    dropFaults(() => held = Math.trunc(view()));
    const count = held > 0 ? Math.min(held, MAX_HELD) : 0;
    base.read(this, (record, kernel) => (kernel.memoryHoldElsewhere(record, count), 0), 0);
  }

  #tellFault(lent: Logger | null): void {
    this.#sampler.tellFault((fault) => {
      const what = messageOf(fault);
      (this.#logger ?? lent)?.error(`The heap cannot be read, so memory holds nobody meanwhile: ${what}`);
    });
  }

  /** The last turn led to the state the latch is in, the one before it to the other. */
  #tellTurns(turns: number, lent: Logger | null): void {
    if (turns === 0) return;
    const logger = this.#logger ?? lent;
    if (logger === null) return;
    const summary = this.#statusOf(this.#sampler.last).summary();
    const isLatched = this.#zone() === "CRITICAL";
    for (let left = turns - 1; left >= 0; left--) {
      if (isLatched === (left % 2 === 0)) logger.warn(`Memory latch set: ${summary}`);
      else logger.info(`Memory latch cleared: ${summary}`);
    }
  }

  #zone(): MemoryZone {
    if (base.read(this, (record, kernel) => kernel.memoryIsLatched(record), 0) !== 0) return "CRITICAL";
    return this.#held() > 0 ? "DRAINING" : "GREEN";
  }

  #held(): number {
    return base.read(this, (record, kernel) => kernel.memoryHeld(record), 0);
  }

  #pacingTicks(ratio: number): number {
    const now = base.nowTicks(this);
    return base.read(this, (record, kernel) => kernel.memoryPacing(record, now, ratio), 0);
  }

  #statusOf({ usedBytes, limitBytes, ratio }: HeapSample): MemoryPressureStatus {
    // NaN: no reading yet.
    const floor = base.read(this, (record, kernel) => kernel.memoryFloor(record, ratio), NaN) || 0;
    const penalty = base.read(this, (record, kernel) => kernel.memoryPenalty(record, ratio), 1);
    const pacingMs = wholeMs(this.#pacingTicks(ratio));
    return new MemoryPressureStatus(
      usedBytes,
      limitBytes,
      ratio || 0,
      floor,
      this.#zone(),
      this.#held(),
      pacingMs,
      penalty,
    );
  }
}
