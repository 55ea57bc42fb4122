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
import {
  Cell,
  CELL_SHORT,
  Line,
  Waiter,
  WAITER_CANCELLED,
  WAITER_MEMORY_SHORT,
  WAITER_NEWLY_SHORT,
} from "./line_records";
import { changesSoFar, startAsking, stopAsking } from "./changes";
import { askForProbes, lookAtHeld, oldestDue } from "./looking";
import { holdOn, lowerHolds, markHeld, markHeldOnMemory, unlink } from "./queue";
import { sortShorts } from "./runs";
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
  stopAsking(line);
  forgetShorts(line);
  line.phase = IDLE;
  line.cursor = null;
}

export function restart(line: Line): void {
  forgetShorts(line);
  line.cursor = null;
  line.isHeadSeen = 0;
  line.position = -1;
  line.nextAlone = line.firstAlone;
  line.judged = null;
  line.dueAsOf = changesSoFar() - 1;
  line.deadline = Infinity;
  line.laterDeadline = Infinity;
  line.phase = WALK;
}

export function outcome(code: i32, waiter: Waiter): i32 {
  return (waiter.slot << OUTCOME_BITS) | code;
}

export function ask(line: Line, verb: i32, entry: i32): i32 {
  line.verb = verb;
  line.asked = entry;
  line.phase = WAITING;
  startAsking(line);
  return outcome(ASK, line.cursor!);
}

// --- The walk. ---

/** The head, then whoever comes next of those who stand alone and of those who can leave. */
export function walk(line: Line): i32 {
  const waiter = nextToLookAt(line);
  line.cursor = waiter;
  if (waiter === null) {
    if (!line.isInline && line.head !== null) lookAtHeld(line);
    // The order is for those who are told.
    if (line.wantsHeld) sortShorts(line);
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
  line.attemptDeadline = -Infinity;
  waiter.flags &= ~WAITER_MEMORY_SHORT;
  if (waiter.cellCount == 0) return grant(line, waiter);
  clearShorts(waiter);
  const head = line.head!;
  if (waiter !== head && head.flags & WAITER_MEMORY_SHORT) {
    // Asking memory again would favour whoever is asked next over the head.
    line.attemptDeadline = line.headDeadline;
    return holdOnMemory(line, waiter);
  }
  line.entry = line.memory !== null ? MEMORY_ENTRY : 0;
  line.phase = FITS;
  return ON;
}

function nextToLookAt(line: Line): Waiter | null {
  if (!line.isHeadSeen) {
    line.isHeadSeen = 1;
    return line.head;
  }
  if (line.isInline || line.head === null) return null;
  let alone = line.nextAlone;
  while (alone !== null && alone.arrival <= line.position) alone = alone.nextPeer;
  line.nextAlone = alone;
  const due = oldestDue(line);
  const next = olderOf(alone, due);
  askForProbes(line, next === null ? Infinity : next.arrival);
  return next;
}

function olderOf(alone: Waiter | null, due: Waiter | null): Waiter | null {
  if (alone === null || due === null) return alone === null ? due : alone;
  return alone.arrival < due.arrival ? alone : due;
}

export function clearShorts(waiter: Waiter): void {
  for (let i = 0; i < waiter.cellCount; i++) cellAt(waiter, i).marks &= ~CELL_SHORT;
}

/** A waiter leaves; the walk looks again from the head. */
export function leave(line: Line, waiter: Waiter, code: i32): i32 {
  unlink(line, waiter, code == GRANTED);
  restart(line);
  if (line.isInline) line.phase = FINISH;
  return outcome(code, waiter);
}

export function grant(line: Line, waiter: Waiter): i32 {
  for (let i = 0; i < waiter.cellCount; i++) cellAt(waiter, i).limiter.grantPins++;
  lowerHolds(waiter);
  line.isServed = 1;
  return leave(line, waiter, GRANTED);
}

/** The attempt ended with the waiter still in line. */
export function hold(line: Line, waiter: Waiter): i32 {
  noteDeadline(line, line.attemptDeadline);
  if (waiter === line.head) line.headDeadline = line.attemptDeadline;
  line.position = waiter.arrival;
  line.phase = WALK;
  return ON;
}

export function noteDeadline(line: Line, instant: f64): void {
  line.deadline = min(line.deadline, instant);
  if (instant > line.now) line.laterDeadline = min(line.laterDeadline, instant);
}

export function holdOnMemory(line: Line, waiter: Waiter): i32 {
  waiter.flags |= WAITER_MEMORY_SHORT;
  if (waiter.memoryOrder == 0) noteNewlyShort(line, waiter);
  return hold(line, waiter);
}

export function noteShort(line: Line, waiter: Waiter, cell: Cell): void {
  cell.marks |= CELL_SHORT;
  line.shorts++;
  if (holdOn(waiter, cell.key) === null) noteNewlyShort(line, waiter);
}

// --- The list of those who are newly short. ---

export function noteNewlyShort(line: Line, waiter: Waiter): void {
  if (waiter.flags & WAITER_NEWLY_SHORT) return;
  waiter.flags |= WAITER_NEWLY_SHORT;
  waiter.nextShort = null;
  const last = line.lastShort;
  if (last === null) line.newlyShort = waiter;
  else last.nextShort = waiter;
  line.lastShort = waiter;
}

/** Somebody left: what this walk found does not count. */
function forgetShorts(line: Line): void {
  let waiter = line.newlyShort;
  while (waiter !== null) {
    waiter.flags &= ~WAITER_NEWLY_SHORT;
    waiter = waiter.nextShort;
  }
  line.newlyShort = null;
  line.lastShort = null;
}

// --- Nobody left: those who are newly short are marked, in arrival order, then demand order. ---

export function mark(line: Line): i32 {
  while (line.newlyShort !== null) {
    const waiter = line.newlyShort!;
    const entry = markNext(line, waiter);
    if (entry != NO_ENTRY) {
      if (!line.wantsHeld) continue;
      line.asked = entry;
      return outcome(HELD, waiter);
    }
    waiter.flags &= ~WAITER_NEWLY_SHORT;
    line.newlyShort = waiter.nextShort;
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
    markHeld(waiter, i, line.now);
    return i;
  }
  return NO_ENTRY;
}
