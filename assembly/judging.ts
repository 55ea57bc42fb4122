// Looking at members of classes one by one after all, where something is about to happen under a walk that has stopped to ask.

import { KIND_CUSTOM, YES } from "./layout";
import { CELL_ORDER_SHIFT, CELL_SHORT, Line, Waiter, WAITER_CANCELLED, WAITER_MEMORY_SHORT } from "./line_records";
import { credit, debit } from "./accounts/account";
import { nativeEarliest, nativeFits } from "./attempt";
import { lineChanges } from "./changes";
import { leaveCohort, standAlone } from "./cohorts";
import { isHeldByMemory, memoryDeadline } from "./looking";
import { cellAt } from "./slab";
import { clearShorts, noteDeadline, noteNewlyShort, WAITING } from "./walk";

/**
 * An account is about to change while a line waits for an answer: the members of classes that its walk has passed are looked
 * at as the accounts stand, so that their deadlines and shorts are those of the moment they were passed. What the running
 * attempt has taken so far is put back meanwhile.
 */
export function judgePassed(line: Line): void {
  const asked = line.cursor!;
  const judged = line.judged;
  let waiter = judged === null ? line.head!.next : judged.next;
  if (waiter === null || waiter.arrival >= asked.arrival) return;
  for (let i = line.undone; i < line.taken; i++) putBack(line, asked, i);
  while (waiter !== null && waiter.arrival < asked.arrival) {
    if (waiter.cohort !== null) judge(line, waiter);
    line.judged = waiter;
    waiter = waiter.next;
  }
  for (let i = line.undone; i < line.taken; i++) takeAgain(line, asked, i);
}

function putBack(line: Line, waiter: Waiter, entry: i32): void {
  if (entry == waiter.cellCount) return;
  const cell = cellAt(waiter, entry);
  if (cell.limiter.kind != KIND_CUSTOM) credit(cell.limiter, cell.count, cell.sum, line.now);
}

function takeAgain(line: Line, waiter: Waiter, entry: i32): void {
  if (entry == waiter.cellCount) return;
  const cell = cellAt(waiter, entry);
  if (cell.limiter.kind != KIND_CUSTOM) debit(cell.limiter, cell.count, cell.sum, line.now);
}

/** The attempt of a member that is known to be held, without its outcome. */
function judge(line: Line, waiter: Waiter): void {
  waiter.flags &= ~WAITER_MEMORY_SHORT;
  clearShorts(waiter);
  if (isHeldByMemory(line)) {
    waiter.flags |= WAITER_MEMORY_SHORT;
    if (waiter.memoryOrder == 0) noteNewlyShort(line, waiter);
    noteDeadline(line, memoryDeadline(line));
    return;
  }
  let deadline = -Infinity;
  for (let i = 0; i < waiter.cellCount; i++) {
    const cell = cellAt(waiter, i);
    if (nativeFits(line, waiter, cell) == YES) continue;
    cell.marks |= CELL_SHORT;
    if (cell.marks >> CELL_ORDER_SHIFT == 0) noteNewlyShort(line, waiter);
    deadline = max(deadline, nativeEarliest(line, waiter, cell));
  }
  noteDeadline(line, deadline);
}

/** Marks a waiter that is to leave when the walk meets it: it stands alone from now on, so that the walk does meet it. */
export function cancel(line: Line, waiter: Waiter): void {
  if (waiter.flags & WAITER_CANCELLED) return;
  waiter.flags |= WAITER_CANCELLED;
  if (waiter.cohort === null) return;
  if (line.phase == WAITING) judgePassed(line);
  lineChanges();
  leaveCohort(waiter);
  standAlone(line, waiter);
}
