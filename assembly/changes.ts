// Changes of accounts and lines, counted, so that a walk knows whether what it found still holds; and the lines whose walk has
// stopped to ask: before an account changes under such a walk, those it passed by class are looked at one by one, as they stand.

import { Line } from "./line_records";
import { judgePassed } from "./judging";
import { Account } from "./records";
import { classesChange, classesGain, classesShrink } from "./stale";

let changes: i32 = 0;
let firstAsking: Line | null = null;

export function changesSoFar(): i32 {
  return changes;
}

/** Somebody came into a line, or left it. */
export function lineChanges(): void {
  changes++;
}

/** Comes before every change of a built-in account. */
export function accountChanges(account: Account): void {
  if (account.parts !== null) classesChange(account);
  change();
}

/** The same for a gate or a bucket that has more room afterwards, and is as it was otherwise. */
export function accountGains(account: Account): void {
  if (account.parts !== null) classesGain(account);
  change();
}

/**
 * The same for a gate or a bucket that has less room afterwards, and is as it was otherwise. Where a line waits for an answer,
 * whoever takes may do so at a later instant than its walk: from there a bucket seems to have more than before.
 */
export function accountShrinks(account: Account): void {
  if (firstAsking !== null) {
    accountChanges(account);
    return;
  }
  if (account.parts !== null) classesShrink(account);
  change();
}

function change(): void {
  changes++;
  let line = firstAsking;
  while (line !== null) {
    judgePassed(line);
    line = line.nextAsking;
  }
}

export function startAsking(line: Line): void {
  line.nextAsking = firstAsking;
  firstAsking = line;
}

/** Does nothing for a line that does not ask. */
export function stopAsking(line: Line): void {
  let previous: Line | null = null;
  let at = firstAsking;
  while (at !== null && at !== line) {
    previous = at;
    at = at.nextAsking;
  }
  if (at === null) return;
  if (previous === null) firstAsking = line.nextAsking;
  else previous.nextAsking = line.nextAsking;
  line.nextAsking = null;
}
