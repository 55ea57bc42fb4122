// Waking: which lines name an account, and which lines were woken.

import { Line, Wire } from "./line_records";
import { Account } from "./records";
import { allocateWire, recycleWire } from "./slab";

/** Woken lines, in the order in which they were woken. */
// @ts-ignore: decorator
@unmanaged
class Woken {
  first: Line | null;
  last: Line | null;
}

/**
 * Those that were granted something since they were last taken stand behind those that were not: lines that wait on one account
 * take turns, and one that is never empty does not keep the others waiting.
 */
const hungry: Woken = changetype<Woken>(memory.data(offsetof<Woken>()));
const served: Woken = changetype<Woken>(memory.data(offsetof<Woken>()));

// Which of the two a line stands among: `Line.woken`.
const AMONG_HUNGRY: i32 = 1;
const AMONG_SERVED: i32 = 2;

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

export function markWoken(line: Line): void {
  if (line.woken != 0) return;
  const isServed = line.isServed != 0;
  line.woken = isServed ? AMONG_SERVED : AMONG_HUNGRY;
  line.nextWoken = null;
  const lines = isServed ? served : hungry;
  const last = lines.last;
  if (last === null) lines.first = line;
  else last.nextWoken = line;
  lines.last = line;
}

/** The next line that is to look, or null. */
export function takeWoken(): Line | null {
  const line = hungry.first === null ? served.first : hungry.first;
  if (line === null) return null;
  forgetWoken(line);
  line.isServed = 0;
  return line;
}

/** Takes a line out of the woken ones, if it is there. */
export function forgetWoken(line: Line): void {
  if (line.woken == 0) return;
  const lines = line.woken == AMONG_SERVED ? served : hungry;
  let previous: Line | null = null;
  let at = lines.first;
  while (at !== null && at !== line) {
    previous = at;
    at = at.nextWoken;
  }
  if (previous === null) lines.first = line.nextWoken;
  else previous.nextWoken = line.nextWoken;
  if (lines.last === line) lines.last = previous;
  line.woken = 0;
}
