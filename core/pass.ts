import type { RateLimiter } from "./account.ts";
import { checkedInstant, checkedVerdict } from "./answers.ts";
import { isReadableRefusal, UncorrectableError } from "./errors.ts";
import { messageOf } from "./faults.ts";
import type { Grant } from "./grant.ts";
import { refusal } from "./accounts/native.ts";
import { invariant, show } from "./invariant.ts";
import type { Monitor } from "./monitor.ts";
import { type Departure, stopped, type Waiter } from "./parking.ts";
import {
  ASK,
  ASK_EARLIEST,
  ASK_FITS,
  ASK_GIVE,
  CANCELLED,
  DEFECT,
  DONE,
  GRANTED,
  HELD,
  MEMORY_ENTRY,
  NO,
  NO_ENTRY,
  OUTCOME_BITS,
  REFUSED,
  THREW,
  WAKE_LINES,
  YES,
} from "../assembly/layout.ts";

const OUTCOME_MASK = (1 << OUTCOME_BITS) - 1;
const NOTHING: readonly unknown[] = Object.freeze([]);

/**
 * Runs the kernel's cursor over the line to its end: a whole pass, or the inline attempt of the only waiter. It is the only
 * driver of passes. The clock is read once; an inline attempt goes by the reading of its arrival. Whatever escapes closes
 * the admission, and a trap its kernel.
 */
export function drive(
  monitor: Monitor,
  isInline: boolean,
  reportsHeld: boolean,
  now: number = monitor.now(),
): void {
  const { host } = monitor;
  try {
    monitor.beginPass();
    try {
      walk(monitor, isInline, reportsHeld && monitor.reporter !== null, now);
    } finally {
      monitor.endPass();
    }
    monitor.arm();
    // A line that attempted in between may have been refused for what a failed attempt gave back.
    host.deliverWakes(WAKE_LINES);
    monitor.sweep();
    monitor.memoryLink.tellTurns(monitor.memoryLink.takeTurns());
  } catch (error) {
    if (isTrap(error)) host.trapped(error);
    else closeOn(monitor, error);
  }
}

/** Moves the cursor from the head to its end, and notes when to look again. */
function walk(monitor: Monitor, isInline: boolean, wantsHeld: boolean, now: number): void {
  const { host, line: { record: line }, memoryLink } = monitor;
  const { kernel } = host;
  host.stampWall(monitor.clock);
  const reading = memoryLink.reading(now);
  invariant(
    kernel.begin(line, isInline ? 1 : 0, wantsHeld ? 1 : 0, now, reading) === 1,
    "no step runs when one begins",
  );
  let word = kernel.next(line);
  while ((word & OUTCOME_MASK) !== DONE) {
    word = follow(monitor, word, now);
    if (host.defect !== null) return;
  }
  monitor.lookAgainAt(kernel.deadline(line), kernel.laterDeadline(line));
}

/** Closes the admission; if the kernel turns out to be broken as well, that has failed everyone already. */
function closeOn(monitor: Monitor, defect: unknown): void {
  try {
    monitor.failWith(defect);
  } catch (error) {
    if (monitor.host.defect === null) throw error;
  }
}

/** A trap, or a stack that ran out inside the kernel, may leave its records half written. */
function isTrap(error: unknown): boolean {
  return error instanceof WebAssembly.RuntimeError || error instanceof RangeError;
}

/** Acts on one outcome; answers the next. */
function follow(monitor: Monitor, word: number, now: number): number {
  const { host, line: { record: line } } = monitor;
  const { kernel } = host;
  const code = word & OUTCOME_MASK;
  const waiter = host.waiters[word >>> OUTCOME_BITS];
  invariant(waiter !== undefined, "an outcome names a parked waiter");
  switch (code) {
    case ASK:
      return ask(monitor, waiter);
    case HELD:
      monitor.reporter?.held(waiter, kernel.askedEntry(line));
      break;
    case GRANTED:
      granted(monitor, waiter, now);
      break;
    case REFUSED:
      refused(monitor, waiter, now);
      break;
    case CANCELLED:
      monitor.line.depart(waiter, waiter.departure ?? stopped(), now, NO_ENTRY);
      break;
    default:
      invariant(code === DEFECT, `outcome ${code} is known`);
      monitor.failWith(monitor.fault);
      return DONE;
  }
  return kernel.next(line);
}

function granted(monitor: Monitor, waiter: Waiter, now: number): void {
  const { demand, job } = waiter;
  const heldTicks = readHeldTicks(monitor, waiter, now);
  const waitTicks = Math.max(0, now - waiter.arrivedAt);
  const grant = monitor.makeGrant(demand, { job, waitTicks, heldTicks });
  monitor.reporter?.granted(demand.entries, job!, heldTicks);
  monitor.line.forget(waiter);
  if (waiter.departure === null) waiter.succeed(grant);
  else takeBack(monitor, waiter, grant, waiter.departure);
}

/** How long each account held a granted waiter, memory last, NaN when never; null when nobody did. */
function readHeldTicks({ host, memory }: Monitor, { slot, demand }: Waiter, now: number): number[] | null {
  const entries = demand.entries.length;
  const hasMemory = memory !== null;
  let ticks: number[] | null = null;
  for (let i = 0; i < entries + (hasMemory ? 1 : 0); i++) {
    const held = now - host.kernel.heldSince(slot, i < entries ? i : MEMORY_ENTRY);
    if (ticks !== null) ticks.push(held);
    else if (!Number.isNaN(held)) ticks = i === 0 ? [held] : [...new Array<number>(i).fill(NaN), held];
  }
  return ticks;
}

/** The caller left while its grant was being reported: everything is returned, and it gets its own error. */
function takeBack(monitor: Monitor, waiter: Waiter, grant: Grant, departure: Departure): void {
  try {
    grant.rollback();
  } catch (fault) {
    monitor.logger.error(`An account failed while a grant was rolled back: ${messageOf(fault)}`);
  }
  waiter.fail(departure.error);
}

function refused(monitor: Monitor, waiter: Waiter, now: number): void {
  const { host, line: { record: line } } = monitor;
  const entry = host.kernel.refusedEntry(line, waiter.slot);
  const reason = host.kernel.refusedReason(line);
  if (reason !== THREW) {
    const { key, count, sum } = waiter.demand.entries[entry]!;
    monitor.line.depart(
      waiter,
      { error: refusal(key, { count, sum }, reason), reason: "circuit_blocked" },
      now,
      entry,
    );
    return;
  }
  monitor.line.depart(waiter, thrownDeparture(monitor, waiter, entry, monitor.fault), now, entry);
}

/** What an account threw about one waiter: its own refusal as it is, a bug wrapped and logged. */
function thrownDeparture(monitor: Monitor, waiter: Waiter, entry: number, fault: unknown): Departure {
  if (isReadableRefusal(fault)) return { error: fault, reason: "circuit_blocked" };
  const account = entry === MEMORY_ENTRY
    ? monitor.memory!.limiterName
    : waiter.demand.entries[entry]!.key.limiterName;
  const message = `Cannot admit: account ${show(account)} failed: ${messageOf(fault)}`;
  monitor.logger.error(message, { account, job: waiter.job?.id ?? null });
  monitor.logger.error(fault instanceof Error ? fault.stack ?? fault.message : show(fault));
  return { error: new UncorrectableError(message, { account, cause: fault }), reason: "aborted" };
}

/** Asks a custom account what the kernel wants to know, with our own state whole, and goes on with its answer. */
function ask(monitor: Monitor, waiter: Waiter): number {
  const { host, line: { record: line } } = monitor;
  const { kernel } = host;
  const entry = kernel.askedEntry(line);
  const verb = kernel.askedVerb(line);
  const isMemory = entry === MEMORY_ENTRY;
  const limiter = isMemory ? monitor.memory as RateLimiter<unknown> : waiter.demand.entries[entry]!.limiter;
  const mine = isMemory ? NOTHING : waiter.demand.entries[entry]!.amounts;
  let verdict = YES;
  let instant = Infinity;
  try {
    const ahead = isMemory || verb === ASK_GIVE ? NOTHING : reserved(monitor, waiter, entry);
    if (verb === ASK_GIVE) compensate(monitor, () => limiter.give(mine));
    else if (verb === ASK_EARLIEST) instant = checkedInstant(limiter.earliestFit(mine, ahead));
    else if (verb === ASK_FITS) verdict = checkedVerdict("fits", limiter.fits(mine, ahead)) ? YES : NO;
    else verdict = checkedVerdict("tryTake", limiter.tryTake(mine, ahead)) ? YES : NO;
  } catch (fault) {
    monitor.fault = fault;
    verdict = THREW;
  }
  return kernel.answer(line, verdict, instant);
}

/**
 * Gives back inside a failed attempt. That counts as no change: the account is as it was before the attempt, so what it wakes
 * is not woken. Only a line that attempted something in between may have been refused for it.
 */
function compensate(monitor: Monitor, give: () => void): void {
  const { host, line: { record: line } } = monitor;
  const outer = host.quiet;
  host.quiet = { owner: monitor, isForAll: host.kernel.wasAlone(line) === 1 };
  try {
    give();
  } finally {
    host.quiet = outer;
  }
}

/** What the head holds reserved on the key of an entry; nothing for the head itself. */
function reserved(monitor: Monitor, waiter: Waiter, entry: number): readonly unknown[] {
  const head = monitor.host.waiters[monitor.host.kernel.headSlot(monitor.line.record)]!;
  if (head === waiter) return NOTHING;
  const { key } = waiter.demand.entries[entry]!;
  return head.demand.entries.find((each) => each.key === key)?.amounts ?? NOTHING;
}
