// Waking: which lines name an account, and which lines were woken.

import { Line, Wire } from "./line_records";
import { Account } from "./records";
import { allocateWire, recycleWire } from "./slab";

let firstWoken: Line | null = null;
let lastWoken: Line | null = null;

export function wireUp(account: Account, line: Line): bool {
  let last: Wire | null = null;
  let wire = account.wires;
  while (wire !== null) {
    if (wire.line === line) {
      wire.count++;
      return true;
    }
    last = wire;
    wire = wire.next;
  }
  wire = allocateWire();
  if (wire === null) return false;
  wire.line = line;
  wire.count = 1;
  wire.next = null;
  if (last === null) account.wires = wire;
  else last.next = wire;
  return true;
}

export function unwire(account: Account, line: Line): void {
  let previous: Wire | null = null;
  let wire = account.wires;
  while (wire !== null && wire.line !== line) {
    previous = wire;
    wire = wire.next;
  }
  assert(wire !== null);
  if (--wire!.count > 0) return;
  if (previous === null) account.wires = wire!.next;
  else previous.next = wire!.next;
  recycleWire(wire!);
}

/** The line that was woken first is woken last the next time: lines that wait on one account take turns in looking first. */
export function takeTurns(account: Account): void {
  const first = account.wires;
  if (first === null || first.next === null) return;
  let last: Wire = first;
  let next = first.next;
  account.wires = next;
  while (next !== null) {
    last = next;
    next = next.next;
  }
  last.next = first;
  first.next = null;
}

export function markWoken(line: Line): void {
  if (line.isWoken) return;
  line.isWoken = 1;
  line.nextWoken = null;
  const last = lastWoken;
  if (last === null) firstWoken = line;
  else last.nextWoken = line;
  lastWoken = line;
}

/** In the order in which they were woken. */
export function takeWoken(): Line | null {
  const line = firstWoken;
  if (line === null) return null;
  firstWoken = line.nextWoken;
  if (firstWoken === null) lastWoken = null;
  line.isWoken = 0;
  return line;
}

/** Takes a line that is about to be freed out of the woken ones. */
export function forgetWoken(line: Line): void {
  if (!line.isWoken) return;
  let previous: Line | null = null;
  let at = firstWoken;
  while (at !== null && at !== line) {
    previous = at;
    at = at.nextWoken;
  }
  if (previous === null) firstWoken = line.nextWoken;
  else previous.nextWoken = line.nextWoken;
  if (lastWoken === line) lastWoken = previous;
  line.isWoken = 0;
}
