// An elastic window: so many slots in a span of time that pressure from upstream stretches, behind a circuit that opens when
// failures go on at full stretch. Throttles are whole thousandths and instants whole ticks, so that both are exact.

import {
  BLOCKED,
  COOLING_DOWN,
  HEALTHY,
  MAX_WINDOW_REQUESTS,
  NEVER_PERMITS,
  NO,
  PROBE_ONLY,
  PROBING,
  THROTTLE_UNITS,
  YES,
} from "../layout";
import { Window } from "../records";
import { dropNewest, dropOutdated, goneOnceAt, liveSlots, stamp } from "./stamps";

const TICKS_PER_MS: i64 = 1000;

export function windowInit(window: Window, maxRequests: i32, base: f64): void {
  assert(maxRequests > 0 && maxRequests <= MAX_WINDOW_REQUESTS);
  window.maxRequests = maxRequests;
  window.base = base;
  window.lastPressure = -Infinity;
  setThrottle(window, 0, 0);
}

// --- Questions. They move nothing, but for a probe that is found lost. ---

/** The verdict on an asker; a probe without an answer for too long is given up by the first one who asks. */
export function windowAsked(window: Window, mine: i32, ahead: i32, now: f64): i32 {
  if (mine <= window.maxRequests) giveUpLostProbe(window, now);
  return windowFits(window, mine, ahead, now);
}

export function windowFits(window: Window, mine: i32, ahead: i32, now: f64): i32 {
  if (mine > window.maxRequests) return NEVER_PERMITS;
  if (window.circuit != HEALTHY) {
    if (window.circuit == PROBING && !isProbeLost(window, now)) return PROBE_ONLY;
    if (now < window.blockedUntil) return COOLING_DOWN;
    // The one probe is the head's.
    if (ahead > 0) return PROBE_ONLY;
  }
  return liveSlots(window, now) + <f64> mine + <f64> ahead <= <f64> window.maxRequests ? YES : NO;
}

/** The tick at which so many slots are there by the clock alone, `now` when they are, Infinity when there never will be. */
export function windowEarliest(window: Window, slots: i32, now: f64): f64 {
  if (slots > window.maxRequests) return Infinity;
  const short = liveSlots(window, now) + <f64> slots - <f64> window.maxRequests;
  return short <= 0 ? now : goneOnceAt(window, short, now);
}

/** Whole ms of the window as it is stretched now. */
export function windowLengthMs(window: Window): f64 {
  return <f64> (<i64> window.length / TICKS_PER_MS);
}

/** Ticks until the cooldown is over; 0 unless the circuit is open. */
export function cooldownLeft(window: Window, now: f64): f64 {
  return window.circuit == BLOCKED ? max(0, window.blockedUntil - now) : 0;
}

// --- Movements. ---

/** Takes slots that `windowAsked` just said yes to. After a cooldown, this is the probe. */
export function windowTake(window: Window, slots: i32, now: f64): void {
  if (window.circuit != HEALTHY) {
    assert(window.circuit == BLOCKED && now >= window.blockedUntil);
    window.circuit = PROBING;
    window.probedAt = now;
  }
  stamp(window, slots, now);
  assert(liveSlots(window, now) <= <f64> window.maxRequests);
}

/** Takes back the newest stamps, so that announced instants stand. A probe that is given back has told nothing. */
export function windowGive(window: Window, slots: i32): void {
  dropNewest(window, slots);
  if (window.circuit == PROBING) window.circuit = BLOCKED;
}

// --- What upstream says. ---

/** Pressure without a failure: the window stretches, the circuit does not hear of it. */
export function windowAdvise(window: Window, now: f64): void {
  window.lastPressure = now;
  setThrottle(window, min(window.throttle + window.increment, window.maxThrottle), now);
}

export function windowFail(window: Window, now: f64): void {
  giveUpLostProbe(window, now);
  windowAdvise(window, now);
  if (window.circuit == PROBING) {
    open(window, min(max(2 * window.cooldown, window.initialCooldown), window.maxCooldown), now);
  } else if (window.circuit == HEALTHY && window.throttle == window.maxThrottle) {
    window.streak++;
    if (window.streak >= window.failuresToBlock) open(window, window.initialCooldown, now);
  }
}

/** Whether the success closed the circuit or relaxed the throttle. */
export function windowSucceed(window: Window, now: f64): bool {
  giveUpLostProbe(window, now);
  window.streak = 0;
  const isClosing = window.circuit == PROBING;
  if (isClosing) {
    window.circuit = HEALTHY;
    window.cooldown = 0;
  }
  return relax(window, now) || isClosing;
}

function relax(window: Window, now: f64): bool {
  if (window.throttle == 0) return false;
  const isQuiet = now - window.lastPressure >= window.recoveryTicks;
  window.successes++;
  if (!isQuiet && window.successes < window.successesPerStep) return false;
  window.successes = 0;
  const before = window.throttle;
  setThrottle(window, max(0, before - (isQuiet ? window.recovery : window.decrement)), now);
  return window.throttle < before;
}

function open(window: Window, cooldown: f64, now: f64): void {
  window.circuit = BLOCKED;
  window.cooldown = cooldown;
  window.blockedUntil = now + cooldown;
}

function isProbeLost(window: Window, now: f64): bool {
  return now - window.probedAt >= window.probeTimeout;
}

/** Whether anybody asked in between or not, a verdict or a question after the timeout finds no probe any more. */
function giveUpLostProbe(window: Window, now: f64): void {
  if (window.circuit == PROBING && isProbeLost(window, now)) window.circuit = BLOCKED;
}

/** What is out of date by the old length is forgotten first: it must not come back. */
function setThrottle(window: Window, throttle: i32, now: f64): void {
  dropOutdated(window, now);
  window.throttle = throttle;
  const stretched = <i64> window.base * <i64> (THROTTLE_UNITS + throttle) / <i64> THROTTLE_UNITS;
  window.length = <f64> (stretched * TICKS_PER_MS);
}
