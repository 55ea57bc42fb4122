import type { JobSnapshot } from "./context.ts";
import type { DemandSnapshot, Entry } from "./demand.ts";
import type { UncorrectableError } from "./errors.ts";
import type { Grant } from "./grant.ts";
import { refusal } from "./accounts/native.ts";
import type { Kernel } from "./kernel.ts";
import type { Monitor } from "./monitor.ts";
import type { AdmitOptions } from "./options.ts";
import { cancelled } from "./parking.ts";
import { NO, YES } from "../assembly/layout.ts";

/** Writes the entries of a demand to where the kernel reads them. */
export function stage(kernel: Kernel, entries: readonly Entry[]): void {
  for (let i = 0; i < entries.length; i++) {
    const { limiterRecord, keyRecord, count, sum } = entries[i]!;
    kernel.stage(i, limiterRecord, keyRecord, count, sum);
  }
}

/** What an attempt goes by. */
export interface Look {
  /** The tick of the `admit` call, null when no clock was read for it yet. */
  readonly now: number | null;
  /** The heap's reading, NaN for none. */
  readonly reading: number;
}

const UNLOOKED: Look = Object.freeze({ now: null, reading: NaN });

/**
 * The look of an attempt that meets a memory gate. It may call the user's reader, so it comes before anybody looks whether
 * the line is empty.
 */
export function lookFor(monitor: Monitor, demand: DemandSnapshot, now: number | null): Look {
  if (!monitor.memoryLink.isDecidedFor(demand.entries.length)) return UNLOOKED;
  const at = now ?? monitor.now();
  const kept = monitor.memoryLink.keptReading(at);
  return { now: at, reading: kept ?? monitor.step(() => monitor.memoryLink.reading(at)) };
}

/**
 * The inline attempt of a demand that the kernel decides alone: a grant, or null when it has to wait. Reads a clock only if
 * an account of the demand does.
 *
 * @throws UncorrectableError when an account can never grant its part; the signal's reason, a CancellationError, or the
 * error of a closed admission, when that came while the grant was being reported.
 */
export function attempt(
  monitor: Monitor,
  demand: DemandSnapshot,
  job: JobSnapshot | null,
  { signal, context }: AdmitOptions,
  look: Look = UNLOOKED,
): Grant | null {
  const verdict = attemptNatively(monitor, demand, look);
  if (verdict === NO) return null;
  if (verdict !== YES) throw refuse(monitor, demand, job, verdict);
  const grant = monitor.makeGrant({ settler: monitor, demand, job, waitTicks: 0, heldTicks: null });
  if (monitor.reporter === null) return grant;
  monitor.report((reporter) => reporter.granted(demand.entries, job!, null));
  if (!signal?.aborted && !context?.isCancelled && !monitor.isClosed) return grant;
  // The news of the grant made its caller leave, or admission close: everything goes back (CAN-03).
  grant.rollback();
  monitor.assertOpen();
  throw signal?.aborted ? signal.reason : cancelled().error;
}

function attemptNatively(monitor: Monitor, demand: DemandSnapshot, look: Look): number {
  const { host, clock, line } = monitor;
  const { kernel } = host;
  stage(kernel, demand.entries);
  host.stampWall(clock);
  const now = look.now ?? (demand.clocks.length > 0 ? monitor.now() : 0);
  try {
    return kernel.attempt(line.record, demand.entries.length, now, look.reading);
  } catch (error) {
    throw host.trapped(error);
  } finally {
    if (look !== UNLOOKED) tellTurns(monitor);
  }
}

function tellTurns(monitor: Monitor): void {
  const turns = monitor.memoryLink.takeTurns();
  if (turns > 0) monitor.step(() => monitor.memoryLink.tellTurns(turns));
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
