// The list of those who are newly short at the end of a walk, in order of arrival.

import { Line, Waiter } from "./line_records";

/** Puts the list in order of arrival. It comes as a few ascending runs, one a class, so merging pairs of runs is enough. */
export function sortShorts(line: Line): void {
  let isSorted = false;
  while (!isSorted) {
    isSorted = true;
    let rest = line.newlyShort;
    line.newlyShort = null;
    line.lastShort = null;
    while (rest !== null) {
      const first = rest;
      const second = cutRun(first);
      if (second === null) {
        appendRun(line, first);
        break;
      }
      isSorted = isSorted && line.newlyShort === null;
      rest = cutRun(second);
      if (rest !== null) isSorted = false;
      appendRun(line, mergeRuns(first, second));
    }
  }
}

/** Cuts the list behind the first ascending run; the rest. */
function cutRun(first: Waiter): Waiter | null {
  let last = first;
  let next = last.nextShort;
  while (next !== null && next.arrival > last.arrival) {
    last = next;
    next = last.nextShort;
  }
  last.nextShort = null;
  return next;
}

function appendRun(line: Line, run: Waiter): void {
  const last = line.lastShort;
  if (last === null) line.newlyShort = run;
  else last.nextShort = run;
  let end = run;
  while (end.nextShort !== null) end = end.nextShort!;
  line.lastShort = end;
}

function mergeRuns(one: Waiter, other: Waiter): Waiter {
  let older = one.arrival < other.arrival ? one : other;
  let rest: Waiter | null = older === one ? other : one;
  const first = older;
  while (rest !== null) {
    const next = older.nextShort;
    if (next === null || next.arrival > rest.arrival) {
      older.nextShort = rest;
      rest = next;
    }
    older = older.nextShort!;
  }
  return first;
}
