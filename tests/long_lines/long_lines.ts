// Two long lines on one kernel, driven at its border as the shell drives it: whoever comes finds the line empty and is attempted
// at once, or is parked; passes run to their end; those who leave are read and recycled. All that is answered is told.

import assert from "node:assert/strict";
import type { Kernel } from "../../core/kernel.ts";
import * as layout from "../../assembly/layout.ts";
import { Chance } from "../chance.ts";
import { Places } from "./places.ts";
import {
  type Change,
  CHANGES,
  CUSTOM,
  LINES,
  type LongHistory,
  type Operation,
  type Shape,
  type Spread,
} from "./operations.ts";
import { SharedAccounts, type StagedCell, stageCells } from "./shared_accounts.ts";

const OUTCOMES = ["DONE", "GRANTED", "HELD", "REFUSED", "CANCELLED", "ASK", "DEFECT"];
const VERBS = ["fits", "earliest", "take", "give"];
const MOST_PASSES = 4;

interface Member {
  name: string;
  className: string;
  /** Stands in a tree of its class. */
  isMetered: boolean;
  line: number;
  cells: StagedCell[];
  slot: number;
  generation: number;
}

interface Granted {
  name: string;
  cells: StagedCell[];
}

export class LongLines {
  readonly story: string[] = [];
  readonly #kernel: Kernel;
  readonly #shapes: readonly Shape[];
  readonly #accounts: SharedAccounts;
  readonly #lines: readonly number[];
  readonly #bySlot = new Map<number, Member>();
  readonly #waiting: Set<Member>[] = [];
  readonly #grants: Granted[] = [];
  readonly #places: Places;
  readonly #cover: (what: string) => void;
  /** The instant that the last pass over each line named. */
  readonly #deadlines: number[] = [];
  /** Lines in a pass. */
  readonly #running = new Set<number>();
  /** Lines that have to look again. */
  readonly #due = new Set<number>();
  #chance = new Chance(0);
  #meddles = 0;
  #now = 100_000_000;
  #made = 0;

  constructor(kernel: Kernel, { setup }: LongHistory, cover: (what: string) => void) {
    kernel.limits(layout.MAX_WAITERS, layout.MAX_ACCOUNTS, layout.MAX_LINES);
    kernel.limitCohorts(setup.cohortLimit);
    kernel.limitRuns(layout.MAX_RUNS);
    this.#kernel = kernel;
    this.#shapes = setup.shapes;
    this.#accounts = new SharedAccounts(kernel, setup, this.#now);
    this.#lines = Array.from({ length: LINES }, () => kernel.openLine(this.#accounts.memory));
    for (let line = 0; line < LINES; line++) {
      this.#waiting.push(new Set());
      this.#deadlines.push(Infinity);
    }
    this.#cover = cover;
    this.#places = new Places(cover);
  }

  play(operations: readonly Operation[]): void {
    for (const operation of operations) {
      this.#chance = new Chance(operation.seed);
      this.#meddles = operation.meddles;
      this.#kernel.setWallTime(this.#now);
      this.#tell(`${operation.kind} at ${this.#now}`);
      this.#do(operation);
      if (!operation.rests) this.#look();
      this.#tellState();
    }
    this.#end();
  }

  #tell(what: string): void {
    this.story.push(what);
  }

  #step(what: string): void {
    this.#cover("steps");
    this.#cover(what);
  }

  #tellState(): void {
    const lines = this.#lines.map((line) => `${this.#kernel.queueSize(line)} ${this.#headOf(line)}`);
    this.#tell(`${lines} | ${this.#accounts.tell(this.#now)}`);
    if (this.#waiting.some(({ size }) => size > 200)) this.#cover("more than 200 wait");
    if (this.#kernel.cohortCount() > 0) this.#cover("with classes");
  }

  #headOf(line: number): string {
    const slot = this.#kernel.headSlot(line);
    return slot < 0 ? "nobody" : this.#bySlot.get(slot)!.name;
  }

  // --- Operations. ---

  #do(operation: Operation): void {
    this.#step(`op ${operation.kind}`);
    switch (operation.kind) {
      case "burst":
        return this.#burst(operation);
      case "settle": {
        const { which, count, everything } = operation;
        for (let i = 0; i < count; i++) this.#settle(which, everything);
        return;
      }
      case "abort":
        return this.#abort(operation.line, operation.from, operation.count);
      case "advance":
        return this.#advance(operation.ticks);
      case "deadline":
        return this.#advanceToDeadline(operation.line, operation.early);
      case "change":
        return this.#change(operation);
      case "pass":
        this.#due.add(operation.line);
    }
  }

  #burst({ line, shape, count, spread }: Operation & { kind: "burst" }): void {
    const entries = shape === 9 ? [] : this.#shapes[shape % this.#shapes.length]!;
    for (let i = 0; i < count; i++) {
      this.#arrive(line, entries, (most) => this.#spreadSum(spread, most, { i, count }));
    }
  }

  #spreadSum(spread: Spread, most: number, { i, count }: { i: number; count: number }): number {
    if (spread === "equal") return Math.ceil(most / 3);
    if (spread === "few") return Math.floor(most * this.#chance.pick([0, 0.1, 0.5, 1]));
    if (spread === "rising") return Math.floor(most * (i + 1) / count);
    if (spread === "falling") return Math.floor(most * (count - i) / count);
    return this.#chance.below(most + 1);
  }

  /** Whoever finds nobody in line is attempted at once. */
  #arrive(line: number, shape: Shape, sumOf: (most: number) => number): void {
    const cells = shape.map(([account, count]) => {
      const { records } = this.#accounts;
      const sum = this.#accounts.isBucket(account) ? sumOf(this.#accounts.tokensOf(account)) : count;
      return { limiter: records[account]!, key: this.#accounts.keyOf(account), count, sum };
    });
    const name = `w${++this.#made}`;
    const isNative = this.#accounts.isMemoryNative || this.#accounts.memory === 0;
    const hasClass = isNative && shape.every(([account]) => account < CUSTOM);
    const isMetered = hasClass && shape.some(([account]) => this.#accounts.isBucket(account));
    if (hasClass) {
      stageCells(this.#kernel, cells);
      const reading = this.#accounts.reading;
      const verdict = this.#kernel.attempt(this.#lines[line]!, cells.length, this.#now, reading);
      if (verdict !== layout.NO && verdict !== layout.BUSY) {
        this.#step(`at once ${verdict}`);
        this.#tell(`${name} at once ${verdict}`);
        if (verdict === layout.YES) this.#grants.push({ name, cells });
        return;
      }
    }
    this.#park(line, { name, cells, className: `${line} ${JSON.stringify(shape)}`, isMetered });
  }

  #park(line: number, who: Pick<Member, "name" | "cells" | "className" | "isMetered">): void {
    const kernel = this.#kernel;
    const at = this.#lines[line]!;
    stageCells(kernel, who.cells);
    const slot = kernel.park(at, who.cells.length);
    const member = { ...who, line, slot, generation: kernel.generationOf(slot) };
    this.#step("parked");
    this.#bySlot.set(slot, member);
    this.#waiting[line]!.add(member);
    if (member.isMetered) this.#places.join(member.className);
    this.#due.add(line);
    // The only one in line is attempted on arrival, as an inline attempt.
    if (kernel.queueSize(at) === 1 && !this.#running.has(line)) this.#pass(line, 1);
  }

  #settle(which: number, everything: boolean): void {
    const [grant] = this.#grants.splice(which % Math.max(1, this.#grants.length), 1);
    if (grant === undefined) return;
    const { memory, isMemoryNative } = this.#accounts;
    this.#step("settled");
    stageCells(this.#kernel, grant.cells);
    const bits = this.#kernel.settle(grant.cells.length, everything ? 1 : 0, this.#now);
    this.#tell(`${grant.name} settled ${bits}`);
    if (isMemoryNative && grant.cells.length > 0) this.#kernel.give(memory, 0, 0, this.#now);
    this.#hearWakes();
  }

  #abort(line: number, from: "front" | "middle" | "back" | "all over", count: number): void {
    const all = [...this.#waiting[line]!];
    const first = { "front": 0, "middle": all.length >> 1, "back": Math.max(0, all.length - count) };
    const leaving = from === "all over"
      ? all.filter(() => this.#chance.below(all.length) < count)
      : all.slice(first[from], first[from] + count);
    for (const member of leaving) this.#withdraw(member);
  }

  #withdraw(member: Member): void {
    const answer = this.#kernel.withdraw(member.slot, member.generation);
    this.#step(answer === 0 ? "marked" : "withdrawn");
    this.#tell(`${member.name} withdrawn ${answer}`);
    this.#due.add(member.line);
    if (answer === 1) this.#depart(member);
  }

  #advance(ticks: number): void {
    if (ticks < 0) this.#step("clock stepped back");
    this.#now = Math.max(0, this.#now + ticks);
    for (let line = 0; line < LINES; line++) this.#due.add(line);
  }

  /** To the instant that the last pass named, or a tick before it: then nobody leaves. */
  #advanceToDeadline(line: number, early: number): void {
    const deadline = this.#deadlines[line]!;
    if (!Number.isFinite(deadline)) return;
    this.#step("to a deadline");
    this.#now = Math.max(this.#now, deadline - early);
    this.#due.add(line);
  }

  #change(change: Change): void {
    // A reading of the heap serves everybody who looks in the same turn.
    if (change.what === "heap" && this.#running.size > 0) return;
    this.#step(`change ${change.what}`);
    this.#tell(`${change.what} ${change.index}: ${this.#accounts.change(change, this.#now)}`);
    this.#hearWakes();
  }

  #hearWakes(): void {
    for (let line = this.#kernel.takeWoken(); line !== 0; line = this.#kernel.takeWoken()) {
      const index = this.#lines.indexOf(line);
      this.#tell(`line ${index} woken`);
      this.#due.add(index);
    }
  }

  // --- Passes. ---

  /** Passes over the lines that have to look again, until none has to. */
  #look(): void {
    for (let round = 0; round < MOST_PASSES && this.#due.size > 0; round++) {
      for (const line of [...this.#due]) if (this.#waiting[line]!.size > 0) this.#pass(line, 0);
    }
    this.#due.clear();
  }

  #pass(line: number, isInline: number): void {
    const kernel = this.#kernel;
    const at = this.#lines[line]!;
    const wantsHeld = this.#chance.below(4) > 0 ? 1 : 0;
    this.#due.delete(line);
    assert.equal(kernel.begin(at, isInline, wantsHeld, this.#now, this.#accounts.reading), 1);
    this.#step("passes");
    this.#running.add(line);
    for (let word = kernel.next(at); (word & 7) !== layout.DONE;) word = this.#follow(line, word);
    this.#running.delete(line);
    this.#tell(`line ${line} looks at ${kernel.deadline(at)} ${kernel.laterDeadline(at)}`);
    this.#deadlines[line] = kernel.deadline(at);
    if (Number.isFinite(kernel.deadline(at))) this.#cover("finite deadlines");
    this.#hearWakes();
  }

  /** Acts on one outcome of a pass; the next one. */
  #follow(line: number, word: number): number {
    const kernel = this.#kernel;
    const at = this.#lines[line]!;
    const code = word & 7;
    const member = this.#bySlot.get(word >>> layout.OUTCOME_BITS)!;
    this.#step(OUTCOMES[code]!);
    if (code === layout.ASK) return this.#ask(line, member);
    if (code === layout.HELD) this.#tell(`${member.name} HELD ${kernel.askedEntry(at)}`);
    if (code === layout.GRANTED) this.#granted(member);
    if (code === layout.CANCELLED) this.#depart(member);
    if (code === layout.REFUSED) {
      const reason = kernel.refusedReason(at);
      this.#cover(`refused ${reason}`);
      this.#tell(`${member.name} REFUSED ${reason} by ${kernel.refusedEntry(at, member.slot)}`);
      this.#depart(member);
    }
    if (code === layout.DEFECT) return this.#closeLine(line);
    this.#meddle(line);
    return kernel.next(at);
  }

  #ask(line: number, member: Member): number {
    const kernel = this.#kernel;
    const at = this.#lines[line]!;
    const verb = VERBS[kernel.askedVerb(at)]!;
    this.#cover(`asked ${verb}`);
    this.#tell(`${member.name} ASK ${verb} ${kernel.askedEntry(at)} behind ${this.#headOf(at)}`);
    if (verb === "give") this.#tell(`alone ${kernel.wasAlone(at)}`);
    const verdict = this.#verdict(verb);
    const instant = this.#chance.pick([Infinity, this.#now - 10, this.#now + this.#chance.below(5_000_000)]);
    this.#meddle(line);
    return kernel.answer(at, verdict, instant);
  }

  #verdict(verb: string): number {
    const lot = this.#chance.below(200);
    if (verb === "give") return lot === 0 ? layout.THREW : layout.YES;
    if (verb === "earliest" || lot > 90) return lot === 0 ? layout.THREW : layout.YES;
    return lot === 0 ? layout.THREW : layout.NO;
  }

  #granted(member: Member): void {
    const since = this.#sinceOf(member);
    this.#tell(`${member.name} GRANTED ${since}`);
    this.#grants.push({ name: member.name, cells: member.cells });
    this.#forget(member);
  }

  #sinceOf({ slot, cells }: Member): number[] {
    return [layout.MEMORY_ENTRY, ...cells.keys()].map((entry) => this.#kernel.heldSince(slot, entry));
  }

  /** Somebody leaves without a grant, account by account. */
  #depart(member: Member): void {
    const since = this.#sinceOf(member);
    const entries: number[] = [];
    for (let order = 1; entries.at(-1) !== layout.NO_ENTRY; order++) {
      entries.push(this.#kernel.lowerNextHold(member.slot, order));
    }
    this.#tell(`${member.name} left ${since} ${entries}`);
    this.#forget(member);
  }

  #forget(member: Member): void {
    this.#kernel.recycle(member.slot);
    this.#bySlot.delete(member.slot);
    this.#waiting[member.line]!.delete(member);
    if (member.isMetered) this.#places.leave(member.className);
  }

  /** After a defect everyone leaves. */
  #closeLine(line: number): number {
    this.#kernel.abandon(this.#lines[line]!);
    for (const member of [...this.#waiting[line]!]) this.#withdraw(member);
    return layout.DONE;
  }

  // --- What accounts and event sinks do when they are called. ---

  #meddle(line: number): void {
    if (this.#meddles === 0 || this.#chance.below(this.#meddles) > 0) return;
    const other = 1 - line;
    this.#cover("meddled");
    if (this.#chance.below(3) === 0) this.#now += this.#chance.below(200_000);
    switch (this.#chance.below(8)) {
      case 0:
        return this.#settle(this.#chance.below(100), this.#chance.below(2) === 0);
      case 1:
      case 2:
        return this.#abort(this.#chance.below(LINES), this.#chance.pick(["front", "middle", "all over"]), 2);
      case 3:
        return this.#arrive(this.#chance.below(LINES), this.#chance.pick(this.#shapes), (most) =>
          this.#chance.below(most + 1));
      case 4:
        if (!this.#running.has(other) && this.#waiting[other]!.size > 0) this.#pass(other, 0);
        return;
      default: {
        const what = this.#chance.pick(CHANGES);
        return this.#change({ what, index: this.#chance.below(6), amount: this.#chance.below(1000) });
      }
    }
  }

  /** Everybody leaves, everything comes back, and nothing may be left. */
  #end(): void {
    const kernel = this.#kernel;
    for (const all of this.#waiting) for (const member of [...all]) this.#withdraw(member);
    while (this.#grants.length > 0) this.#settle(0, true);
    this.#accounts.giveBackBorrowed(this.#now);
    assert.ok(this.#accounts.held().every((count) => count === 0), "nobody is held");
    assert.ok(this.#accounts.gatesInUse().every((count) => count === 0), "no permit is out");
    assert.equal(kernel.cohortCount(), 0, "no class is left");
    for (const line of this.#lines) kernel.closeLine(line);
    this.#accounts.close();
    assert.equal(kernel.accountCount(), 0, "no account is left");
  }
}
