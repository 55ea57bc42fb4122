import { type Arrival, attempt, attemptPlainly } from "./attempt.ts";
import { attendGrant, attendWaiter } from "./attending.ts";
import { toTicksUp } from "./clock.ts";
import { createJobContext, type JobContext, type JobSnapshot } from "./context.ts";
import type { DemandSnapshot } from "./entry.ts";
import { InvalidStateError, QueueFullError } from "./errors.ts";
import { msUntil } from "./explanation.ts";
import type { Grant } from "./grant.ts";
import { show } from "./invariant.ts";
import type { Monitor } from "./monitor.ts";
import { checkNesting, isNesting } from "./nesting.ts";
import type { AdmitOptions } from "./options.ts";
import type { Waiter } from "./parking.ts";
import { drive } from "./pass.ts";
import { isBeyond } from "./time_limits.ts";
import { tellUnstarted } from "./unstarted.ts";

/** Grants at once on an empty line, or parks. Throws what `admit` rejects with before anybody is parked. */
export function admit(monitor: Monitor, demand: DemandSnapshot, options: AdmitOptions): Promise<Grant> {
  if (!isPlainFor(monitor, demand)) return admitWithCare(monitor, demand, options);
  if (isNesting()) checkNesting(monitor, demand, options.detached);
  const now = demand.clock === null ? null : monitor.now();
  if (monitor.isQuiet) {
    const grant = attemptPlainly(monitor, demand, now ?? 0);
    if (grant !== null) return Promise.resolve(grant);
  }
  return enterLine(monitor, demand, options, { arrivedAt: now, job: null, isPlain: true });
}

/** The same where an account has to be asked or wired, memory is met, or a sink hears of it. */
function admitWithCare(monitor: Monitor, demand: DemandSnapshot, options: AdmitOptions): Promise<Grant> {
  // Where nobody's code runs before the caller parks, the clock is read when it is needed first.
  const arrivedAt = demand.isNative && !demand.needsWiring ? null : monitor.now();
  const job = jobOf(monitor, options.context);
  const isPlain = prepare(monitor, demand);
  if (isNesting()) checkNesting(monitor, demand, options.detached);
  const arrival: Arrival = { arrivedAt, job, isPlain };
  if (isPlain && monitor.isQuiet) {
    const grant = attempt(monitor, demand, arrival, options);
    if (grant !== null) return Promise.resolve(attendGrant(monitor, grant));
  }
  return enterLine(monitor, demand, options, arrival);
}

/** Parks a caller who was not granted at once, unless the line is full. */
function enterLine(
  monitor: Monitor,
  demand: DemandSnapshot,
  options: AdmitOptions,
  { arrivedAt, job, isPlain }: Arrival,
): Promise<Grant> {
  const isInline = monitor.isQuiet;
  if (demand.entries.length > 0 && monitor.line.counted >= monitor.maxQueue) {
    return refuseFull(monitor, demand, options, isInline && !isPlain);
  }
  const waiter = monitor.line.park(demand, job, arrivedAt ?? monitor.now());
  if (options.signal !== undefined || options.context !== undefined) listen(monitor, waiter, options);
  if (isInline) drive(monitor, true, true, waiter.arrivedAt);
  // Only accounts outside the kernel can answer differently when they are asked again at once.
  if (!waiter.isSettled) wait(monitor, waiter, options, isInline && isPlain);
  if (monitor.isAttended) attendWaiter(monitor, waiter);
  return waiter.promise();
}

/** The inline attempt alone: a grant, or null. Nothing is reported when it is null. */
export function tryAdmit(monitor: Monitor, demand: DemandSnapshot): Grant | null {
  if (!isPlainFor(monitor, demand)) return tryAdmitWithCare(monitor, demand);
  // The kernel sees for itself whether somebody waits.
  return attemptPlainly(monitor, demand, demand.clock === null ? 0 : monitor.now());
}

/** The same where an account has to be asked or wired, memory is met, or a sink hears of it. */
function tryAdmitWithCare(monitor: Monitor, demand: DemandSnapshot): Grant | null {
  const isDecidedInKernel = prepare(monitor, demand);
  if (!monitor.isQuiet) return null;
  const job = jobOf(monitor, undefined);
  if (isDecidedInKernel) {
    const grant = attempt(monitor, demand, { arrivedAt: null, job, isPlain: true }, {});
    return grant === null ? null : attendGrant(monitor, grant);
  }
  // Accounts outside the kernel are asked through a place in the line; without one there is no attempt.
  const waiter = monitor.line.tryPark(demand, job, monitor.now());
  if (waiter === null) return null;
  drive(monitor, true, false, waiter.arrivedAt);
  if (waiter.grant !== null) return attendGrant(monitor, waiter.grant);
  if (waiter.isSettled) throw waiter.error;
  monitor.line.retract(waiter);
  return null;
}

/** Whether the kernel decides a demand alone, nobody has to be told of it, and one clock drives it all. */
function isPlainFor(monitor: Monitor, demand: DemandSnapshot): boolean {
  return monitor.isPlain && demand.isPlain && (demand.clock === null || demand.clock === monitor.clock);
}

/** Wires what has to be wired; whether the kernel can decide this demand alone. */
function prepare(monitor: Monitor, demand: DemandSnapshot): boolean {
  for (const { clock, name } of demand.clocks) {
    if (clock !== monitor.clock) throw foreignClock(name);
  }
  if (demand.needsWiring) {
    for (const entry of demand.entries) monitor.wirings.wire(entry);
  }
  if (demand.entries.length > 0) monitor.memoryLink.checkClock(monitor.clock);
  return demand.isNative && monitor.memoryLink.isPlainFor(demand.entries.length);
}

function foreignClock(name: string): InvalidStateError {
  return new InvalidStateError(
    `Cannot admit a demand on ${
      show(name)
    }: it reads another clock than this Admission, give both the same clock`,
  );
}

function jobOf(monitor: Monitor, context: JobContext | undefined): JobSnapshot | null {
  if (monitor.reporter === null) return null;
  return (context ?? createJobContext()).snapshot();
}

/** With no room in line: one attempt of accounts outside the kernel, then the refusal. Nothing is reported. */
function refuseFull(
  monitor: Monitor,
  demand: DemandSnapshot,
  options: AdmitOptions,
  isAttempted: boolean,
): Promise<Grant> {
  if (isAttempted) {
    const waiter = monitor.line.park(demand, jobOf(monitor, options.context), monitor.now());
    listen(monitor, waiter, options);
    drive(monitor, true, false, waiter.arrivedAt);
    if (waiter.isSettled) {
      attendWaiter(monitor, waiter);
      return waiter.promise();
    }
    monitor.line.retract(waiter);
  }
  const queueSize = monitor.size;
  const message =
    `Cannot wait: ${queueSize} wait already and maxQueue is ${monitor.maxQueue}; try again later`;
  throw new QueueFullError(message, { queueSize, retryAfterMs: msUntil(monitor.now(), monitor.nextLookMs) });
}

/** A signal or context that fails while it is listened to leaves nobody in line. */
function listen(monitor: Monitor, waiter: Waiter, { signal, context }: AdmitOptions): void {
  try {
    waiter.listen(signal ?? null, context ?? null);
  } catch (fault) {
    if (!waiter.isSettled) monitor.line.retract(waiter);
    throw fault;
  }
}

/** The waiter stays, within its time, unless that is hopeless. `wasSeen`: asking it again at once would change nothing. */
function wait(monitor: Monitor, waiter: Waiter, options: AdmitOptions, wasSeen: boolean): void {
  const { timeoutMs = Infinity, failFast = false } = options;
  waiter.expiresAt = waiter.arrivedAt + toTicksUp(timeoutMs);
  const isHopeless = failFast && isBeyond(monitor, waiter);
  const isOneAttempt = timeoutMs === 0 && (wasSeen || !monitor.isStarted);
  if (isHopeless || isOneAttempt) return monitor.expire(waiter);
  if (waiter.expiresAt < Infinity) monitor.limit(waiter);
  if (!wasSeen) monitor.wake();
  if (!monitor.isStarted) tellUnstarted(monitor);
}
