// What is known of each class between two walks, so that a pass looks only at the classes that something happened to.
//
// A class is HELD when nothing it depends on has changed since all its members but the head were found to be held: none of its
// accounts, none of its members, not the head where that sets something aside on one of them, and its deadline lies ahead. Then
// nobody of it can leave, nobody is newly short, and its deadline stands.

import { Cohort, Line, Part, Waiter } from "./line_records";
import { Account, FLAG_ALL_CHANGED } from "./records";
import { cellAt, partAt } from "./slab";
import { isIdle } from "./pass";

// States of a class.
export const HELD_WHOLE: i32 = 0;
/** Its `due` is known, as of this walk. */
export const LOOKED_AT: i32 = 1;
export const CHANGED: i32 = 2;
/** In this walk an account got less room, and nothing else happened: whoever could not leave cannot leave now. */
export const SHRUNK: i32 = 3;

/** Something that the class depends on changes. */
export function classChanges(cohort: Cohort): void {
  if (cohort.state == HELD_WHOLE) becomesStale(cohort);
  cohort.state = CHANGED;
}

function becomesStale(cohort: Cohort): void {
  const line = cohort.line;
  const next = line.stale;
  cohort.previousStale = null;
  cohort.nextStale = next;
  if (next !== null) next.previousStale = cohort;
  line.stale = cohort;
  if (cohort.deadline < Infinity) line.clocked--;
}

/** The account, which is a gate or a bucket, has less room: what that means to every class that names it. */
export function classesShrink(account: Account): void {
  if (account.flags & FLAG_ALL_CHANGED) return;
  let part = account.parts;
  while (part !== null) {
    const cohort = part.cohort;
    if (cohort.state == HELD_WHOLE) {
      becomesStale(cohort);
      cohort.due = null;
      // Between two walks time passes as well.
      cohort.state = isIdle(cohort.line) ? CHANGED : SHRUNK;
    } else if (cohort.state == LOOKED_AT) {
      cohort.state = cohort.due === null ? SHRUNK : CHANGED;
      // Nobody has been marked yet for what was found.
      setShrunk(cohort, 1);
    }
    part.isShrunk = 1;
    part = part.next;
  }
}

/** Every class that names the account changes. */
export function classesChange(account: Account): void {
  if (account.flags & FLAG_ALL_CHANGED) return;
  account.flags |= FLAG_ALL_CHANGED;
  let part = account.parts;
  while (part !== null) {
    classChanges(part.cohort);
    part = part.next;
  }
}

function setShrunk(cohort: Cohort, isShrunk: i32): void {
  for (let i = 0; i < cohort.partCount; i++) partAt(cohort, i).isShrunk = isShrunk;
}

/** A class is looked at: not every class of its accounts is CHANGED any more. */
export function leavesChanged(cohort: Cohort): void {
  for (let i = 0; i < cohort.partCount; i++) partAt(cohort, i).account.flags &= ~FLAG_ALL_CHANGED;
}

/** All members but the head are held until an instant, and each of them is marked where it is short. */
export function isHeldWhole(cohort: Cohort, deadline: f64): void {
  forget(cohort);
  setShrunk(cohort, 0);
  cohort.state = HELD_WHOLE;
  cohort.deadline = deadline;
  if (deadline < Infinity) cohort.line.clocked++;
}

/** The class goes. */
export function forgetClass(cohort: Cohort): void {
  if (cohort.state != HELD_WHOLE) forget(cohort);
  else if (cohort.deadline < Infinity) cohort.line.clocked--;
}

function forget(cohort: Cohort): void {
  const previous = cohort.previousStale;
  const next = cohort.nextStale;
  if (previous === null) cohort.line.stale = next;
  else previous.nextStale = next;
  if (next !== null) next.previousStale = previous;
}

/** The head leaves: what it set aside is free, and the next one sets aside what it asks. */
export function headChanges(old: Waiter): void {
  setsAsideChange(old);
  const head = old.next;
  if (head !== null) setsAsideChange(head);
}

function setsAsideChange(head: Waiter): void {
  for (let i = 0; i < head.cellCount; i++) classesChange(cellAt(head, i).key);
  const cohort = head.cohort;
  if (cohort !== null) classChanges(cohort);
}

/** A walk ends: what it found about the classes that are still stale holds no longer. */
export function forgetLooks(line: Line): void {
  let cohort = line.stale;
  while (cohort !== null) {
    cohort.state = CHANGED;
    cohort = cohort.nextStale;
  }
}

/** A pass begins: what the clock alone has changed. */
export function clockMoves(line: Line, now: f64): void {
  const isBack = now < line.lookedAt;
  line.lookedAt = now;
  if (line.clocked == 0 && !isBack) return;
  let cohort = line.cohorts;
  while (cohort !== null) {
    if (cohort.state == HELD_WHOLE && (isBack || cohort.deadline <= now)) classChanges(cohort);
    cohort = cohort.next;
  }
}

/** The earliest deadline of the classes that are held. */
export function classDeadline(line: Line): f64 {
  let earliest = Infinity;
  if (line.clocked == 0) return earliest;
  let cohort = line.cohorts;
  while (cohort !== null) {
    if (cohort.state == HELD_WHOLE) earliest = min(earliest, cohort.deadline);
    cohort = cohort.next;
  }
  return earliest;
}

// --- The parts that name an account. ---

export function linkParts(cohort: Cohort): void {
  for (let i = 0; i < cohort.partCount; i++) {
    const part = partAt(cohort, i);
    const next = part.account.parts;
    part.previous = null;
    part.next = next;
    if (next !== null) next.previous = part;
    part.account.parts = part;
  }
}

export function unlinkParts(cohort: Cohort): void {
  for (let i = 0; i < cohort.partCount; i++) unlinkPart(partAt(cohort, i));
}

function unlinkPart(part: Part): void {
  const previous = part.previous;
  const next = part.next;
  if (previous === null) part.account.parts = next;
  else previous.next = next;
  if (next !== null) next.previous = previous;
}
