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
): Grant | null {
  const verdict = attemptNatively(monitor, demand);
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

function attemptNatively(monitor: Monitor, demand: DemandSnapshot): number {
  const { host, clock, line } = monitor;
  const { kernel } = host;
  stage(kernel, demand.entries);
  host.stampWall(clock);
  const now = demand.clocks.length > 0 ? monitor.now() : 0;
  try {
    return kernel.attempt(line.record, demand.entries.length, now);
  } catch (error) {
    throw host.trapped(error);
  }
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
