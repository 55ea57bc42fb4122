// The memory gate: holds jobs while the heap is nearly full, and lets its line out one at a time. A look is one heap reading,
// handed in as used / limit; NaN is no reading. Nothing but a look moves the floor, nothing but `memoryFits` the latch.
//
// Without a reading nobody is held: the latch is let go, and a line that is there drains by the last reading there was.

import {
  MEMORY_CHECK_TICKS,
  MEMORY_CRITICAL,
  MEMORY_MAX_DELAY_MS,
  MEMORY_MAX_PENALTY,
  MEMORY_MAX_WAIT_MS,
  MEMORY_MIN_DELAY_MS,
  MEMORY_RECOVERY,
  MEMORY_THROTTLE_START,
  NO,
  TICKS_PER_MS,
  YES,
} from "../layout";
import { Memory } from "../records";

/** Natural logarithm of 2, to the nearest double. */
const LN2: f64 = 0.6931471805599453;
/** Terms of the series for e^x, enough for |x| <= LN2 / 2: what is left out is below 1e-17. */
const EXP_TERMS: i32 = 14;
/** Beyond this many points of growth either way the penalty is at one of its ends. */
const MOST_POINTS: f64 = 64;

export function memoryInit(memory: Memory): void {
  memory.lastRelease = NaN;
  memory.previous = NaN;
  memory.floor = NaN;
  memory.floorAtLast = NaN;
  memory.floorBeforeLast = NaN;
  memory.penalty = 1;
}

// --- What a reading would mean. These change nothing. ---

/** The floor after a look at this reading. */
export function memoryFloor(memory: Memory, reading: f64): f64 {
  if (isNaN(reading)) return memory.floor;
  return isNaN(memory.previous) || reading < memory.previous ? reading : memory.floor;
}

/** Whether the latch is set after a look at this reading. */
function isLatchedAt(memory: Memory, reading: f64): bool {
  if (isNaN(reading) || reading < MEMORY_RECOVERY) return false;
  return reading >= MEMORY_CRITICAL || memory.isLatched != 0;
}

/** How much longer than the curve the spacing is: it doubles with each point that the floor grew over the last two releases. */
export function memoryPenalty(memory: Memory, floor: f64): f64 {
  if (isNaN(memory.floorBeforeLast)) return memory.penalty;
  const points = (floor - memory.floorBeforeLast) * 100;
  return min(max(memory.penalty * powerOfTwo(points), 1), <f64> MEMORY_MAX_PENALTY);
}

/** Milliseconds between releases at a reading: a cubic from THROTTLE_START to CRITICAL. */
function spacingMs(reading: f64): f64 {
  const span = (reading - MEMORY_THROTTLE_START) / (MEMORY_CRITICAL - MEMORY_THROTTLE_START);
  const n = min(max(span, 0), 1);
  return max(Math.floor(<f64> MEMORY_MAX_DELAY_MS * n * n * n), <f64> MEMORY_MIN_DELAY_MS);
}

/** Whether releases are spaced at all: somebody has to be in memory's own line. */
function isPaced(memory: Memory): bool {
  return memoryHeld(memory) > 0 && !isNaN(memory.lastRelease);
}

/** The tick at which the spacing since the last release is over, as a look at this reading would find it. */
function dueAt(memory: Memory, reading: f64): f64 {
  let level = isNaN(reading) ? memory.previous : reading;
  if (isNaN(level)) level = 0;
  const wait = Math.floor(spacingMs(level) * memoryPenalty(memory, memoryFloor(memory, reading)) + 0.5);
  return memory.lastRelease + min(wait, <f64> MEMORY_MAX_WAIT_MS) * TICKS_PER_MS;
}

/** What `memoryFits` would answer. */
export function memoryWouldFit(memory: Memory, now: f64, reading: f64): i32 {
  if (memory.isStopped) return YES;
  if (isLatchedAt(memory, reading)) return NO;
  if (!isPaced(memory) || memory.hasCompletion) return YES;
  return now >= dueAt(memory, reading) ? YES : NO;
}

/** What `memoryEarliest` would answer after that. */
export function memoryWouldFitAt(memory: Memory, now: f64, reading: f64): f64 {
  return isLatchedAt(memory, reading) ? now + MEMORY_CHECK_TICKS : pacedUntil(memory, now, reading);
}

function pacedUntil(memory: Memory, now: f64, reading: f64): f64 {
  if (!isPaced(memory)) return Infinity;
  return min(dueAt(memory, reading), now + MEMORY_CHECK_TICKS);
}

/** Ticks until the spacing lets the next one go; 0 when nothing paces, when it is due, and when a completion is pending. */
export function memoryPacing(memory: Memory, now: f64, reading: f64): f64 {
  if (!isPaced(memory) || memory.hasCompletion) return 0;
  return max(dueAt(memory, reading) - now, 0);
}

/** Who is in memory's line. */
export function memoryHeld(memory: Memory): i32 {
  return memory.held + memory.heldElsewhere;
}

// --- Looks and movements. ---

function look(memory: Memory, reading: f64): void {
  if (isNaN(reading)) return;
  memory.floor = memoryFloor(memory, reading);
  memory.previous = reading;
}

/** Whether the next job may go now. */
export function memoryFits(memory: Memory, now: f64, reading: f64): i32 {
  if (memory.isStopped) return YES;
  look(memory, reading);
  const isLatched = isLatchedAt(memory, reading) ? 1 : 0;
  if (isLatched != memory.isLatched) memory.turns++;
  memory.isLatched = isLatched;
  return memoryWouldFit(memory, now, reading);
}

/** The same, and a yes is a release: the spacing starts anew, and the penalty of this moment is kept. */
export function memoryTake(memory: Memory, now: f64, reading: f64): i32 {
  const verdict = memoryFits(memory, now, reading);
  if (verdict != YES || memory.isStopped) return verdict;
  memory.penalty = memoryPenalty(memory, memory.floor);
  memory.floorBeforeLast = memory.floorAtLast;
  memory.floorAtLast = memory.floor;
  memory.lastRelease = now;
  memory.hasCompletion = 0;
  return verdict;
}

/** The tick of the next look that may let somebody go; Infinity when nothing paces. */
export function memoryEarliest(memory: Memory, now: f64, reading: f64): f64 {
  if (memory.isLatched) return now + MEMORY_CHECK_TICKS;
  look(memory, reading);
  return pacedUntil(memory, now, reading);
}

/** A job finished. Completions do not add up: any number of them lets one job go. */
export function memoryGive(memory: Memory): void {
  memory.hasCompletion = 1;
}

/** Says yes to everyone from now on. Whether it is news. */
export function memoryStop(memory: Memory): bool {
  if (memory.isStopped) return false;
  memory.isStopped = 1;
  return true;
}

/**
 * 2^points by + - * / alone, so that every engine gets the same bits: pow of the compiler and of the engines differ in the
 * last one. Whole points are exact.
 */
export function powerOfTwo(points: f64): f64 {
  const bounded = min(max(points, -MOST_POINTS), MOST_POINTS);
  let whole = Math.floor(bounded + 0.5);
  const x = (bounded - whole) * LN2;
  let power: f64 = 1;
  for (let term = EXP_TERMS; term > 0; term--) power = 1 + x / <f64> term * power;
  for (; whole > 0; whole--) power *= 2;
  for (; whole < 0; whole++) power *= 0.5;
  return power;
}
