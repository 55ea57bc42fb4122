// Weighing a class: what its accounts, as they stand, say to all its members at once. `weigh` works it out, the rest tells it.

import { KIND_GATE, MAX_DEMAND_ENTRIES, NO, YES } from "./layout";
import { Cohort, Line, Part } from "./line_records";
import { Bucket, Gate } from "./records";
import { peek } from "./accounts/account";
import { gateFits } from "./accounts/counting_gate";
import { bucketRequests, bucketTokens } from "./accounts/token_bucket";
import { fitsUpTo, leastOfAll, mostOfAll, setBounds, setFitsUpTo } from "./searches";
import { cellAt, partAt } from "./slab";

/** An account refuses every member for good. */
export let refusesAll: bool = false;
/** Some member asks a bucket for more than its cap, unless it is the head. */
export let refusesSome: bool = false;
/** An account is short for every member. */
export let isShortForAll: bool = false;
/** Most permits that a blocker is noted with. */
const MOST_BLOCKED: i32 = 0x7fff;
/** Parts of a class that has room to keep what was found. */
const MOST_PARTS_KEPT: i32 = 32;
/** By part: whether an account that is not metered is short. */
const shorts: usize = memory.data(MAX_DEMAND_ENTRIES);

export function isShortFixed(entry: i32): bool {
  return load<u8>(shorts + entry) != 0;
}

export function weigh(line: Line, cohort: Cohort): void {
  refusesAll = false;
  refusesSome = false;
  isShortForAll = false;
  cohort.blocker = null;
  let shortParts = 0;
  for (let i = 0; i < cohort.partCount; i++) {
    const part = partAt(cohort, i);
    if (part.meter >= 0) {
      weighMeter(line, cohort, part);
    } else {
      const isShort = weighFixed(line, cohort, part);
      store<u8>(shorts + i, isShort ? 1 : 0);
      if (isShort) shortParts |= 1 << i;
    }
  }
  cohort.shortParts = shortParts;
  if (cohort.meters > 0) cohort.fitsUpTo = fitsUpTo(0);
}

/** Brings back what the last `weigh` of a class found, where the class has room to keep it. */
export function weighAsBefore(line: Line, cohort: Cohort): void {
  if (cohort.partCount > MOST_PARTS_KEPT || cohort.meters > 1) {
    weigh(line, cohort);
    return;
  }
  for (let i = 0; i < cohort.partCount; i++) store<u8>(shorts + i, <u8> (cohort.shortParts >> i & 1));
  if (cohort.meters > 0) setFitsUpTo(0, cohort.fitsUpTo);
}

/** Whether a gate that was short for every member still is, while nothing but room has changed. */
export function isStillBlocked(cohort: Cohort): bool {
  const gate = cohort.blocker;
  if (gate === null) return false;
  const ahead = gate.ahead;
  return gateFits(gate, cohort.blockerCount, ahead === null ? 0 : ahead.count) == NO;
}

/** What the head sets aside is noted at its accounts, until `stopWeighing`. */
export function startWeighing(line: Line): void {
  const head = line.head!;
  // Where the head names an account twice, the first one counts.
  for (let i = head.cellCount - 1; i >= 0; i--) cellAt(head, i).key.ahead = cellAt(head, i);
}

export function stopWeighing(line: Line): void {
  const head = line.head!;
  for (let i = 0; i < head.cellCount; i++) cellAt(head, i).key.ahead = null;
}

/** Whether the account is short. Nobody has asked it yet, so a lost probe stays as it is. */
function weighFixed(line: Line, cohort: Cohort, part: Part): bool {
  const account = part.account;
  const ahead = account.ahead;
  const verdict = peek(account, part.count, 0, ahead === null ? 0 : ahead.count, 0, line.now);
  if (verdict == YES) return false;
  if (verdict != NO) {
    refusesAll = true;
    return false;
  }
  isShortForAll = true;
  if (account.kind == KIND_GATE && part.count <= MOST_BLOCKED) {
    cohort.blocker = changetype<Gate>(account);
    cohort.blockerCount = <i16> part.count;
  }
  return true;
}

function weighMeter(line: Line, cohort: Cohort, part: Part): void {
  const bucket = changetype<Bucket>(part.account);
  const count = <f64> part.count;
  const cap = <f64> bucket.tokenCap;
  if (count > <f64> bucket.requestCap) refusesAll = true;
  if (mostOfAll(cohort, part.meter) > cap) refusesSome = true;
  const ahead = bucket.ahead;
  let tokens = bucketTokens(bucket, line.now);
  let requests = bucketRequests(bucket, line.now);
  if (ahead !== null) {
    tokens -= ahead.sum;
    requests -= <f64> ahead.count;
  }
  const fitting = requests >= count ? tokens : -Infinity;
  if (leastOfAll(cohort, part.meter) > fitting) isShortForAll = true;
  setBounds(part.meter, fitting, cap);
}
