// Routers and gates that keep the view of their line.

import { CountingGate } from "../mod.ts";
import { Router } from "./custom_accounts.ts";
import type { World } from "./scenario.ts";

/** A router that keeps the view of its line and what it was asked. */
export class WatchedRouter extends Router {
  held: () => number = () => NaN;
  wirings = 0;
  readonly asked: string[] = [];

  observeHeld(held: () => number): void {
    this.held = held;
    this.wirings++;
  }

  override fits(mine: readonly string[], ahead: readonly unknown[]): boolean {
    this.asked.push(`${mine.join()} behind ${ahead.map(String).join()}`);
    return super.fits(mine, ahead);
  }
}

/** A gate that keeps the view of its line. */
export class WatchedGate extends CountingGate {
  held: () => number = () => NaN;
  wirings = 0;

  override observeHeld(held: () => number): void {
    this.held = held;
    this.wirings++;
  }
}

/** Gates by name. */
export function gatesOf(
  world: World,
  capacities: Readonly<Record<string, number>>,
): Record<string, CountingGate> {
  const gates = Object.entries(capacities).map(([name, capacity]) =>
    [name, world.gate(name, capacity)] as const
  );
  return Object.fromEntries(gates);
}
