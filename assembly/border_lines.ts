// The border of lines: tables, lines, waiters and passes.

import { MEMORY_ENTRY } from "./layout";
import { Line } from "./line_records";
import { Account } from "./records";
import * as accounts from "./accounts/account";
import { staged } from "./border_attempts";
import { cancel } from "./judging";
import * as pass from "./pass";
import { abandon as abandonStep, attemptsSoFar } from "./walk";
import { refusedEntry as refusedEntryOf } from "./attempt";
import * as queue from "./queue";
import * as slab from "./slab";
import * as waking from "./waking";

export function limits(waiters: i32, accountCount: i32, lines: i32): void {
  slab.setLimits(waiters, accountCount, lines);
}

/** Lowers the limit of the table of classes; for tests. */
export function limitCohorts(cohorts: i32): void {
  slab.setCohortLimit(cohorts);
}

export function cohortCount(): i32 {
  return slab.cohortCount();
}

export function setWallTime(ms: f64): void {
  accounts.setWallTime(ms);
}

// --- Lines. ---

/** Opens a line with its memory account, 0 for none. 0 when the table is full. */
export function openLine(memoryAccount: Account | null): Line | null {
  const line = slab.allocateLine();
  if (line === null) return null;
  line.memory = memoryAccount;
  // The record must not be freed as long as a line names it.
  if (memoryAccount !== null) memoryAccount.waiterPins++;
  return line;
}

/** Frees a line; its waiters must be gone. */
export function closeLine(line: Line): void {
  abandonStep(line);
  waking.forgetWoken(line);
  const memory = line.memory;
  slab.recycleLine(line);
  if (memory === null) return;
  memory.waiterPins--;
  queue.freeIfUnnamed(memory);
}

export function queueSize(line: Line): i32 {
  return line.count;
}

/** The slot of the oldest waiter, -1 when nobody waits. */
export function headSlot(line: Line): i32 {
  const head = line.head;
  return head === null ? -1 : head.slot;
}

/** The next line that was woken, 0 when there is none. */
export function takeWoken(): Line | null {
  return waking.takeWoken();
}

// --- Waiters and passes. ---

/** Parks the staged demand at the end of the line. The waiter's slot, or -1 when a table is full. */
export function park(line: Line, count: i32): i32 {
  const waiter = queue.append(line, staged, count);
  return waiter === null ? -1 : waiter.slot;
}

export function generationOf(slot: i32): i32 {
  return slab.waiterAt(slot).generation;
}

/** Takes a waiter out. 1 done, 0 marked because a step is running, -1 when it was gone already. */
export function withdraw(slot: i32, generation: i32): i32 {
  const waiter = slab.waiterAt(slot);
  if (waiter.generation != generation) return -1;
  if (!pass.isIdle(waiter.line)) {
    cancel(waiter.line, waiter);
    return 0;
  }
  queue.unlink(waiter.line, waiter, false);
  return 1;
}

/** `reading` is the heap's, for a memory account that is built in; NaN for none. */
export function begin(line: Line, isInline: i32, wantsHeld: i32, now: f64, reading: f64): i32 {
  if (!pass.begin(line, isInline != 0, wantsHeld != 0, now)) return 0;
  line.reading = reading;
  return 1;
}

export function next(line: Line): i32 {
  return pass.step(line);
}

export function answer(line: Line, verdict: i32, instant: f64): i32 {
  return pass.answer(line, verdict, instant);
}

/** Ends the running step without a further outcome; after a defect, or for good. */
export function abandon(line: Line): void {
  abandonStep(line);
}

/** The earliest deadline after a pass, Infinity when only an event can help. */
export function deadline(line: Line): f64 {
  return line.deadline;
}

/** The earliest deadline that lies after the instant of the last pass, Infinity for none. */
export function laterDeadline(line: Line): f64 {
  return line.laterDeadline;
}

export function askedVerb(line: Line): i32 {
  return line.verb;
}

/** The entry of the pending ask or the last HELD. */
export function askedEntry(line: Line): i32 {
  return line.asked;
}

/** Whether no other attempt was made since the running one began. */
export function wasAlone(line: Line): i32 {
  return attemptsSoFar() == line.attemptsSeen ? 1 : 0;
}

export function refusedReason(line: Line): i32 {
  return line.reason;
}

export function refusedEntry(line: Line, slot: i32): i32 {
  return refusedEntryOf(line, slab.waiterAt(slot));
}

// --- What a waiter was held on. Readable from its departure until `recycle`. ---

/** The tick since which the account of an entry (or MEMORY_ENTRY) held the waiter, NaN when it never did. */
export function heldSince(slot: i32, entry: i32): f64 {
  const waiter = slab.waiterAt(slot);
  if (entry == MEMORY_ENTRY) return waiter.memoryOrder == 0 ? NaN : waiter.memoryHeldSince;
  const cell = queue.holdOn(waiter, slab.cellAt(waiter, entry).key);
  return cell === null ? NaN : cell.heldSince;
}

export function lowerNextHold(slot: i32, order: i32): i32 {
  return queue.lowerNextHold(slab.waiterAt(slot), order);
}

export function recycle(slot: i32): void {
  queue.recycle(slab.waiterAt(slot));
}
