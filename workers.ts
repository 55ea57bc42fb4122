/**
 * The library for Cloudflare Workers. Two things are different there. WebAssembly cannot be compiled while a request is
 * handled, so the compiled kernel is handed to `setKernelModule` at the top of the module. And timers and promises belong to
 * the request that made them, so whatever waits needs a {@link WorkersClock}. docs/workers.md has both, and what does not work.
 *
 * @module
 */
import { type Caller, type Clock, systemClock, type Timer } from "./mod.ts";

export * from "./mod.ts";

/** What a WorkersClock may be given. */
export interface WorkersClockOptions {
  /**
   * Milliseconds between two signs of life of each request that waits or holds a grant, from 10 to 60,000; 1,000 when left
   * out. A request is taken for gone after three to five of them.
   */
  beatMs?: number;
}

const BEAT_MS = 1_000;
const MIN_BEAT_MS = 10;
const MAX_BEAT_MS = 60_000;
/** Beats without a sign of life after which a request is suspected; if none comes until the next sweep, it is gone. */
const SILENT_BEATS = 3;
/** How many of the oldest waiters arm the next alarm: one would do, if no request were ever cancelled. */
const GUARDS = 4;

/**
 * The clock of Workers: give one to an Admission and to every account in it that reads time.
 *
 * A timer of a finished request never fires there, and a request without a timer or other I/O of its own is killed while it
 * waits. So each caller keeps a timer in its own request from the turn in which it is granted or begins to wait until its
 * grant is settled. Computed instants and time limits are met by the timers of the four oldest waiters. By the same timers
 * one request notices that another is gone without having left the line or released its grant, and does it in its stead,
 * three to five beats later. A streamed response may hold its grant as long as it likes.
 *
 * In a Durable Object all calls share one context, whose timers go on: nobody is ever gone there, whatever a call forgot.
 */
export class WorkersClock implements Clock {
  readonly #beatMs: number;
  readonly #alarms = new Set<Alarm>();
  /** Every caller that is not known to be over, oldest first. */
  readonly #presences = new Set<Presence>();
  /** Those of them that are in line. */
  readonly #waiting = new Set<Presence>();
  #originMs = NaN;
  #latestMs = 0;
  #sweptAtMs = 0;

  /** A clock for the requests of one isolate. @throws TypeError or RangeError when `beatMs` is not a number from 10 to 60,000. */
  constructor(options: WorkersClockOptions = {}) {
    const { beatMs = BEAT_MS, ...others } = options;
    const [unknown] = Object.keys(others);
    if (unknown !== undefined) {
      throw new TypeError(
        `Cannot make a WorkersClock: there is no option ${JSON.stringify(unknown)}, the options are beatMs`,
      );
    }
    const what = `Cannot make a WorkersClock: beatMs is ${String(beatMs)}`;
    if (typeof beatMs !== "number") throw new TypeError(`${what}, it should be a number of milliseconds`);
    if (!(beatMs >= MIN_BEAT_MS && beatMs <= MAX_BEAT_MS)) {
      throw new RangeError(`${what}, it should be from ${MIN_BEAT_MS} to ${MAX_BEAT_MS}`);
    }
    this.#beatMs = beatMs;
  }

  /**
   * Milliseconds since this clock was first read in a request, and 0 before; it never goes back, although each request of
   * Workers has a reading of its own. Counted from there because a reading of 1970's clock is too large to be exact to a tick.
   */
  now(): number {
    const ms = systemClock.now();
    // Outside of requests the platform's clock stands at 0.
    if (ms > 0) {
      if (Number.isNaN(this.#originMs)) this.#originMs = ms;
      this.#latestMs = Math.max(this.#latestMs, ms - this.#originMs);
    }
    return this.#latestMs;
  }

  /** Wall time in milliseconds since 1970. */
  wallNow(): number {
    return systemClock.wallNow();
  }

  /** Calls `fn` when the time has come, in the request of one of those who wait; never while nobody does. */
  setTimer(delayMs: number, fn: () => void): Timer {
    const alarm: Alarm = { atMs: this.now() + delayMs, fn };
    this.#alarms.add(alarm);
    this.#ringGuards();
    return { cancel: () => void this.#alarms.delete(alarm) };
  }

  /** Called by Admission for each caller, in the caller's own request. @throws what the platform does outside of requests. */
  attend(caller: Caller): () => void {
    const presence = new Presence(caller, this.now());
    const sleeping = presence.sleep(this.#beatMs);
    this.#presences.add(presence);
    if (caller.isWaiting) this.#waiting.add(presence);
    void this.#stay(presence, sleeping);
    this.#ringGuards();
    this.#sweep();
    return () => this.#endWait(presence);
  }

  /** Runs in the request of one caller. When that is gone it simply never goes on. */
  async #stay(presence: Presence, sleeping: Promise<void>): Promise<void> {
    await sleeping;
    while (!presence.caller.isOver) {
      presence.seenAtMs = this.now();
      this.#look();
      await presence.sleep(this.#delayFor(presence));
    }
    this.#presences.delete(presence);
  }

  /** How long one may sleep: to its next beat, a guard only to the next alarm. */
  #delayFor(presence: Presence): number {
    const untilMs = this.#guards().includes(presence) ? this.#nextAlarmMs() - this.now() : Infinity;
    return Math.min(Math.max(Math.ceil(untilMs), 1), this.#beatMs);
  }

  #nextAlarmMs(): number {
    let nextMs = Infinity;
    for (const { atMs } of this.#alarms) nextMs = Math.min(nextMs, atMs);
    return nextMs;
  }

  /** The oldest waiters that showed a sign of life in time. */
  #guards(): Presence[] {
    const guards: Presence[] = [];
    for (const presence of this.#waiting) {
      if (this.#latestMs - presence.seenAtMs < 2 * this.#beatMs) guards.push(presence);
      if (guards.length === GUARDS) break;
    }
    return guards;
  }

  /** Wakes the guards that would sleep through the next alarm. */
  #ringGuards(): void {
    const nextMs = this.#nextAlarmMs();
    for (const guard of this.#guards()) {
      if (guard.sleepsUntilMs > nextMs) guard.ring();
    }
  }

  #endWait(presence: Presence): void {
    this.#waiting.delete(presence);
    if (presence.caller.isOver) this.#presences.delete(presence);
    this.#ringGuards();
  }

  /** Calls what is due. */
  #look(): void {
    const nowMs = this.now();
    for (const alarm of [...this.#alarms]) {
      if (alarm.atMs <= nowMs && this.#alarms.delete(alarm)) callAlone(alarm.fn);
    }
    this.#sweep();
  }

  /** At most once a beat: forgets who is over, and lets those go whose request is gone. */
  #sweep(): void {
    const nowMs = this.now();
    if (nowMs - this.#sweptAtMs < this.#beatMs) return;
    this.#sweptAtMs = nowMs;
    for (const presence of [...this.#presences]) {
      if (presence.caller.isOver) this.#presences.delete(presence);
      else if (presence.suspect(nowMs - SILENT_BEATS * this.#beatMs)) {
        this.#presences.delete(presence);
        presence.caller.abandon();
      }
    }
  }
}

interface Alarm {
  readonly atMs: number;
  readonly fn: () => void;
}

/** What it throws is reported like any timer's, and stops nobody else. */
function callAlone(fn: () => void): void {
  try {
    fn();
  } catch (fault) {
    queueMicrotask(() => {
      throw fault;
    });
  }
}

/** What keeps one caller's request present. */
class Presence {
  readonly caller: Caller;
  /** The last sign of life. */
  seenAtMs: number;
  sleepsUntilMs = 0;
  #isSuspect = false;
  #ring: (() => void) | null = null;

  constructor(caller: Caller, nowMs: number) {
    this.caller = caller;
    this.seenAtMs = nowMs;
  }

  /** Sleeps in the request that calls it. The timer is armed before this answers, so that it throws where none may be. */
  sleep(delayMs: number): Promise<void> {
    let wake!: () => void;
    const sleeping = new Promise<void>((resolve) => wake = resolve);
    const timer = setTimeout(wake, delayMs);
    this.#ring = wake;
    this.sleepsUntilMs = this.seenAtMs + delayMs;
    return sleeping.then(() => clearTimeout(timer));
  }

  /** Ends its sleep, from any request; it goes on in its own. */
  ring(): void {
    this.#ring?.();
    this.#ring = null;
  }

  /**
   * Suspects it if it has been silent since then. It is gone when it was suspect already: an isolate that was busy for long
   * keeps everybody's timers waiting, and they get a beat of time to fire before anybody is taken for gone.
   */
  suspect(silentSinceMs: number): boolean {
    const wasSuspect = this.#isSuspect;
    this.#isSuspect = this.seenAtMs <= silentSinceMs;
    return wasSuspect && this.#isSuspect;
  }
}
