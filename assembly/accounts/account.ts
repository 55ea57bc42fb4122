// What every built-in account answers, by kind. A custom account is never asked here.

import {
  KIND_BUCKET,
  KIND_CUSTOM,
  KIND_GATE,
  KIND_MEMORY,
  KIND_WINDOW,
  WAKE_LINES,
  WAKE_SLOT,
} from "../layout";
import { Line } from "../line_records";
import { Account, Bucket, FLAG_SLOT, Gate, Memory, Window } from "../records";
import { accountChanges, accountGains, accountShrinks } from "../changes";
import { markWoken } from "../waking";
import { gateFits, gateGive, gateTake } from "./counting_gate";
import { memoryGive } from "./memory_gate";
import { bucketEarliest, bucketFits, bucketGive, bucketTake } from "./token_bucket";
import { windowAsked, windowEarliest, windowFits, windowGive, windowTake } from "./elastic_window";

let wall: f64 = 0;

/** Sets the wall time in ms that takes and gives are stamped with. */
export function setWallTime(ms: f64): void {
  wall = ms;
}

export function fits(account: Account, count: i32, sum: f64, aheadCount: i32, aheadSum: f64, now: f64): i32 {
  if (account.kind == KIND_GATE) return gateFits(changetype<Gate>(account), count, aheadCount);
  if (account.kind == KIND_WINDOW) return windowAsked(changetype<Window>(account), count, aheadCount, now);
  assert(account.kind == KIND_BUCKET);
  return bucketFits(changetype<Bucket>(account), sum, <f64> count, aheadSum, <f64> aheadCount, now);
}

/** What `fits` would say; for those who only look. A lost probe stays as it is. */
export function peek(account: Account, count: i32, sum: f64, aheadCount: i32, aheadSum: f64, now: f64): i32 {
  if (account.kind == KIND_WINDOW) return windowFits(changetype<Window>(account), count, aheadCount, now);
  return fits(account, count, sum, aheadCount, aheadSum, now);
}

/** Debits what `fits` just said yes to. */
export function take(account: Account, count: i32, sum: f64, now: f64): void {
  if (account.kind == KIND_WINDOW) accountChanges(account);
  else accountShrinks(account);
  account.lastActivity = wall;
  debit(account, count, sum, now);
}

/** The debit alone: nobody hears of it. */
export function debit(account: Account, count: i32, sum: f64, now: f64): void {
  if (account.kind == KIND_GATE) return gateTake(changetype<Gate>(account), count);
  if (account.kind == KIND_WINDOW) return windowTake(changetype<Window>(account), count, now);
  assert(account.kind == KIND_BUCKET);
  bucketTake(changetype<Bucket>(account), sum, count, now);
}

/** Credits. False when a gate has fewer in use; then nothing changes. */
export function give(account: Account, count: i32, sum: f64, now: f64): bool {
  if (account.kind == KIND_GATE || account.kind == KIND_BUCKET) accountGains(account);
  else accountChanges(account);
  if (!credit(account, count, sum, now)) return false;
  account.lastActivity = wall;
  return true;
}

/** The credit alone: nobody hears of it. */
export function credit(account: Account, count: i32, sum: f64, now: f64): bool {
  if (account.kind == KIND_GATE) {
    if (!gateGive(changetype<Gate>(account), count)) return false;
  } else if (account.kind == KIND_WINDOW) {
    windowGive(changetype<Window>(account), count);
  } else if (account.kind == KIND_MEMORY) {
    memoryGive(changetype<Memory>(account));
  } else {
    assert(account.kind == KIND_BUCKET);
    bucketGive(changetype<Bucket>(account), sum, count, now);
  }
  return true;
}

export function earliest(account: Account, count: i32, sum: f64, now: f64): f64 {
  if (account.kind == KIND_BUCKET) return bucketEarliest(changetype<Bucket>(account), sum, <f64> count, now);
  if (account.kind == KIND_WINDOW) return windowEarliest(changetype<Window>(account), count, now);
  assert(account.kind == KIND_GATE || account.kind == KIND_CUSTOM);
  return Infinity;
}

/** Wakes every line that waits on an account that gained room; answers WAKE_ bits. */
export function gained(account: Account): i32 {
  let bits = account.flags & FLAG_SLOT ? WAKE_SLOT : 0;
  if (account.wires !== null) {
    bits |= WAKE_LINES;
    wakeOthers(account, null);
  }
  return bits;
}

/** Wakes every line that waits on the account, but for one. */
export function wakeOthers(account: Account, except: Line | null): void {
  let wire = account.wires;
  while (wire !== null) {
    if (wire.line !== except) markWoken(wire.line);
    wire = wire.next;
  }
}
