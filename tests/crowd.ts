// Many waiters of one admission, by number in order of arrival: who was granted, who failed, and who still waits.

import type { Admission, Demand, Grant } from "../mod.ts";
import type { World } from "./scenario.ts";

export class Crowd {
  readonly grants: Map<number, Grant> = new Map();
  /** Numbers in the order in which they were granted, and in which they failed. */
  readonly granted: number[] = [];
  readonly failed: number[] = [];
  readonly #controllers: AbortController[] = [];
  readonly #world: World;
  readonly #admission: Admission;

  constructor(world: World, admission: Admission) {
    this.#world = world;
    this.#admission = admission;
  }

  /** The number of the caller. */
  admit(demand: Demand): number {
    const number = this.#controllers.length;
    const controller = new AbortController();
    this.#controllers.push(controller);
    this.#admission.admit(demand, { signal: controller.signal }).then((grant) => {
      this.grants.set(number, grant);
      this.granted.push(number);
      this.#world.tell(`${number} granted ${JSON.stringify([...grant.waitTimesMs])}`);
    }, (error) => {
      this.failed.push(number);
      this.#world.tell(`${number} failed ${error.name} ${error.message}`);
    });
    return number;
  }

  admitAll(demands: readonly Demand[]): number[] {
    return demands.map((demand) => this.admit(demand));
  }

  leave(numbers: readonly number[]): void {
    for (const number of numbers) this.#controllers[number]!.abort(new Error(`${number} left`));
  }

  get waiting(): number[] {
    const gone = new Set([...this.granted, ...this.failed]);
    return [...this.#controllers.keys()].filter((number) => !gone.has(number));
  }

  /** Everybody who waits leaves, and every grant is released. */
  async empty(): Promise<void> {
    this.leave(this.waiting);
    await this.#world.settle();
    for (const grant of this.grants.values()) grant.release();
    await this.#world.settle();
  }
}
