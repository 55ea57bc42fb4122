// The memory gate of a random history, on a heap that reads what the history says.

import { MemoryPressureGate } from "../../mod.ts";
import type { World } from "../scenario.ts";

export class Heap {
  readonly gate: MemoryPressureGate;
  /** What the heap reads; null is no reading. */
  ratio: number | null = 0.5;
  readonly #cover: (what: string) => void;

  constructor(world: World, cover: (what: string) => void) {
    this.gate = new MemoryPressureGate({ reader: () => this.ratio ?? NaN, clock: world.clock });
    this.#cover = cover;
  }

  /** What can be read off the gate. */
  tell(): string {
    const { status, statusIndicator } = this.gate;
    this.#cover(`memory ${status.zone}`);
    return `${Object.values(status)} ${statusIndicator}`;
  }
}
