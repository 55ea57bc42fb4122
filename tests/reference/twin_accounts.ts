// The accounts of the reference twin: plain objects, exact integers, no cleverness. They say what the kernel has to answer.

import * as layout from "../../assembly/layout.ts";
import type { TwinLine } from "./twin_line.ts";

/** What the twin keeps of every account. */
export class TwinAccount {
  kind: number = layout.KIND_CUSTOM;
  generation = 0;
  isCondemned = false;
  isCollected = false;
  hasSlot = false;
  held = 0;
  waiterPins = 0;
  grantPins = 0;
  lastActivity = 0;
  /** Lines with waiters that name this account, and how many entries do; in the order in which they came to wait. */
  readonly waitingLines: Map<TwinLine, number> = new Map();

  fits(_count: number, _sum: number, _aheadCount: number, _aheadSum: number, _now: number): number {
    throw new Error("a custom account is asked through the shell");
  }

  /** The same for those who only look. */
  peek(count: number, sum: number, aheadCount: number, aheadSum: number, now: number): number {
    return this.fits(count, sum, aheadCount, aheadSum, now);
  }

  take(_count: number, _sum: number, _now: number): void {
    throw new Error("a custom account is asked through the shell");
  }

  /** Whether it could be given back. */
  give(_count: number, _sum: number, _now: number): boolean {
    throw new Error("a custom account is asked through the shell");
  }

  earliest(_count: number, _sum: number, _now: number): number {
    return Infinity;
  }

  /** One entry less of that line names this account. */
  left(line: TwinLine): void {
    const count = this.waitingLines.get(line)! - 1;
    if (count > 0) this.waitingLines.set(line, count);
    else this.waitingLines.delete(line);
  }
}

export class TwinGate extends TwinAccount {
  override kind: number = layout.KIND_GATE;
  inUse = 0;

  constructor(public capacity: number) {
    super();
  }

  override fits(count: number, _sum: number, aheadCount: number): number {
    if (count > this.capacity) return layout.NEVER_PERMITS;
    return this.inUse + count + aheadCount <= this.capacity ? layout.YES : layout.NO;
  }

  override take(count: number): void {
    this.inUse += count;
  }

  override give(count: number): boolean {
    if (count > this.inUse) return false;
    this.inUse -= count;
    return true;
  }
}

/** One quantity that refills by its cap once per window. `parts` counts in 1/window of a unit. */
class TwinLevel {
  parts: bigint;

  constructor(public cap: bigint, window: bigint) {
    this.parts = cap * window;
  }

  at(elapsed: bigint, window: bigint): bigint {
    const full = this.cap * window;
    const parts = this.parts + this.cap * elapsed;
    return parts < full ? parts : full;
  }

  /** Ticks until there are `need` units. */
  ticksUntil(need: bigint, window: bigint): bigint {
    const missing = need * window - this.parts;
    return missing <= 0n ? 0n : (missing + this.cap - 1n) / this.cap;
  }

  clip(window: bigint): void {
    const full = this.cap * window;
    if (this.parts > full) this.parts = full;
  }
}

function floorDivide(a: bigint, b: bigint): bigint {
  const quotient = a / b;
  return a < 0n && quotient * b !== a ? quotient - 1n : quotient;
}

export class TwinBucket extends TwinAccount {
  override kind: number = layout.KIND_BUCKET;
  throttleTenths = 0;
  successes = 0;
  lastSlowDown: number = -Infinity;
  window: bigint = BigInt(layout.TICKS_PER_MINUTE);
  readonly tokens: TwinLevel;
  readonly requests: TwinLevel;

  constructor(tpm: number, rpm: number, public anchor: number) {
    super();
    this.tokens = new TwinLevel(BigInt(tpm), this.window);
    this.requests = new TwinLevel(BigInt(rpm), this.window);
  }

  #elapsed(now: number): bigint {
    return BigInt(Math.max(0, now - this.anchor));
  }

  wholeTokens(now: number): number {
    return Number(floorDivide(this.tokens.at(this.#elapsed(now), this.window), this.window));
  }

  wholeRequests(now: number): number {
    return Number(floorDivide(this.requests.at(this.#elapsed(now), this.window), this.window));
  }

  inUse(now: number): number {
    const missing = this.tokens.cap * this.window - this.tokens.at(this.#elapsed(now), this.window);
    return Number(missing / this.window);
  }

  settle(now: number): void {
    const elapsed = this.#elapsed(now);
    this.tokens.parts = this.tokens.at(elapsed, this.window);
    this.requests.parts = this.requests.at(elapsed, this.window);
    this.anchor = Math.max(this.anchor, now);
  }

  override fits(count: number, sum: number, aheadCount: number, aheadSum: number, now: number): number {
    if (sum > Number(this.tokens.cap)) return layout.NEVER_TOKENS;
    if (count > Number(this.requests.cap)) return layout.NEVER_REQUESTS;
    const isEnough = this.wholeTokens(now) >= sum + aheadSum && this.wholeRequests(now) >= count + aheadCount;
    return isEnough ? layout.YES : layout.NO;
  }

  override earliest(count: number, sum: number, now: number): number {
    if (sum > Number(this.tokens.cap) || count > Number(this.requests.cap)) return Infinity;
    if (this.wholeTokens(now) >= sum && this.wholeRequests(now) >= count) return now;
    const forTokens = this.tokens.ticksUntil(BigInt(sum), this.window);
    const forRequests = this.requests.ticksUntil(BigInt(count), this.window);
    return this.anchor + Number(forTokens > forRequests ? forTokens : forRequests);
  }

  override take(count: number, sum: number, now: number): void {
    this.settle(now);
    this.tokens.parts -= BigInt(sum) * this.window;
    this.requests.parts -= BigInt(count) * this.window;
  }

  override give(count: number, sum: number, now: number): boolean {
    this.settle(now);
    this.tokens.parts += BigInt(sum) * this.window;
    this.requests.parts += BigInt(count) * this.window;
    this.tokens.clip(this.window);
    this.requests.clip(this.window);
    return true;
  }

  /** Down to one cap below zero, and never upwards. The fraction of a token stays. */
  charge(tokens: number, now: number): void {
    this.settle(now);
    const whole = floorDivide(this.tokens.parts, this.window);
    const fraction = this.tokens.parts - whole * this.window;
    let charged = whole - BigInt(tokens);
    if (charged < -this.tokens.cap) charged = -this.tokens.cap;
    if (charged < whole) this.tokens.parts = charged * this.window + fraction;
  }

  configure(tpm: number, rpm: number, now: number): boolean {
    this.settle(now);
    const grew = BigInt(tpm) > this.tokens.cap || BigInt(rpm) > this.requests.cap;
    this.tokens.cap = BigInt(tpm);
    this.requests.cap = BigInt(rpm);
    this.tokens.clip(this.window);
    this.requests.clip(this.window);
    return grew;
  }

  slowDown(increments: number, now: number): void {
    this.lastSlowDown = now;
    this.#setThrottle(Math.min(90, this.throttleTenths + 5 * increments), now);
  }

  succeed(now: number): boolean {
    if (this.throttleTenths === 0) return false;
    const isQuiet = now - this.lastSlowDown >= layout.RECOVERY_TICKS;
    this.successes++;
    if (!isQuiet && this.successes < 3) return false;
    this.successes = 0;
    this.#setThrottle(Math.max(0, this.throttleTenths - (isQuiet ? 5 : 2)), now);
    return true;
  }

  #setThrottle(tenths: number, now: number): void {
    this.settle(now);
    const window: bigint = BigInt(layout.TICKS_PER_MINUTE / 10 * (10 + tenths));
    for (const level of [this.tokens, this.requests]) {
      const whole = floorDivide(level.parts, this.window);
      const fraction = level.parts - whole * this.window;
      level.parts = whole * window + fraction * window / this.window;
    }
    this.window = window;
    this.throttleTenths = tenths;
  }
}
