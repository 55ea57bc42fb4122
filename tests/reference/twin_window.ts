// The elastic window of the reference twin: a list of stamps, oldest first, and a circuit. It is looked through from end to end.

import * as layout from "../../assembly/layout.ts";
import { TwinAccount } from "./twin_accounts.ts";

export class TwinWindow extends TwinAccount {
  override kind: number = layout.KIND_WINDOW;
  circuit: number = layout.HEALTHY;
  /** In thousandths, as are all throttles here. */
  throttle = 0;
  #stamps: number[] = [];
  #increment = 0;
  #decrement = 0;
  #recovery = 0;
  #maxThrottle = 0;
  #successesPerStep = 0;
  #recoveryTicks = 0;
  #failuresToBlock = 0;
  #initialCooldown = 0;
  #maxCooldown = 0;
  #probeTimeout = 0;
  #successes = 0;
  #streak = 0;
  #lastPressure = -Infinity;
  #cooldown = 0;
  #blockedUntil = 0;
  #probedAt = 0;

  constructor(
    readonly maxRequests: number,
    readonly baseMs: number,
    readonly runs: { readonly limit: number },
  ) {
    super();
  }

  setPacing(
    increment: number,
    decrement: number,
    recovery: number,
    maxThrottle: number,
    successesPerStep: number,
    recoveryTicks: number,
  ): void {
    this.#increment = increment;
    this.#decrement = decrement;
    this.#recovery = recovery;
    this.#maxThrottle = maxThrottle;
    this.#successesPerStep = successesPerStep;
    this.#recoveryTicks = recoveryTicks;
  }

  setCircuit(
    failuresToBlock: number,
    initialCooldown: number,
    maxCooldown: number,
    probeTimeout: number,
  ): void {
    this.#failuresToBlock = failuresToBlock;
    this.#initialCooldown = initialCooldown;
    this.#maxCooldown = maxCooldown;
    this.#probeTimeout = probeTimeout;
  }

  get lengthMs(): number {
    return Number(BigInt(this.baseMs) * BigInt(1000 + this.throttle) / 1000n);
  }

  get #lengthTicks(): number {
    return this.lengthMs * 1000;
  }

  /** Stamps younger than the window is long, oldest first. */
  live(now: number): number[] {
    const length = this.#lengthTicks;
    return this.#stamps.filter((stamp) => now - stamp < length);
  }

  cooldownLeft(now: number): number {
    return this.circuit === layout.BLOCKED ? Math.max(0, this.#blockedUntil - now) : 0;
  }

  override fits(count: number, sum: number, aheadCount: number, aheadSum: number, now: number): number {
    if (count <= this.maxRequests) this.#giveUpLostProbe(now);
    return this.peek(count, sum, aheadCount, aheadSum, now);
  }

  override peek(count: number, _sum: number, aheadCount: number, _aheadSum: number, now: number): number {
    if (count > this.maxRequests) return layout.NEVER_PERMITS;
    if (this.circuit === layout.PROBING && !this.#isProbeLost(now)) return layout.PROBE_ONLY;
    if (this.circuit !== layout.HEALTHY && now < this.#blockedUntil) return layout.COOLING_DOWN;
    if (this.circuit !== layout.HEALTHY && aheadCount > 0) return layout.PROBE_ONLY;
    return this.live(now).length + count + aheadCount <= this.maxRequests ? layout.YES : layout.NO;
  }

  override earliest(count: number, _sum: number, now: number): number {
    if (count > this.maxRequests) return Infinity;
    const live = this.live(now);
    const short = live.length + count - this.maxRequests;
    return short <= 0 ? now : live[short - 1]! + this.#lengthTicks;
  }

  override take(count: number, _sum: number, now: number): void {
    if (this.circuit === layout.BLOCKED) {
      this.circuit = layout.PROBING;
      this.#probedAt = now;
    }
    this.#stamps = this.live(now);
    const newest = this.#stamps.at(-1) ?? -Infinity;
    const isFull = newest < now && new Set(this.#stamps).size >= Math.max(1, this.runs.limit);
    if (isFull) this.#stamps = this.#stamps.map((stamp) => stamp === newest ? now : stamp);
    for (let i = 0; i < count; i++) this.#stamps.push(Math.max(now, newest));
  }

  override give(count: number): boolean {
    this.#stamps.length = Math.max(0, this.#stamps.length - count);
    if (this.circuit === layout.PROBING) this.circuit = layout.BLOCKED;
    return true;
  }

  advise(now: number): void {
    this.#lastPressure = now;
    this.#setThrottle(Math.min(this.throttle + this.#increment, this.#maxThrottle), now);
  }

  fail(now: number): void {
    this.#giveUpLostProbe(now);
    this.advise(now);
    if (this.circuit === layout.PROBING) {
      const doubled = Math.max(2 * this.#cooldown, this.#initialCooldown);
      return this.#open(Math.min(doubled, this.#maxCooldown), now);
    }
    if (this.circuit !== layout.HEALTHY || this.throttle < this.#maxThrottle) return;
    if (++this.#streak >= this.#failuresToBlock) this.#open(this.#initialCooldown, now);
  }

  succeed(now: number): boolean {
    this.#giveUpLostProbe(now);
    this.#streak = 0;
    const isClosing = this.circuit === layout.PROBING;
    if (isClosing) this.circuit = layout.HEALTHY;
    return this.#relax(now) || isClosing;
  }

  #relax(now: number): boolean {
    if (this.throttle === 0) return false;
    const isQuiet = now - this.#lastPressure >= this.#recoveryTicks;
    this.#successes++;
    if (!isQuiet && this.#successes < this.#successesPerStep) return false;
    this.#successes = 0;
    const before = this.throttle;
    this.#setThrottle(Math.max(0, before - (isQuiet ? this.#recovery : this.#decrement)), now);
    return this.throttle < before;
  }

  #open(cooldown: number, now: number): void {
    this.circuit = layout.BLOCKED;
    this.#cooldown = cooldown;
    this.#blockedUntil = now + cooldown;
  }

  #isProbeLost(now: number): boolean {
    return now - this.#probedAt >= this.#probeTimeout;
  }

  #giveUpLostProbe(now: number): void {
    if (this.circuit === layout.PROBING && this.#isProbeLost(now)) this.circuit = layout.BLOCKED;
  }

  /** What is out of date by the length so far does not come back. */
  #setThrottle(throttle: number, now: number): void {
    this.#stamps = this.live(now);
    this.throttle = throttle;
  }
}
