// One line of the reference twin: the pass in its plain meaning. A generator yields outcomes and asks, and is sent answers.

import * as layout from "../../assembly/layout.ts";
import type { TwinAccount } from "./twin_accounts.ts";
import { TwinMemory } from "./twin_memory.ts";

export interface TwinCell {
  limiter: TwinAccount;
  key: TwinAccount;
  count: number;
  sum: number;
  isShort: boolean;
  heldSince: number;
  order: number;
}

export interface TwinWaiter {
  slot: number;
  generation: number;
  line: TwinLine;
  cells: TwinCell[];
  isCancelled: boolean;
  isMemoryShort: boolean;
  memoryHeldSince: number;
  memoryOrder: number;
  holds: number;
  deadline: number;
}

export interface Answer {
  verdict: number;
  instant: number;
}

type Steps<T> = Generator<number, T, Answer>;
type End = { kind: "held" } | { kind: "left"; code: number } | { kind: "defect" };

const HELD_END: End = { kind: "held" };

/** What a line needs of the whole twin. */
export interface TwinWorld {
  attempts: number;
  /** Wall time that takes and gives are stamped with. */
  wallMs: number;
  wakeOthers(account: TwinAccount, except: TwinLine): void;
}

export class TwinLine {
  queue: TwinWaiter[] = [];
  isWoken = false;
  isServed = false;
  deadline: number = Infinity;
  laterDeadline: number = Infinity;
  verb = 0;
  asked = 0;
  reason = 0;
  refusedBy = 0;
  attemptsSeen = 0;
  /** The heap reading of the running step. */
  reading: number = NaN;
  run: Steps<number> | null = null;
  #now = 0;

  constructor(readonly id: number, readonly memory: TwinAccount | null, readonly world: TwinWorld) {}

  /** The memory account when it is decided here; null for one that is asked, and for none. */
  get nativeMemory(): TwinMemory | null {
    return this.memory instanceof TwinMemory ? this.memory : null;
  }

  /** A waiter with entries came: a memory account decided here wakes this line. */
  memoryJoined(): void {
    const lines = this.nativeMemory?.waitingLines;
    lines?.set(this, (lines.get(this) ?? 0) + 1);
  }

  /** The whole pass. The next waiter to leave is the oldest whose attempt succeeds or refuses; then look from the head. */
  *pass(isInline: boolean, wantsHeld: boolean, now: number): Steps<number> {
    this.#now = now;
    for (let someoneLeft = true; someoneLeft;) {
      someoneLeft = false;
      this.deadline = Infinity;
      this.laterDeadline = Infinity;
      for (let i = 0; i < this.queue.length && !(isInline && i > 0); i++) {
        const waiter = this.queue[i]!;
        const end = yield* this.#attempt(waiter);
        if (end.kind === "defect") return word(layout.DEFECT, waiter);
        if (end.kind === "held") {
          this.deadline = Math.min(this.deadline, waiter.deadline);
          if (waiter.deadline > now) this.laterDeadline = Math.min(this.laterDeadline, waiter.deadline);
          continue;
        }
        this.remove(waiter);
        yield word(end.code, waiter);
        if (isInline) return layout.DONE;
        someoneLeft = true;
        break;
      }
    }
    yield* this.#mark(isInline, wantsHeld);
    return layout.DONE;
  }

  *#mark(isInline: boolean, wantsHeld: boolean): Steps<void> {
    for (const waiter of [...this.queue].slice(0, isInline ? 1 : undefined)) {
      if (waiter.isMemoryShort && waiter.memoryOrder === 0) {
        waiter.memoryOrder = ++waiter.holds;
        waiter.memoryHeldSince = this.#now;
        this.memory!.held++;
        this.asked = layout.MEMORY_ENTRY;
        if (wantsHeld) yield word(layout.HELD, waiter);
      }
      for (const [index, cell] of waiter.cells.entries()) {
        if (!cell.isShort || waiter.cells.some((each) => each.key === cell.key && each.order > 0)) continue;
        cell.order = ++waiter.holds;
        cell.heldSince = this.#now;
        cell.key.held++;
        this.asked = index;
        if (wantsHeld) yield word(layout.HELD, waiter);
      }
    }
  }

  *#attempt(waiter: TwinWaiter): Steps<End> {
    if (waiter.isCancelled) return { kind: "left", code: layout.CANCELLED };
    const seen = this.attemptsSeen = ++this.world.attempts;
    waiter.isMemoryShort = false;
    waiter.deadline = -Infinity;
    for (const cell of waiter.cells) cell.isShort = false;
    if (waiter.cells.length === 0) return this.#grant(waiter);
    const head = this.queue[0]!;
    if (waiter !== head && head.isMemoryShort) {
      waiter.isMemoryShort = true;
      waiter.deadline = head.deadline;
      return HELD_END;
    }
    const checked = yield* this.#check(waiter);
    return checked ?? (yield* this.#takeAll(waiter, seen));
  }

  /** Asks memory, then every entry, whatever the others say. Null when all fit. */
  *#check(waiter: TwinWaiter): Steps<End | null> {
    if (this.memory !== null) {
      const verdict = this.nativeMemory?.ask(this.#now, this.reading) ??
        (yield* this.#ask(waiter, layout.ASK_FITS, layout.MEMORY_ENTRY)).verdict;
      if (verdict === layout.THREW) return this.#refuse(layout.MEMORY_ENTRY, verdict);
      if (verdict === layout.NO) return yield* this.#holdOnMemory(waiter);
    }
    let shorts = 0;
    for (let i = 0; i < waiter.cells.length; i++) {
      const verdict = yield* this.#fits(waiter, i);
      if (verdict === layout.YES) continue;
      if (verdict !== layout.NO) return this.#refuse(i, verdict);
      shorts++;
      waiter.cells[i]!.isShort = true;
      const instant = yield* this.#earliest(waiter, i);
      if (instant === null) return this.#refuse(i, layout.THREW);
      waiter.deadline = Math.max(waiter.deadline, instant);
    }
    return shorts === 0 ? null : HELD_END;
  }

  *#takeAll(waiter: TwinWaiter, seen: number): Steps<End> {
    const turns = waiter.cells.length + (this.memory === null ? 0 : 1);
    for (let i = 0; i < turns; i++) {
      if (waiter.isCancelled) return yield* this.#undo(waiter, i, seen, layout.CANCELLED);
      const verdict = yield* this.#take(waiter, i);
      if (verdict === layout.YES) continue;
      if (verdict !== layout.NO) {
        this.#refuse(i === waiter.cells.length ? layout.MEMORY_ENTRY : i, verdict);
        return yield* this.#undo(waiter, i, seen, layout.REFUSED);
      }
      const undone = yield* this.#undo(waiter, i, seen, layout.HELD);
      if (undone.kind !== "held") return undone;
      if (i === waiter.cells.length) return yield* this.#holdOnMemory(waiter);
      waiter.cells[i]!.isShort = true;
      const instant = yield* this.#earliest(waiter, i);
      if (instant === null) return this.#refuse(i, layout.THREW);
      waiter.deadline = instant;
      return HELD_END;
    }
    if (waiter.isCancelled) return yield* this.#undo(waiter, turns, seen, layout.CANCELLED);
    return this.#grant(waiter);
  }

  /** Gives back what the first `taken` turns took, in that order. */
  *#undo(waiter: TwinWaiter, taken: number, seen: number, after: number): Steps<End> {
    let isBroken = false;
    for (let i = 0; i < taken; i++) {
      const cell = waiter.cells[i];
      if (cell === undefined || cell.limiter.kind === layout.KIND_CUSTOM) {
        const entry = cell === undefined ? layout.MEMORY_ENTRY : i;
        const { verdict } = yield* this.#ask(waiter, layout.ASK_GIVE, entry);
        if (verdict === layout.THREW) isBroken = true;
        continue;
      }
      if (cell.limiter.give(cell.count, cell.sum, this.#now)) cell.limiter.lastActivity = this.world.wallMs;
      if (this.world.attempts !== seen) this.world.wakeOthers(cell.limiter, this);
    }
    if (isBroken) return { kind: "defect" };
    return after === layout.HELD ? HELD_END : { kind: "left", code: after };
  }

  *#take(waiter: TwinWaiter, turn: number): Steps<number> {
    const cell = waiter.cells[turn];
    if (cell === undefined) {
      return this.nativeMemory?.release(this.#now, this.reading) ??
        (yield* this.#ask(waiter, layout.ASK_TAKE, layout.MEMORY_ENTRY)).verdict;
    }
    if (cell.limiter.kind === layout.KIND_CUSTOM) {
      return (yield* this.#ask(waiter, layout.ASK_TAKE, turn)).verdict;
    }
    const verdict = yield* this.#fits(waiter, turn);
    if (verdict !== layout.YES) return verdict;
    cell.limiter.take(cell.count, cell.sum, this.#now);
    cell.limiter.lastActivity = this.world.wallMs;
    return verdict;
  }

  *#fits(waiter: TwinWaiter, entry: number): Steps<number> {
    const cell = waiter.cells[entry]!;
    if (cell.limiter.kind === layout.KIND_CUSTOM) {
      return (yield* this.#ask(waiter, layout.ASK_FITS, entry)).verdict;
    }
    const ahead = this.#reserved(waiter, cell);
    return cell.limiter.fits(cell.count, cell.sum, ahead?.count ?? 0, ahead?.sum ?? 0, this.#now);
  }

  /** Null when the account threw. */
  *#earliest(waiter: TwinWaiter, entry: number): Steps<number | null> {
    const cell = waiter.cells[entry]!;
    if (cell.limiter.kind === layout.KIND_CUSTOM) {
      const { verdict, instant } = yield* this.#ask(waiter, layout.ASK_EARLIEST, entry);
      return verdict === layout.THREW ? null : instant;
    }
    const ahead = this.#reserved(waiter, cell);
    return cell.limiter.earliest(cell.count + (ahead?.count ?? 0), cell.sum + (ahead?.sum ?? 0), this.#now);
  }

  *#holdOnMemory(waiter: TwinWaiter): Steps<End> {
    const memory = this.nativeMemory;
    const { verdict, instant } = memory !== null
      ? { verdict: layout.YES, instant: memory.instant(this.#now, this.reading) }
      : yield* this.#ask(waiter, layout.ASK_EARLIEST, layout.MEMORY_ENTRY);
    if (verdict === layout.THREW) return this.#refuse(layout.MEMORY_ENTRY, verdict);
    waiter.isMemoryShort = true;
    waiter.deadline = instant;
    return HELD_END;
  }

  *#ask(waiter: TwinWaiter, verb: number, entry: number): Steps<Answer> {
    this.verb = verb;
    this.asked = entry;
    return yield word(layout.ASK, waiter);
  }

  /** The head's whole amount on the key of a cell; nothing for the head itself. */
  #reserved(waiter: TwinWaiter, cell: TwinCell): TwinCell | undefined {
    const head = this.queue[0]!;
    return head === waiter ? undefined : head.cells.find((each) => each.key === cell.key);
  }

  #refuse(entry: number, reason: number): End {
    this.refusedBy = entry;
    this.reason = reason;
    return { kind: "left", code: layout.REFUSED };
  }

  #grant(waiter: TwinWaiter): End {
    for (const cell of waiter.cells) {
      cell.limiter.grantPins++;
      if (cell.order > 0) cell.key.held--;
    }
    if (waiter.memoryOrder > 0) this.memory!.held--;
    waiter.holds = 0;
    this.isServed = true;
    return { kind: "left", code: layout.GRANTED };
  }

  remove(waiter: TwinWaiter): void {
    this.queue = this.queue.filter((each) => each !== waiter);
    for (const { limiter } of waiter.cells) limiter.left(this);
    if (waiter.cells.length > 0) this.nativeMemory?.left(this);
  }
}

export function word(code: number, waiter: TwinWaiter): number {
  return (waiter.slot << layout.OUTCOME_BITS) | code;
}
