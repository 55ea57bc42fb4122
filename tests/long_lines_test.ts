import assert from "node:assert/strict";
import process from "node:process";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import type { Kernel } from "../core/kernel.ts";
import { cover, type Coverage } from "./histories/coverage.ts";
import { LongLines } from "./long_lines/long_lines.ts";
import { longHistories, type LongHistory } from "./long_lines/operations.ts";
import { KERNELS } from "./scenario.ts";

/** Histories of a run. Each has some 700 steps on either kernel, so the soak comes to more than a million. */
const HISTORIES = process.env.SOAK === undefined ? 100 : 1000;
/** So many share a WASM kernel, one after the other, so that classes and trees are used again. */
const HISTORIES_PER_KERNEL = 25;

/** What a hundred histories must have met at least this often, on both kernels together, or they prove too little. */
const FLOOR: Readonly<Record<string, number>> = {
  "steps": 150_000,
  "with classes": 700,
  "more than 200 wait": 20,
  "tree doubled": 300,
  "tree packed": 8,
  "tree of three levels": 40,
  "table of classes full": 40,
  "parked": 20_000,
  "at once 1": 500,
  "GRANTED": 2000,
  "HELD": 20_000,
  "REFUSED": 5000,
  "CANCELLED": 2000,
  "refused 2": 100,
  "refused 3": 500,
  "refused 4": 2000,
  "refused 5": 10,
  "refused 6": 500,
  "refused 7": 500,
  "asked fits": 20_000,
  "asked earliest": 10_000,
  "asked take": 100,
  "marked": 2000,
  "withdrawn": 10_000,
  "settled": 2000,
  "meddled": 8000,
  "passes": 3000,
  "finite deadlines": 1500,
  "to a deadline": 150,
  "clock stepped back": 30,
  "change resize": 200,
  "change configure": 200,
  "change reconcile": 200,
  "change slow down": 200,
  "change fail": 200,
  "change classes": 200,
  "change stay away": 200,
};

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
    for (const [what, often] of Object.entries(FLOOR)) {
      const least = Math.floor(often * HISTORIES / 100);
      const met = coverage.get(what) ?? 0;
      assert.ok(met >= least, `long lines met "${what}" ${met} times, ${least} are needed (seed ${seed})`);
    }
  });
});
