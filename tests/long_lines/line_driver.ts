// Two lines on one kernel, driven at its border as the shell drives it: whoever finds a line empty is attempted at once, others
// are parked; passes run to their end; those who leave are read and recycled. All that is answered is told.

import assert from "node:assert/strict";
import type { Kernel } from "../../core/kernel.ts";
import * as layout from "../../assembly/layout.ts";
import { Chance } from "../chance.ts";
import { CUSTOM, LINES, type Setup, type Shape } from "./operations.ts";
import { Places } from "./places.ts";
import { SharedAccounts, stageCells, type StagedCell } from "./shared_accounts.ts";

const OUTCOMES = ["DONE", "GRANTED", "HELD", "REFUSED", "CANCELLED", "ASK", "DEFECT"];
const OUTCOME_MASK = (1 << layout.OUTCOME_BITS) - 1;
const VERBS = ["fits", "earliest", "take", "give"];

/** Who asks: a name, the demand as it is staged, and the class that it belongs to. */
interface Caller {
  name: string;
  cells: StagedCell[];
  className: string;
  /** Stands in a tree of its class. */
  isMetered: boolean;
}

interface Member extends Caller {
  line: number;
  slot: number;
  generation: number;
}

export abstract class LineDriver {
  readonly story: string[] = [];
  protected readonly kernel: Kernel;
  protected readonly accounts: SharedAccounts;
  protected readonly lines: readonly number[];
  /** Waiters by line, oldest first. */
  protected readonly waiting: readonly Set<Member>[];
  protected readonly grants: Pick<Caller, "name" | "cells">[] = [];
  /** The instant that the last pass over each line named. */
  protected readonly deadlines: number[];
  /** Lines in a pass. */
  protected readonly running: Set<number> = new Set();
  /** Lines that have to look again. */
  protected readonly due: Set<number> = new Set();
  protected chance: Chance = new Chance(0);
  protected now = 100_000_000;
  protected readonly cover: (what: string) => void;
  readonly #bySlot = new Map<number, Member>();
  readonly #places: Places;
  #made = 0;

  constructor(kernel: Kernel, setup: Setup, cover: (what: string) => void) {
    kernel.limits(layout.MAX_WAITERS, layout.MAX_ACCOUNTS, layout.MAX_LINES);
    kernel.limitCohorts(setup.cohortLimit);
    kernel.limitRuns(layout.MAX_RUNS);
    this.kernel = kernel;
    this.accounts = new SharedAccounts(kernel, setup, this.now);
    this.lines = Array.from({ length: LINES }, () => kernel.openLine(this.accounts.memory));
    this.waiting = this.lines.map(() => new Set<Member>());
    this.deadlines = this.lines.map(() => Infinity);
    this.cover = cover;
    this.#places = new Places(cover);
  }

  /** What accounts and event sinks do while they are called during a pass over a line. */
  protected abstract meddle(line: number): void;

  protected tell(what: string): void {
    this.story.push(what);
  }

  protected step(what: string): void {
    this.cover("steps");
    this.cover(what);
  }

  protected headOf(line: number): string {
    const slot = this.kernel.headSlot(this.lines[line]!);
    return slot < 0 ? "nobody" : this.#bySlot.get(slot)!.name;
  }

  // --- Coming and going. ---

  /** Whoever finds nobody in line is attempted at once. `sumOf` says how many tokens of at most so many. */
  protected arrive(line: number, shape: Shape, sumOf: (most: number) => number): void {
    const { accounts } = this;
    const cells = shape.map(([account, count]) => {
      const sum = accounts.isBucket(account) ? sumOf(accounts.tokensOf(account)) : count;
      return { limiter: accounts.records[account]!, key: accounts.keyOf(account), count, sum };
    });
    const name = `w${++this.#made}`;
    const isNative = accounts.isMemoryNative || accounts.memory === 0;
    const hasClass = isNative && shape.every(([account]) => account < CUSTOM);
    if (hasClass && this.#isAnsweredAtOnce(line, name, cells)) return;
    const isMetered = hasClass && shape.some(([account]) => accounts.isBucket(account));
    this.#park(line, { name, cells, className: `${line} ${JSON.stringify(shape)}`, isMetered });
  }

  #isAnsweredAtOnce(line: number, name: string, cells: StagedCell[]): boolean {
    stageCells(this.kernel, cells);
    const { reading } = this.accounts;
    const verdict = this.kernel.attempt(this.lines[line]!, cells.length, this.now, reading);
    if (verdict === layout.NO || verdict === layout.BUSY) return false;
    this.step(`at once ${verdict}`);
    this.tell(`${name} at once ${verdict}`);
    if (verdict === layout.YES) this.grants.push({ name, cells });
    return true;
  }

  #park(line: number, caller: Caller): void {
    const { kernel } = this;
    const record = this.lines[line]!;
    stageCells(kernel, caller.cells);
    const slot = kernel.park(record, caller.cells.length);
    const member = { ...caller, line, slot, generation: kernel.generationOf(slot) };
    this.step("parked");
    this.#bySlot.set(slot, member);
    this.waiting[line]!.add(member);
    if (member.isMetered) this.#places.join(member.className);
    this.due.add(line);
    // The only one in line is attempted on arrival.
    if (kernel.queueSize(record) === 1 && !this.running.has(line)) this.pass(line, true);
  }

  protected withdraw(member: Member): void {
    const answer = this.kernel.withdraw(member.slot, member.generation);
    this.step(answer === 0 ? "marked" : "withdrawn");
    this.tell(`${member.name} withdrawn ${answer}`);
    this.due.add(member.line);
    if (answer === 1) this.#depart(member);
  }

  /** Somebody leaves without a grant, account by account. */
  #depart(member: Member): void {
    const since = this.#sinceOf(member);
    const entries: number[] = [];
    for (let order = 1; entries.at(-1) !== layout.NO_ENTRY; order++) {
      entries.push(this.kernel.lowerNextHold(member.slot, order));
    }
    this.tell(`${member.name} left ${since} ${entries}`);
    this.#forget(member);
  }

  #sinceOf({ slot, cells }: Member): number[] {
    return [layout.MEMORY_ENTRY, ...cells.keys()].map((entry) => this.kernel.heldSince(slot, entry));
  }

  #forget(member: Member): void {
    this.kernel.recycle(member.slot);
    this.#bySlot.delete(member.slot);
    this.waiting[member.line]!.delete(member);
    if (member.isMetered) this.#places.leave(member.className);
  }

  protected settle(which: number, everything: boolean): void {
    const [grant] = this.grants.splice(which % Math.max(1, this.grants.length), 1);
    if (grant === undefined) return;
    const { memory, isMemoryNative } = this.accounts;
    this.step("settled");
    stageCells(this.kernel, grant.cells);
    const bits = this.kernel.settle(grant.cells.length, everything ? 1 : 0, this.now);
    this.tell(`${grant.name} settled ${bits}`);
    if (isMemoryNative && grant.cells.length > 0) this.kernel.give(memory, 0, 0, this.now);
    this.hearWakes();
  }

  protected hearWakes(): void {
    for (let line = this.kernel.takeWoken(); line !== 0; line = this.kernel.takeWoken()) {
      const index = this.lines.indexOf(line);
      this.tell(`line ${index} woken`);
      this.due.add(index);
    }
  }

  // --- Passes. ---

  protected pass(line: number, isInline = false): void {
    const { kernel } = this;
    const record = this.lines[line]!;
    const wantsHeld = this.chance.below(4) > 0 ? 1 : 0;
    this.due.delete(line);
    assert.equal(kernel.begin(record, isInline ? 1 : 0, wantsHeld, this.now, this.accounts.reading), 1);
    this.step("passes");
    this.running.add(line);
    let word = kernel.next(record);
    while ((word & OUTCOME_MASK) !== layout.DONE) word = this.#follow(line, word);
    this.running.delete(line);
    this.deadlines[line] = kernel.deadline(record);
    this.tell(`line ${line} looks at ${kernel.deadline(record)} ${kernel.laterDeadline(record)}`);
    if (Number.isFinite(kernel.deadline(record))) this.cover("finite deadlines");
    this.hearWakes();
  }

  /** Acts on one outcome of a pass; the next one. */
  #follow(line: number, word: number): number {
    const { kernel } = this;
    const record = this.lines[line]!;
    const code = word & OUTCOME_MASK;
    const member = this.#bySlot.get(word >>> layout.OUTCOME_BITS)!;
    this.step(OUTCOMES[code]!);
    if (code === layout.ASK) return this.#ask(line, member);
    if (code === layout.DEFECT) return this.#closeLine(line);
    if (code === layout.HELD) this.tell(`${member.name} HELD ${kernel.askedEntry(record)}`);
    if (code === layout.GRANTED) this.#granted(member);
    if (code === layout.REFUSED) this.#refused(line, member);
    if (code === layout.CANCELLED) this.#depart(member);
    this.meddle(line);
    return kernel.next(record);
  }

  #granted(member: Member): void {
    this.tell(`${member.name} GRANTED ${this.#sinceOf(member)}`);
    this.grants.push(member);
    this.#forget(member);
  }

  #refused(line: number, member: Member): void {
    const reason = this.kernel.refusedReason(this.lines[line]!);
    this.cover(`refused ${reason}`);
    this.tell(
      `${member.name} REFUSED ${reason} by ${this.kernel.refusedEntry(this.lines[line]!, member.slot)}`,
    );
    this.#depart(member);
  }

  /** After a defect everyone leaves. */
  #closeLine(line: number): number {
    this.kernel.abandon(this.lines[line]!);
    for (const member of [...this.waiting[line]!]) this.withdraw(member);
    return layout.DONE;
  }

  /** A custom account answers as chance has it. */
  #ask(line: number, member: Member): number {
    const { kernel } = this;
    const record = this.lines[line]!;
    const verb = VERBS[kernel.askedVerb(record)]!;
    this.cover(`asked ${verb}`);
    this.tell(`${member.name} ASK ${verb} ${kernel.askedEntry(record)} behind ${this.headOf(line)}`);
    if (verb === "give") this.tell(`alone ${kernel.wasAlone(record)}`);
    const verdict = this.#verdict(verb);
    const instant = this.chance.pick([Infinity, this.now - 10, this.now + this.chance.below(5_000_000)]);
    this.meddle(line);
    return kernel.answer(record, verdict, instant);
  }

  #verdict(verb: string): number {
    const lot = this.chance.below(200);
    if (lot === 0) return layout.THREW;
    const isAsked = verb === "fits" || verb === "take";
    return isAsked && lot <= 90 ? layout.NO : layout.YES;
  }
}
