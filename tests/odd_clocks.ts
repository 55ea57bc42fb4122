// Clocks that behave as clocks should not, or that a test sets directly.

import type { Clock, Timer } from "../mod.ts";
import type { ManualClock } from "../testing/mod.ts";

/** A clock that only ever says what a test set. It may go back, and it has no timers. */
export class SetClock implements Clock {
  ticks = 0;

  now(): number {
    return this.ticks / 1000;
  }

  wallNow(): number {
    return 0;
  }

  setTimer(): Timer {
    throw new Error("Cannot set a timer on a SetClock: nothing here should wait");
  }
}

/** Counts what a ManualClock is asked, and bends its timers. */
export class BentClock implements Clock {
  readonly #inner: ManualClock;
  /** Milliseconds that passed while timers stood still, as on a machine that slept. */
  sleptMs = 0;
  /** The share of each delay after which a timer fires; below 1 it fires early. */
  timerShare = 1;
  wallReadings = 0;
  /** Every delay that was asked for, ms. */
  readonly delays: number[] = [];

  constructor(inner: ManualClock) {
    this.#inner = inner;
  }

  now(): number {
    return this.#inner.now() + this.sleptMs;
  }

  wallNow(): number {
    this.wallReadings++;
    return this.#inner.wallNow() + this.sleptMs;
  }

  setTimer(delayMs: number, fn: () => void): Timer {
    this.delays.push(delayMs);
    return this.#inner.setTimer(delayMs * this.timerShare, fn);
  }
}

/** A clock that moves while a step runs, as real ones do. What came due meanwhile fires when the test lets the loop turn. */
export class JumpClock implements Clock {
  nowMs = 1000;
  readonly #timers = new Map<() => void, number>();

  now(): number {
    return this.nowMs;
  }

  wallNow(): number {
    return this.nowMs;
  }

  setTimer(delayMs: number, fn: () => void): Timer {
    const timer = () => fn();
    this.#timers.set(timer, this.nowMs + delayMs);
    return { cancel: () => void this.#timers.delete(timer) };
  }

  /** Fires what is due, and lets everything that follows happen. */
  async turn(): Promise<void> {
    for (const [timer, atMs] of [...this.#timers]) {
      if (atMs > this.nowMs || !this.#timers.delete(timer)) continue;
      timer();
    }
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
}
