// The border, second half: the records of accounts and their verbs.

import {
  GIVE_DECLINED,
  KIND_BUCKET,
  KIND_GATE,
  KIND_WINDOW,
  NAMED_BY_GRANT,
  NAMED_BY_WAITER,
  YES,
} from "./layout";
import { Account, Bucket, FLAG_COLLECTED, FLAG_CONDEMNED, FLAG_SLOT, Gate, Window } from "./records";
import * as accounts from "./accounts/account";
import * as bucket from "./accounts/token_bucket";
import { gateResize } from "./accounts/counting_gate";
import { windowInit } from "./accounts/elastic_window";
import { openRing } from "./accounts/stamps";
import { accountChanges } from "./changes";
import { freeIfUnnamed } from "./queue";
import * as slab from "./slab";

export function openCustom(): Account | null {
  return slab.allocateAccount();
}

export function openGate(capacity: i32): Account | null {
  const account = slab.allocateAccount();
  if (account === null) return null;
  const gate = changetype<Gate>(account);
  gate.kind = KIND_GATE;
  gateResize(gate, capacity);
  return gate;
}

export function openBucket(tpm: f64, rpm: f64, now: f64): Account | null {
  const account = slab.allocateAccount();
  if (account === null) return null;
  account.kind = KIND_BUCKET;
  bucket.bucketInit(changetype<Bucket>(account), tpm, rpm, now);
  return account;
}

/** A window without throttle and circuit: `setPacing` and `setCircuit` come next. `base` is its length in whole ms. */
export function openWindow(maxRequests: i32, base: f64): Account | null {
  const account = slab.allocateAccount();
  if (account === null) return null;
  account.kind = KIND_WINDOW;
  if (openRing(changetype<Window>(account))) {
    windowInit(changetype<Window>(account), maxRequests, base);
    return account;
  }
  slab.recycleAccount(account);
  return null;
}

/** Frees the record as soon as nothing names it. `wasCollected`: the object is gone, and with it every grant that named it. */
export function closeAccount(account: Account, wasCollected: i32): void {
  account.flags |= FLAG_CONDEMNED | (wasCollected ? FLAG_COLLECTED : 0);
  freeIfUnnamed(account);
}

export function accountCount(): i32 {
  return slab.accountCount();
}

export function accountGeneration(account: Account): i32 {
  return account.generation;
}

/** NAMED_BY_ bits. */
export function namedBy(account: Account): i32 {
  const isWaitedFor = account.waiterPins != 0 || account.held != 0;
  return (isWaitedFor ? NAMED_BY_WAITER : 0) | (account.grantPins != 0 ? NAMED_BY_GRANT : 0);
}

/** Says whether the account's facade has a public wake to run. */
export function setSlot(account: Account, isInstalled: i32): void {
  if (isInstalled) account.flags |= FLAG_SLOT;
  else account.flags &= ~FLAG_SLOT;
}

/** The account's own code says that it gained room. WAKE_ bits. */
export function touch(account: Account): i32 {
  return accounts.gained(account);
}

export function heldOn(account: Account): i32 {
  return account.held;
}

export function lastActivity(account: Account): f64 {
  return account.lastActivity;
}

export function fits(account: Account, count: i32, sum: f64, aheadCount: i32, aheadSum: f64, now: f64): i32 {
  return accounts.fits(account, count, sum, aheadCount, aheadSum, now);
}

export function peek(account: Account, count: i32, sum: f64, aheadCount: i32, aheadSum: f64, now: f64): i32 {
  return accounts.peek(account, count, sum, aheadCount, aheadSum, now);
}

export function tryTake(account: Account, count: i32, sum: f64, aheadCount: i32, aheadSum: f64, now: f64): i32 {
  const verdict = accounts.fits(account, count, sum, aheadCount, aheadSum, now);
  if (verdict == YES) accounts.take(account, count, sum, now);
  return verdict;
}

export function earliestFit(account: Account, count: i32, sum: f64, now: f64): f64 {
  return accounts.earliest(account, count, sum, now);
}

/** WAKE_ bits, or GIVE_DECLINED when a gate has fewer in use; then nothing has changed. */
export function give(account: Account, count: i32, sum: f64, now: f64): i32 {
  return accounts.give(account, count, sum, now) ? accounts.gained(account) : GIVE_DECLINED;
}

export function gateInUse(gate: Gate): i32 {
  return gate.inUse;
}

/** WAKE_ bits when the gate grew, else 0. */
export function resizeGate(gate: Gate, capacity: i32): i32 {
  accountChanges(gate);
  return gateResize(gate, capacity) ? accounts.gained(gate) : 0;
}

export function bucketTokens(account: Bucket, now: f64): f64 {
  return bucket.bucketTokens(account, now);
}

export function bucketRequests(account: Bucket, now: f64): f64 {
  return bucket.bucketRequests(account, now);
}

/** Whole tokens missing from a full bucket; more than the cap while in debt. */
export function bucketInUse(account: Bucket, now: f64): f64 {
  return bucket.bucketInUse(account, now);
}

/** In tenths. */
export function bucketThrottle(account: Bucket): i32 {
  return account.throttle;
}

export function configureBucket(account: Bucket, tpm: f64, rpm: f64, now: f64): i32 {
  accountChanges(account);
  return bucket.bucketConfigure(account, tpm, rpm, now) ? accounts.gained(account) : 0;
}

export function slowDown(account: Bucket, increments: f64, now: f64): void {
  accountChanges(account);
  bucket.bucketSlowDown(account, increments, now);
}

export function succeed(account: Bucket, now: f64): i32 {
  accountChanges(account);
  return bucket.bucketSucceed(account, now) ? accounts.gained(account) : 0;
}

/** Reconciles a reservation with what was used: a positive difference is charged, a negative one refunded. WAKE_ bits. */
export function reconcile(account: Bucket, difference: f64, now: f64): i32 {
  accountChanges(account);
  if (difference >= 0) {
    bucket.bucketCharge(account, difference, now);
    return 0;
  }
  bucket.bucketGive(account, -difference, 0, now);
  return accounts.gained(account);
}
