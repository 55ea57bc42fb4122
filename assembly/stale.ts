// What is known of each class between two walks, so that a pass looks only at the classes that something happened to.
//
// A class is HELD when nothing it depends on has changed since all its members but the head were found to be held: none of its
// accounts, none of its members, not the head where that sets something aside on one of them, and its deadline lies ahead. Then
// nobody of it can leave, nobody is newly short, and its deadline stands.

import { Cohort, Line, Part, Waiter } from "./line_records";
import { Account } from "./records";
import { cellAt, partAt } from "./slab";

// States of a class.
export const HELD_WHOLE: i32 = 0;
/** Its `due` is known, as of this walk. */
export const LOOKED_AT: i32 = 1;
export const CHANGED: i32 = 2;

/** Something that the class depends on changes. */
export function classChanges(cohort: Cohort): void {
  if (cohort.state == HELD_WHOLE) {
    const line = cohort.line;
    const next = line.stale;
    cohort.previousStale = null;
    cohort.nextStale = next;
    if (next !== null) next.previousStale = cohort;
    line.stale = cohort;
    if (cohort.deadline < Infinity) line.clocked--;
  }
  cohort.state = CHANGED;
}

/** Every class that names the account changes. */
export function classesChange(account: Account): void {
  let part = account.parts;
  while (part !== null) {
    classChanges(part.cohort);
    part = part.next;
  }
}

/** All members but the head are held until an instant, and each of them is marked where it is short. */
export function isHeldWhole(cohort: Cohort, deadline: f64): void {
  forget(cohort);
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

/** A pass begins: what the clock alone has changed. */
export function clockMoves(line: Line, now: f64): void {
  const isBack = now < line.lookedAt;
  line.lookedAt = now;
  let stale = line.stale;
  while (stale !== null) {
    stale.state = CHANGED;
    stale = stale.nextStale;
  }
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
