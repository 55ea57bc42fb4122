// What the memory tests play with: a gate whose heap, line and clock a test sets, and an Admission in front of one.

import assert from "node:assert/strict";
import { type Admission, type CountingGate, Demand, type Logger, MemoryPressureGate } from "../mod.ts";
import type { Call, World } from "./scenario.ts";

const TWO_HOURS_MS = 7_200_000;

/** A memory gate on its own, without an Admission: a test says what the heap reads and how many are held. */
export class LoneGate {
  readonly #world: World;
  readonly gate: MemoryPressureGate;
  ratio = 0.5;
  held = 0;
  readonly logs: string[] = [];
  /** How often the heap was read. */
  readings = 0;

  constructor(world: World) {
    this.#world = world;
    this.gate = new MemoryPressureGate({
      reader: () => {
        this.readings++;
        return this.ratio;
      },
      clock: world.clock,
      logger: logInto(this.logs),
    });
    this.gate.observeHeld(() => this.held);
  }

  /** One look at a reading: whether the next one may go. */
  look(ratio: number = this.ratio): boolean {
    this.ratio = ratio;
    return this.#told("fits", this.gate.fits([], []));
  }

  take(ratio: number = this.ratio): boolean {
    this.ratio = ratio;
    return this.#told("takes", this.gate.tryTake([], []));
  }

  /** A collection that leaves the heap at `ratio`: the floor is there afterwards. */
  collect(ratio: number): void {
    this.look(ratio + 0.01);
    this.look(ratio);
  }

  /** Collections to each level in turn, with a release long after each. */
  async releaseAt(...floors: number[]): Promise<void> {
    for (const floor of floors) {
      this.collect(floor);
      await this.#world.clock.advance(TWO_HOURS_MS);
      assert.equal(this.take(), true, `a release at ${floor}`);
    }
  }

  get penalty(): number {
    return this.gate.status.growthPenalty;
  }

  /** The remaining delay, whole ms. */
  get pacingMs(): number {
    return this.gate.status.pacingDelayMillis;
  }

  #told(what: string, answer: boolean): boolean {
    const { status, statusIndicator } = this.gate;
    this.#world.tell(`${what} ${answer} ${status.summary()} ${status.growthPenalty} ${statusIndicator}`);
    return answer;
  }
}

/** A logger whose lines land in a list, their level first. */
export function logInto(lines: string[]): Logger {
  const log = (level: string) => (message: string) => void lines.push(`${level} ${message}`);
  return { info: log("info"), warn: log("warn"), error: log("error") };
}

/** Jobs that ask a permit each, behind a gate on a heap of 100 GB of which a test says how much is in use. */
export class DrainWorld {
  readonly world: World;
  readonly gate: MemoryPressureGate;
  readonly slot: CountingGate;
  readonly admission: Admission;
  readonly jobs: Call[] = [];
  usedGb = 50;

  constructor(world: World) {
    this.world = world;
    this.gate = new MemoryPressureGate({ reader: () => this.usedGb / 100, clock: world.clock });
    this.slot = world.gate("slot", 100);
    this.admission = world.admission({ memory: this.gate });
  }

  /** Submits jobs one after another. */
  async submit(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      this.jobs.push(this.world.follow(this.admission.admit(new Demand().add(this.slot))));
      await this.world.settle();
    }
  }

  /** Makes the line look again without time passing or a job finishing: an account that it waits on grew. */
  async wake(): Promise<void> {
    this.slot.setCapacity(this.slot.capacity + 1);
    await this.world.settle();
  }

  /** Sets the heap and makes the line look. */
  async heap(usedGb: number): Promise<void> {
    this.usedGb = usedGb;
    await this.wake();
  }

  async advance(ms: number): Promise<void> {
    await this.world.clock.advance(ms);
    await this.wake();
  }

  /** A job finishes. */
  async finish(job: number): Promise<void> {
    this.jobs[job]!.grant!.release();
    await this.world.settle();
  }

  /** Jobs under the latch, none of them granted a minute later. */
  async lineUnderTheLatch(count: number): Promise<void> {
    await this.heap(96);
    await this.submit(count);
    await this.advance(60_000);
    this.assertGranted([]);
  }

  /** The same, then a heap at which the first of them went. */
  async draining(count: number, usedGb: number): Promise<void> {
    await this.lineUnderTheLatch(count);
    await this.heap(usedGb);
    this.assertGranted([0]);
  }

  /** Which jobs have their grant, in the order of submission. */
  get granted(): number[] {
    return this.jobs.flatMap(({ grant }, index) => grant === null ? [] : [index]);
  }

  assertGranted(jobs: readonly number[], message = "who has a grant"): void {
    this.world.tell(`granted ${this.granted} ${this.gate.status.summary()}`);
    assert.deepEqual(this.granted, jobs, message);
  }

  /** The first `count` jobs and no others. */
  assertFirst(count: number, message = "who has a grant"): void {
    this.assertGranted(Array.from({ length: count }, (_, index) => index), message);
  }
}
