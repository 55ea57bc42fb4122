// Plays a history of long lines: bursts of arrivals, settlements, aborts in bulk, changes of accounts, and the clock; and what
// accounts and event sinks do meanwhile when they are called.

import assert from "node:assert/strict";
import type { Kernel } from "../../core/kernel.ts";
import { Chance } from "../chance.ts";
import { LineDriver } from "./line_driver.ts";
import {
  type Change,
  CHANGES,
  LINES,
  type LongHistory,
  type Operation,
  type Setup,
  type Spread,
} from "./operations.ts";

/** An account may be woken by what a pass does; so many passes follow each other at most. */
const MOST_PASSES = 4;
/** The shape of a burst of empty demands. */
const NOTHING = 9;

type From = (Operation & { kind: "abort" })["from"];

export class LongLines extends LineDriver {
  readonly #setup: Setup;
  #meddles = 0;

  constructor(kernel: Kernel, { setup }: LongHistory, cover: (what: string) => void) {
    super(kernel, setup, cover);
    this.#setup = setup;
  }

  play(operations: readonly Operation[]): void {
    for (const operation of operations) {
      this.chance = new Chance(operation.seed);
      this.#meddles = operation.meddles;
      this.kernel.setWallTime(this.now);
      this.tell(`${operation.kind} at ${this.now}`);
      this.step(`op ${operation.kind}`);
      this.#do(operation);
      if (!operation.rests) this.#look();
      this.#tellState();
    }
    this.#end();
  }

  #tellState(): void {
    const lines = this.lines.map((record, line) => `${this.kernel.queueSize(record)} ${this.headOf(line)}`);
    this.tell(`${lines} | ${this.accounts.tell(this.now)}`);
    if (this.waiting.some(({ size }) => size > 200)) this.cover("more than 200 wait");
    const classes = this.kernel.cohortCount();
    if (classes > 0) this.cover("with classes");
    if (classes > 0 && classes === this.#setup.cohortLimit) this.cover("table of classes full");
  }

  /** Passes over the lines that have to look again, until none has to. */
  #look(): void {
    for (let round = 0; round < MOST_PASSES && this.due.size > 0; round++) {
      for (const line of [...this.due]) if (this.waiting[line]!.size > 0) this.pass(line);
    }
    this.due.clear();
  }

  #do(operation: Operation): void {
    switch (operation.kind) {
      case "burst":
        return this.#burst(operation);
      case "settle":
        for (let i = 0; i < operation.count; i++) this.settle(operation.which, operation.everything);
        return;
      case "abort":
        return this.#abort(operation.line, operation.from, operation.count);
      case "advance":
        return this.#advance(operation.ticks);
      case "deadline":
        return this.#advanceToDeadline(operation.line, operation.early);
      case "change":
        return this.#change(operation);
      case "pass":
        this.due.add(operation.line);
    }
  }

  #burst({ line, shape, count, spread }: Operation & { kind: "burst" }): void {
    const { shapes } = this.#setup;
    const entries = shape === NOTHING ? [] : shapes[shape % shapes.length]!;
    for (let i = 0; i < count; i++) {
      this.arrive(line, entries, (most) => this.#spreadSum(spread, most, { i, count }));
    }
  }

  #spreadSum(spread: Spread, most: number, { i, count }: { i: number; count: number }): number {
    if (spread === "equal") return Math.ceil(most / 3);
    if (spread === "few") return Math.floor(most * this.chance.pick([0, 0.1, 0.5, 1]));
    if (spread === "rising") return Math.floor(most * (i + 1) / count);
    if (spread === "falling") return Math.floor(most * (count - i) / count);
    return this.chance.below(most + 1);
  }

  #abort(line: number, from: From, count: number): void {
    const all = [...this.waiting[line]!];
    const first = { "front": 0, "middle": all.length >> 1, "back": Math.max(0, all.length - count) };
    const leaving = from === "all over"
      ? all.filter(() => this.chance.below(all.length) < count)
      : all.slice(first[from], first[from] + count);
    for (const member of leaving) this.withdraw(member);
  }

  #advance(ticks: number): void {
    if (ticks < 0) this.step("clock stepped back");
    this.now += ticks;
    for (let line = 0; line < LINES; line++) this.due.add(line);
  }

  /** To the instant that the last pass named, or a tick before it. */
  #advanceToDeadline(line: number, early: number): void {
    const deadline = this.deadlines[line]!;
    if (!Number.isFinite(deadline)) return;
    this.step("to a deadline");
    this.now = Math.max(this.now, deadline - early);
    this.due.add(line);
  }

  #change(change: Change): void {
    // A reading of the heap serves everybody who looks in the same turn.
    if (change.what === "heap" && this.running.size > 0) return;
    this.step(`change ${change.what}`);
    this.tell(`${change.what} ${change.index}: ${this.accounts.change(change, this.now)}`);
    this.hearWakes();
  }

  protected override meddle(line: number): void {
    if (this.#meddles === 0 || this.chance.below(this.#meddles) > 0) return;
    const { chance } = this;
    const other = 1 - line;
    this.cover("meddled");
    if (chance.below(3) === 0) this.now += chance.below(200_000);
    switch (chance.below(8)) {
      case 0:
        return this.settle(chance.below(100), chance.below(2) === 0);
      case 1:
      case 2:
        return this.#abort(chance.below(LINES), chance.pick<From>(["front", "middle", "all over"]), 2);
      case 3:
        return this.arrive(
          chance.below(LINES),
          chance.pick(this.#setup.shapes),
          (most) => chance.below(most + 1),
        );
      case 4:
        if (!this.running.has(other) && this.waiting[other]!.size > 0) this.pass(other);
        return;
      default: {
        const what = chance.pick(CHANGES);
        return this.#change({ what, index: chance.below(6), amount: chance.below(1000) });
      }
    }
  }

  /** Everybody leaves, everything comes back, and nothing may be left. */
  #end(): void {
    const { kernel } = this;
    for (const all of this.waiting) for (const member of [...all]) this.withdraw(member);
    while (this.grants.length > 0) this.settle(0, true);
    this.accounts.giveBackBorrowed(this.now);
    assert.ok(this.accounts.held().every((count) => count === 0), "nobody is held");
    assert.ok(this.accounts.gatesInUse().every((count) => count === 0), "no permit is out");
    assert.equal(kernel.cohortCount(), 0, "no class is left");
    for (const line of this.lines) kernel.closeLine(line);
    this.accounts.close();
    assert.equal(kernel.accountCount(), 0, "no account is left");
  }
}
