// The pass, in its plain meaning: the next waiter to leave is the oldest one whose attempt succeeds or refuses; after every
// departure the walk looks again from the head; when nobody leaves, those who are short are marked as held.
//
// A pass is a cursor over a line. `step` runs until there is an outcome to report or a custom account to ask, and keeps its
// place in the line's record; nothing of it lives on a stack, so user code never runs on a kernel frame and may call
// anything while an answer is pending. Two lines may be in a step at once.

import {
  ASK,
  ASK_EARLIEST,
  ASK_FITS,
  ASK_GIVE,
  ASK_TAKE,
  CANCELLED,
  DEFECT,
  DONE,
  GRANTED,
  HELD,
  KIND_CUSTOM,
  MEMORY_ENTRY,
  NO,
  NO_ENTRY,
  OUTCOME_BITS,
  REFUSED,
  THREW,
  YES,
} from "./layout";
import { Cell, CELL_SHORT, Line, Waiter, WAITER_CANCELLED, WAITER_MEMORY_SHORT, WAITER_NEWLY_SHORT } from "./records";
import { earliest, fits, give, take, wakeOthers } from "./accounts/account";
import { isHeldOn, lowerHolds, markHeld, markHeldOnMemory, reservation, unlink } from "./queue";
import { cellAt } from "./slab";

// Phases: what `step` does next, or which answer it waits for.
const IDLE: i32 = 0;
const WALK: i32 = 1;
const FITS: i32 = 2;
const TAKE: i32 = 3;
const UNDO: i32 = 4;
const MARK: i32 = 5;
const FINISH: i32 = 6;
const WAITING: i32 = 7;

/** Not an outcome: the step goes on. */
const ON: i32 = -1;

/** Attempts over all lines, to tell whether another line saw what a compensation gives back. */
let attempts: i32 = 0;

export function noteAttempt(): void {
  attempts++;
}

export function isIdle(line: Line): bool {
  return line.phase == IDLE;
}

/** Starts a pass, or the inline attempt of the only waiter. False when a step is running. */
export function begin(line: Line, isInline: bool, wantsHeld: bool, now: f64): bool {
  if (line.phase != IDLE) return false;
  line.isInline = isInline ? 1 : 0;
  line.wantsHeld = wantsHeld ? 1 : 0;
  line.now = now;
  restart(line);
  return true;
}

/** Ends whatever runs on the line, for good or after a defect. */
export function abandon(line: Line): void {
  line.phase = IDLE;
  line.cursor = null;
}

function restart(line: Line): void {
  line.cursor = line.head;
  line.deadline = Infinity;
  line.newlyShort = 0;
  line.phase = WALK;
}

export function step(line: Line): i32 {
  while (true) {
    let word = ON;
    switch (line.phase) {
      case WALK: {
        word = walk(line);
        break;
      }
      case FITS: {
        word = askWhetherFits(line);
        break;
      }
      case TAKE: {
        word = takeAll(line);
        break;
      }
      case UNDO: {
        word = undo(line);
        break;
      }
      case MARK: {
        word = mark(line);
        break;
      }
      case FINISH: {
        abandon(line);
        return DONE;
      }
      default: {
        unreachable(); // Idle, or an answer is pending.
      }
    }
    if (word != ON) return word;
  }
}

/** Takes the answer to the pending ask and goes on. `instant` is a tick, Infinity for "only an event". */
export function answer(line: Line, verdict: i32, instant: f64): i32 {
  assert(line.phase == WAITING);
  assert(verdict == NO || verdict == YES || verdict == THREW);
  const verb = line.verb;
  if (verb == ASK_GIVE) return resumeUndo(line, verdict);
  if (verb == ASK_EARLIEST) return resumeInstant(line, verdict, instant);
  if (verb == ASK_FITS) {
    line.phase = FITS;
    const word = heardFits(line, verdict);
    return word == ON ? step(line) : word;
  }
  line.phase = TAKE;
  heardTake(line, verdict);
  return step(line);
}

function outcome(code: i32, waiter: Waiter): i32 {
  return (waiter.slot << OUTCOME_BITS) | code;
}

function ask(line: Line, verb: i32, entry: i32): i32 {
  line.verb = verb;
  line.asked = entry;
  line.phase = WAITING;
  return outcome(ASK, line.cursor!);
}

// --- The walk. ---

function walk(line: Line): i32 {
  const waiter = line.cursor;
  if (waiter === null) {
    line.cursor = line.head;
    line.phase = MARK;
    return ON;
  }
  if (waiter.flags & WAITER_CANCELLED) return leave(line, waiter, CANCELLED);
  attempts++;
  line.attemptsSeen = attempts;
  line.shorts = 0;
  line.taken = 0;
  line.undone = 0;
  line.after = DONE;
  waiter.deadline = -Infinity;
  waiter.flags &= ~(WAITER_MEMORY_SHORT | WAITER_NEWLY_SHORT);
  if (waiter.cellCount == 0) return grant(line, waiter);
  clearShorts(waiter);
  const head = line.head!;
  if (waiter !== head && head.flags & WAITER_MEMORY_SHORT) {
    // Asking memory again would favour whoever is asked next over the head.
    waiter.deadline = head.deadline;
    return holdOnMemory(line, waiter);
  }
  line.entry = line.memory !== null ? MEMORY_ENTRY : 0;
  line.phase = FITS;
  return ON;
}

function clearShorts(waiter: Waiter): void {
  for (let i = 0; i < waiter.cellCount; i++) cellAt(waiter, i).marks &= ~CELL_SHORT;
}

/** A waiter leaves; the walk looks again from the head. */
function leave(line: Line, waiter: Waiter, code: i32): i32 {
  unlink(line, waiter);
  if (line.isInline) line.phase = FINISH;
  else restart(line);
  return outcome(code, waiter);
}

function grant(line: Line, waiter: Waiter): i32 {
  for (let i = 0; i < waiter.cellCount; i++) cellAt(waiter, i).limiter.grantPins++;
  lowerHolds(waiter);
  return leave(line, waiter, GRANTED);
}

/** The attempt ended with the waiter still in line. */
function hold(line: Line, waiter: Waiter): i32 {
  line.deadline = min(line.deadline, waiter.deadline);
  if (line.isInline) {
    line.phase = MARK;
    return ON;
  }
  line.cursor = waiter.next;
  line.phase = WALK;
  return ON;
}

function holdOnMemory(line: Line, waiter: Waiter): i32 {
  waiter.flags |= WAITER_MEMORY_SHORT;
  if (waiter.memoryOrder == 0) noteNewlyShort(line, waiter);
  return hold(line, waiter);
}

function noteNewlyShort(line: Line, waiter: Waiter): void {
  if (waiter.flags & WAITER_NEWLY_SHORT) return;
  waiter.flags |= WAITER_NEWLY_SHORT;
  line.newlyShort++;
}

function noteShort(line: Line, waiter: Waiter, cell: Cell): void {
  cell.marks |= CELL_SHORT;
  line.shorts++;
  if (!isHeldOn(cell)) noteNewlyShort(line, waiter);
}

// --- First all are asked: memory, then every entry, whatever the others said. ---

function askWhetherFits(line: Line): i32 {
  const waiter = line.cursor!;
  while (line.entry < waiter.cellCount) {
    if (line.entry == MEMORY_ENTRY) return ask(line, ASK_FITS, MEMORY_ENTRY);
    const cell = cellAt(waiter, line.entry);
    if (cell.limiter.kind == KIND_CUSTOM) return ask(line, ASK_FITS, line.entry);
    const word = heardFits(line, nativeFits(line, waiter, cell));
    if (word != ON) return word;
  }
  if (line.shorts != 0) return hold(line, waiter);
  line.entry = 0;
  line.phase = TAKE;
  return ON;
}

function nativeFits(line: Line, waiter: Waiter, cell: Cell): i32 {
  const ahead = reservation(line, waiter, cell.key);
  if (ahead === null) return fits(cell.limiter, cell.count, cell.sum, 0, 0, line.now);
  return fits(cell.limiter, cell.count, cell.sum, ahead.count, ahead.sum, line.now);
}

/** The instant at which a native account lets this cell through, with what is set aside. */
function nativeEarliest(line: Line, waiter: Waiter, cell: Cell): f64 {
  const ahead = reservation(line, waiter, cell.key);
  if (ahead === null) return earliest(cell.limiter, cell.count, cell.sum, line.now);
  return earliest(cell.limiter, cell.count + ahead.count, cell.sum + ahead.sum, line.now);
}

function heardFits(line: Line, verdict: i32): i32 {
  const waiter = line.cursor!;
  if (verdict == YES) {
    line.entry++;
    return ON;
  }
  if (verdict != NO) return refuse(line, waiter, verdict);
  if (line.entry == MEMORY_ENTRY) return ask(line, ASK_EARLIEST, MEMORY_ENTRY);
  const cell = cellAt(waiter, line.entry);
  noteShort(line, waiter, cell);
  if (cell.limiter.kind == KIND_CUSTOM) return ask(line, ASK_EARLIEST, line.entry);
  waiter.deadline = max(waiter.deadline, nativeEarliest(line, waiter, cell));
  line.entry++;
  return ON;
}

function resumeInstant(line: Line, verdict: i32, instant: f64): i32 {
  const waiter = line.cursor!;
  if (verdict == THREW) return refuse(line, waiter, THREW);
  assert(instant == instant);
  if (line.asked == MEMORY_ENTRY || line.after == HELD) {
    waiter.deadline = instant;
    if (line.asked == MEMORY_ENTRY) holdOnMemory(line, waiter);
    else hold(line, waiter);
    return step(line);
  }
  waiter.deadline = max(waiter.deadline, instant);
  line.entry++;
  line.phase = FITS;
  return step(line);
}

function refuse(line: Line, waiter: Waiter, reason: i32): i32 {
  line.reason = reason;
  return leave(line, waiter, REFUSED);
}

// --- Then all are taken, memory last: its turn is the entry behind the last one. ---

function takeAll(line: Line): i32 {
  const waiter = line.cursor!;
  const turns = waiter.cellCount + (line.memory !== null ? 1 : 0);
  while (line.entry < turns) {
    if (waiter.flags & WAITER_CANCELLED) return startUndo(line, CANCELLED);
    if (line.entry == waiter.cellCount) return ask(line, ASK_TAKE, MEMORY_ENTRY);
    const cell = cellAt(waiter, line.entry);
    if (cell.limiter.kind == KIND_CUSTOM) return ask(line, ASK_TAKE, line.entry);
    const verdict = nativeFits(line, waiter, cell);
    if (verdict == YES) take(cell.limiter, cell.count, cell.sum, line.now);
    heardTake(line, verdict);
    if (line.phase != TAKE) return ON;
  }
  if (waiter.flags & WAITER_CANCELLED) return startUndo(line, CANCELLED);
  return grant(line, waiter);
}

function heardTake(line: Line, verdict: i32): void {
  if (verdict == YES) {
    line.taken++;
    line.entry++;
    return;
  }
  line.reason = verdict;
  startUndo(line, verdict == NO ? HELD : REFUSED);
}

// --- A failed attempt gives back what it took, in the order taken. It counts as no change: the own line is not woken. ---

function startUndo(line: Line, after: i32): i32 {
  line.after = after;
  line.undone = 0;
  line.phase = UNDO;
  return ON;
}

function undo(line: Line): i32 {
  const waiter = line.cursor!;
  while (line.undone < line.taken) {
    if (line.undone == waiter.cellCount) return ask(line, ASK_GIVE, MEMORY_ENTRY);
    const cell = cellAt(waiter, line.undone);
    if (cell.limiter.kind == KIND_CUSTOM) return ask(line, ASK_GIVE, line.undone);
    give(cell.limiter, cell.count, cell.sum, line.now);
    // Only a line that attempted in between can have been refused for what is given back here.
    if (attempts != line.attemptsSeen) wakeOthers(cell.limiter, line);
    line.undone++;
  }
  if (line.after == DEFECT) {
    abandon(line);
    return outcome(DEFECT, waiter);
  }
  if (line.after != HELD) return leave(line, waiter, line.after);
  return holdDeclined(line, waiter);
}

function resumeUndo(line: Line, verdict: i32): i32 {
  if (verdict == THREW) line.after = DEFECT;
  line.undone++;
  line.phase = UNDO;
  return step(line);
}

/** Only the account that declined holds the waiter, and its instant alone is the deadline. */
function holdDeclined(line: Line, waiter: Waiter): i32 {
  if (line.entry == waiter.cellCount) return ask(line, ASK_EARLIEST, MEMORY_ENTRY);
  const cell = cellAt(waiter, line.entry);
  noteShort(line, waiter, cell);
  if (cell.limiter.kind == KIND_CUSTOM) return ask(line, ASK_EARLIEST, line.entry);
  waiter.deadline = nativeEarliest(line, waiter, cell);
  return hold(line, waiter);
}

/** The entry that refused the waiter of the last REFUSED outcome. */
export function refusedEntry(line: Line, waiter: Waiter): i32 {
  return line.entry == waiter.cellCount ? MEMORY_ENTRY : line.entry;
}

// --- Nobody left: those who are newly short are marked, in arrival order, then demand order. ---

function mark(line: Line): i32 {
  while (line.newlyShort > 0) {
    const waiter = line.cursor!;
    if (waiter.flags & WAITER_NEWLY_SHORT) {
      const entry = markNext(line, waiter);
      if (entry != NO_ENTRY) {
        if (!line.wantsHeld) continue;
        line.asked = entry;
        return outcome(HELD, waiter);
      }
      waiter.flags &= ~WAITER_NEWLY_SHORT;
      line.newlyShort--;
    }
    line.cursor = waiter.next;
  }
  abandon(line);
  return DONE;
}

/** Marks the waiter held on the next account that it is newly short on; NO_ENTRY when there is none. */
function markNext(line: Line, waiter: Waiter): i32 {
  if (waiter.flags & WAITER_MEMORY_SHORT && waiter.memoryOrder == 0) {
    markHeldOnMemory(waiter, line.memory!, line.now);
    return MEMORY_ENTRY;
  }
  for (let i = 0; i < waiter.cellCount; i++) {
    const cell = cellAt(waiter, i);
    if ((cell.marks & CELL_SHORT) == 0 || isHeldOn(cell)) continue;
    markHeld(waiter, cell, line.now);
    return i;
  }
  return NO_ENTRY;
}
