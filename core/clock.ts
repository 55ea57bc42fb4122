/** A timer that was set; cancelling it twice, or after it fired, does nothing. */
export interface Timer {
  /** The timer does not fire any more. */
  cancel(): void;
  /** Lets the process end although the timer is armed, where the runtime can. */
  unref?(): void;
}

/**
 * Where time comes from. One clock drives an Admission and every account that reads time in it.
 *
 * Milliseconds throughout; fractions count. `now` is monotonic: it never goes back and does not jump with the wall clock.
 */
export interface Clock {
  /** Monotonic milliseconds since an arbitrary start. */
  now(): number;
  /** Wall time in milliseconds since 1970, for time stamps only. */
  wallNow(): number;
  /** Calls `fn` once, `delayMs` or more from now. It may fire late, never before the delay as `now` measures it by much. */
  setTimer(delayMs: number, fn: () => void): Timer;
  /**
   * For runtimes where timers and promises die with the request that made them (Workers): is shown every caller of an
   * Admission on this clock, in the caller's own turn, when it is granted at once or begins to wait. Answers what is called
   * when the wait ends, in whoever's turn. What it throws refuses the caller.
   */
  attend?(caller: Caller): () => void;
}

/** One call of `admit` or `tryAdmit`, from its turn until its grant is settled. */
export interface Caller {
  /** Whether it stands in line. */
  readonly isWaiting: boolean;
  /** Whether it neither waits nor holds an unsettled grant: there is nothing more to attend to. */
  readonly isOver: boolean;
  /** Its request is gone: takes it out of the line, or releases its grant. Never throws; does nothing once it is over. */
  abandon(): void;
}

/** Ticks per millisecond. The kernel's instants are whole ticks. */
const TICKS_PER_MS = 1000;

/**
 * Slack in ticks when milliseconds become ticks: 1001 ticks are 1.001 ms, and 1.001 * 1000 is 1000.9999999999999. It covers
 * the rounding of doubles for clocks up to 8e11 ms (25 years) and is far below the one tick that would matter.
 */
const SLACK_TICKS = 1 / 16;

/** The tick that a clock reading lies in. */
export function toTicks(ms: number): number {
  return Math.floor(ms * TICKS_PER_MS + SLACK_TICKS);
}

/** The first tick at or after an instant. */
export function toTicksUp(ms: number): number {
  return Math.ceil(ms * TICKS_PER_MS - SLACK_TICKS);
}

/** Milliseconds of a tick. */
export function toMs(ticks: number): number {
  return ticks / TICKS_PER_MS;
}

/** Whole milliseconds in a span of ticks, rounded down. */
export function wholeMs(ticks: number): number {
  return Math.floor(ticks / TICKS_PER_MS);
}

/** The longest delay that runtimes can wait for; longer ones would fire at once. */
export const MAX_TIMER_MS: number = 2 ** 31 - 1;

/** The machine's clock: `performance.now`, `Date.now` and `setTimeout`, with delays rounded up to whole milliseconds. */
export const systemClock: Clock = {
  now: () => performance.now(),
  wallNow: () => Date.now(),
  setTimer(delayMs, fn) {
    // Runtimes cut fractions off, so 2.9 ms could fire after 2; beyond the longest delay they fire at once.
    const timer = setTimeout(fn, Math.min(Math.max(Math.ceil(delayMs), 0), MAX_TIMER_MS));
    return { cancel: () => clearTimeout(timer), unref: () => unrefTimer(timer) };
  },
};

/** Whether an object can serve as a Clock. */
export function isClock(value: unknown): value is Clock {
  if (typeof value !== "object" || value === null) return false;
  const { now, wallNow, setTimer, attend } = value as Partial<Clock>;
  if (attend !== undefined && typeof attend !== "function") return false;
  return typeof now === "function" && typeof wallNow === "function" && typeof setTimer === "function";
}

/** Calls `fn` once this turn of the event loop is over, without keeping the process alive. */
function afterTurn(fn: () => void): void {
  const immediate = (globalThis as { setImmediate?: (fn: () => void) => unknown }).setImmediate;
  const handle = immediate === undefined ? setTimeout(fn, 0) : immediate(fn);
  unrefTimer(handle);
}

/** Node and Bun hand out objects; Deno hands out numbers, as browsers do. */
function unrefTimer(handle: unknown): void {
  const deno = (globalThis as { Deno?: { unrefTimer?: (id: number) => void } }).Deno;
  if (typeof handle === "number") deno?.unrefTimer?.(handle);
  else (handle as { unref?: () => void }).unref?.();
}

/** One turn of the event loop, as one clock sees it. */
export interface Turn {
  readonly clock: Clock;
  readonly wallMs: number;
}

let turn: Turn | null = null;

/** This turn of the event loop if that clock was read in it last, or null. An object of its own each time. */
export function knownTurn(clock: Clock): Turn | null {
  return turn !== null && turn.clock === clock ? turn : null;
}

/** The wall time of this turn of the event loop: a clock is read for it at most once a turn. */
export function turnWallNow(clock: Clock): number {
  const known = knownTurn(clock);
  if (known !== null) return known.wallMs;
  if (turn === null && !noteTurnEnd()) return clock.wallNow();
  turn = { clock, wallMs: clock.wallNow() };
  return turn.wallMs;
}

/** Whether the end of this turn will be noticed: on Workers the timer for it may die with its request. */
function noteTurnEnd(): boolean {
  const { navigator } = globalThis as { navigator?: { userAgent?: string } };
  if (navigator?.userAgent === "Cloudflare-Workers") return false;
  try {
    afterTurn(endTurn);
    return true;
  } catch {
    return false;
  }
}

function endTurn(): void {
  turn = null;
}
