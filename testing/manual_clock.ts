import type { Clock, Timer } from "../mod.ts";
import { shown } from "./checks.ts";

interface ManualTimer extends Timer {
  atMs: number;
  order: number;
  fn: () => void;
  isLive: boolean;
}

/** Lets every promise that can settle do so. One turn of the event loop runs all microtasks. */
function settle(): Promise<void> {
  const { setImmediate } = globalThis as { setImmediate?: (fn: () => void) => unknown };
  if (setImmediate !== undefined) return new Promise((resolve) => void setImmediate(resolve));
  return new Promise((resolve) => void setTimeout(resolve, 0));
}

/**
 * A clock that a test moves. It starts where it is told and stands still in between; timers fire only while it is advanced,
 * each at its exact instant and in order, and what they set off settles before the next one fires.
 */
export class ManualClock implements Clock {
  #nowMs: number;
  #wallMs: number;
  #order = 0;
  /** A binary heap by instant, then by the order of setting. Cancelled timers stay until they come up. */
  readonly #timers: ManualTimer[] = [];
  #live = 0;

  /**
   * A clock that stands still.
   *
   * @param startMs where `now` starts.
   * @param wallMs where `wallNow` starts, ms since 1970.
   * @throws TypeError when a start is no number, RangeError when it is not finite.
   */
  constructor(startMs = 0, wallMs = 0) {
    checkFinite("Cannot make a ManualClock: startMs", startMs);
    checkFinite("Cannot make a ManualClock: wallMs", wallMs);
    this.#nowMs = startMs;
    this.#wallMs = wallMs;
  }

  now(): number {
    return this.#nowMs;
  }

  wallNow(): number {
    return this.#wallMs;
  }

  /** Moves the wall time alone, as when somebody sets the machine's clock. @throws as the constructor, for a step. */
  stepWall(ms: number): void {
    checkFinite("Cannot step a ManualClock: ms", ms);
    this.#wallMs += ms;
  }

  /** How many timers are armed. */
  get pendingTimers(): number {
    return this.#live;
  }

  /** The instant of the earliest armed timer, or null when none is. */
  get nextTimerMs(): number | null {
    this.#dropCancelled();
    return this.#timers[0]?.atMs ?? null;
  }

  setTimer(delayMs: number, fn: () => void): Timer {
    const timer: ManualTimer = {
      atMs: this.#nowMs + Math.max(0, delayMs),
      order: this.#order++,
      fn,
      isLive: true,
      cancel: () => {
        if (timer.isLive) this.#live--;
        timer.isLive = false;
      },
    };
    this.#live++;
    this.#timers.push(timer);
    this.#siftUp(this.#timers.length - 1);
    return timer;
  }

  /**
   * Moves on by that many milliseconds (fractions count, 0 settles what is due) and fires what comes due on the way.
   *
   * @throws TypeError when it is no number, RangeError when it is negative or not finite.
   */
  async advance(ms: number): Promise<void> {
    checkFinite("Cannot advance a ManualClock: ms", ms);
    if (ms < 0) throw new RangeError(`Cannot advance a ManualClock: ms is ${ms}, it should be 0 or more`);
    await this.advanceTo(this.#nowMs + ms);
  }

  /** Moves on to an instant of this clock; one that has passed only settles what is due. @throws as the constructor. */
  async advanceTo(atMs: number): Promise<void> {
    checkFinite("Cannot advance a ManualClock: atMs", atMs);
    await settle();
    for (let next = this.nextTimerMs; next !== null && next <= atMs; next = this.nextTimerMs) {
      this.#moveTo(next);
      this.#fireNext();
      await settle();
    }
    this.#moveTo(atMs);
    await settle();
  }

  #moveTo(atMs: number): void {
    if (atMs <= this.#nowMs) return;
    this.#wallMs += atMs - this.#nowMs;
    this.#nowMs = atMs;
  }

  #fireNext(): void {
    const timer = this.#pop()!;
    timer.isLive = false;
    this.#live--;
    timer.fn();
  }

  #dropCancelled(): void {
    while (this.#timers.length > 0 && !this.#timers[0]!.isLive) this.#pop();
  }

  #pop(): ManualTimer | undefined {
    const first = this.#timers[0];
    const last = this.#timers.pop();
    if (last !== undefined && this.#timers.length > 0) {
      this.#timers[0] = last;
      this.#siftDown(0);
    }
    return first;
  }

  #isBefore(a: number, b: number): boolean {
    const left = this.#timers[a]!;
    const right = this.#timers[b]!;
    return left.atMs === right.atMs ? left.order < right.order : left.atMs < right.atMs;
  }

  #swap(a: number, b: number): void {
    const kept = this.#timers[a]!;
    this.#timers[a] = this.#timers[b]!;
    this.#timers[b] = kept;
  }

  #siftUp(index: number): void {
    for (let at = index; at > 0;) {
      const parent = (at - 1) >> 1;
      if (!this.#isBefore(at, parent)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  #siftDown(index: number): void {
    for (let at = index;;) {
      const left = 2 * at + 1;
      const right = left + 1;
      let least = at;
      if (left < this.#timers.length && this.#isBefore(left, least)) least = left;
      if (right < this.#timers.length && this.#isBefore(right, least)) least = right;
      if (least === at) return;
      this.#swap(at, least);
      at = least;
    }
  }
}

function checkFinite(what: string, ms: unknown): void {
  if (typeof ms !== "number") {
    throw new TypeError(`${what} is ${shown(ms)}, it should be a number of milliseconds`);
  }
  if (!Number.isFinite(ms)) throw new RangeError(`${what} is ${ms}, it should be finite`);
}
