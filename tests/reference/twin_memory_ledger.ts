// The memory gate's part of the twin's border.

import { TwinLedger } from "./twin_ledger.ts";
import { TwinMemory } from "./twin_memory.ts";

/** A ledger that also keeps memory accounts. */
export class TwinMemoryLedger extends TwinLedger {
  openMemory(): number {
    return this.open(new TwinMemory());
  }

  memoryFits(account: number, now: number, reading: number): number {
    return this.#memory(account).ask(now, reading);
  }

  memoryTake(account: number, now: number, reading: number): number {
    return this.#memory(account).release(now, reading);
  }

  memoryEarliest(account: number, now: number, reading: number): number {
    return this.#memory(account).instant(now, reading);
  }

  memoryWouldFit(account: number, now: number, reading: number): number {
    return this.#memory(account).wouldFit(now, reading);
  }

  memoryWouldFitAt(account: number, now: number, reading: number): number {
    return this.#memory(account).wouldFitAt(now, reading);
  }

  memoryStop(account: number): number {
    const memory = this.#memory(account);
    return memory.stop() ? this.gained(memory) : 0;
  }

  memoryHoldElsewhere(account: number, count: number): void {
    this.#memory(account).heldElsewhere = count;
  }

  takeLatchTurns(account: number): number {
    const memory = this.#memory(account);
    const { turns } = memory;
    memory.turns = 0;
    return turns;
  }

  memoryIsLatched(account: number): number {
    return this.#memory(account).isLatched ? 1 : 0;
  }

  memoryHeld(account: number): number {
    return this.#memory(account).inLine;
  }

  memoryFloor(account: number, reading: number): number {
    return this.#memory(account).floorAt(reading);
  }

  memoryPenalty(account: number, reading: number): number {
    return this.#memory(account).penaltyAt(reading);
  }

  memoryPacing(account: number, now: number, reading: number): number {
    return this.#memory(account).pacing(now, reading);
  }

  #memory(handle: number): TwinMemory {
    return this.account(handle) as TwinMemory;
  }
}
