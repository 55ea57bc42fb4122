// The border, third part: the memory gate. A reading is the heap in use over its limit, NaN for none.

import { KIND_MEMORY } from "./layout";
import { Account, Memory } from "./records";
import * as accounts from "./accounts/account";
import { accountChanges } from "./changes";
import * as gate from "./accounts/memory_gate";
import * as slab from "./slab";

export function openMemory(): Account | null {
  const account = slab.allocateAccount();
  if (account === null) return null;
  account.kind = KIND_MEMORY;
  gate.memoryInit(changetype<Memory>(account));
  return account;
}

/** A look that may turn the latch. YES or NO. */
export function memoryFits(memory: Memory, now: f64, reading: f64): i32 {
  accountChanges(memory);
  return gate.memoryFits(memory, now, reading);
}

/** The same; a YES is a release. */
export function memoryTake(memory: Memory, now: f64, reading: f64): i32 {
  accountChanges(memory);
  return gate.memoryTake(memory, now, reading);
}

/** A tick, Infinity when nothing paces; a look unless the latch is set. */
export function memoryEarliest(memory: Memory, now: f64, reading: f64): f64 {
  accountChanges(memory);
  return gate.memoryEarliest(memory, now, reading);
}

/** What `memoryFits` would answer; changes nothing. */
export function memoryWouldFit(memory: Memory, now: f64, reading: f64): i32 {
  return gate.memoryWouldFit(memory, now, reading);
}

/** What `memoryEarliest` would answer after a no of `memoryFits`; changes nothing. */
export function memoryWouldFitAt(memory: Memory, now: f64, reading: f64): f64 {
  return gate.memoryWouldFitAt(memory, now, reading);
}

/** From now on it says yes to everyone. WAKE_ bits, 0 when it was stopped before. */
export function memoryStop(memory: Memory): i32 {
  accountChanges(memory);
  return gate.memoryStop(memory) ? accounts.gained(memory) : 0;
}

/** Says how many are held on it by a host that is no line of this kernel. */
export function memoryHoldElsewhere(memory: Memory, count: i32): void {
  accountChanges(memory);
  memory.heldElsewhere = count;
}

/** How often the latch has turned since this was last asked. The last turn led to the state it is in. */
export function takeLatchTurns(memory: Memory): i32 {
  const turns = memory.turns;
  memory.turns = 0;
  return turns;
}

export function memoryIsLatched(memory: Memory): i32 {
  return memory.isLatched;
}

/** In memory's line, over all lines and hosts. */
export function memoryHeld(memory: Memory): i32 {
  return gate.memoryHeld(memory);
}

/** The floor as a look at this reading would leave it, NaN before the first look. */
export function memoryFloor(memory: Memory, reading: f64): f64 {
  return gate.memoryFloor(memory, reading);
}

/** The growth penalty in force at this reading. */
export function memoryPenalty(memory: Memory, reading: f64): f64 {
  return gate.memoryPenalty(memory, gate.memoryFloor(memory, reading));
}

/** Ticks until the spacing lets the next one go; 0 when nothing paces. */
export function memoryPacing(memory: Memory, now: f64, reading: f64): f64 {
  return gate.memoryPacing(memory, now, reading);
}
