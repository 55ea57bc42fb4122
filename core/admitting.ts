import { attempt, readHeap } from "./attempt.ts";
import { toTicksUp } from "./clock.ts";
import { createJobContext, type JobContext, type JobSnapshot } from "./context.ts";
import type { DemandSnapshot } from "./demand.ts";
import { InvalidStateError, QueueFullError } from "./errors.ts";
import { msUntil } from "./explanation.ts";
import type { Grant } from "./grant.ts";
import { show } from "./invariant.ts";
import type { Monitor } from "./monitor.ts";
import { checkNesting } from "./nesting.ts";
import type { AdmitOptions } from "./options.ts";
import type { Waiter } from "./parking.ts";
import { drive } from "./pass.ts";
import { isBeyond } from "./time_limits.ts";

/** Grants at once on an empty line, or parks. Throws what `admit` rejects with before anybody is parked. */
export function admit(monitor: Monitor, demand: DemandSnapshot, options: AdmitOptions): Promise<Grant> {
  // Where nobody's code runs before the caller parks, parking reads the clock: a grant at once needs no reading.
  let arrivedAt = demand.isNative && !demand.needsWiring ? null : monitor.now();
  const job = jobOf(monitor, options.context);
  const isPlain = prepare(monitor, demand);
  const { nested, logger } = monitor;
  if (nested !== "off" && options.detached !== true) checkNesting(demand, nested, logger);
  if (isPlain && isQuiet(monitor)) {
    const meetsMemory = monitor.memoryLink.isDecidedFor(demand.entries.length);
    if (demand.clock !== null || meetsMemory) arrivedAt ??= monitor.now();
    const reading = meetsMemory ? readHeap(monitor, arrivedAt!) : NaN;
    const grant = isQuiet(monitor) ? attempt(monitor, demand, arrivedAt ?? 0, reading, job, options) : null;
    if (grant !== null) return Promise.resolve(grant);
  }
  const isInline = isQuiet(monitor);
  if (demand.entries.length > 0 && monitor.line.counted >= monitor.maxQueue) {
    return refuseFull(monitor, demand, options, isInline && !isPlain);
  }
  const waiter = monitor.line.park(demand, job, arrivedAt ?? monitor.now());
  listen(monitor, waiter, options);
  if (isInline) drive(monitor, true, true, waiter.arrivedAt);
  // Only accounts outside the kernel can answer differently when they are asked again at once.
  if (!waiter.isSettled) wait(monitor, waiter, options, isInline && isPlain);
  return waiter.promise();
}

/** The inline attempt alone: a grant, or null. Nothing is reported when it is null. */
export function tryAdmit(monitor: Monitor, demand: DemandSnapshot): Grant | null {
  const isPlain = prepare(monitor, demand);
  if (monitor.size > 0 || monitor.isStepping) return null;
  if (!isPlain) return tryOutside(monitor, demand);
  const meetsMemory = monitor.memoryLink.isDecidedFor(demand.entries.length);
  const now = demand.clock !== null || meetsMemory ? monitor.now() : 0;
  if (!meetsMemory) return attempt(monitor, demand, now, NaN, jobOf(monitor, undefined), null);
  const reading = readHeap(monitor, now);
  return isQuiet(monitor) ? attempt(monitor, demand, now, reading, jobOf(monitor, undefined), null) : null;
}

/** Accounts outside the kernel are asked through a place in the line; without one there is no attempt. */
function tryOutside(monitor: Monitor, demand: DemandSnapshot): Grant | null {
  const waiter = monitor.line.tryPark(demand, jobOf(monitor, undefined), monitor.now());
  if (waiter === null) return null;
  drive(monitor, true, false, waiter.arrivedAt);
  if (waiter.grant !== null) return waiter.grant;
  if (waiter.isSettled) throw waiter.error;
  monitor.line.retract(waiter);
  return null;
}

/** Whether nobody waits and no step runs, so that an attempt may be made at once. */
function isQuiet(monitor: Monitor): boolean {
  return monitor.size === 0 && !monitor.isStepping;
}

/** Wires what has to be wired; whether the kernel can decide this demand alone. */
function prepare(monitor: Monitor, demand: DemandSnapshot): boolean {
  const { memoryLink, clock } = monitor;
  const isOnOneClock = demand.clock === null || demand.clock === clock;
  if (demand.isPlain && isOnOneClock && memoryLink.account === null) return true;
  for (const each of demand.clocks) {
    if (each.clock !== clock) throw foreignClock(each.name);
  }
  if (demand.needsWiring) {
    for (const entry of demand.entries) monitor.wirings.wire(entry);
  }
  if (demand.entries.length > 0) memoryLink.checkClock(clock);
  return demand.isNative && memoryLink.isPlainFor(demand.entries.length);
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
    if (waiter.isSettled) return waiter.promise();
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
}
