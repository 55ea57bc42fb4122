// The border, third part: what only elastic windows have.

import { Window } from "./records";
import { gained } from "./accounts/account";
import { accountChanges } from "./changes";
import * as window from "./accounts/elastic_window";
import { liveSlots, setRunLimit } from "./accounts/stamps";

/** Throttles in 1/THROTTLE_UNITS; `recovery` is what a success takes off once the pressure is `recoveryTicks` old. */
export function setPacing(
  account: Window,
  increment: i32,
  decrement: i32,
  recovery: i32,
  maxThrottle: i32,
  successesPerStep: i32,
  recoveryTicks: f64,
): void {
  account.increment = increment;
  account.decrement = decrement;
  account.recovery = recovery;
  account.maxThrottle = maxThrottle;
  account.successesPerStep = successesPerStep;
  account.recoveryTicks = recoveryTicks;
}

/** Spans in ticks. */
export function setCircuit(
  account: Window,
  failuresToBlock: i32,
  initialCooldown: f64,
  maxCooldown: f64,
  probeTimeout: f64,
): void {
  account.failuresToBlock = failuresToBlock;
  account.initialCooldown = initialCooldown;
  account.maxCooldown = maxCooldown;
  account.probeTimeout = probeTimeout;
}

/** Lowers how many runs of stamps a window keeps apart; for tests. */
export function limitRuns(runs: i32): void {
  setRunLimit(runs);
}

export function windowInUse(account: Window, now: f64): f64 {
  return liveSlots(account, now);
}

/** In 1/THROTTLE_UNITS. */
export function windowThrottle(account: Window): i32 {
  return account.throttle;
}

/** In whole ms. */
export function windowLength(account: Window): f64 {
  return window.windowLengthMs(account);
}

/** HEALTHY, BLOCKED or PROBING; a lost probe reads PROBING until somebody asks. */
export function windowCircuit(account: Window): i32 {
  return account.circuit;
}

/** Ticks until the cooldown is over; 0 unless BLOCKED. */
export function windowCooldown(account: Window, now: f64): f64 {
  return window.cooldownLeft(account, now);
}

export function windowAdvise(account: Window, now: f64): void {
  accountChanges(account);
  window.windowAdvise(account, now);
}

export function windowFail(account: Window, now: f64): void {
  accountChanges(account);
  window.windowFail(account, now);
}

/** WAKE_ bits when the success closed the circuit or relaxed the throttle, else 0. */
export function windowSucceed(account: Window, now: f64): i32 {
  accountChanges(account);
  return window.windowSucceed(account, now) ? gained(account) : 0;
}
