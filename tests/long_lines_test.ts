import assert from "node:assert/strict";
import process from "node:process";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import type { Kernel } from "../core/kernel.ts";
import { cover, type Coverage } from "./histories/coverage.ts";
import { LongLines } from "./long_lines/long_lines.ts";
import { type LongHistory, longHistories } from "./long_lines/operations.ts";
import { KERNELS } from "./scenario.ts";

/** Histories of a run: more than a million steps in the soak, a tenth of that otherwise. */
const HISTORIES = process.env.SOAK === undefined ? 120 : Number(process.env.RUNS ?? 1500);
/** So many share a WASM kernel, one after the other, so that classes and trees are used again. */
const HISTORIES_PER_KERNEL = 25;

const FLOOR: Readonly<Record<string, number>> = {};

/** Fails with the first line in which two stories differ, and what came before it. */
function sameStory(wasm: readonly string[], twin: readonly string[]): void {
  const at = wasm.findIndex((line, index) => line !== twin[index]);
  if (at < 0 && wasm.length === twin.length) return;
  const first = at < 0 ? wasm.length : at;
  const before = wasm.slice(Math.max(0, first - 12), first).join("\n");
  assert.fail(`stories differ after\n${before}\nkernel: ${wasm[first]}\ntwin:   ${twin[first]}`);
}

class Lockstep {
  readonly coverage: Coverage = new Map();
  #kernel: Kernel = KERNELS.wasm();
  #played = 0;

  readonly play = (history: LongHistory): void => {
    if (this.#played++ % HISTORIES_PER_KERNEL === 0) this.#kernel = KERNELS.wasm();
    const wasm = this.#tell(this.#kernel, history);
    sameStory(wasm, this.#tell(KERNELS.twin(), history));
    cover(this.coverage, "histories");
  };

  #tell(kernel: Kernel, history: LongHistory): readonly string[] {
    const lines = new LongLines(kernel, history, (what) => cover(this.coverage, what));
    try {
      lines.play(history.operations);
    } catch (error) {
      // The last lines say what led to it.
      throw new Error(`${lines.story.slice(-8).join("\n")}\n${(error as Error).message}`, { cause: error });
    }
    return lines.story;
  }
}

describe("Long lines", () => {
  it("BEY-08 MON-26 WAK-06 kernel and twin tell one story of long lines, and no class is left behind", () => {
    const seed = Number(process.env.SEED ?? 20_261_130);
    const { play, coverage } = new Lockstep();
    fc.assert(fc.property(longHistories, play), {
      numRuns: HISTORIES,
      seed,
      endOnFailure: process.env.SHRINK === undefined,
    });
    if (process.env.COVERAGE !== undefined) console.log([...coverage].sort());
    for (const [what, least] of Object.entries(FLOOR)) {
      const met = coverage.get(what) ?? 0;
      assert.ok(met >= least, `long lines met "${what}" ${met} times, ${least} are needed (seed ${seed})`);
    }
  });
});
