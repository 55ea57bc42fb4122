// Plays a random history in a world and tells what can be observed, and checks the laws after every step.

import assert from "node:assert/strict";
import { type Admission, type AdmitOptions, type CountingGate, createJobContext, Demand } from "../../mod.ts";
import { MeterLimiter, ScriptedLimiter, SwitchMemory } from "../../testing/mod.ts";
import { currentHost } from "../../core/host.ts";
import { MAX_ACCOUNTS, MAX_LINES } from "../../assembly/layout.ts";
import { Router } from "../custom_accounts.ts";
import type { World } from "../scenario.ts";
import { checkBalance, counted, cover, type Coverage, outcomeOf } from "./coverage.ts";
import { type Job, newJob } from "./jobs.ts";
import {
  ADMISSIONS,
  type Ask,
  type History,
  type Operation,
  type Patience,
  type Setup,
} from "./operations.ts";
import { Gates } from "./gates.ts";
import { Heap } from "./heap.ts";
import { Windows } from "./windows.ts";

class Player {
  readonly #world: World;
  readonly #coverage: Coverage;
  readonly #gates: Gates;
  readonly #buckets;
  readonly #windows: Windows;
  readonly #meter: MeterLimiter;
  readonly #scripted: ScriptedLimiter;
  readonly #router: Router;
  readonly #memory: SwitchMemory | null;
  readonly #heap: Heap | null;
  readonly #admissions: Admission[];
  readonly #jobs: Job[] = [];
  readonly #cohortLimit: number;
  #made = 0;

  constructor(world: World, { setup }: History, coverage: Coverage) {
    currentHost().kernel.limits(setup.waiterLimit, MAX_ACCOUNTS, MAX_LINES);
    currentHost().kernel.limitCohorts(setup.cohortLimit);
    this.#world = world;
    this.#cohortLimit = setup.cohortLimit;
    this.#coverage = coverage;
    this.#gates = new Gates(world, setup.capacities);
    this.#buckets = setup.caps.map((caps, index) => world.bucket(`bucket${index}`, caps));
    const [eu, us] = this.#gates.all as [CountingGate, CountingGate];
    this.#windows = new Windows(world, setup, (what) => cover(coverage, what));
    this.#meter = counted("meter", new MeterLimiter("meter", 100, 20, world.clock), coverage);
    this.#scripted = counted("scripted", new ScriptedLimiter("scripted"), coverage);
    this.#router = counted("router", new Router({ eu, us }), coverage);
    this.#memory = setup.memory === "switch" ? counted("memory", new SwitchMemory(), coverage) : null;
    this.#heap = setup.memory === "gate" ? new Heap(world, (what) => cover(coverage, what)) : null;
    this.#admissions = this.#openAdmissions(setup);
  }

  /** The accounts outside the kernel have one wake slot, so only the first admission uses them; a heap gate serves both. */
  #openAdmissions({ maxQueue }: Setup): Admission[] {
    const gate = this.#heap?.gate ?? null;
    return Array.from(
      { length: ADMISSIONS },
      (_, index) =>
        this.#world.admission(index === 0 ? { memory: gate ?? this.#memory } : { memory: gate, maxQueue }),
    );
  }

  async play(operations: readonly Operation[]): Promise<void> {
    for (const operation of operations) {
      await this.#do(operation);
      this.#tellState();
    }
    await this.#end();
  }

  async #do(operation: Operation): Promise<void> {
    cover(this.#coverage, "steps");
    cover(this.#coverage, `op ${operation.kind}`);
    switch (operation.kind) {
      case "admit":
        return this.#admit(operation.at, operation.ask, operation.patience);
      case "tryAdmit":
        return this.#tryAdmit(operation.at, operation.ask);
      case "release":
      case "rollback":
        return this.#settle(operation.kind, operation.which);
      case "abort":
      case "cancel":
        return this.#leave(operation.kind, operation.which);
      case "explain":
        return this.#explain(operation.at, operation.ask);
      case "settleUsage":
        return this.#settleUsage(operation);
      case "advance":
        return await this.#world.clock.advance(operation.ms);
      case "flush":
        return await this.#world.settle();
      case "stop":
        return this.#admissions[operation.at]!.stop();
      default:
        return this.#change(operation);
    }
  }

  #change(operation: Operation): void {
    switch (operation.kind) {
      case "resize":
        return this.#gates.resize(operation.gate, operation.capacity);
      case "configure":
        return this.#buckets[operation.bucket]!.setConfig(operation);
      case "slowDown":
        return this.#buckets[operation.bucket]!.recordBackpressure(operation.weight);
      case "succeed":
        for (let i = 0; i < operation.times; i++) this.#buckets[operation.bucket]!.recordSuccess();
        return;
      case "window":
        return this.#windows.hear(operation);
      case "script":
        this.#scripted.mode = operation.mode;
        this.#scripted.instant = operation.instant;
        this.#scripted.giveThrows = operation.giveThrows;
        if (operation.wakes) this.#scripted.wake();
        return;
      case "memory":
        if (this.#memory === null) return;
        this.#memory.isOpen = operation.isOpen;
        this.#memory.instant = operation.instant;
        if (operation.wakes) this.#memory.wake();
        return;
      case "heap":
        if (this.#heap !== null) this.#heap.ratio = operation.ratio;
        return;
      case "borrow":
        return this.#gates.borrow(operation.gate, operation.permits);
    }
  }

  /** The scripted account comes first, so that it has to give back when a later one declines. */
  #demand(ask: Ask, isFirst: boolean): Demand {
    const demand = new Demand();
    if (isFirst && ask.scripted) demand.add(this.#scripted, 1);
    for (const [index, permits] of ask.gates) demand.add(this.#gates.all[index]!, permits);
    for (const [index, tokens] of ask.buckets) demand.add(this.#buckets[index]!, tokens);
    this.#windows.addTo(demand, ask.windows);
    if (isFirst && ask.meter !== null) demand.add(this.#meter, ask.meter);
    for (const route of isFirst ? ask.routes : []) demand.add(this.#router, route);
    return demand;
  }

  #newJob(): Job {
    return newJob(`job${++this.#made}`);
  }

  #admit(at: number, ask: Ask, patience: Patience): void {
    const job = this.#newJob();
    const { name } = job;
    const { timeoutMs, failFast } = patience;
    const options: AdmitOptions = { timeoutMs, failFast };
    if (patience.hasSignal) options.signal = (job.controller = new AbortController()).signal;
    if (patience.hasContext) options.context = job.context = createJobContext({ id: name });
    this.#jobs.push(job);
    this.#admissions[at]!.admit(this.#demand(ask, at === 0), options).then(
      (grant) => {
        job.grant = grant;
        this.#windows.note(grant);
        cover(this.#coverage, grant.waitTimesMs.size > 0 ? "granted from hold" : "granted at once");
        this.#world.tell(
          `${name} granted after ${grant.wallWaitMs} ${JSON.stringify([...grant.waitTimesMs])}`,
        );
      },
      (error) => {
        job.isOver = true;
        cover(this.#coverage, outcomeOf(error, patience));
        this.#world.tell(`${name} failed ${error.code ?? error.name} ${error.message} ${error.retryAfterMs}`);
      },
    );
  }

  #tryAdmit(at: number, ask: Ask): void {
    const job = this.#newJob();
    try {
      job.grant = this.#admissions[at]!.tryAdmit(this.#demand(ask, at === 0));
      if (job.grant !== null) this.#jobs.push(job);
      cover(this.#coverage, `tried ${job.grant !== null}`);
      this.#world.tell(`${job.name} tried ${job.grant !== null}`);
    } catch (error) {
      cover(this.#coverage, "tried and refused");
      this.#world.tell(`${job.name} tried ${(error as Error).message}`);
    }
  }

  #explain(at: number, ask: Ask): void {
    const admission = this.#admissions[at]!;
    const explained = admission.explain(this.#demand(ask, at === 0));
    cover(this.#coverage, `explained ${explained.fits}`);
    const waits = admission.waiters().map(({ waitedMs, accounts }) => ({ waitedMs, accounts }));
    this.#world.tell(JSON.stringify([explained, waits]));
  }

  #settle(how: "release" | "rollback", which: number): void {
    const out = this.#jobs.filter((job) => job.grant !== null && !job.isSettled);
    const job = out[which % Math.max(1, out.length)];
    if (job === undefined) return;
    job.isSettled = true;
    this.#world.tell(`${job.name} ${how}`);
    try {
      job.grant![how]();
    } catch (error) {
      cover(this.#coverage, "settlement failed");
      this.#world.tell(`${job.name} ${how}: ${(error as Error).message}`);
    }
  }

  #leave(how: "abort" | "cancel", which: number): void {
    const waiting = this.#jobs.filter(({ grant, isOver, controller, context }) =>
      grant === null && !isOver && (how === "abort" ? controller : context) !== null
    );
    const job = waiting[which % Math.max(1, waiting.length)];
    if (job === undefined) return;
    this.#world.tell(`${job.name} ${how}`);
    if (how === "abort") job.controller!.abort(new Error(`${job.name} left`));
    else job.context!.cancel();
  }

  #settleUsage({ which, bucket, actual }: { which: number; bucket: number; actual: number }): void {
    const granted = this.#jobs.filter((job) => job.grant !== null);
    const job = granted[which % Math.max(1, granted.length)];
    if (job === undefined) return;
    try {
      job.grant!.settle(this.#buckets[bucket]!, actual);
      this.#world.tell(`${job.name} used ${actual}`);
    } catch (error) {
      this.#world.tell(`${job.name} used ${actual}: ${(error as Error).message}`);
    }
  }

  #tellState(): void {
    const gates = this.#gates.tell();
    const levels = this.#buckets.map(({ status, throttle, currentInUse }) =>
      `${status.availableTokens}/${status.availableRequests}/${currentInUse}/${throttle}`
    );
    const sizes = this.#admissions.map((admission) => admission.queueSize);
    if (sizes[0]! + sizes[1]! > 5) cover(this.#coverage, "more than five wait");
    const classes = currentHost().kernel.cohortCount();
    if (classes > 0) cover(this.#coverage, "with classes");
    if (classes > 0 && classes === this.#cohortLimit) cover(this.#coverage, "table of classes full");
    const timer = this.#world.clock.nextTimerMs;
    if (this.#heap !== null) this.#world.tell(this.#heap.tell());
    this.#world.tell(
      `${gates} | ${levels} | ${this.#windows.tell()} | ${
        this.#meter.level.toFixed(6)
      } | ${sizes} | ${timer}`,
    );
  }

  /** Opens everything up; then everyone must have got an answer and nothing may be left in use. */
  async #end(): Promise<void> {
    this.#scripted.mode = "fits";
    this.#scripted.giveThrows = false;
    if (this.#memory !== null) this.#memory.isOpen = true;
    if (this.#heap !== null) this.#heap.ratio = 0.1;
    this.#gates.openUp();
    for (let round = 0; round < 200; round++) {
      this.#scripted.wake();
      this.#memory?.wake();
      await this.#world.clock.advance(60_000);
      for (const job of this.#jobs) {
        if (job.grant === null || job.isSettled) continue;
        job.isSettled = true;
        job.grant.release();
      }
      if (this.#jobs.every((job) => job.isOver || job.isSettled)) break;
    }
    await this.#world.settle();
    const stuck = this.#jobs.filter((job) => !job.isOver && !job.isSettled).map((job) => job.name);
    assert.deepEqual(stuck, [], "every job gets an answer");
    this.#gates.checkIdle();
    for (const admission of this.#admissions) assert.equal(admission.queueSize, 0);
    assert.equal(currentHost().kernel.cohortCount(), 0, "no class is left when nobody waits");
    assert.equal(this.#world.clock.pendingTimers, 0, "no timer is armed when nobody waits");
    checkBalance(this.#world.events);
  }
}

export async function playHistory(world: World, history: History, coverage: Coverage): Promise<void> {
  await new Player(world, history, coverage).play(history.operations);
}
