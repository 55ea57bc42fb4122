import { show } from "./invariant.ts";

/** What a fault says, for a message of our own. */
export function messageOf(fault: unknown): string {
  return fault instanceof Error ? fault.message : show(fault);
}

/** Calls, and keeps what is thrown instead of throwing it. */
export function collect(faults: unknown[], call: () => void): void {
  try {
    call();
  } catch (fault) {
    faults.push(fault);
  }
}

/** Does nothing without a fault. @throws the only one as it is; several as one AggregateError that says `what` of their number. */
export function throwAll(faults: readonly unknown[], what: (count: number) => string): void {
  if (faults.length === 0) return;
  throw faults.length === 1 ? faults[0] : new AggregateError(faults, what(faults.length));
}
