// What is known of each class between two walks, so that a pass looks only at the classes that something happened to.
//
// A class is HELD when nothing it depends on has changed since all its members but the head were found to be held: none of its
// accounts, none of its members, not the head where that sets something aside on one of them, and its deadline lies ahead. Then
// nobody of it can leave, nobody is newly short, and its deadline stands.

import { KIND_BUCKET, KIND_GATE } from "./layout";
import { Cohort, COHORT_HAS_SHRUNK, Line, Part, Waiter } from "./line_records";
import { Account } from "./records";
import { cellAt, partAt } from "./slab";
import { isIdle } from "./pass";

// States of a class.
export const HELD_WHOLE: i32 = 0;
/** Its `due` is known, as of this walk. */
export const LOOKED_AT: i32 = 1;
/** In this walk an account got less room, and nothing else happened: whoever could not leave cannot leave now. */
export const SHRUNK: i32 = 2;
/** Gates and buckets of it have more room, or more and less; nobody is refused for that. */
export const ROOM_CHANGED: i32 = 3;
export const CHANGED: i32 = 4;

/** Goes up when classes are looked at; see `Account.visited`. */
let looks: i32 = 1;

export function noteLook(): void {
  looks++;
}

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

/** The account changes: every class that names it does. */
export function classesChange(account: Account): void {
  let part = account.parts;
  while (part !== null) {
    classChanges(part.cohort);
    part = part.next;
  }
}

/** The account, which is a gate or a bucket, has more room, or nothing is set aside there any more. */
export function classesGain(account: Account): void {
  if (account.visited == looks) return;
  account.visited = looks;
  let part = account.parts;
  while (part !== null) {
    gains(part.cohort, account);
    part = part.next;
  }
}

function gains(cohort: Cohort, account: Account): void {
  const state = cohort.state;
  if (state == HELD_WHOLE) {
    if (isHeldElsewhere(cohort, account)) return;
    becomesStale(cohort);
  }
  if (state == HELD_WHOLE || state == SHRUNK) cohort.state = ROOM_CHANGED;
  else if (state == LOOKED_AT) cohort.state = CHANGED;
}

/** Whether a class that is held whole is so by others: room here lets nobody of it go, and moves no deadline. */
function isHeldElsewhere(cohort: Cohort, account: Account): bool {
  const blocker = cohort.blocker;
  if (blocker !== null) return blocker !== account;
  return account.kind == KIND_GATE && cohort.shortParts == 0;
}

/** The account, which is a gate or a bucket, has less room, or a new head sets something aside there. */
export function classesShrink(account: Account): void {
  let part = account.parts;
  while (part !== null) {
    shrinks(part.cohort, part);
    part = part.next;
  }
}

function shrinks(cohort: Cohort, part: Part): void {
  const state = cohort.state;
  // What a gate holds that is short already stays held; whoever is marked here already has nothing more to hear.
  const isTold = part.meter < 0 && part.unmarked === null;
  if (isTold && (state >= ROOM_CHANGED || (state == HELD_WHOLE && cohort.blocker !== null))) return;
  if (state == HELD_WHOLE) {
    becomesStale(cohort);
    cohort.due = null;
    // Between two walks time passes as well.
    cohort.state = isIdle(cohort.line) ? CHANGED : SHRUNK;
  } else if (state == LOOKED_AT) {
    // Nobody could leave, so nobody can; what is to be told has to be weighed again.
    cohort.state = cohort.due === null ? SHRUNK : CHANGED;
    cohort.blocker = null;
  }
  part.isShrunk = 1;
  cohort.flags |= COHORT_HAS_SHRUNK;
}

/** All members but the head are held until an instant, and each of them is marked where it is short. */
export function isHeldWhole(cohort: Cohort, deadline: f64): void {
  forget(cohort);
  if (cohort.flags & COHORT_HAS_SHRUNK) {
    for (let i = 0; i < cohort.partCount; i++) partAt(cohort, i).isShrunk = 0;
    cohort.flags &= ~COHORT_HAS_SHRUNK;
  }
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

/** The head leaves; one that was granted has taken what it set aside. The next one sets aside what it asks. */
export function headChanges(old: Waiter, isGranted: bool): void {
  for (let i = 0; i < old.cellCount; i++) {
    const account = cellAt(old, i).key;
    if (account.kind != KIND_GATE && account.kind != KIND_BUCKET) classesChange(account);
    else if (!isGranted || account !== cellAt(old, i).limiter) classesGain(account);
  }
  const head = old.next;
  if (head === null) return;
  for (let i = 0; i < head.cellCount; i++) {
    const account = cellAt(head, i).key;
    if (account.kind != KIND_GATE && account.kind != KIND_BUCKET) classesChange(account);
    else classesShrink(account);
  }
  // One member less to look at.
  const cohort = head.cohort;
  if (cohort !== null) classChanges(cohort);
}

/** A walk ends: what it found about the classes that are still stale holds no longer. */
export function forgetLooks(line: Line): void {
  let cohort = line.stale;
  while (cohort !== null) {
    if (cohort.state != ROOM_CHANGED) cohort.state = CHANGED;
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
