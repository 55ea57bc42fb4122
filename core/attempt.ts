import type { JobSnapshot } from "./context.ts";
import type { DemandSnapshot } from "./entry.ts";
import type { UncorrectableError } from "./errors.ts";
import type { Grant } from "./grant.ts";
import { refusal } from "./accounts/native.ts";
import type { Monitor } from "./monitor.ts";
import type { AdmitOptions } from "./options.ts";
import { cancelled } from "./parking.ts";
import { BUSY, NO, YES } from "../assembly/layout.ts";

/** What is known of a caller before it is granted or parked. */
export interface Arrival {
  /** The tick of its call, null while no clock was read for it. */
  arrivedAt: number | null;
  /** The job that events name; null without a sink. */
  readonly job: JobSnapshot | null;
  /** Whether the kernel decides its demand alone. */
  readonly isPlain: boolean;
}

/**
 * The inline attempt of a demand that the kernel decides alone, where nobody hears of it and no memory is met: a grant, or
 * null when it has to wait. One call over the border. `now` is 0 where no account reads a clock.
 *
 * @throws UncorrectableError when an account can never grant its part.
 */
export function attemptPlainly(monitor: Monitor, demand: DemandSnapshot, now: number): Grant | null {
  const { host } = monitor;
  host.stampWall(monitor.clock);
  const verdict = host.attempt(monitor.line.record, demand, now, NaN);
  return verdict === YES ? monitor.makeGrant(demand, null) : declined(monitor, demand, null, verdict);
}

/**
 * The same where the memory gate is met, or somebody hears of it. Reads the clock for the caller if that is needed.
 *
 * @throws also the signal's reason, a CancellationError, or the error of a closed admission when the caller left or admission
 * closed while its grant was being reported.
 */
export function attempt(
  monitor: Monitor,
  demand: DemandSnapshot,
  arrival: Arrival,
  options: AdmitOptions,
): Grant | null {
  const { host, memoryLink, line } = monitor;
  const { job } = arrival;
  const meetsMemory = memoryLink.isDecidedFor(demand.entries.length);
  if (meetsMemory || demand.clock !== null) arrival.arrivedAt ??= monitor.now();
  const now = arrival.arrivedAt ?? 0;
  const reading = meetsMemory ? readHeap(monitor, now) : NaN;
  // The user's reader may have parked somebody.
  if (!monitor.isQuiet) return null;
  host.stampWall(monitor.clock);
  const verdict = host.attempt(line.record, demand, now, reading);
  if (meetsMemory) tellTurns(monitor);
  if (verdict !== YES) return declined(monitor, demand, job, verdict);
  return job === null ? monitor.makeGrant(demand, null) : tellGrant(monitor, demand, job, options);
}

/** The heap's reading; it may call the user's reader. */
function readHeap(monitor: Monitor, now: number): number {
  const { memoryLink } = monitor;
  return memoryLink.keptReading(now) ?? monitor.step(() => memoryLink.reading(now));
}

function tellTurns(monitor: Monitor): void {
  const turns = monitor.memoryLink.takeTurns();
  if (turns > 0) monitor.step(() => monitor.memoryLink.tellTurns(turns));
}

function tellGrant(
  monitor: Monitor,
  demand: DemandSnapshot,
  job: JobSnapshot,
  { signal, context }: AdmitOptions,
): Grant {
  const grant = monitor.makeGrant(demand, { job, waitTicks: 0, heldTicks: null });
  monitor.report((reporter) => reporter.granted(demand.entries, job, null));
  if (!signal?.aborted && !context?.isCancelled && !monitor.isClosed) return grant;
  // The news of the grant made its caller leave, or admission close: everything goes back (CAN-03).
  grant.rollback();
  monitor.assertOpen();
  throw signal?.aborted ? signal.reason : cancelled().error;
}

/** Null when the demand has to wait; a clock of the user's own that parks somebody when it is read makes the line busy. */
function declined(
  monitor: Monitor,
  demand: DemandSnapshot,
  job: JobSnapshot | null,
  verdict: number,
): null {
  if (verdict === NO || verdict === BUSY) return null;
  throw refuse(monitor, demand, job, verdict);
}

function refuse(
  monitor: Monitor,
  demand: DemandSnapshot,
  job: JobSnapshot | null,
  verdict: number,
): UncorrectableError {
  const entry = monitor.host.kernel.attemptRefusal();
  monitor.report((reporter) => reporter.refused(demand.entries, entry, job!, "circuit_blocked"));
  const { key, count, sum } = demand.entries[entry]!;
  return refusal(key, { count, sum }, verdict);
}
