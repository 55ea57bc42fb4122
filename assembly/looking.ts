// What the members of a class would be answered, without asking them one by one: whether one of them can leave, when the clock
// alone may let one go, and who is newly short. All of it is worked out from the accounts as they stand.

import { FAN_OUT_BITS, KIND_CUSTOM, KIND_WINDOW, NO } from "./layout";
import { Cohort, COHORT_HAS_SHRUNK, COHORT_HAS_WINDOWS, Line, Part, Waiter, WAITER_MEMORY_SHORT } from "./line_records";
import { Bucket, Memory } from "./records";
import { earliest, fits } from "./accounts/account";
import { memoryEarliest, memoryFits } from "./accounts/memory_gate";
import { bucketEarliest } from "./accounts/token_bucket";
import { changesSoFar } from "./changes";
import { firstAfter } from "./cohorts";
import { gather, gatherForMemory, gatherMetered, isNewlyShort, mayBeNewlyShort } from "./gathering";
import { firstThatFits, firstThatIsRefused, fitsUpTo, least, leastFrom, levelOf } from "./searches";
import { partAt } from "./slab";
import { CHANGED, classDeadline, forgetLooks, isHeldWhole, LOOKED_AT, noteLook, ROOM_CHANGED, SHRUNK } from "./stale";
import { use, used } from "./sums";
import { noteDeadline } from "./walk";
import {
  isShortFixed,
  isShortForAll,
  isStillBlocked,
  refusesAll,
  refusesSome,
  startWeighing,
  stopWeighing,
  weigh,
  weighAsBefore,
} from "./weighing";

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

// --- Who can leave. ---

/** The oldest waiter with a class, behind those looked at, that is granted or refused; null when there is none. */
export function oldestDue(line: Line): Waiter | null {
  if (line.dueAsOf == changesSoFar() && !isPassed(line, line.due)) return line.due;
  line.dueAsOf = changesSoFar();
  const isHeld = isHeldByMemory(line);
  // Whether this look is at all members but the head.
  const isWhole = line.judged === null && line.position <= line.head!.arrival;
  let oldest: Waiter | null = null;
  let cohort = line.stale;
  startWeighing(line);
  noteLook();
  while (cohort !== null) {
    const next = cohort.nextStale;
    if (!isHeld || cohort.partCount == 0) {
      if (cohort.state >= ROOM_CHANGED || isPassed(line, cohort.due)) look(line, cohort, isWhole);
      const due = cohort.due;
      if (due !== null && (oldest === null || due.arrival < oldest.arrival)) oldest = due;
    }
    cohort = next;
  }
  stopWeighing(line);
  line.due = oldest;
  return oldest;
}

/** Whether somebody who was found to leave stayed: an account changed unannounced, as a probe does that is found lost. */
function isPassed(line: Line, due: Waiter | null): bool {
  return due !== null && due.arrival <= line.position;
}

/** Finds who of a class can leave; where nobody can and nothing is left to tell of it, it is held whole at once. */
function look(line: Line, cohort: Cohort, isWhole: bool): void {
  cohort.due = null;
  if (isWhole && cohort.state == ROOM_CHANGED && !(cohort.flags & COHORT_HAS_SHRUNK) && isStillBlocked(cohort)) {
    isHeldWhole(cohort, Infinity);
    return;
  }
  // Whoever stayed although they were found to leave showed that what was weighed holds no longer.
  if (cohort.state == LOOKED_AT) cohort.state = CHANGED;
  const from = firstAfter(line, cohort, line.position);
  if (from === null) return;
  weigh(line, cohort);
  const due = dueOf(cohort, from);
  cohort.due = due;
  if (!isWhole) return;
  cohort.state = LOOKED_AT;
  // Windows may have to be asked about a lost probe yet.
  if (due !== null || cohort.blocker === null || cohort.flags & COHORT_HAS_WINDOWS) return;
  if (!isNewlyShort(cohort)) isHeldWhole(cohort, Infinity);
}

/** Those who are older than the one looked at next have asked their accounts in vain: lost probes are given up. */
export function askForProbes(line: Line, before: f64): void {
  let cohort = line.windowed > 0 ? line.stale : null;
  while (cohort !== null) {
    const first: Waiter | null = cohort.flags & COHORT_HAS_WINDOWS ? firstAfter(line, cohort, line.position) : null;
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

function dueOf(cohort: Cohort, from: Waiter): Waiter | null {
  if (refusesAll) return from;
  if (cohort.meters == 0) return isShortForAll ? null : from;
  const refused: Waiter | null = refusesSome ? firstThatIsRefused(cohort, from) : null;
  const fitting: Waiter | null = isShortForAll ? null : firstThatFits(cohort, from);
  if (refused === null || fitting === null) return refused === null ? fitting : refused;
  return refused.arrival < fitting.arrival ? refused : fitting;
}

// --- Nobody can leave. ---

/** The end of a walk without a departure: the deadlines of the classes, and who of them is newly short. */
export function lookAtHeld(line: Line): void {
  const judged = line.judged;
  const after = judged === null ? -1 : judged.arrival;
  if (isHeldByMemory(line)) {
    lookAtHeldByMemory(line, after);
    forgetLooks(line);
    return;
  }
  let cohort = line.stale;
  startWeighing(line);
  noteLook();
  while (cohort !== null) {
    const next = cohort.nextStale;
    const from = firstAfter(line, cohort, after);
    const deadline = from === null ? Infinity : lookAt(line, cohort, from, after);
    noteDeadline(line, deadline);
    if (judged === null) isHeldWhole(cohort, deadline);
    cohort = next;
  }
  stopWeighing(line);
  forgetLooks(line);
  noteDeadline(line, classDeadline(line));
}

function lookAtHeldByMemory(line: Line, after: f64): void {
  let cohort = line.cohorts;
  while (cohort !== null) {
    if (firstAfter(line, cohort, after) !== null) noteDeadline(line, memoryDeadline(line));
    gatherForMemory(line, cohort, after);
    cohort = cohort.next;
  }
}

/** Gathers who is newly short; the deadline. */
function lookAt(line: Line, cohort: Cohort, from: Waiter, after: f64): f64 {
  if (cohort.state == SHRUNK && cohort.blocker !== null && !mayBeNewlyShort(cohort)) return Infinity;
  if (cohort.state == LOOKED_AT) weighAsBefore(line, cohort);
  else weigh(line, cohort);
  for (let i = 0; i < cohort.partCount; i++) {
    const part = partAt(cohort, i);
    if (part.meter >= 0) gatherMetered(line, cohort, i, from);
    else if (isShortFixed(i)) gather(line, part, i, after);
  }
  return deadlineOf(line, cohort, from);
}

/** The earliest deadline over the members from one on. */
function deadlineOf(line: Line, cohort: Cohort, from: Waiter): f64 {
  if (cohort.blocker !== null) return Infinity;
  let fixed = -Infinity;
  for (let i = 0; i < cohort.partCount; i++) {
    const part = partAt(cohort, i);
    if (part.meter >= 0 || !isShortFixed(i)) continue;
    const ahead = part.account.ahead;
    fixed = max(fixed, earliest(part.account, part.count + (ahead === null ? 0 : ahead.count), 0, line.now));
  }
  if (cohort.meters == 0) return fixed;
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
  const ahead = part.account.ahead;
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
