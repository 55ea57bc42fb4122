import assert from "node:assert/strict";
import process from "node:process";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import { histories } from "./histories/operations.ts";
import { cover, type Coverage, playHistory } from "./histories/play.ts";
import { KERNELS, playOn } from "./scenario.ts";

/** A run makes this many histories, of about thirty operations each; the soak makes ten times as many. */
const RUNS = process.env.SOAK === undefined ? 400 : 4_000;

/** What a run must have met at least this often, or it proves too little. */
const FLOOR: Readonly<Record<string, number>> = {
  "granted at once": 100,
  "granted from hold": 100,
  "failed uncorrectable": 50,
  "failed queue_full": 10,
  "failed Error": 20,
  "failed stopped": 5,
  "more than five wait": 50,
  "op borrow": 20,
  "op settleUsage": 20,
  "memory CRITICAL": 500,
  "memory DRAINING": 100,
};

describe("Random histories", () => {
  it("BEY-08 CNT-02 MON-26 kernel and twin tell one story under random histories, and nothing is lost", async () => {
    const coverage: Coverage = new Map();
    const seed = Number(process.env.SEED ?? 20_261_130);
    await fc.assert(
      fc.asyncProperty(histories, async (history) => {
        const wasm = await playOn(KERNELS.wasm(), (world) => playHistory(world, history, coverage));
        const twin = await playOn(KERNELS.twin(), (world) => playHistory(world, history, coverage));
        assert.deepEqual(wasm, twin);
        cover(coverage, "histories");
      }),
      { numRuns: RUNS, seed, endOnFailure: process.env.SHRINK === undefined },
    );
    if (process.env.COVERAGE !== undefined) console.log([...coverage]);
    for (const [what, least] of Object.entries(FLOOR)) {
      const met = coverage.get(what) ?? 0;
      assert.ok(
        met >= least,
        `histories met "${what}" ${met} times, at least ${least} are needed (seed ${seed})`,
      );
    }
  });
});
