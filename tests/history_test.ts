import assert from "node:assert/strict";
import process from "node:process";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import type { Kernel } from "../core/kernel.ts";
import { cover, type Coverage } from "./histories/coverage.ts";
import { histories } from "./histories/operations.ts";
import { playHistory } from "./histories/play.ts";
import { KERNELS, playOn } from "./scenario.ts";

/** Steps of all histories together, each on both kernels. */
const STEPS = process.env.SOAK === undefined ? 30_000 : 1_000_000;
/** About as many on average. */
const STEPS_PER_HISTORY = 120;

/**
 * So many histories share a WASM kernel, one after the other, so that records are used again; and some runtimes take longer
 * to make a kernel than to play a history.
 */
const HISTORIES_PER_KERNEL = 25;

/** What a run must have met at least this often in 100,000 steps, on both kernels together, or it proves too little. */
const FLOOR: Readonly<Record<string, number>> = {
  "steps": 150_000,
  "granted at once": 5000,
  "granted from hold": 5000,
  "tried true": 200,
  "tried false": 1000,
  "tried and refused": 200,
  "failed uncorrectable": 2000,
  "failed queue_full, line": 1000,
  "failed queue_full, table": 1000,
  "failed Error": 500,
  "failed cancelled": 500,
  "failed stopped": 1000,
  "failed defect": 20,
  "failed timeout at once": 500,
  "failed timeout fast": 500,
  "failed timeout after little": 500,
  "failed timeout after long": 50,
  "settlement failed": 10,
  "explained true": 200,
  "explained false": 1000,
  "more than five wait": 5000,
  "op borrow": 500,
  "op settleUsage": 500,
  "op resize": 500,
  "op configure": 500,
  "memory fits": 10_000,
  "memory tryTake": 1000,
  "memory earliestFit": 2000,
  "memory give": 1000,
  "meter fits": 5000,
  "meter tryTake": 500,
  "meter earliestFit": 100,
  "meter give": 100,
  "scripted fits": 5000,
  "scripted tryTake": 500,
  "scripted earliestFit": 500,
  "scripted give": 200,
  "router fits": 5000,
  "router tryTake": 500,
  "router earliestFit": 1000,
  "router give": 500,
  "failed circuit_blocked": 1000,
  "waited for a window": 500,
  "window full": 2000,
  "window BLOCKED": 2000,
  "window PROBING": 2000,
  "memory CRITICAL": 2000,
  "memory DRAINING": 500,
  "with classes": 20_000,
  "table of classes full": 10_000,
};

/** Plays histories on both kernels and compares what they told. */
class Lockstep {
  readonly coverage: Coverage = new Map();
  #kernel: Kernel = KERNELS.wasm();
  #played = 0;

  readonly play = async (history: Parameters<typeof playHistory>[1]): Promise<void> => {
    if (this.#played++ % HISTORIES_PER_KERNEL === 0) this.#kernel = KERNELS.wasm();
    const wasm = await playOn(this.#kernel, (world) => playHistory(world, history, this.coverage));
    const twin = await playOn(KERNELS.twin(), (world) => playHistory(world, history, this.coverage));
    // Comparing the texts first is far cheaper than comparing them line by line.
    if (wasm.join("\n") !== twin.join("\n")) assert.deepEqual(wasm, twin);
    cover(this.coverage, "histories");
  };
}

describe("Random histories", () => {
  it("BEY-08 CNT-02 MON-26 kernel and twin tell one story under random histories, and nothing is lost", async () => {
    const seed = Number(process.env.SEED ?? 20_261_130);
    const { play, coverage } = new Lockstep();
    await fc.assert(fc.asyncProperty(histories, play), {
      numRuns: Math.round(STEPS / STEPS_PER_HISTORY),
      seed,
      endOnFailure: process.env.SHRINK === undefined,
    });
    if (process.env.COVERAGE !== undefined) console.log([...coverage].sort());
    for (const [what, often] of Object.entries(FLOOR)) {
      const least = Math.floor(often * STEPS / 100_000);
      const met = coverage.get(what) ?? 0;
      assert.ok(
        met >= least,
        `histories met "${what}" ${met} times, at least ${least} are needed (seed ${seed})`,
      );
    }
  });
});
