// Gathering those members of a class who are newly short at the end of a walk, each once for an account.

import { CELL_ORDER_SHIFT, CELL_SHORT, Cohort, Line, Part, Waiter, WAITER_MEMORY_SHORT, WAITER_NEWLY_SHORT } from "./line_records";
import { firstUnmarked, fitsUpTo, mostUnmarked } from "./searches";
import { cellAt, partAt } from "./slab";
import { endMarking, markNext } from "./sums";
import { clearShorts, noteNewlyShort } from "./walk";
import { isShortFixed } from "./weighing";

/** Whether an account that has less room than before has not marked some member; the head may count as one. */
export function mayBeNewlyShort(cohort: Cohort): bool {
  for (let i = 0; i < cohort.partCount; i++) {
    const part = partAt(cohort, i);
    if (!part.isShrunk) continue;
    if (part.meter < 0 ? part.unmarked !== null : mostUnmarked(cohort, part.meter) >= 0) return true;
  }
  return false;
}

/** Whether somebody is newly short, by the last `weigh`; the head may count as one. */
export function isNewlyShort(cohort: Cohort): bool {
  for (let i = 0; i < cohort.partCount; i++) {
    const part = partAt(cohort, i);
    if (part.meter < 0) {
      if (part.unmarked !== null && isShortFixed(i)) return true;
    } else if (mostUnmarked(cohort, part.meter) > fitsUpTo(part.meter)) {
      return true;
    }
  }
  return false;
}

export function gatherForMemory(line: Line, cohort: Cohort, after: f64): void {
  let left: Waiter | null = null;
  let waiter = cohort.unmarked;
  while (waiter !== null) {
    if (waiter.memoryOrder == 0 && waiter !== line.head) {
      if (waiter.arrival > after) gathered(line, waiter).flags |= WAITER_MEMORY_SHORT;
      else if (left === null) left = waiter;
    }
    waiter = waiter.nextPeer;
  }
  cohort.unmarked = left;
}

/** For an account that is not metered: it holds all alike, so those it has marked are the older ones. */
export function gather(line: Line, part: Part, entry: i32, after: f64): void {
  let left: Waiter | null = null;
  let waiter = part.unmarked;
  while (waiter !== null) {
    if (waiter !== line.head && cellAt(waiter, entry).marks >> CELL_ORDER_SHIFT == 0) {
      if (waiter.arrival > after) cellAt(gathered(line, waiter), entry).marks |= CELL_SHORT;
      else if (left === null) left = waiter;
    }
    waiter = waiter.nextPeer;
  }
  part.unmarked = left;
}

export function gatherMetered(line: Line, cohort: Cohort, entry: i32, from: Waiter): void {
  const part = partAt(cohort, entry);
  if (mostUnmarked(cohort, part.meter) <= fitsUpTo(part.meter)) return;
  let last: Waiter | null = null;
  let waiter = firstUnmarked(cohort, from, part.meter);
  while (waiter !== null) {
    cellAt(gathered(line, waiter), entry).marks |= CELL_SHORT;
    markNext(cohort, waiter, last, part.meter);
    last = waiter;
    const next = waiter.nextPeer;
    waiter = next === null ? null : firstUnmarked(cohort, next, part.meter);
  }
  if (last !== null) endMarking(cohort, last, part.meter);
}

/** A waiter that is to be marked at the end of this walk, without what an earlier walk left on it. */
function gathered(line: Line, waiter: Waiter): Waiter {
  if (waiter.flags & WAITER_NEWLY_SHORT) return waiter;
  clearShorts(waiter);
  noteNewlyShort(line, waiter);
  return waiter;
}
