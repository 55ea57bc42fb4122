// The stamps of an elastic window, one for each slot taken. Slots taken at one instant are one run: its instant, and how many
// slots the window had given out up to it and with it. So a take costs the same whatever its size, and both the stamps that
// are out of date and the k-th oldest live one are found by bisection. Questions move nothing: out of date is what the clock
// says, and stamps are dropped only when slots are taken or the window changes its length.

import { FIRST_RING_BITS, MAX_RUNS, RUN_BYTES } from "../layout";
import { Run, Window } from "../records";
import { allocateRing, recycleRing } from "../slab";

let runLimit: i32 = MAX_RUNS;

/** Lowers how many runs a window keeps apart; for tests. */
export function setRunLimit(runs: i32): void {
  assert(runs > 0 && runs <= MAX_RUNS);
  runLimit = runs;
}

function runAt(window: Window, index: i32): Run {
  const place = (window.first + index) & ((1 << window.ringBits) - 1);
  return changetype<Run>(window.ring + (<usize> place) * RUN_BYTES);
}

/** Live slots at `now`. A stamp that is exactly one window old is gone. */
export function liveSlots(window: Window, now: f64): f64 {
  return window.taken - goneAt(window, now);
}

function goneAt(window: Window, now: f64): f64 {
  if (window.seenAt == now) return window.goneSeen;
  const runs = outdatedRuns(window, now);
  window.goneSeen = runs == 0 ? window.gone : runAt(window, runs - 1).upTo;
  window.seenAt = now;
  return window.goneSeen;
}

function outdatedRuns(window: Window, now: f64): i32 {
  const last = now - window.length;
  let low = 0;
  let high = window.runs;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (runAt(window, middle).instant <= last) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The tick at which the k-th oldest live stamp is gone; k from 1 to the live slots. */
export function goneOnceAt(window: Window, k: f64, now: f64): f64 {
  const count = goneAt(window, now) + k;
  let low = 0;
  let high = window.runs - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (runAt(window, middle).upTo >= count) high = middle;
    else low = middle + 1;
  }
  const run = runAt(window, low);
  assert(run.upTo >= count);
  return run.instant + window.length;
}

/** Forgets the stamps that are out of date, so that they do not come back when the window gets longer. */
export function dropOutdated(window: Window, now: f64): void {
  const runs = outdatedRuns(window, now);
  window.seenAt = NaN;
  if (runs == 0) return;
  window.gone = runAt(window, runs - 1).upTo;
  window.first = (window.first + runs) & ((1 << window.ringBits) - 1);
  window.runs -= runs;
}

/** Stamps so many slots with `now`, or with the newest stamp where a clock stepped back: stamps stay in order. */
export function stamp(window: Window, slots: i32, now: f64): void {
  dropOutdated(window, now);
  window.taken += <f64> slots;
  const runs = window.runs;
  const newest: Run | null = runs == 0 ? null : runAt(window, runs - 1);
  if (newest !== null && newest.instant >= now) {
    newest.upTo = window.taken;
    return;
  }
  if (newest !== null && (runs >= runLimit || !makeRoom(window))) {
    // No memory for another run: the newest stamps count as made now. They stay longer, so nothing is given out too early.
    newest.instant = now;
    newest.upTo = window.taken;
    return;
  }
  window.runs = runs + 1;
  const run = runAt(window, runs);
  run.instant = now;
  run.upTo = window.taken;
}

/** The first ring, which comes with the account, so that there is room for one run whatever happens. */
export function openRing(window: Window): bool {
  window.ringBits = FIRST_RING_BITS;
  window.ring = allocateRing(FIRST_RING_BITS);
  return window.ring != 0;
}

/** Room for one more run; false when there is no memory for it. */
function makeRoom(window: Window): bool {
  if (window.runs < 1 << window.ringBits) return true;
  const bits = window.ringBits + 1;
  const ring = allocateRing(bits);
  if (ring == 0) return false;
  for (let i = 0; i < window.runs; i++) {
    memory.copy(ring + (<usize> i) * RUN_BYTES, changetype<usize>(runAt(window, i)), RUN_BYTES);
  }
  recycleRing(window.ring, window.ringBits);
  window.ring = ring;
  window.ringBits = bits;
  window.first = 0;
  return true;
}

/** Takes the newest stamps away, at most those there are. */
export function dropNewest(window: Window, slots: i32): void {
  window.seenAt = NaN;
  window.taken = max(window.gone, window.taken - <f64> slots);
  while (window.runs > 0) {
    const before = window.runs == 1 ? window.gone : runAt(window, window.runs - 2).upTo;
    if (before < window.taken) {
      runAt(window, window.runs - 1).upTo = window.taken;
      return;
    }
    window.runs--;
  }
}
