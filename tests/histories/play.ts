// Plays a random history in a world and tells what can be observed, and checks the laws after every step.

import assert from "node:assert/strict";
import { type Admission, Demand, type Grant, type LimiterEvent, MemoryPressureGate } from "../../mod.ts";
import { MeterLimiter, ScriptedLimiter, SwitchMemory } from "../../testing/mod.ts";
import { currentHost } from "../../core/host.ts";
import { MAX_ACCOUNTS, MAX_LINES } from "../../assembly/layout.ts";
import type { World } from "../scenario.ts";
import { ADMISSIONS, type Ask, type History, type Operation } from "./operations.ts";

/** What a run of histories has met, for the coverage floor. */
export type Coverage = Map<string, number>;

export function cover(coverage: Coverage, what: string): void {
  coverage.set(what, (coverage.get(what) ?? 0) + 1);
}

interface Job {
  name: string;
  grant: Grant | null;
  isSettled: boolean;
  isOver: boolean;
  controller: AbortController | null;
}

class Player {
  readonly #world: World;
  readonly #coverage: Coverage;
  readonly #gates;
  readonly #buckets;
  readonly #meter: MeterLimiter;
  readonly #scripted: ScriptedLimiter;
  readonly #memory: SwitchMemory | null;
  readonly #heapGate: MemoryPressureGate | null;
  /** What the heap reads; null is no reading. */
  #heap: number | null = 0.5;
  readonly #admissions: Admission[];
  readonly #borrowed: number[];
  readonly #capacitySeen: number[];
  readonly #jobs: Job[] = [];
  #made = 0;

  constructor(world: World, { setup }: History, coverage: Coverage) {
    currentHost().kernel.limits(setup.waiterLimit, MAX_ACCOUNTS, MAX_LINES);
    this.#world = world;
    this.#coverage = coverage;
    this.#gates = setup.capacities.map((capacity, index) => world.gate(`gate${index}`, capacity));
    this.#buckets = setup.caps.map((caps, index) => world.bucket(`bucket${index}`, caps));
    this.#meter = new MeterLimiter("meter", 100, 20, world.clock);
    this.#scripted = new ScriptedLimiter("scripted");
    this.#memory = setup.memory === "switch" ? new SwitchMemory() : null;
    const reader = () => this.#heap ?? NaN;
    this.#heapGate = setup.memory === "gate" ? new MemoryPressureGate({ reader, clock: world.clock }) : null;
    // The custom accounts have one wake slot, so only the first admission uses them.
    this.#admissions = Array.from(
      { length: ADMISSIONS },
      (_, index) => world.admission({ memory: this.#heapGate ?? (index === 0 ? this.#memory : null) }),
    );
    this.#borrowed = this.#gates.map(() => 0);
    this.#capacitySeen = [...setup.capacities];
  }

  async play(operations: readonly Operation[]): Promise<void> {
    for (const operation of operations) {
      await this.#do(operation);
      this.#tellState();
    }
    await this.#end();
  }

  async #do(operation: Operation): Promise<void> {
    cover(this.#coverage, `op ${operation.kind}`);
    switch (operation.kind) {
      case "admit":
        return this.#admit(operation.at, operation.ask, operation.hasSignal);
      case "tryAdmit":
        return this.#tryAdmit(operation.at, operation.ask);
      case "release":
      case "rollback":
        return this.#settle(operation.kind, operation.which);
      case "abort":
        return this.#abort(operation.which);
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
        this.#capacitySeen[operation.gate] = Math.max(
          this.#capacitySeen[operation.gate]!,
          operation.capacity,
        );
        return this.#gates[operation.gate]!.setCapacity(operation.capacity);
      case "configure":
        return this.#buckets[operation.bucket]!.setConfig(operation);
      case "slowDown":
        return this.#buckets[operation.bucket]!.recordBackpressure(operation.weight);
      case "succeed":
        for (let i = 0; i < operation.times; i++) this.#buckets[operation.bucket]!.recordSuccess();
        return;
      case "script":
        this.#scripted.mode = operation.mode;
        this.#scripted.instant = operation.instant;
        if (operation.wakes) this.#scripted.wake();
        return;
      case "memory":
        if (this.#memory === null) return;
        this.#memory.isOpen = operation.isOpen;
        this.#memory.instant = operation.instant;
        if (operation.wakes) this.#memory.wake();
        return;
      case "heap":
        this.#heap = operation.ratio;
        return;
      case "borrow":
        return this.#borrow(operation.gate, operation.permits);
    }
  }

  #demand(ask: Ask, isFirst: boolean): Demand {
    const demand = new Demand();
    for (const [index, permits] of ask.gates) demand.add(this.#gates[index]!, permits);
    for (const [index, tokens] of ask.buckets) demand.add(this.#buckets[index]!, tokens);
    if (isFirst && ask.meter !== null) demand.add(this.#meter, ask.meter);
    if (isFirst && ask.scripted) demand.add(this.#scripted, 1);
    return demand;
  }

  #admit(at: number, ask: Ask, hasSignal: boolean): void {
    const name = `job${++this.#made}`;
    const controller = hasSignal ? new AbortController() : null;
    const job: Job = { name, grant: null, isSettled: false, isOver: false, controller };
    this.#jobs.push(job);
    const options = controller === null ? {} : { signal: controller.signal };
    this.#admissions[at]!.admit(this.#demand(ask, at === 0), options).then(
      (grant) => {
        job.grant = grant;
        cover(this.#coverage, grant.waitTimesMs.size > 0 ? "granted from hold" : "granted at once");
        this.#world.tell(
          `${name} granted after ${grant.wallWaitMs} ${JSON.stringify([...grant.waitTimesMs])}`,
        );
      },
      (error) => {
        job.isOver = true;
        cover(this.#coverage, `failed ${error.code ?? error.name}`);
        this.#world.tell(`${name} failed ${error.code ?? error.name} ${error.message}`);
      },
    );
  }

  #tryAdmit(at: number, ask: Ask): void {
    const name = `job${++this.#made}`;
    const job: Job = { name, grant: null, isSettled: false, isOver: false, controller: null };
    try {
      job.grant = this.#admissions[at]!.tryAdmit(this.#demand(ask, at === 0));
      if (job.grant !== null) this.#jobs.push(job);
      this.#world.tell(`${name} tried ${job.grant !== null}`);
    } catch (error) {
      this.#world.tell(`${name} tried ${(error as Error).message}`);
    }
  }

  #settle(how: "release" | "rollback", which: number): void {
    const out = this.#jobs.filter((job) => job.grant !== null && !job.isSettled);
    const job = out[which % Math.max(1, out.length)];
    if (job === undefined) return;
    job.isSettled = true;
    this.#world.tell(`${job.name} ${how}`);
    job.grant![how]();
  }

  #abort(which: number): void {
    const waiting = this.#jobs.filter((job) => job.grant === null && !job.isOver && job.controller !== null);
    const job = waiting[which % Math.max(1, waiting.length)];
    if (job === undefined) return;
    this.#world.tell(`${job.name} aborts`);
    job.controller!.abort(new Error(`${job.name} left`));
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

  /** Takes permits outside any admission, or gives back those it took. */
  #borrow(index: number, permits: number): void {
    const gate = this.#gates[index]!;
    if (this.#borrowed[index]! > 0) {
      gate.give(new Array(this.#borrowed[index]!).fill(undefined));
      this.#borrowed[index] = 0;
    } else if (permits <= gate.capacity && gate.tryTake(new Array(permits).fill(undefined), [])) {
      this.#borrowed[index] = permits;
    }
  }

  #tellState(): void {
    const gates = this.#gates.map((gate) => gate.currentInUse);
    for (const [index, inUse] of gates.entries()) {
      assert.ok(inUse >= 0 && inUse <= this.#capacitySeen[index]!, `gate${index} has ${inUse} in use`);
    }
    const levels = this.#buckets.map(({ status, throttle, currentInUse }) =>
      `${status.availableTokens}/${status.availableRequests}/${currentInUse}/${throttle}`
    );
    const sizes = this.#admissions.map((admission) => admission.queueSize);
    if (sizes[0]! + sizes[1]! > 5) cover(this.#coverage, "more than five wait");
    const timer = this.#world.clock.nextTimerMs;
    if (this.#heapGate !== null) this.#tellHeap(this.#heapGate);
    this.#world.tell(`${gates} | ${levels} | ${this.#meter.level.toFixed(6)} | ${sizes} | ${timer}`);
  }

  #tellHeap({ status, statusIndicator }: MemoryPressureGate): void {
    cover(this.#coverage, `memory ${status.zone}`);
    this.#world.tell(`${Object.values(status)} ${statusIndicator}`);
  }

  /** Opens everything up; then everyone must have got an answer and nothing may be left in use. */
  async #end(): Promise<void> {
    this.#scripted.mode = "fits";
    if (this.#memory !== null) this.#memory.isOpen = true;
    this.#heap = 0.1;
    for (const index of this.#gates.keys()) if (this.#borrowed[index]! > 0) this.#borrow(index, 1);
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
    for (const gate of this.#gates) assert.equal(gate.currentInUse, 0, `${gate.limiterName} has permits out`);
    for (const admission of this.#admissions) assert.equal(admission.queueSize, 0);
    assert.equal(this.#world.clock.pendingTimers, 0, "no timer is armed when nobody waits");
    checkBalance(this.#world.events);
  }
}

/** Per account, what was held has left: HELD = GRANTED_FROM_HOLD + REJECTED of those held; the last count is 0. */
function checkBalance(events: readonly LimiterEvent[]): void {
  const last = new Map<string, number>();
  for (const event of events) last.set(event.limiterName, event.waiters);
  for (const [name, waiters] of last) assert.equal(waiters, 0, `${name} still counts waiters`);
}

export async function playHistory(world: World, history: History, coverage: Coverage): Promise<void> {
  await new Player(world, history, coverage).play(history.operations);
}
