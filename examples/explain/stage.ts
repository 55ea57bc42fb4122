import {
  Admission,
  type AdmitOptions,
  createJobContext,
  type Demand,
  type Grant,
  type LimiterEvent,
  LimiterEvents,
  type LimiterIdentity,
} from "../../mod.ts";
import { ManualClock } from "../../testing/mod.ts";
import { type Caller, lookAtLine, type Walk } from "./looks.ts";
import type { Note, Opened, Step, Story, Told } from "./story.ts";

const { amountOf } = LimiterEvents;

/** A clock that says when a timer is about to fire, so that the line can be looked at before admission does. */
class WatchedClock extends ManualClock {
  beforeTimer: () => void = () => {};

  override setTimer(delayMs: number, fn: () => void): ReturnType<ManualClock["setTimer"]> {
    return super.setTimer(delayMs, () => {
      this.beforeTimer();
      fn();
    });
  }
}

/**
 * An Admission on a clock that stands still between two verbs, and everything that it does, written down. Before each pass
 * the line is looked at through `explain`; after it the events must say the same, or the scenario fails.
 */
export class Stage {
  readonly clock: ManualClock;
  readonly #admission: Admission;
  readonly #without: Admission;
  readonly #accounts: Opened[] = [];
  readonly #steps: Step[] = [];
  readonly #grants = new Map<string, Grant>();
  /** Who stands in line, oldest first, or is just being attempted. */
  #line: Caller[] = [];
  #notes: Note[] = [];
  /** Who leaves by the last look, or null. */
  #leaves: string | null = null;
  /** What a sink throws is dropped, so what went wrong waits here for the end of the step. */
  #fault: Error | null = null;

  constructor() {
    const clock = new WatchedClock();
    clock.beforeTimer = () => this.#look();
    this.clock = clock;
    this.#admission = new Admission({ memory: null, clock, events: (event) => this.#hear(event) }).start();
    this.#without = new Admission({ memory: null, clock });
  }

  /** Puts an account on the list at the top of the story. */
  open<A extends LimiterIdentity>(account: A): A {
    const { limiterName: name, limiterCategory: category, status } = account;
    this.#accounts.push({ name, category, summary: status.summary() });
    return account;
  }

  /** A job asks: at once where nobody waits, else behind the others. An empty demand has no events, so nothing to show. */
  async arrives(name: string, demand: Demand, options: AdmitOptions = {}): Promise<void> {
    const asked = demand.entries.map(({ key, amounts }) => `${key.limiterName} ${amountOf(amounts)}`);
    const limit = options.timeoutMs === undefined ? "" : ` within ${options.timeoutMs} ms`;
    await this.#step(`${name} asks for ${asked.join(" and ")}${limit}`, () => {
      this.#line.push({ name, demand });
      const isAlone = this.#admission.queueSize === 0;
      if (isAlone) this.#look();
      this.#admit(name, demand, options);
      if (!isAlone) this.#look();
    });
  }

  /** A job is done: its permits come back. */
  async releases(name: string): Promise<void> {
    await this.frees(`${name} is done and releases its grant`, () => this.grantOf(name).release());
  }

  /** Something that may let somebody go, so that a pass follows. */
  async frees(what: string, act: () => void): Promise<void> {
    await this.#step(what, () => {
      act();
      // Where somebody has left by it, the line was looked at when that was told.
      if (this.#notes.every((note) => "told" in note)) this.#look();
    });
  }

  /** Something that takes room away: no pass follows, and the next one finds what is seen now. */
  async shrinks(what: string, act: () => void): Promise<void> {
    await this.#step(what, () => {
      act();
      this.#notes.push({ seen: this.#walk() });
    });
  }

  /** Time passes; each timer of admission that comes due is a step of its own. */
  async until(atMs: number): Promise<void> {
    for (;;) {
      const next = this.clock.nextTimerMs;
      if (next === null || next > atMs) break;
      await this.#step("the instant has come, admission looks", () => {}, next);
    }
    await this.clock.advanceTo(atMs);
  }

  /** Whether a job was granted. */
  hasGrant(name: string): boolean {
    return this.#grants.has(name);
  }

  /** The grant of a job that has one. */
  grantOf(name: string): Grant {
    const grant = this.#grants.get(name);
    if (grant === undefined) throw new Error(`${name} should have a grant by now`);
    return grant;
  }

  /** What happened; the stage is over. */
  end(): Story {
    this.#notes = []; // What stopping tells belongs to no step.
    this.#admission.stop();
    return { accounts: this.#accounts, steps: this.#steps };
  }

  async #step(title: string, act: () => void, atMs: number = this.clock.now()): Promise<void> {
    this.#notes = [];
    act();
    await this.clock.advanceTo(atMs); // A pass runs after the turn that asked for it.
    const waiters = this.#admission.waiters();
    this.#checkLook(null);
    this.#checkLine(waiters.map(({ job }) => job!.id));
    if (this.#fault !== null) throw this.#fault;
    this.#steps.push({
      number: this.#steps.length + 1,
      atMs,
      title,
      notes: this.#notes,
      waiters,
      nextLookMs: this.clock.nextTimerMs,
    });
  }

  #admit(name: string, demand: Demand, options: AdmitOptions): void {
    const context = createJobContext({ id: name });
    this.#admission.admit(demand, { ...options, context }).then(
      (grant) => void this.#grants.set(name, grant),
      (error: Error) => {
        this.#lastOf(name).error = error;
      },
    );
  }

  /** What a pass is about to find. */
  #look(): void {
    const walk = this.#walk();
    const last = walk.at(-1);
    this.#leaves = last === undefined || last.verdict === "waits" ? null : last.name;
    if (walk.length > 0) this.#notes.push({ walk });
  }

  #walk(): Walk {
    return lookAtLine(this.#line, { own: this.#admission, without: this.#without });
  }

  #hear(event: LimiterEvent): void {
    const job = event.snapshot.id;
    const isDeparture = event.type !== "HELD" && event.type !== "RELEASED" && this.#isInLine(job);
    if (isDeparture) {
      if (event.rejectReason !== "timeout" && event.rejectReason !== "cancelled") this.#checkLook(job);
      this.#line = this.#line.filter(({ name }) => name !== job);
      this.#notes.push({ told: { job, events: [event], error: null } });
      this.#look();
    } else this.#lastOf(job).events.push(event);
  }

  #isInLine(job: string): boolean {
    return this.#line.some(({ name }) => name === job);
  }

  /** Where the news of a job go: beside what was told of it last in this step, if anything was. */
  #lastOf(job: string): Told {
    const known = this.#notes.findLast((note) => "told" in note && note.told.job === job);
    if (known !== undefined && "told" in known) return known.told;
    const told: Told = { job, events: [], error: null };
    this.#notes.push({ told });
    return told;
  }

  #checkLook(leaver: string | null): void {
    if (this.#leaves === leaver) return;
    this.#fault ??= new Error(
      `explain said that ${this.#leaves ?? "nobody"} leaves, ${leaver ?? "nobody"} did`,
    );
  }

  #checkLine(names: readonly string[]): void {
    const expected = this.#line.map(({ name }) => name);
    if (names.join() === expected.join()) return;
    this.#fault ??= new Error(`${names} are in line, it should be ${expected}`);
  }
}
