import { InvalidStateError } from "../errors.ts";
import { show } from "../invariant.ts";
import type { SpendGate } from "./spend_gate.ts";

/**
 * Which job each gate knows by an id, while that job is running: kept by gate, as several registries may share one. A gate that
 * took two jobs for attempts of one would count one of them only.
 */
const claims = new WeakMap<SpendGate, Map<string, object>>();

/** A gate is going to be asked about a job. @throws InvalidStateError when it knows another one by that id. */
export function claimId(gate: SpendGate, id: string, job: object): void {
  if (isClaimedByOther(gate, id, job)) {
    throw new InvalidStateError(
      `Cannot start job ${show(id)}: another job with this id is running, give each job a context of its own`,
    );
  }
  const jobs = claims.get(gate) ?? new Map<string, object>();
  claims.set(gate, jobs);
  jobs.set(id, job);
}

/** Whether a gate knows another job by that id. */
export function isClaimedByOther(gate: SpendGate, id: string, job: object): boolean {
  return (claims.get(gate)?.get(id) ?? job) !== job;
}

/** The job has ended: its id may come again. */
export function releaseId(gate: SpendGate, id: string): void {
  claims.get(gate)?.delete(id);
}
