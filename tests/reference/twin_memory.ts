// The memory gate of the reference twin, as the rules tell it. Its power of two uses + - * / in the kernel's order, because
// both must round alike.

import * as layout from "../../assembly/layout.ts";
import { TwinAccount } from "./twin_accounts.ts";

/** 2^g. The series of e^x stops where further terms no longer count; halves and doubles are exact. */
function twoTo(g: number): number {
  const within = Math.max(-64, Math.min(64, g));
  const whole = Math.floor(within + 0.5);
  const x = (within - whole) * 0.6931471805599453;
  const series = [14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1].reduce((sum, k) => 1 + x / k * sum, 1);
  return Array.from({ length: Math.abs(whole) }).reduce<number>(
    (power) => whole > 0 ? power * 2 : power / 2,
    series,
  );
}

/** Milliseconds between two releases at a reading. */
function curve(reading: number): number {
  const n = (reading - layout.MEMORY_THROTTLE_START) /
    (layout.MEMORY_CRITICAL - layout.MEMORY_THROTTLE_START);
  const bounded = n < 0 ? 0 : n > 1 ? 1 : n;
  return Math.max(Math.floor(30_000 * bounded * bounded * bounded), 50);
}

interface Floors {
  previous: number;
  floor: number;
}

export class TwinMemory extends TwinAccount {
  override kind: number = layout.KIND_MEMORY;
  isLatched = false;
  turns = 0;
  heldElsewhere = 0;
  #isStopped = false;
  #hasCompletion = false;
  #lastRelease: number | null = null;
  #seen: Floors | null = null;
  /** The floor at each release so far, null where there had been no reading; the last two count. */
  #released: (number | null)[] = [];
  #committed = 1;

  override give(): boolean {
    this.#hasCompletion = true;
    return true;
  }

  get inLine(): number {
    return this.held + this.heldElsewhere;
  }

  #seenAfter(reading: number): Floors | null {
    if (Number.isNaN(reading)) return this.#seen;
    if (this.#seen === null) return { previous: reading, floor: reading };
    const { previous, floor } = this.#seen;
    return { previous: reading, floor: reading < previous ? reading : floor };
  }

  floorAt(reading: number): number {
    return this.#seenAfter(reading)?.floor ?? NaN;
  }

  #latchAfter(reading: number): boolean {
    if (reading >= 0.95) return true;
    if (reading >= 0.9) return this.isLatched;
    return false;
  }

  penaltyAt(reading: number): number {
    const before = this.#released.at(-2) ?? null;
    const floor = this.floorAt(reading);
    if (before === null) return this.#committed;
    const penalty = this.#committed * twoTo((floor - before) * 100);
    return Math.min(Math.max(1, penalty), layout.MEMORY_MAX_PENALTY);
  }

  /** The tick at which the clock lets the next one go; null when nothing paces. */
  #due(reading: number): number | null {
    if (this.#lastRelease === null || this.inLine <= 0) return null;
    const level = this.#seenAfter(reading)?.previous ?? 0;
    const wait = Math.min(Math.floor(curve(level) * this.penaltyAt(reading) + 0.5), 3_600_000);
    return this.#lastRelease + wait * 1000;
  }

  pacing(now: number, reading: number): number {
    const due = this.#due(reading);
    return due === null || this.#hasCompletion ? 0 : Math.max(due - now, 0);
  }

  wouldFit(now: number, reading: number): number {
    if (this.#isStopped) return layout.YES;
    if (this.#latchAfter(reading)) return layout.NO;
    const due = this.#due(reading);
    return due === null || this.#hasCompletion || now >= due ? layout.YES : layout.NO;
  }

  wouldFitAt(now: number, reading: number): number {
    if (this.#latchAfter(reading)) return now + 2_000_000;
    const due = this.#due(reading);
    return due === null ? Infinity : Math.min(due, now + 2_000_000);
  }

  ask(now: number, reading: number): number {
    if (this.#isStopped) return layout.YES;
    this.#seen = this.#seenAfter(reading);
    const isLatched = this.#latchAfter(reading);
    if (isLatched !== this.isLatched) this.turns++;
    this.isLatched = isLatched;
    return this.wouldFit(now, reading);
  }

  release(now: number, reading: number): number {
    const verdict = this.ask(now, reading);
    if (verdict !== layout.YES || this.#isStopped) return verdict;
    this.#committed = this.penaltyAt(reading);
    this.#released.push(this.#seen?.floor ?? null);
    this.#lastRelease = now;
    this.#hasCompletion = false;
    return verdict;
  }

  instant(now: number, reading: number): number {
    if (this.isLatched) return now + 2_000_000;
    this.#seen = this.#seenAfter(reading);
    const due = this.#due(reading);
    return due === null ? Infinity : Math.min(due, now + 2_000_000);
  }

  stop(): boolean {
    const isNews = !this.#isStopped;
    this.#isStopped = true;
    return isNews;
  }
}
