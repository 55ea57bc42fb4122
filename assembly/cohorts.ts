// The table of classes. A waiter whose accounts are all built in belongs to the class of its line with the same accounts in the
// same order and the same counts; a class is made for its first member and freed with its last. A waiter without a class, be it
// for an account that has to be asked or for a full table, stands alone and is looked at one by one.

import { COHORT_CHAIN_BITS, KIND_BUCKET, KIND_CUSTOM, KIND_WINDOW, MAX_METERS } from "./layout";
import { Cell, Cohort, COHORT_HAS_WINDOWS, Line, Part, Waiter } from "./line_records";
import { allocateCells, allocateCohort, cellAt, partAt, recycleCells, recycleCohort } from "./slab";
import { classChanges, forgetClass, linkParts, unlinkParts } from "./stale";
import { freeTree, joinTree, leaveTree, markInTree } from "./sums";

/** Heads of the chains, by hash. */
const chains: usize = memory.data((1 << COHORT_CHAIN_BITS) * sizeof<usize>());

function chainOf(hash: i32): usize {
  return chains + <usize> (hash & ((1 << COHORT_CHAIN_BITS) - 1)) * sizeof<usize>();
}

// --- Members. ---

/** A new waiter at the end of its line joins its class; false when it has to stand alone. */
export function joinCohort(line: Line, waiter: Waiter): bool {
  const memory = line.memory;
  if (memory !== null && memory.kind == KIND_CUSTOM) return false;
  let meters = 0;
  for (let i = 0; i < waiter.cellCount; i++) {
    const kind = cellAt(waiter, i).limiter.kind;
    if (kind == KIND_CUSTOM) return false;
    if (kind == KIND_BUCKET) meters++;
  }
  if (meters > MAX_METERS) return false;
  const hash = hashOf(line, waiter);
  let cohort = find(line, waiter, hash);
  if (cohort === null) cohort = make(line, waiter, hash, meters);
  if (cohort === null) return false;
  if (meters > 0 && !joinTree(cohort, waiter)) {
    if (cohort.size == 0) free(cohort);
    return false;
  }
  append(cohort, waiter);
  return true;
}

function append(cohort: Cohort, waiter: Waiter): void {
  const last = cohort.last;
  waiter.cohort = cohort;
  waiter.previousPeer = last;
  waiter.nextPeer = null;
  if (last === null) cohort.first = waiter;
  else last.nextPeer = waiter;
  cohort.last = waiter;
  cohort.size++;
  classChanges(cohort);
  if (cohort.unmarked === null) cohort.unmarked = waiter;
  for (let i = 0; i < cohort.partCount; i++) {
    const part = partAt(cohort, i);
    if (part.meter < 0 && part.unmarked === null) part.unmarked = waiter;
  }
}

export function leaveCohort(waiter: Waiter): void {
  const cohort = waiter.cohort!;
  const previous = waiter.previousPeer;
  const next = waiter.nextPeer;
  if (previous === null) cohort.first = next;
  else previous.nextPeer = next;
  if (next === null) cohort.last = previous;
  else next.previousPeer = previous;
  if (cohort.unmarked === waiter) cohort.unmarked = next;
  for (let i = 0; i < cohort.partCount; i++) {
    const part = partAt(cohort, i);
    if (part.unmarked === waiter) part.unmarked = next;
  }
  waiter.cohort = null;
  classChanges(cohort);
  cohort.size--;
  if (cohort.size == 0) free(cohort);
  else if (cohort.meters > 0) leaveTree(cohort, waiter);
}

/** The first member behind the head that arrived after an instant of the order of arrivals, or null. */
export function firstAfter(line: Line, cohort: Cohort, arrival: f64): Waiter | null {
  const head = line.head!;
  let waiter = cohort.first;
  if (waiter === head) waiter = head.nextPeer;
  if (arrival <= head.arrival) return waiter;
  while (waiter !== null && waiter.arrival <= arrival) waiter = waiter.nextPeer;
  return waiter;
}

/** The account of an entry has marked a waiter as held. */
export function noteMarked(waiter: Waiter, entry: i32): void {
  const cohort = waiter.cohort;
  if (cohort === null) return;
  const part = partAt(cohort, entry);
  if (part.meter >= 0) markInTree(cohort, waiter, part);
}

// --- Those who stand alone. ---

/** Puts a waiter among those who are looked at one by one, in its place by arrival: nearly always the last. */
export function standAlone(line: Line, waiter: Waiter): void {
  let previous = line.lastAlone;
  while (previous !== null && previous.arrival > waiter.arrival) previous = previous.previousPeer;
  const next = previous === null ? line.firstAlone : previous.nextPeer;
  waiter.cohort = null;
  waiter.previousPeer = previous;
  waiter.nextPeer = next;
  if (previous === null) line.firstAlone = waiter;
  else previous.nextPeer = waiter;
  if (next === null) line.lastAlone = waiter;
  else next.previousPeer = waiter;
  const nextAlone = line.nextAlone;
  if (waiter.arrival > line.position && (nextAlone === null || waiter.arrival < nextAlone.arrival)) line.nextAlone = waiter;
}

export function leaveAlone(line: Line, waiter: Waiter): void {
  const previous = waiter.previousPeer;
  const next = waiter.nextPeer;
  if (previous === null) line.firstAlone = next;
  else previous.nextPeer = next;
  if (next === null) line.lastAlone = previous;
  else next.previousPeer = previous;
  if (line.nextAlone === waiter) line.nextAlone = next;
}

// --- The table. ---

function hashOf(line: Line, waiter: Waiter): i32 {
  let hash: u32 = <u32> changetype<usize>(line) * 0x9e3779b1;
  for (let i = 0; i < waiter.cellCount; i++) {
    const cell = cellAt(waiter, i);
    hash = (rotl(hash, 5) ^ <u32> changetype<usize>(cell.limiter)) * 0x9e3779b1;
    hash = (rotl(hash, 5) ^ <u32> cell.count) * 0x85ebca77;
  }
  return <i32> (hash ^ (hash >> 15));
}

function find(line: Line, waiter: Waiter, hash: i32): Cohort | null {
  let cohort = load<Cohort | null>(chainOf(hash));
  while (cohort !== null && !(cohort.hash == hash && cohort.line === line && isAlike(cohort, waiter))) {
    cohort = cohort.nextInChain;
  }
  return cohort;
}

function isAlike(cohort: Cohort, waiter: Waiter): bool {
  if (cohort.partCount != waiter.cellCount) return false;
  for (let i = 0; i < cohort.partCount; i++) {
    const part = partAt(cohort, i);
    const cell = cellAt(waiter, i);
    if (part.account !== cell.limiter || part.count != cell.count) return false;
  }
  return true;
}

function make(line: Line, waiter: Waiter, hash: i32, meters: i32): Cohort | null {
  const parts: usize = waiter.cellCount == 0 ? 0 : allocateCells(waiter.cellCount);
  if (waiter.cellCount > 0 && parts == 0) return null;
  const cohort = allocateCohort();
  if (cohort === null) {
    recycleCells(parts, waiter.cellCount);
    return null;
  }
  cohort.line = line;
  cohort.hash = hash;
  cohort.partCount = <i16> waiter.cellCount;
  cohort.parts = parts;
  cohort.meters = <i16> meters;
  let meter = 0;
  for (let i = 0; i < waiter.cellCount; i++) {
    const cell = cellAt(waiter, i);
    if (cell.limiter.kind == KIND_WINDOW) cohort.flags |= COHORT_HAS_WINDOWS;
    fill(partAt(cohort, i), cohort, cell, cell.limiter.kind == KIND_BUCKET ? meter++ : -1);
  }
  const chain = chainOf(hash);
  cohort.nextInChain = load<Cohort | null>(chain);
  store<Cohort | null>(chain, cohort);
  const next = line.cohorts;
  cohort.next = next;
  if (next !== null) next.previous = cohort;
  line.cohorts = cohort;
  if (cohort.flags & COHORT_HAS_WINDOWS) line.windowed++;
  cohort.deadline = Infinity;
  linkParts(cohort);
  return cohort;
}

function fill(part: Part, cohort: Cohort, cell: Cell, meter: i32): void {
  part.account = cell.limiter;
  part.count = cell.count;
  part.meter = meter;
  part.unmarked = null;
  part.cohort = cohort;
  part.isShrunk = 0;
}

function free(cohort: Cohort): void {
  const line = cohort.line;
  const chain = chainOf(cohort.hash);
  let before = load<Cohort | null>(chain);
  if (before === cohort) {
    store<Cohort | null>(chain, cohort.nextInChain);
  } else {
    while (before!.nextInChain !== cohort) before = before!.nextInChain;
    before!.nextInChain = cohort.nextInChain;
  }
  const previous = cohort.previous;
  const next = cohort.next;
  if (previous === null) line.cohorts = next;
  else previous.next = next;
  if (next !== null) next.previous = previous;
  if (cohort.flags & COHORT_HAS_WINDOWS) line.windowed--;
  forgetClass(cohort);
  unlinkParts(cohort);
  freeTree(cohort);
  recycleCohort(cohort);
}
