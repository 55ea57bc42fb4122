// The gates of a random history, and permits that somebody takes from them outside of any admission.

import assert from "node:assert/strict";
import type { CountingGate } from "../../mod.ts";
import type { World } from "../scenario.ts";

/** More permits than a demand can ask of one gate by all ways. */
const WIDE_OPEN = 10;

export class Gates {
  readonly all: readonly CountingGate[];
  readonly #borrowed: number[];
  readonly #mostPermits: number[];

  constructor(world: World, capacities: readonly number[]) {
    this.all = capacities.map((capacity, index) => world.gate(`gate${index}`, capacity));
    this.#borrowed = capacities.map(() => 0);
    this.#mostPermits = [...capacities];
  }

  resize(index: number, capacity: number): void {
    this.#mostPermits[index] = Math.max(this.#mostPermits[index]!, capacity);
    this.all[index]!.setCapacity(capacity);
  }

  /** Takes permits outside any admission, or gives back those it took. */
  borrow(index: number, permits: number): void {
    const gate = this.all[index]!;
    if (this.#borrowed[index]! > 0) {
      gate.give(new Array(this.#borrowed[index]!).fill(undefined));
      this.#borrowed[index] = 0;
    } else if (permits <= gate.capacity && gate.tryTake(new Array(permits).fill(undefined), [])) {
      this.#borrowed[index] = permits;
    }
  }

  /** Gives back what was borrowed, and makes room for every demand. */
  openUp(): void {
    for (const index of this.all.keys()) if (this.#borrowed[index]! > 0) this.borrow(index, 1);
    // A demand on a gate and, through the router, on the same gate may fit in parts only (DEM-08): room for both.
    for (const gate of this.all) gate.setCapacity(WIDE_OPEN);
  }

  /** Permits in use, checked against the bounds. */
  tell(): string {
    const inUse = this.all.map((gate) => gate.currentInUse);
    for (const [index, permits] of inUse.entries()) {
      assert.ok(permits >= 0 && permits <= this.#mostPermits[index]!, `gate${index} has ${permits} in use`);
    }
    return `${inUse}`;
  }

  checkIdle(): void {
    for (const gate of this.all) assert.equal(gate.currentInUse, 0, `${gate.limiterName} has permits out`);
  }
}
