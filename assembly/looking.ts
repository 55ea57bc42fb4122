// What the members of a class would be answered, without asking them one by one: whether one of them can leave, when the clock
// alone may let one go, and who is newly short. All of it is worked out from the accounts as they stand.

import { FAN_OUT_BITS, HEALTHY, KIND_CUSTOM, KIND_WINDOW, MAX_DEMAND_ENTRIES, NO, YES } from "./layout";
import {
  CELL_ORDER_SHIFT,
  CELL_SHORT,
  Cohort,
  Line,
  Part,
  Waiter,
  WAITER_MEMORY_SHORT,
  WAITER_NEWLY_SHORT,
} from "./line_records";
import { Bucket, Memory, Window } from "./records";
import { earliest, fits, peek } from "./accounts/account";
import { memoryEarliest, memoryFits } from "./accounts/memory_gate";
import { bucketEarliest, bucketRequests, bucketTokens } from "./accounts/token_bucket";
import { changesSoFar } from "./changes";
import { firstAfter } from "./cohorts";
import { setAside } from "./queue";
import { firstThatFits, firstThatIsRefused, firstUnmarked, fitsUpTo, least, leastFrom, levelOf, setBounds } from "./searches";
import { cellAt, partAt } from "./slab";
import { CHANGED, classDeadline, isHeldWhole, LOOKED_AT } from "./stale";
import { markInTree, use, used } from "./sums";
import { clearShorts, noteDeadline, noteNewlyShort } from "./walk";

// --- Memory. ---

/** The line's memory account where the kernel decides it alone; null where it has to be asked, or there is none. */
export function nativeMemory(line: Line): Memory | null {
  const memory = line.memory;
  return memory === null || memory.kind == KIND_CUSTOM ? null : changetype<Memory>(memory);
}

/** Whether memory holds everybody behind the head who asks for something. Asked again at one instant, it says the same. */
export function isHeldByMemory(line: Line): bool {
  if (line.head!.flags & WAITER_MEMORY_SHORT) return true;
  const memory = nativeMemory(line);
  return memory !== null && memoryFits(memory, line.now, line.reading) == NO;
}

export function memoryDeadline(line: Line): f64 {
  if (line.head!.flags & WAITER_MEMORY_SHORT) return line.headDeadline;
  return memoryEarliest(nativeMemory(line)!, line.now, line.reading);
}

// --- Weighing a class: what holds its members, whatever they are. `weigh` works it out for the functions below. ---

/** An account refuses every member for good. */
let refusesAll: bool = false;
/** An account that is not metered is short for every member. */
let isShortForAll: bool = false;
/** By part: whether an account that is not metered is short. */
const shorts: usize = memory.data(MAX_DEMAND_ENTRIES);

function weigh(line: Line, cohort: Cohort): void {
  refusesAll = false;
  isShortForAll = false;
  for (let i = 0; i < cohort.partCount; i++) {
    const part = partAt(cohort, i);
    if (part.meter >= 0) weighMeter(line, part);
    else store<u8>(shorts + i, weighFixed(line, part) ? 1 : 0);
  }
}

/** Whether the account is short. Nobody has asked it yet, so a lost probe stays as it is. */
function weighFixed(line: Line, part: Part): bool {
  const ahead = setAside(line, part.account);
  const verdict = peek(part.account, part.count, 0, ahead === null ? 0 : ahead.count, 0, line.now);
  if (verdict == YES) return false;
  if (verdict == NO) isShortForAll = true;
  else refusesAll = true;
  return verdict == NO;
}

function weighMeter(line: Line, part: Part): void {
  const bucket = changetype<Bucket>(part.account);
  const count = <f64> part.count;
  if (count > <f64> bucket.requestCap) refusesAll = true;
  const ahead = setAside(line, part.account);
  const aheadCount = ahead === null ? 0 : <f64> ahead.count;
  const tokens = bucketTokens(bucket, line.now) - (ahead === null ? 0 : ahead.sum);
  const hasRequests = bucketRequests(bucket, line.now) >= count + aheadCount;
  setBounds(part.meter, hasRequests ? tokens : -Infinity, <f64> bucket.tokenCap);
}

// --- Who can leave. ---

/** The oldest waiter with a class, behind those looked at, that is granted or refused; null when there is none. */
export function oldestDue(line: Line): Waiter | null {
  if (line.dueAsOf == changesSoFar() && !isPassed(line, line.due)) return line.due;
  line.dueAsOf = changesSoFar();
  const isHeld = isHeldByMemory(line);
  let oldest: Waiter | null = null;
  let cohort = line.stale;
  while (cohort !== null) {
    if (!isHeld || cohort.partCount == 0) {
      if (cohort.state == CHANGED || isPassed(line, cohort.due)) {
        cohort.due = dueOf(line, cohort);
        // Later in the walk this is about the members behind its position only: after a departure all are looked at.
        if (line.position == line.head!.arrival) cohort.state = LOOKED_AT;
      }
      const due = cohort.due;
      if (due !== null && (oldest === null || due.arrival < oldest.arrival)) oldest = due;
    }
    cohort = cohort.nextStale;
  }
  line.due = oldest;
  return oldest;
}

/** Whether somebody who was found to leave stayed: an account changed unannounced, as a probe does that is found lost. */
function isPassed(line: Line, due: Waiter | null): bool {
  return due !== null && due.arrival <= line.position;
}

/** Those who are older than the one looked at next have asked their accounts in vain: lost probes are given up. */
export function askForProbes(line: Line, before: f64): void {
  let cohort = line.stale;
  while (cohort !== null) {
    const first: Waiter | null = cohort.hasWindows ? firstAfter(cohort, line.position) : null;
    if (first !== null && first.arrival < before) {
      if (isHeldByMemory(line)) return;
      for (let i = 0; i < cohort.partCount; i++) {
        const part = partAt(cohort, i);
        if (part.account.kind == KIND_WINDOW) fits(part.account, part.count, 0, 0, 0, line.now);
      }
    }
    cohort = cohort.nextStale;
  }
}

function dueOf(line: Line, cohort: Cohort): Waiter | null {
  const from = firstAfter(cohort, line.position);
  if (from === null) return null;
  weigh(line, cohort);
  if (refusesAll) return from;
  if (cohort.meters == 0) return isShortForAll ? null : from;
  const refused = firstThatIsRefused(cohort, from);
  if (isShortForAll) return refused;
  const fitting = firstThatFits(cohort, from);
  if (refused === null || fitting === null) return refused === null ? fitting : refused;
  return refused.arrival < fitting.arrival ? refused : fitting;
}

// --- Nobody can leave. ---

/** The end of a walk without a departure: the deadlines of the classes, and who of them is newly short. */
export function lookAtHeld(line: Line): void {
  const judged = line.judged;
  const after = judged === null ? line.head!.arrival : judged.arrival;
  if (isHeldByMemory(line)) {
    lookAtHeldByMemory(line, after);
    return;
  }
  let cohort = line.stale;
  while (cohort !== null) {
    const next = cohort.nextStale;
    const from = firstAfter(cohort, after);
    const deadline = from === null ? Infinity : lookAt(line, cohort, from, after);
    noteDeadline(line, deadline);
    // A circuit that is not closed goes by the clock in ways of its own.
    if (judged === null && !(cohort.hasWindows && hasOpenCircuit(cohort))) isHeldWhole(cohort, deadline);
    cohort = next;
  }
  noteDeadline(line, classDeadline(line));
}

function lookAtHeldByMemory(line: Line, after: f64): void {
  let cohort = line.cohorts;
  while (cohort !== null) {
    if (firstAfter(cohort, after) !== null) noteDeadline(line, memoryDeadline(line));
    gatherForMemory(line, cohort, after);
    cohort = cohort.next;
  }
}

function hasOpenCircuit(cohort: Cohort): bool {
  for (let i = 0; i < cohort.partCount; i++) {
    const account = partAt(cohort, i).account;
    if (account.kind == KIND_WINDOW && changetype<Window>(account).circuit != HEALTHY) return true;
  }
  return false;
}

/** Gathers who is newly short; the deadline. */
function lookAt(line: Line, cohort: Cohort, from: Waiter, after: f64): f64 {
  weigh(line, cohort);
  for (let i = 0; i < cohort.partCount; i++) {
    const part = partAt(cohort, i);
    if (part.meter >= 0) gatherMetered(line, cohort, i, from);
    else if (load<u8>(shorts + i)) gather(line, part, i, after);
  }
  return deadlineOf(line, cohort, from);
}

/** The earliest deadline over the members from one on. */
function deadlineOf(line: Line, cohort: Cohort, from: Waiter): f64 {
  let fixed = -Infinity;
  for (let i = 0; i < cohort.partCount; i++) {
    const part = partAt(cohort, i);
    if (part.meter >= 0 || !load<u8>(shorts + i)) continue;
    const ahead = setAside(line, part.account);
    fixed = max(fixed, earliest(part.account, part.count + (ahead === null ? 0 : ahead.count), 0, line.now));
  }
  if (fixed == Infinity || cohort.meters == 0) return fixed;
  if (cohort.meters == 1) return max(fixed, meterDeadline(line, onlyMeter(cohort), leastFrom(cohort, from)));
  return earliestFrom(line, cohort, from, fixed);
}

function onlyMeter(cohort: Cohort): Part {
  let i = 0;
  while (partAt(cohort, i).meter < 0) i++;
  return partAt(cohort, i);
}

/** When the account of a meter lets a sum through by the clock; -Infinity when it does so now. */
function meterDeadline(line: Line, part: Part, sum: f64): f64 {
  if (sum <= fitsUpTo(part.meter)) return -Infinity;
  const ahead = setAside(line, part.account);
  const tokens = ahead === null ? sum : sum + ahead.sum;
  const requests = <f64> part.count + (ahead === null ? 0 : <f64> ahead.count);
  return bucketEarliest(changetype<Bucket>(part.account), tokens, requests, line.now);
}

/** The same for several meters: goes down only where the least sums of a subtree would be earlier than what was found. */
function earliestFrom(line: Line, cohort: Cohort, from: Waiter, fixed: f64): f64 {
  use(cohort);
  let found = Infinity;
  let place = from.place;
  while (place < used) {
    let level = levelOf(place);
    let instant = leastDeadline(line, cohort, level, place, fixed);
    while (instant < found && level > 0) instant = leastDeadline(line, cohort, --level, place, fixed);
    found = min(found, instant);
    place += 1 << (FAN_OUT_BITS * level);
  }
  return found;
}

/** When a member with the least sum of every meter in a subtree would be let go. */
function leastDeadline(line: Line, cohort: Cohort, level: i32, place: i32, fixed: f64): f64 {
  let instant = fixed;
  for (let i = 0; i < cohort.partCount; i++) {
    const part = partAt(cohort, i);
    if (part.meter < 0) continue;
    const sum = least(level, place >> (FAN_OUT_BITS * level), part.meter);
    instant = max(instant, meterDeadline(line, part, sum));
  }
  return instant;
}

// --- Gathering those who are newly short, each once for an account. ---

function gatherForMemory(line: Line, cohort: Cohort, after: f64): void {
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
function gather(line: Line, part: Part, entry: i32, after: f64): void {
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

function gatherMetered(line: Line, cohort: Cohort, entry: i32, from: Waiter): void {
  const part = partAt(cohort, entry);
  let waiter = firstUnmarked(cohort, from, part.meter);
  while (waiter !== null) {
    cellAt(gathered(line, waiter), entry).marks |= CELL_SHORT;
    markInTree(cohort, waiter, part);
    waiter = firstUnmarked(cohort, waiter, part.meter);
  }
}

/** A waiter that is to be marked at the end of this walk, without what an earlier walk left on it. */
function gathered(line: Line, waiter: Waiter): Waiter {
  if (waiter.flags & WAITER_NEWLY_SHORT) return waiter;
  clearShorts(waiter);
  noteNewlyShort(line, waiter);
  return waiter;
}
