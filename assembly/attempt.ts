// One attempt: ask all, take all, and give back what was taken when a take fails.

import {
  ASK_EARLIEST,
  ASK_FITS,
  ASK_GIVE,
  ASK_TAKE,
  CANCELLED,
  DEFECT,
  HELD,
  KIND_CUSTOM,
  MEMORY_ENTRY,
  NO,
  REFUSED,
  THREW,
  YES,
} from "./layout";
import { Cell, Line, Waiter, WAITER_CANCELLED } from "./line_records";
import { Memory } from "./records";
import { earliest, fits, give, take, wakeOthers } from "./accounts/account";
import { memoryEarliest, memoryFits, memoryTake } from "./accounts/memory_gate";
import { accountChanges } from "./changes";
import { nativeMemory } from "./looking";
import { reservation } from "./queue";
import { cellAt } from "./slab";
import { abandon, ask, attemptsSoFar, FITS, grant, hold, holdOnMemory, leave, noteShort, ON, outcome, TAKE, UNDO } from "./walk";

// --- First all are asked: memory, then every entry, whatever the others said. ---

export function askWhetherFits(line: Line): i32 {
  const waiter = line.cursor!;
  while (line.entry < waiter.cellCount) {
    if (line.entry == MEMORY_ENTRY) {
      const memory = nativeMemory(line);
      if (memory === null) return ask(line, ASK_FITS, MEMORY_ENTRY);
      const word = heardFits(line, memoryFits(memory, line.now, line.reading));
      if (word != ON || line.phase != FITS) return word;
      continue;
    }
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

/** Memory said no: its instant alone is the deadline. */
function holdOnMemoryUntil(line: Line, waiter: Waiter): i32 {
  const memory = nativeMemory(line);
  if (memory === null) return ask(line, ASK_EARLIEST, MEMORY_ENTRY);
  line.attemptDeadline = memoryEarliest(memory, line.now, line.reading);
  return holdOnMemory(line, waiter);
}

export function nativeFits(line: Line, waiter: Waiter, cell: Cell): i32 {
  const ahead = reservation(line, waiter, cell.key);
  if (ahead === null) return fits(cell.limiter, cell.count, cell.sum, 0, 0, line.now);
  return fits(cell.limiter, cell.count, cell.sum, ahead.count, ahead.sum, line.now);
}

/** The instant at which a native account lets this cell through, with what is set aside. */
export function nativeEarliest(line: Line, waiter: Waiter, cell: Cell): f64 {
  const ahead = reservation(line, waiter, cell.key);
  if (ahead === null) return earliest(cell.limiter, cell.count, cell.sum, line.now);
  return earliest(cell.limiter, cell.count + ahead.count, cell.sum + ahead.sum, line.now);
}

export function heardFits(line: Line, verdict: i32): i32 {
  const waiter = line.cursor!;
  if (verdict == YES) {
    line.entry++;
    return ON;
  }
  if (verdict != NO) return refuse(line, waiter, verdict);
  if (line.entry == MEMORY_ENTRY) return holdOnMemoryUntil(line, waiter);
  const cell = cellAt(waiter, line.entry);
  noteShort(line, waiter, cell);
  if (cell.limiter.kind == KIND_CUSTOM) return ask(line, ASK_EARLIEST, line.entry);
  line.attemptDeadline = max(line.attemptDeadline, nativeEarliest(line, waiter, cell));
  line.entry++;
  return ON;
}

export function resumeInstant(line: Line, verdict: i32, instant: f64): i32 {
  const waiter = line.cursor!;
  if (verdict == THREW) return refuse(line, waiter, THREW);
  assert(instant == instant);
  if (line.asked == MEMORY_ENTRY || line.after == HELD) {
    line.attemptDeadline = instant;
    return line.asked == MEMORY_ENTRY ? holdOnMemory(line, waiter) : hold(line, waiter);
  }
  line.attemptDeadline = max(line.attemptDeadline, instant);
  line.entry++;
  line.phase = FITS;
  return ON;
}

function refuse(line: Line, waiter: Waiter, reason: i32): i32 {
  line.reason = reason;
  return leave(line, waiter, REFUSED);
}

// --- Then all are taken, memory last: its turn is the entry behind the last one. ---

export function takeAll(line: Line): i32 {
  const waiter = line.cursor!;
  const turns = waiter.cellCount + (line.memory !== null ? 1 : 0);
  while (line.entry < turns) {
    if (waiter.flags & WAITER_CANCELLED) return startUndo(line, CANCELLED);
    if (line.entry == waiter.cellCount) {
      const memory = nativeMemory(line);
      if (memory === null) return ask(line, ASK_TAKE, MEMORY_ENTRY);
      accountChanges(memory);
      heardTake(line, memoryTake(memory, line.now, line.reading));
      if (line.phase != TAKE) return ON;
      continue;
    }
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

export function heardTake(line: Line, verdict: i32): void {
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

export function undo(line: Line): i32 {
  const waiter = line.cursor!;
  while (line.undone < line.taken) {
    // A memory account that is built in is taken last and with nobody's code behind it, so it is never given back here.
    if (line.undone == waiter.cellCount) return ask(line, ASK_GIVE, MEMORY_ENTRY);
    const cell = cellAt(waiter, line.undone);
    if (cell.limiter.kind == KIND_CUSTOM) return ask(line, ASK_GIVE, line.undone);
    give(cell.limiter, cell.count, cell.sum, line.now);
    // Only a line that attempted in between can have been refused for what is given back here.
    if (attemptsSoFar() != line.attemptsSeen) wakeOthers(cell.limiter, line);
    line.undone++;
  }
  if (line.after == DEFECT) {
    abandon(line);
    return outcome(DEFECT, waiter);
  }
  if (line.after != HELD) return leave(line, waiter, line.after);
  return holdDeclined(line, waiter);
}

export function resumeUndo(line: Line, verdict: i32): void {
  if (verdict == THREW) line.after = DEFECT;
  line.undone++;
  line.phase = UNDO;
}

/** Only the account that declined holds the waiter, and its instant alone is the deadline. */
function holdDeclined(line: Line, waiter: Waiter): i32 {
  if (line.entry == waiter.cellCount) return holdOnMemoryUntil(line, waiter);
  const cell = cellAt(waiter, line.entry);
  noteShort(line, waiter, cell);
  if (cell.limiter.kind == KIND_CUSTOM) return ask(line, ASK_EARLIEST, line.entry);
  line.attemptDeadline = nativeEarliest(line, waiter, cell);
  return hold(line, waiter);
}

/** The entry that refused the waiter of the last REFUSED outcome. */
export function refusedEntry(line: Line, waiter: Waiter): i32 {
  return line.entry == waiter.cellCount ? MEMORY_ENTRY : line.entry;
}
