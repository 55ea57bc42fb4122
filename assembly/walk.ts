// The walk over a line: who is looked at next, how a waiter leaves or stays, and who is marked as held in the end.

import {
  ASK,
  CANCELLED,
  DONE,
  GRANTED,
  HELD,
  MEMORY_ENTRY,
  NO_ENTRY,
  OUTCOME_BITS,
} from "./layout";
import { Cell, CELL_SHORT, Line, Waiter, WAITER_CANCELLED, WAITER_MEMORY_SHORT, WAITER_NEWLY_SHORT } from "./records";
import { holdOn, lowerHolds, markHeld, markHeldOnMemory, unlink } from "./queue";
import { cellAt } from "./slab";

// Phases: what `step` does next, or which answer it waits for.
export const IDLE: i32 = 0;
export const WALK: i32 = 1;
export const FITS: i32 = 2;
export const TAKE: i32 = 3;
export const UNDO: i32 = 4;
export const MARK: i32 = 5;
export const FINISH: i32 = 6;
export const WAITING: i32 = 7;

/** Not an outcome: the step goes on. */
export const ON: i32 = -1;

/** Attempts over all lines, to tell whether another line saw what a compensation gives back. */
let attempts: i32 = 0;

export function noteAttempt(): void {
  attempts++;
}

export function attemptsSoFar(): i32 {
  return attempts;
}

/** Ends whatever runs on the line, for good or after a defect. */
export function abandon(line: Line): void {
  line.phase = IDLE;
  line.cursor = null;
}

export function restart(line: Line): void {
  line.cursor = line.head;
  line.deadline = Infinity;
  line.laterDeadline = Infinity;
  line.newlyShort = 0;
  line.phase = WALK;
}

export function outcome(code: i32, waiter: Waiter): i32 {
  return (waiter.slot << OUTCOME_BITS) | code;
}

export function ask(line: Line, verb: i32, entry: i32): i32 {
  line.verb = verb;
  line.asked = entry;
  line.phase = WAITING;
  return outcome(ASK, line.cursor!);
}

// --- The walk. ---

export function walk(line: Line): i32 {
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
export function leave(line: Line, waiter: Waiter, code: i32): i32 {
  unlink(line, waiter);
  if (line.isInline) line.phase = FINISH;
  else restart(line);
  return outcome(code, waiter);
}

export function grant(line: Line, waiter: Waiter): i32 {
  for (let i = 0; i < waiter.cellCount; i++) cellAt(waiter, i).limiter.grantPins++;
  lowerHolds(waiter);
  return leave(line, waiter, GRANTED);
}

/** The attempt ended with the waiter still in line. */
export function hold(line: Line, waiter: Waiter): i32 {
  line.deadline = min(line.deadline, waiter.deadline);
  if (waiter.deadline > line.now) line.laterDeadline = min(line.laterDeadline, waiter.deadline);
  if (line.isInline) {
    line.phase = MARK;
    return ON;
  }
  line.cursor = waiter.next;
  line.phase = WALK;
  return ON;
}

export function holdOnMemory(line: Line, waiter: Waiter): i32 {
  waiter.flags |= WAITER_MEMORY_SHORT;
  if (waiter.memoryOrder == 0) noteNewlyShort(line, waiter);
  return hold(line, waiter);
}

function noteNewlyShort(line: Line, waiter: Waiter): void {
  if (waiter.flags & WAITER_NEWLY_SHORT) return;
  waiter.flags |= WAITER_NEWLY_SHORT;
  line.newlyShort++;
}

export function noteShort(line: Line, waiter: Waiter, cell: Cell): void {
  cell.marks |= CELL_SHORT;
  line.shorts++;
  if (holdOn(waiter, cell.key) === null) noteNewlyShort(line, waiter);
}

// --- Nobody left: those who are newly short are marked, in arrival order, then demand order. ---

export function mark(line: Line): i32 {
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
    if ((cell.marks & CELL_SHORT) == 0 || holdOn(waiter, cell.key) !== null) continue;
    markHeld(waiter, cell, line.now);
    return i;
  }
  return NO_ENTRY;
}
