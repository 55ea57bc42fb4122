// A counting gate: so many permits, in use until they are given back.

import { NEVER_PERMITS, NO, YES } from "../layout";
import { Gate } from "../records";

export function gateFits(gate: Gate, mine: i32, ahead: i32): i32 {
  if (mine > gate.capacity) return NEVER_PERMITS;
  return <i64> gate.inUse + <i64> mine + <i64> ahead <= <i64> gate.capacity ? YES : NO;
}

export function gateTake(gate: Gate, permits: i32): void {
  assert(gate.inUse + permits <= gate.capacity);
  gate.inUse += permits;
}

/** Whether the gate had that many in use; otherwise nothing changes. */
export function gateGive(gate: Gate, permits: i32): bool {
  if (permits > gate.inUse) return false;
  gate.inUse -= permits;
  return true;
}

/** Sets the capacity in place; running work above it ends by itself. Whether the gate grew. */
export function gateResize(gate: Gate, capacity: i32): bool {
  assert(capacity > 0);
  const grew = capacity > gate.capacity;
  gate.capacity = capacity;
  return grew;
}
