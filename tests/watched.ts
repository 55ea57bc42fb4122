// What behaviour tests watch with: an account that follows a script and writes down what it is asked, a clock that counts
// its readings, and the grant of a call.

import assert from "node:assert/strict";
import type { Grant, Timer } from "../mod.ts";
import { ManualClock, ScriptedLimiter, type ScriptedMode } from "../testing/mod.ts";
import type { Call } from "./scenario.ts";

/** The grant of a call; fails when there is none yet. */
export function grantOf(call: Call): Grant {
  if (call.error !== null) throw call.error;
  assert.ok(call.grant !== null, "the call still waits");
  return call.grant;
}

/** Asserts that nobody got anything yet. */
export function assertParked(...calls: Call[]): void {
  for (const call of calls) assert.deepEqual([call.grant, call.error], [null, null]);
}

/** A scripted account that logs its verbs with both lists: `x fits [3] [5]`. Serves as a memory account too. */
export class WatchedLimiter extends ScriptedLimiter {
  readonly log: string[];
  /** Runs inside every verb, before it answers. */
  onAsk: ((verb: "fits" | "tryTake" | "give" | "earliestFit") => void) | null = null;
  /** The held view, once it was installed. */
  held: (() => number) | null = null;

  constructor(name: string, log: string[], mode: ScriptedMode = "fits") {
    super(name, mode);
    this.log = log;
  }

  override fits(mine: readonly unknown[] = [], ahead: readonly unknown[] = []): boolean {
    this.#note("fits", mine, ahead);
    return super.fits();
  }

  override tryTake(mine: readonly unknown[] = [], ahead: readonly unknown[] = []): boolean {
    this.#note("tryTake", mine, ahead);
    return super.tryTake();
  }

  override give(mine: readonly unknown[] = []): void {
    this.#note("give", mine, []);
    super.give();
  }

  override earliestFit(mine: readonly unknown[] = [], ahead: readonly unknown[] = []): number | null {
    this.#note("earliestFit", mine, ahead);
    return super.earliestFit();
  }

  override onCapacityChange(wake: (() => void) | null): void {
    this.log.push(`${this.limiterName} ${wake === null ? "unwired" : "wired"}`);
    super.onCapacityChange(wake);
  }

  override observeHeld(held: () => number): void {
    this.held = held;
  }

  #note(
    verb: "fits" | "tryTake" | "give" | "earliestFit",
    mine: readonly unknown[],
    ahead: readonly unknown[],
  ): void {
    this.log.push(
      `${this.limiterName} ${verb} [${mine.join()}]${verb === "give" ? "" : ` [${ahead.join()}]`}`,
    );
    this.onAsk?.(verb);
  }
}

/**
 * A clock that counts its readings. A pass reads the clock once (MON-28), and once more only to sleep until an instant, so
 * where no instant is known the readings are the passes.
 */
export class WatchedClock extends ManualClock {
  readings = 0;
  /** Added to every reading: time that goes by inside a step. */
  skewMs = 0;
  /** Added to `skewMs` by every reading. */
  driftMs = 0;
  /** Every delay that was asked for. */
  readonly delaysMs: number[] = [];

  override now(): number {
    this.readings++;
    const nowMs = super.now() + this.skewMs;
    this.skewMs += this.driftMs;
    return nowMs;
  }

  override setTimer(delayMs: number, fn: () => void): Timer {
    this.delaysMs.push(delayMs);
    return super.setTimer(delayMs, fn);
  }
}
