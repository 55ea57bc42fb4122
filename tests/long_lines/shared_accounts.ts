// The accounts that the long lines share, opened on one kernel: what may happen to them, and all that can be read off them.

import type { Kernel } from "../../core/kernel.ts";
import { TICKS_PER_MS, YES } from "../../assembly/layout.ts";
import {
  BUCKETS,
  type Change,
  CUSTOM,
  FIRST_BUCKET,
  FIRST_WINDOW,
  GATES,
  ROUTER,
  type Setup,
  WINDOWS,
} from "./operations.ts";

/** Cells of a demand, as they are staged. */
export interface StagedCell {
  limiter: number;
  key: number;
  count: number;
  sum: number;
}

export function stageCells(kernel: Kernel, cells: readonly StagedCell[]): void {
  for (const [index, { limiter, key, count, sum }] of cells.entries()) {
    kernel.stage(index, limiter, key, count, sum);
  }
}

export class SharedAccounts {
  /** By index; see operations.ts. */
  readonly records: readonly number[];
  readonly memory: number;
  readonly isMemoryNative: boolean;
  /** What the heap reads; NaN for no reading. */
  reading = 0.5;
  readonly #kernel: Kernel;
  readonly #setup: Setup;
  readonly #borrowed: number[] = [];

  constructor(kernel: Kernel, setup: Setup, now: number) {
    this.#kernel = kernel;
    this.#setup = setup;
    const gates = setup.capacities.map((capacity) => kernel.openGate(capacity));
    const buckets = setup.caps.map(({ tpm, rpm }) => kernel.openBucket(tpm, rpm, now));
    const windows = setup.windows.map((window) => openWindow(kernel, window));
    this.records = [...gates, ...buckets, ...windows, kernel.openCustom(), kernel.openCustom()];
    this.isMemoryNative = setup.memory === "gate";
    if (setup.memory === "none") this.memory = 0;
    else this.memory = this.isMemoryNative ? kernel.openMemory() : kernel.openCustom();
  }

  /** The record that an entry's account is known by: a router's is the gate that it leads to. */
  keyOf(account: number): number {
    return this.records[account === ROUTER ? 0 : account]!;
  }

  isBucket(account: number): boolean {
    return account >= FIRST_BUCKET && account < FIRST_WINDOW;
  }

  /** The most tokens a bucket of the setup held at first; caps only shrink from there and grow back. */
  tokensOf(account: number): number {
    return this.#setup.caps[account - FIRST_BUCKET]!.tpm;
  }

  /** What the kernel answers to a change, which is told. */
  change({ what, index, amount }: Change, now: number): unknown {
    const kernel = this.#kernel;
    const bucketIndex = index % BUCKETS;
    const bucket = this.records[FIRST_BUCKET + bucketIndex]!;
    const window = this.records[FIRST_WINDOW + index % WINDOWS]!;
    switch (what) {
      case "resize":
        return kernel.resizeGate(this.records[index % GATES]!, 1 + amount % 4);
      case "borrow":
        return this.#borrow(index % GATES, 1 + amount % 2, now);
      case "configure": {
        const { tpm, rpm } = this.#setup.caps[bucketIndex]!;
        const share = amount % 3 === 0 ? 1 : (1 + amount % 10) / 10;
        return kernel.configureBucket(bucket, Math.ceil(tpm * share), Math.ceil(rpm * share), now);
      }
      case "take":
        return kernel.tryTake(bucket, 1, amount % (this.tokensOf(FIRST_BUCKET + bucketIndex) + 1), 0, 0, now);
      case "give":
        return kernel.give(bucket, 1, amount, now);
      case "reconcile":
        return kernel.reconcile(bucket, amount - 500, now);
      case "slow down":
        return kernel.slowDown(bucket, amount % 4, now);
      case "relax":
        return kernel.succeed(bucket, now);
      case "fail":
        return kernel.windowFail(window, now);
      case "succeed":
        return kernel.windowSucceed(window, now);
      case "advise":
        return kernel.windowAdvise(window, now);
      case "heap":
        return this.reading = amount < 100 ? NaN : amount < 600 ? 0.5 : amount / 1000;
      case "stay away":
        return this.#ask(index, amount, now);
      case "classes":
        return kernel.limitCohorts(this.#setup.cohortLimit === 0 ? 0 : 1 + amount % this.#setup.cohortLimit);
    }
  }

  /** Somebody only asks, which may give up a lost probe and moves memory's floor. */
  #ask(index: number, amount: number, now: number): unknown {
    const window = this.records[FIRST_WINDOW + index % WINDOWS]!;
    const verdict = this.#kernel.fits(window, 1 + amount % 2, 0, amount % 2, 0, now);
    return this.isMemoryNative ? [verdict, this.#kernel.memoryFits(this.memory, now, this.reading)] : verdict;
  }

  /** Takes permits outside any line, or gives back those it took. */
  #borrow(index: number, permits: number, now: number): unknown {
    const gate = this.records[index]!;
    const borrowed = this.#borrowed[index] ?? 0;
    if (borrowed > 0) {
      this.#borrowed[index] = 0;
      return this.#kernel.give(gate, borrowed, 0, now);
    }
    const verdict = this.#kernel.tryTake(gate, permits, 0, 0, 0, now);
    if (verdict === YES) this.#borrowed[index] = permits;
    return verdict;
  }

  giveBackBorrowed(now: number): void {
    for (let index = 0; index < GATES; index++) if (this.#borrowed[index]) this.#borrow(index, 1, now);
  }

  held(): number[] {
    return [...this.records, ...(this.memory === 0 ? [] : [this.memory])].map((each) =>
      this.#kernel.heldOn(each)
    );
  }

  gatesInUse(): number[] {
    return this.records.slice(0, GATES).map((gate) => this.#kernel.gateInUse(gate));
  }

  /** All that can be read, without moving anything. */
  tell(now: number): string {
    const kernel = this.#kernel;
    const buckets = this.records.slice(FIRST_BUCKET, FIRST_WINDOW).map((bucket) =>
      `${kernel.bucketTokens(bucket, now)}/${kernel.bucketRequests(bucket, now)}`
    );
    const windows = this.records.slice(FIRST_WINDOW, CUSTOM).map((window) =>
      `${kernel.windowInUse(window, now)} ${kernel.windowCircuit(window)} ${
        kernel.windowCooldown(window, now)
      }`
    );
    const active = this.records.slice(0, CUSTOM).map((each) => kernel.lastActivity(each));
    const memory = this.isMemoryNative ? this.#tellMemory(now) : "";
    return `${this.held()} | ${this.gatesInUse()} | ${buckets} | ${windows} | ${active} | ${memory}`;
  }

  #tellMemory(now: number): string {
    const { memory, reading } = this;
    const kernel = this.#kernel;
    const turns = kernel.takeLatchTurns(memory);
    const line = `${kernel.memoryHeld(memory)} ${kernel.memoryIsLatched(memory)} ${turns}`;
    const pace = `${kernel.memoryPacing(memory, now, reading)} ${kernel.memoryPenalty(memory, reading)}`;
    return `${line} ${pace} ${kernel.memoryFloor(memory, reading)}`;
  }

  close(): void {
    for (const each of this.records) this.#kernel.closeAccount(each, 0);
    if (this.memory !== 0) this.#kernel.closeAccount(this.memory, 0);
  }
}

/** A window whose circuit opens soon, and lets a probe go soon. */
function openWindow(
  kernel: Kernel,
  { maxRequests, lengthMs, maxThrottle }: Setup["windows"][number],
): number {
  const record = kernel.openWindow(maxRequests, lengthMs);
  kernel.setPacing(record, 500, 200, 500, maxThrottle, 2, 20_000 * TICKS_PER_MS);
  kernel.setCircuit(record, 1, 50 * TICKS_PER_MS, 2000 * TICKS_PER_MS, 400 * TICKS_PER_MS);
  return record;
}
