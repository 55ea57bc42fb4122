// The border, first half: tables, lines, attempts, passes and settlement.

import { BUSY, GIVE_DECLINED, KIND_CUSTOM, KIND_GATE, MAX_DEMAND_ENTRIES, MEMORY_ENTRY, NO, STAGED_BYTES, YES } from "./layout";
import { Line, Staged } from "./line_records";
import { Account, Memory } from "./records";
import * as accounts from "./accounts/account";
import { memoryFits, memoryTake } from "./accounts/memory_gate";
import { cancel } from "./judging";
import * as pass from "./pass";
import { abandon as abandonStep, attemptsSoFar, noteAttempt } from "./walk";
import { refusedEntry as refusedEntryOf } from "./attempt";
import * as queue from "./queue";
import * as slab from "./slab";
import * as waking from "./waking";

const staged: usize = memory.data(MAX_DEMAND_ENTRIES * STAGED_BYTES, 8);

let stagedRefusal: i32 = 0;

function stagedAt(index: i32): Staged {
  return changetype<Staged>(staged + <usize> index * STAGED_BYTES);
}

/** Address of the area where the shell writes the cells of a demand. */
export function staging(): usize {
  return staged;
}

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

// --- Attempts. ---

/**
 * The inline attempt of a demand whose accounts are all built in, on an empty line. A demand with entries meets the memory
 * account of the line first, which is built in as well.
 */
export function attempt(line: Line, count: i32, now: f64, reading: f64): i32 {
  if (line.count != 0 || !pass.isIdle(line)) return BUSY;
  noteAttempt();
  const memory = changetype<Memory | null>(line.memory);
  const meetsMemory = memory !== null && count > 0;
  if (meetsMemory && memoryFits(memory!, now, reading) == NO) return NO;
  let verdict = YES;
  for (let i = 0; i < count; i++) {
    const cell = stagedAt(i);
    const answer = accounts.fits(cell.limiter, cell.count, cell.sum, 0, 0, now);
    if (answer == YES) continue;
    verdict = answer;
    if (answer == NO) continue;
    stagedRefusal = i;
    return answer;
  }
  if (verdict != YES) return verdict;
  for (let i = 0; i < count; i++) {
    const cell = stagedAt(i);
    accounts.take(cell.limiter, cell.count, cell.sum, now);
    cell.limiter.grantPins++;
  }
  if (meetsMemory) memoryTake(memory!, now, reading);
  return YES;
}

/** The entry that refused the last `attempt`. */
export function attemptRefusal(): i32 {
  return stagedRefusal;
}

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
  queue.unlink(waiter.line, waiter);
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

// --- Settlement. ---

/** Gives the staged cells of a grant back and unpins them: all, or only the gates. WAKE_ bits. Custom cells are skipped. */
export function settle(count: i32, everything: i32, now: f64): i32 {
  let bits = 0;
  for (let i = 0; i < count; i++) {
    const cell = stagedAt(i);
    const account = cell.limiter;
    if (account.kind != KIND_CUSTOM && (everything || account.kind == KIND_GATE)) {
      bits |= accounts.give(account, cell.count, cell.sum, now) ? accounts.gained(account) : GIVE_DECLINED;
    }
    account.grantPins--;
    queue.freeIfUnnamed(account);
  }
  return bits;
}
