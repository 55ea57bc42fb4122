// The lines: waiters in arrival order, who is held where, and what is set aside for the head.

import { CELL_BYTES, KIND_CUSTOM, MEMORY_ENTRY, NO_ENTRY, STAGED_BYTES } from "./layout";
import { Cell, CELL_ORDER_SHIFT, Line, Staged, Waiter, WAITER_GONE } from "./line_records";
import { Account, FLAG_COLLECTED, FLAG_CONDEMNED } from "./records";
import { accountChanges, lineChanges } from "./changes";
import { joinCohort, leaveAlone, leaveCohort, noteMarked, standAlone } from "./cohorts";
import {
  allocateCells,
  allocateWaiter,
  cellAt,
  recycleAccount,
  recycleWaiter,
} from "./slab";
import { headChanges } from "./stale";
import { unwire, wireUp } from "./waking";

let arrivals: f64 = 0;

// --- Arrival and departure. ---

/** Appends a waiter with the staged cells; null when a table is full, and then nothing has changed. */
export function append(line: Line, staged: usize, count: i32): Waiter | null {
  const waiter = allocateWaiter();
  if (waiter === null) return null;
  waiter.cellCount = 0;
  waiter.cells = count == 0 ? 0 : allocateCells(count);
  if (count > 0 && waiter.cells == 0) {
    recycleWaiter(waiter);
    return null;
  }
  if (count > 0 && !joinMemory(line)) {
    waiter.cellCount = count;
    recycleWaiter(waiter);
    return null;
  }
  waiter.cellCount = count;
  waiter.line = line;
  waiter.flags = 0;
  waiter.holds = 0;
  waiter.memoryOrder = 0;
  waiter.arrival = arrivals++;
  for (let i = 0; i < count; i++) {
    if (!fill(cellAt(waiter, i), changetype<Staged>(staged + <usize> i * STAGED_BYTES), line)) {
      for (let j = 0; j < i; j++) leaveCell(cellAt(waiter, j), line);
      for (let j = 0; j < i; j++) unpinCell(cellAt(waiter, j));
      leaveMemory(line);
      recycleWaiter(waiter);
      return null;
    }
  }
  link(line, waiter);
  lineChanges();
  if (!joinCohort(line, waiter)) standAlone(line, waiter);
  return waiter;
}

function fill(cell: Cell, staged: Staged, line: Line): bool {
  cell.limiter = staged.limiter;
  cell.key = staged.key;
  cell.count = staged.count;
  cell.sum = staged.sum;
  cell.marks = 0;
  if (cell.limiter.kind != KIND_CUSTOM && !wireUp(cell.limiter, line)) return false;
  cell.limiter.waiterPins++;
  cell.key.waiterPins++;
  return true;
}

/** A memory account that is built in wakes the lines in which somebody meets it. False when a table is full. */
function joinMemory(line: Line): bool {
  const memory = line.memory;
  if (line.askers == 0 && memory !== null && memory.kind != KIND_CUSTOM && !wireUp(memory, line)) return false;
  line.askers++;
  return true;
}

function leaveMemory(line: Line): void {
  const memory = line.memory;
  line.askers--;
  if (line.askers == 0 && memory !== null && memory.kind != KIND_CUSTOM) unwire(memory, line);
}

function link(line: Line, waiter: Waiter): void {
  const tail = line.tail;
  waiter.previous = tail;
  waiter.next = null;
  if (tail === null) line.head = waiter;
  else tail.next = waiter;
  line.tail = waiter;
  line.count++;
}

/** Takes a waiter out of its line. It stays readable, with its held counts, until `recycle`. */
export function unlink(line: Line, waiter: Waiter, isGranted: bool): void {
  assert((waiter.flags & WAITER_GONE) == 0);
  const previous = waiter.previous;
  const next = waiter.next;
  if (previous === null) headChanges(waiter, isGranted);
  if (previous === null) line.head = next;
  else previous.next = next;
  if (next === null) line.tail = previous;
  else next.previous = previous;
  line.count--;
  waiter.flags |= WAITER_GONE;
  lineChanges();
  if (waiter.cohort === null) leaveAlone(line, waiter);
  else leaveCohort(waiter);
  for (let i = 0; i < waiter.cellCount; i++) leaveCell(cellAt(waiter, i), line);
  if (waiter.cellCount > 0) leaveMemory(line);
}

function leaveCell(cell: Cell, line: Line): void {
  if (cell.limiter.kind != KIND_CUSTOM) unwire(cell.limiter, line);
}

function unpinCell(cell: Cell): void {
  cell.limiter.waiterPins--;
  cell.key.waiterPins--;
  freeIfUnnamed(cell.limiter);
  if (cell.key !== cell.limiter) freeIfUnnamed(cell.key);
}

export function recycle(waiter: Waiter): void {
  assert((waiter.flags & WAITER_GONE) != 0);
  lowerHolds(waiter);
  for (let i = 0; i < waiter.cellCount; i++) unpinCell(cellAt(waiter, i));
  recycleWaiter(waiter);
}

// --- Held counts. ---

/** The cell that carries the hold on a key: a demand may name one account through several limiters, and is held there once. */
export function holdOn(waiter: Waiter, key: Account): Cell | null {
  if (waiter.holds == 0 && (waiter.flags & WAITER_GONE) == 0) return null;
  for (let i = 0; i < waiter.cellCount; i++) {
    const cell = cellAt(waiter, i);
    if (cell.key === key && cell.marks >> CELL_ORDER_SHIFT != 0) return cell;
  }
  return null;
}

export function markHeld(waiter: Waiter, entry: i32, now: f64): void {
  const cell = cellAt(waiter, entry);
  cell.marks |= ++waiter.holds << CELL_ORDER_SHIFT;
  cell.heldSince = now;
  cell.key.held++;
  noteMarked(waiter, entry);
}

export function markHeldOnMemory(waiter: Waiter, memory: Account, now: f64): void {
  // How many memory holds is part of what it answers.
  accountChanges(memory);
  waiter.memoryOrder = ++waiter.holds;
  waiter.memoryHeldSince = now;
  memory.held++;
}

/** Lowers every held count of a waiter that leaves. What it was held on, and since when, stays readable. */
export function lowerHolds(waiter: Waiter): void {
  if (waiter.holds == 0) return;
  for (let i = 0; i < waiter.cellCount; i++) {
    const cell = cellAt(waiter, i);
    if (cell.marks >> CELL_ORDER_SHIFT != 0) cell.key.held--;
  }
  if (waiter.memoryOrder != 0) lowerMemory(waiter);
  waiter.holds = 0;
}

function lowerMemory(waiter: Waiter): void {
  const memory = waiter.line.memory;
  if (memory === null) return;
  accountChanges(memory);
  memory.held--;
}

/**
 * Lowers the count of the next account in the order of first hold, and answers its entry, MEMORY_ENTRY, or NO_ENTRY when
 * none is left. For departures that are reported account by account.
 */
export function lowerNextHold(waiter: Waiter, order: i32): i32 {
  if (order > waiter.holds) {
    waiter.holds = 0;
    return NO_ENTRY;
  }
  if (waiter.memoryOrder == order) {
    lowerMemory(waiter);
    return MEMORY_ENTRY;
  }
  for (let i = 0; i < waiter.cellCount; i++) {
    const cell = cellAt(waiter, i);
    if (cell.marks >> CELL_ORDER_SHIFT == order) {
      cell.key.held--;
      return i;
    }
  }
  return unreachable();
}

/** The head's cell on a key, or null: nothing is set aside. */
export function reservation(line: Line, asker: Waiter, key: Account): Cell | null {
  return line.head === asker ? null : setAside(line, key);
}

/** The same for everybody but the head. */
export function setAside(line: Line, key: Account): Cell | null {
  const head = line.head;
  if (head === null) return null;
  const count = head.cellCount;
  let cell = changetype<Cell>(head.cells);
  for (let i = 0; i < count; i++) {
    if (cell.key === key) return cell;
    cell = changetype<Cell>(changetype<usize>(cell) + CELL_BYTES);
  }
  return null;
}

// --- Freeing account records. ---

/** Frees a condemned record once no waiter names it, nor (unless the object itself was collected) an unsettled grant. */
export function freeIfUnnamed(account: Account): void {
  if ((account.flags & FLAG_CONDEMNED) == 0) return;
  if (account.waiterPins != 0 || account.held != 0) return;
  if ((account.flags & FLAG_COLLECTED) == 0 && account.grantPins != 0) return;
  account.flags = 0;
  recycleAccount(account);
}
