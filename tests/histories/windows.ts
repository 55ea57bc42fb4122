// The elastic windows of a random history: small, quick to open their circuit, and quick to let a probe go.

import assert from "node:assert/strict";
import fc from "fast-check";
import type { Demand, ElasticWindowOptions, ElasticWindowRateLimiter, Grant } from "../../mod.ts";
import { currentHost } from "../../core/host.ts";
import type { World } from "../scenario.ts";
import { FAILURE } from "../window_readings.ts";

/** Windows of a history. */
export const WINDOWS = 2;

/** What a job asks of windows: slots each. */
export type WindowAsk = [index: number, slots: number][];

/** What upstream says to a window. */
export interface WindowOperation {
  kind: "window";
  window: number;
  says: "fail" | "succeed" | "advise";
  times: number;
}

/** How the windows are made. */
export interface WindowSetup {
  windows: ElasticWindowOptions[];
  /** Instants that a window keeps apart. */
  runLimit: number;
}

export const windowAsk: fc.Arbitrary<WindowAsk> = fc.oneof(
  { weight: 1, arbitrary: fc.constant<WindowAsk>([]) },
  {
    weight: 1,
    arbitrary: fc.uniqueArray(fc.tuple(fc.nat(WINDOWS - 1), fc.constantFrom(1, 1, 1, 2, 4)), {
      selector: ([index]) => index,
      maxLength: WINDOWS,
    }),
  },
);

export const windowOperation: fc.Arbitrary<WindowOperation> = fc.record({
  kind: fc.constant("window" as const),
  window: fc.nat(WINDOWS - 1),
  says: fc.constantFrom("fail", "fail", "succeed", "succeed", "succeed", "advise"),
  times: fc.integer({ min: 1, max: 3 }),
});

const options: fc.Arbitrary<ElasticWindowOptions> = fc.record({
  maxRequests: fc.integer({ min: 2, max: 4 }),
  baseWindowMs: fc.integer({ min: 200, max: 3000 }),
  throttleIncrement: fc.constantFrom(1, 0.5),
  maxThrottle: fc.constantFrom(0, 1, 2),
  failuresAtMaxToBlock: fc.integer({ min: 1, max: 3 }),
  initialCooldownMs: fc.constantFrom(50, 400),
  maxCooldownMs: fc.constantFrom(600, 2000),
  probeTimeoutMs: fc.constantFrom(100, 1000, 5000),
});

export const windowSetup: fc.Arbitrary<WindowSetup> = fc.record({
  windows: fc.array(options, { minLength: WINDOWS, maxLength: WINDOWS }),
  runLimit: fc.constantFrom(1, 2, 64),
});

/** The windows of one history, as they are played. */
export class Windows {
  readonly #windows: ElasticWindowRateLimiter[];
  readonly #cover: (what: string) => void;

  constructor(world: World, { windows, runLimit }: WindowSetup, cover: (what: string) => void) {
    currentHost().kernel.limitRuns(runLimit);
    this.#windows = windows.map((each, index) => world.window(`window${index}`, each));
    this.#cover = cover;
  }

  addTo(demand: Demand, ask: WindowAsk): void {
    for (const [index, slots] of ask) demand.add(this.#windows[index]!, slots);
  }

  hear({ window, says, times }: WindowOperation): void {
    const at = this.#windows[window]!;
    for (let i = 0; i < times; i++) {
      if (says === "fail") at.onRateLimitError(FAILURE);
      else if (says === "succeed") at.onSuccess();
      else at.onAdvisoryPressure();
    }
  }

  /** Whether a window held the grant. */
  note(grant: Grant): void {
    if ([...grant.waitTimesMs.keys()].some((name) => name.startsWith("window"))) {
      this.#cover("waited for a window");
    }
  }

  /** What can be read off them; checks that in use is in bounds. */
  tell(): string {
    return this.#windows.map((window) => {
      const { capacity, currentInUse, circuitState } = window;
      assert.ok(
        currentInUse >= 0 && currentInUse <= capacity,
        `${window.limiterName} has ${currentInUse} in use`,
      );
      this.#cover(`window ${circuitState}`);
      if (currentInUse === capacity) this.#cover("window full");
      return `${window.status.summary()} ${window.cooldownRemainingMs}`;
    }).join("; ");
  }
}
