// The border of attempts: staging, the inline attempt and its settlement. What one grant costs with nobody waiting is here.

import { BUSY, GIVE_DECLINED, KIND_CUSTOM, KIND_GATE, MAX_DEMAND_ENTRIES, NO, STAGED_BYTES, YES } from "./layout";
import { Line, Staged } from "./line_records";
import { Account, Memory } from "./records";
import * as accounts from "./accounts/account";
import { memoryFits, memoryTake } from "./accounts/memory_gate";
import { accountChanges } from "./changes";
import * as pass from "./pass";
import { noteAttempt } from "./walk";
import { freeIfUnnamed } from "./queue";

export const staged: usize = memory.data(MAX_DEMAND_ENTRIES * STAGED_BYTES, 8);

let stagedRefusal: i32 = 0;

function stagedAt(index: i32): Staged {
  return changetype<Staged>(staged + <usize> index * STAGED_BYTES);
}

/** Address of the area where the shell writes the cells of a demand. */
export function staging(): usize {
  return staged;
}

/**
 * The inline attempt of the staged demand, whose accounts are all built in, on an empty line. A demand with entries meets
 * the memory account of the line first, which is built in as well.
 */
export function attempt(line: Line, count: i32, now: f64, reading: f64): i32 {
  if (line.count != 0 || !pass.isIdle(line)) return BUSY;
  noteAttempt();
  const memory = changetype<Memory | null>(line.memory);
  const meetsMemory = memory !== null && count > 0;
  if (meetsMemory) accountChanges(memory!);
  if (meetsMemory && memoryFits(memory!, now, reading) == NO) return NO;
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
  if (meetsMemory) memoryTake(memory!, now, reading);
  return YES;
}

/** The same for a demand of one entry, which nobody has to stage. */
export function attemptOne(line: Line, limiter: Account, count: i32, sum: f64, now: f64, reading: f64): i32 {
  if (line.count != 0 || !pass.isIdle(line)) return BUSY;
  noteAttempt();
  const memory = changetype<Memory | null>(line.memory);
  if (memory !== null) accountChanges(memory);
  if (memory !== null && memoryFits(memory, now, reading) == NO) return NO;
  const verdict = accounts.fits(limiter, count, sum, 0, 0, now);
  if (verdict != YES) {
    stagedRefusal = 0;
    return verdict;
  }
  accounts.take(limiter, count, sum, now);
  limiter.grantPins++;
  if (memory !== null) memoryTake(memory, now, reading);
  return YES;
}

/** The entry that refused the last attempt. */
export function attemptRefusal(): i32 {
  return stagedRefusal;
}

/** Gives the staged cells of a grant back and unpins them: all, or only the gates. WAKE_ bits. Custom cells are skipped. */
export function settle(count: i32, everything: i32, now: f64): i32 {
  let bits = 0;
  for (let i = 0; i < count; i++) {
    const cell = stagedAt(i);
    bits |= settleOne(cell.limiter, cell.count, cell.sum, everything, now);
  }
  return bits;
}

/** The same for one cell, which nobody has to stage. */
export function settleOne(account: Account, count: i32, sum: f64, everything: i32, now: f64): i32 {
  let bits = 0;
  if (account.kind != KIND_CUSTOM && (everything || account.kind == KIND_GATE)) {
    bits = accounts.give(account, count, sum, now) ? accounts.gained(account) : GIVE_DECLINED;
  }
  account.grantPins--;
  freeIfUnnamed(account);
  return bits;
}
