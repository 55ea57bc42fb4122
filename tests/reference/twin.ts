// The reference twin: the kernel's border over plain objects. It is written to be read, not to be fast, and shares nothing
// with the kernel but the numbers in layout.ts. Scenarios and random histories run on both and must tell the same story.

import * as layout from "../../assembly/layout.ts";
import type { Kernel } from "../../core/kernel.ts";
import { TwinMemoryLedger } from "./twin_memory_ledger.ts";
import { type Answer, type TwinCell, TwinLine, type TwinWaiter, type TwinWorld } from "./twin_line.ts";

/** What an attempt or a settlement is about, account by account. */
type Asked = Pick<TwinCell, "limiter" | "count" | "sum">;

class Twin extends TwinMemoryLedger implements Kernel, TwinWorld {
  attempts = 0;
  #waiterLimit: number = layout.MAX_WAITERS;
  #lineLimit: number = layout.MAX_LINES;
  #refusal = 0;
  readonly #staged: TwinCell[] = [];
  readonly #lines = new Map<number, TwinLine>();
  readonly #waiters = new Map<number, TwinWaiter>();
  readonly #generations: number[] = [];

  stage(index: number, limiter: number, key: number, count: number, sum: number): void {
    const accounts = { limiter: this.account(limiter), key: this.account(key) };
    this.#staged[index] = { ...accounts, count, sum, isShort: false, heldSince: NaN, order: 0 };
  }

  limits(waiters: number, accounts: number, lines: number): void {
    this.#waiterLimit = waiters;
    this.accountLimit = accounts;
    this.#lineLimit = lines;
  }

  /** The twin has no classes: it looks at everyone. */
  limitCohorts(): void {}

  cohortCount(): number {
    return 0;
  }

  openLine(memory: number): number {
    if (this.#lines.size >= this.#lineLimit) return 0;
    const id = ++this.lastHandle;
    const account = memory === 0 ? null : this.account(memory);
    if (account !== null) account.waiterPins++;
    this.#lines.set(id, new TwinLine(id, account, this));
    return id;
  }

  closeLine(line: number): void {
    const { memory } = this.#line(line);
    this.#lines.delete(line);
    if (memory === null) return;
    memory.waiterPins--;
    this.freeIfUnnamed(memory);
  }

  queueSize(line: number): number {
    return this.#line(line).queue.length;
  }

  headSlot(line: number): number {
    return this.#line(line).queue[0]?.slot ?? -1;
  }

  attempt(line: number, count: number, now: number, reading: number): number {
    return this.#attempt(line, this.#staged.slice(0, count), now, reading);
  }

  attemptOne(
    line: number,
    limiter: number,
    count: number,
    sum: number,
    now: number,
    reading: number,
  ): number {
    return this.#attempt(line, [{ limiter: this.account(limiter), count, sum }], now, reading);
  }

  #attempt(line: number, cells: readonly Asked[], now: number, reading: number): number {
    const { queue, run } = this.#line(line);
    if (queue.length > 0 || run !== null) return layout.BUSY;
    this.attempts++;
    const memory = cells.length === 0 ? null : this.#line(line).nativeMemory;
    if (memory?.ask(now, reading) === layout.NO) return layout.NO;
    let isShort = false;
    for (const [index, cell] of cells.entries()) {
      const verdict = cell.limiter.fits(cell.count, cell.sum, 0, 0, now);
      if (verdict === layout.NO) isShort = true;
      else if (verdict !== layout.YES) {
        this.#refusal = index;
        return verdict;
      }
    }
    if (isShort) return layout.NO;
    for (const cell of cells) {
      cell.limiter.take(cell.count, cell.sum, now);
      cell.limiter.lastActivity = this.wallMs;
      cell.limiter.grantPins++;
    }
    memory?.release(now, reading);
    return layout.YES;
  }

  attemptRefusal(): number {
    return this.#refusal;
  }

  park(line: number, count: number): number {
    if (this.#waiters.size >= this.#waiterLimit) return -1;
    let slot = 0;
    while (this.#waiters.has(slot)) slot++;
    const generation = this.#generations[slot] ?? 0;
    const cells = this.#staged.slice(0, count).map((cell) => ({ ...cell }));
    if (count > 0) this.#line(line).memoryJoined();
    for (const cell of cells) {
      cell.limiter.waiterPins++;
      cell.key.waiterPins++;
      cell.limiter.waitingLines.set(
        this.#line(line),
        (cell.limiter.waitingLines.get(this.#line(line)) ?? 0) + 1,
      );
    }
    const waiter: TwinWaiter = {
      slot,
      generation,
      line: this.#line(line),
      cells,
      isCancelled: false,
      isMemoryShort: false,
      memoryHeldSince: NaN,
      memoryOrder: 0,
      holds: 0,
      deadline: Infinity,
    };
    this.#waiters.set(slot, waiter);
    waiter.line.queue.push(waiter);
    return slot;
  }

  generationOf(slot: number): number {
    return this.#waiter(slot).generation;
  }

  withdraw(slot: number, generation: number): number {
    const waiter = this.#waiters.get(slot);
    if (waiter === undefined || waiter.generation !== generation) return -1;
    if (waiter.line.run !== null) {
      waiter.isCancelled = true;
      return 0;
    }
    waiter.line.remove(waiter);
    return 1;
  }

  begin(line: number, isInline: number, wantsHeld: number, now: number, reading: number): number {
    const at = this.#line(line);
    if (at.run !== null) return 0;
    at.reading = reading;
    at.run = at.pass(isInline !== 0, wantsHeld !== 0, now);
    return 1;
  }

  next(line: number): number {
    return this.answer(line, layout.YES, Infinity);
  }

  answer(line: number, verdict: number, instant: number): number {
    const at = this.#line(line);
    const answer: Answer = { verdict, instant };
    const { value, done } = at.run!.next(answer);
    if (done) at.run = null;
    return value;
  }

  abandon(line: number): void {
    this.#line(line).run = null;
  }

  deadline(line: number): number {
    return this.#line(line).deadline;
  }

  laterDeadline(line: number): number {
    return this.#line(line).laterDeadline;
  }

  askedVerb(line: number): number {
    return this.#line(line).verb;
  }

  askedEntry(line: number): number {
    return this.#line(line).asked;
  }

  wasAlone(line: number): number {
    return this.#line(line).attemptsSeen === this.attempts ? 1 : 0;
  }

  refusedReason(line: number): number {
    return this.#line(line).reason;
  }

  refusedEntry(line: number): number {
    return this.#line(line).refusedBy;
  }

  heldSince(slot: number, entry: number): number {
    const waiter = this.#waiter(slot);
    if (entry === layout.MEMORY_ENTRY) return waiter.memoryHeldSince;
    const { key } = waiter.cells[entry]!;
    return waiter.cells.find((cell) => cell.key === key && cell.order > 0)?.heldSince ?? NaN;
  }

  lowerNextHold(slot: number, order: number): number {
    const waiter = this.#waiter(slot);
    if (order > waiter.holds) {
      waiter.holds = 0;
      return layout.NO_ENTRY;
    }
    if (waiter.memoryOrder === order) {
      waiter.line.memory!.held--;
      return layout.MEMORY_ENTRY;
    }
    const entry = waiter.cells.findIndex((cell) => cell.order === order);
    waiter.cells[entry]!.key.held--;
    return entry;
  }

  recycle(slot: number): void {
    const waiter = this.#waiter(slot);
    for (let order = 1; this.lowerNextHold(slot, order) !== layout.NO_ENTRY;) order++;
    this.#waiters.delete(slot);
    this.#generations[slot] = waiter.generation + 1;
    for (const { limiter, key } of waiter.cells) {
      limiter.waiterPins--;
      key.waiterPins--;
      this.freeIfUnnamed(limiter);
      this.freeIfUnnamed(key);
    }
  }

  settle(count: number, everything: number, now: number): number {
    let bits = 0;
    for (const cell of this.#staged.slice(0, count)) bits |= this.#settle(cell, everything, now);
    return bits;
  }

  settleOne(limiter: number, count: number, sum: number, everything: number, now: number): number {
    return this.#settle({ limiter: this.account(limiter), count, sum }, everything, now);
  }

  #settle({ limiter, count, sum }: Asked, everything: number, now: number): number {
    const isReturned = everything !== 0 || limiter.kind === layout.KIND_GATE;
    const isGiven = limiter.kind !== layout.KIND_CUSTOM && isReturned;
    const bits = isGiven ? this.giveTo(limiter, count, sum, now) : 0;
    limiter.grantPins--;
    this.freeIfUnnamed(limiter);
    return bits;
  }

  #line(handle: number): TwinLine {
    const line = this.#lines.get(handle);
    if (line === undefined) throw new Error(`the twin has no line ${handle}`);
    return line;
  }

  #waiter(slot: number): TwinWaiter {
    const waiter = this.#waiters.get(slot);
    if (waiter === undefined) throw new Error(`the twin has no waiter ${slot}`);
    return waiter;
  }
}

/** A fresh twin. */
export function twinKernel(): Kernel {
  return new Twin();
}
