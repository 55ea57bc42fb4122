// The exported functions: this list is the border between shell and kernel. Arguments and results are i32 and f64 only;
// accounts and lines go by their address, waiters by slot and generation. The kernel imports nothing: time is an argument.

import {
  BUSY,
  GIVE_DECLINED,
  KIND_BUCKET,
  KIND_CUSTOM,
  KIND_GATE,
  MAX_DEMAND_ENTRIES,
  MEMORY_ENTRY,
  NO,
  STAGED_BYTES,
  YES,
} from "./layout";
import { Account, Bucket, FLAG_COLLECTED, FLAG_CONDEMNED, FLAG_SLOT, Gate, Line, Staged, Waiter, WAITER_CANCELLED } from "./records";
import * as accounts from "./accounts/account";
import * as bucket from "./accounts/token_bucket";
import { gateResize } from "./accounts/counting_gate";
import * as pass from "./pass";
import * as queue from "./queue";
import * as slab from "./slab";

const staged: usize = memory.data(MAX_DEMAND_ENTRIES * STAGED_BYTES, 8);

let stagedRefusal: i32 = 0;

function stagedAt(index: i32): Staged {
  return changetype<Staged>(staged + <usize> index * STAGED_BYTES);
}

/** Address of the area where the shell writes the cells of a demand. */
export function staging(): usize {
  return staged;
}

export function limits(waiters: i32, accountCount: i32, lines: i32): void {
  slab.setLimits(waiters, accountCount, lines);
}

export function setWallTime(ms: f64): void {
  accounts.setWallTime(ms);
}

// --- Lines. ---

/** Opens a line with its memory account, 0 for none. 0 when the table is full. */
export function openLine(memoryAccount: Account | null): Line | null {
  const line = slab.allocateLine();
  if (line !== null) line.memory = memoryAccount;
  return line;
}

/** Frees a line; its waiters must be gone. */
export function closeLine(line: Line): void {
  pass.abandon(line);
  queue.forgetWoken(line);
  slab.recycleLine(line);
}

export function queueSize(line: Line): i32 {
  return line.count;
}

/** The slot of the oldest waiter, -1 when nobody waits. */
export function headSlot(line: Line): i32 {
  const head = line.head;
  return head === null ? -1 : head.slot;
}

/** The next line that was woken, 0 when there is none. */
export function takeWoken(): Line | null {
  return queue.takeWoken();
}

// --- Attempts. ---

/** The inline attempt of a demand whose accounts are all built in, on an empty line without memory. */
export function attempt(line: Line, count: i32, now: f64): i32 {
  if (line.count != 0 || !pass.isIdle(line)) return BUSY;
  pass.noteAttempt();
  let verdict = YES;
  for (let i = 0; i < count; i++) {
    const cell = stagedAt(i);
    const answer = accounts.fits(cell.limiter, cell.count, cell.sum, 0, 0, now);
    if (answer == YES) continue;
    verdict = answer;
    if (answer == NO) continue;
    stagedRefusal = i;
    return answer;
  }
  if (verdict != YES) return verdict;
  for (let i = 0; i < count; i++) {
    const cell = stagedAt(i);
    accounts.take(cell.limiter, cell.count, cell.sum, now);
    cell.limiter.grantPins++;
  }
  return YES;
}

/** The entry that refused the last `attempt`. */
export function attemptRefusal(): i32 {
  return stagedRefusal;
}

/** Parks the staged demand at the end of the line. The waiter's slot, or -1 when a table is full. */
export function park(line: Line, count: i32): i32 {
  const waiter = queue.append(line, staged, count);
  return waiter === null ? -1 : waiter.slot;
}

export function generationOf(slot: i32): i32 {
  return slab.waiterAt(slot).generation;
}

/** Takes a waiter out. 1 done, 0 marked because a step is running, -1 when it was gone already. */
export function withdraw(slot: i32, generation: i32): i32 {
  const waiter = slab.waiterAt(slot);
  if (waiter.generation != generation) return -1;
  if (!pass.isIdle(waiter.line)) {
    waiter.flags |= WAITER_CANCELLED;
    return 0;
  }
  queue.unlink(waiter.line, waiter);
  return 1;
}

export function begin(line: Line, isInline: i32, wantsHeld: i32, now: f64): i32 {
  return pass.begin(line, isInline != 0, wantsHeld != 0, now) ? 1 : 0;
}

export function next(line: Line): i32 {
  return pass.step(line);
}

export function answer(line: Line, verdict: i32, instant: f64): i32 {
  return pass.answer(line, verdict, instant);
}

/** Ends the running step without a further outcome; after a defect, or for good. */
export function abandon(line: Line): void {
  pass.abandon(line);
}

/** The earliest deadline after a pass, Infinity when only an event can help. */
export function deadline(line: Line): f64 {
  return line.deadline;
}

export function askedVerb(line: Line): i32 {
  return line.verb;
}

/** The entry of the pending ask or the last HELD. */
export function askedEntry(line: Line): i32 {
  return line.asked;
}

export function refusedReason(line: Line): i32 {
  return line.reason;
}

export function refusedEntry(line: Line, slot: i32): i32 {
  return pass.refusedEntry(line, slab.waiterAt(slot));
}

// --- What a waiter was held on. Readable from its departure until `recycle`. ---

/** How many accounts hold the waiter; 0 once it has left and its counts are lowered. */
export function holdCount(slot: i32): i32 {
  return slab.waiterAt(slot).holds;
}

/** The tick since which an entry (or MEMORY_ENTRY) held the waiter, NaN when it never did. */
export function heldSince(slot: i32, entry: i32): f64 {
  const waiter = slab.waiterAt(slot);
  if (entry == MEMORY_ENTRY) return waiter.memoryOrder == 0 ? NaN : waiter.memoryHeldSince;
  const cell = slab.cellAt(waiter, entry);
  return queue.isHeldOn(cell) ? cell.heldSince : NaN;
}

/** Whether an entry was short at the waiter's last attempt. */
export function isShort(slot: i32, entry: i32): i32 {
  const waiter = slab.waiterAt(slot);
  return queue.isShort(waiter, entry) ? 1 : 0;
}

export function lowerNextHold(slot: i32, order: i32): i32 {
  return queue.lowerNextHold(slab.waiterAt(slot), order);
}

export function recycle(slot: i32): void {
  queue.recycle(slab.waiterAt(slot));
}

// --- Settlement. ---

/** Gives the staged cells of a grant back and unpins them: all, or only the gates. WAKE_ bits. Custom cells are skipped. */
export function settle(count: i32, everything: i32, now: f64): i32 {
  let bits = 0;
  for (let i = 0; i < count; i++) {
    const cell = stagedAt(i);
    const account = cell.limiter;
    if (account.kind != KIND_CUSTOM && (everything || account.kind == KIND_GATE)) {
      bits |= accounts.give(account, cell.count, cell.sum, now) ? accounts.gained(account) : GIVE_DECLINED;
    }
    account.grantPins--;
    queue.freeIfUnnamed(account);
  }
  return bits;
}

// --- Accounts. ---

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

/** Frees the record as soon as nothing names it. `wasCollected`: the object is gone, and with it every grant that named it. */
export function closeAccount(account: Account, wasCollected: i32): void {
  account.flags |= FLAG_CONDEMNED | (wasCollected ? FLAG_COLLECTED : 0);
  queue.freeIfUnnamed(account);
}

export function accountCount(): i32 {
  return slab.accountCount();
}

export function accountGeneration(account: Account): i32 {
  return account.generation;
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

export function stampActivity(account: Account, wallMs: f64): void {
  account.lastActivity = wallMs;
}

export function fits(account: Account, count: i32, sum: f64, aheadCount: i32, aheadSum: f64, now: f64): i32 {
  return accounts.fits(account, count, sum, aheadCount, aheadSum, now);
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
  return bucket.bucketConfigure(account, tpm, rpm, now) ? accounts.gained(account) : 0;
}

export function slowDown(account: Bucket, increments: f64, now: f64): void {
  bucket.bucketSlowDown(account, increments, now);
}

export function succeed(account: Bucket, now: f64): i32 {
  return bucket.bucketSucceed(account, now) ? accounts.gained(account) : 0;
}

/** Reconciles a reservation with what was used: a positive difference is charged, a negative one refunded. WAKE_ bits. */
export function reconcile(account: Bucket, difference: f64, now: f64): i32 {
  if (difference >= 0) {
    bucket.bucketCharge(account, difference, now);
    return 0;
  }
  bucket.bucketGive(account, -difference, 0, now);
  return accounts.gained(account);
}
