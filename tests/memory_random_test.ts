/** The memory gate under random readings (monitor.md, MEM-49), and kernel against twin over random lives of a gate. */
import assert from "node:assert/strict";
import process from "node:process";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import { Demand } from "../mod.ts";
import { Chance } from "./chance.ts";
import { DrainWorld, LoneGate } from "./memory_worlds.ts";
import { KERNELS, playOn, scenario } from "./scenario.ts";

const RUNS = process.env.SOAK === undefined ? 200 : 2_000;
const SEED = Number(process.env.SEED ?? 20_261_130);
const JOBS = process.env.SOAK === undefined ? 150 : 1_500;
/** Steps after which the heap stays below the latch. */
const WILD_STEPS = 400;

describe("Random readings", () => {
  it(
    "MEM-49 all jobs are granted in order, every bound holds, and nothing is left in use",
    scenario(async (world) => {
      const drain = new DrainWorld(world);
      const chance = new Chance(SEED);
      const running: number[] = [];
      let started = 0;
      for (
        let step = 0;
        drain.admission.queueSize > 0 || running.length > 0 || drain.jobs.length < JOBS;
        step++
      ) {
        assert.ok(step < 100_000, `stuck in step ${step} (seed ${SEED})`);
        const usedGb = 40 + chance.below(58);
        drain.usedGb = step < WILD_STEPS ? usedGb : Math.min(usedGb, 89);
        if (drain.jobs.length < JOBS && chance.below(2) === 0) {
          drain.jobs.push(world.follow(drain.admission.admit(new Demand().add(drain.slot))));
        }
        await world.clock.advance(20 + chance.below(200));
        for (; drain.jobs[started]?.grant; started++) running.push(started);
        assert.ok(drain.jobs.slice(started).every(({ grant }) => grant === null), "in order of arrival");
        assert.equal(drain.slot.currentInUse, running.length);
        assert.ok(drain.gate.status.heldOnMemory <= drain.admission.queueSize);
        if (running.length > 0 && chance.below(2) === 0) {
          const [job] = running.splice(chance.below(running.length), 1);
          drain.jobs[job!]!.grant!.release();
        }
      }
      assert.equal(started, JOBS);
      assert.ok(world.count("HELD", "memory") > 10, "memory held some");
      assert.equal(world.count("HELD", "memory"), world.count("GRANTED_FROM_HOLD", "memory"));
      assert.deepEqual([drain.slot.currentInUse, drain.gate.status.heldOnMemory], [0, 0]);
    }),
  );
});

/** One step in the life of a gate; `ratio` null is no reading. */
type Step =
  | { kind: "look" | "take" | "instant" | "watch"; ratio: number | null }
  | { kind: "give" }
  | { kind: "hold"; count: number }
  | { kind: "advance"; ticks: number };

const ratio = fc.oneof(
  fc.integer({ min: 0, max: 100 }).map((points) => points / 100),
  fc.integer({ min: 78_000, max: 98_000 }).map((points) => points / 100_000),
  fc.constantFrom(0.8, 0.9, 0.95, null),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constantFrom("look" as const, "take", "instant", "watch"), ratio }),
  },
  fc.record({ kind: fc.constant("give" as const) }),
  fc.record({ kind: fc.constant("hold" as const), count: fc.nat(3) }),
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("advance" as const),
      ticks: fc.oneof(fc.nat(100_000), fc.nat(40_000_000), fc.nat(4_000_000_000)),
    }),
  },
);

/** Plays the steps; `watches` says whether those that only watch are played too. Answers what was decided. */
async function live(
  kernel: keyof typeof KERNELS,
  steps: readonly Step[],
  watches: boolean,
): Promise<string[]> {
  const decided: string[] = [];
  await playOn(KERNELS[kernel](), async (world) => {
    const lone = new LoneGate(world);
    lone.held = 1;
    for (const each of steps) {
      if ("ratio" in each) lone.ratio = each.ratio ?? NaN;
      const { gate } = lone;
      if (each.kind === "look") decided.push(`look ${gate.fits([], [])}`);
      else if (each.kind === "take") decided.push(`take ${gate.tryTake([], [])}`);
      else if (each.kind === "instant") decided.push(`instant ${gate.earliestFit([], [])}`);
      else if (each.kind === "give") gate.give([]);
      else if (each.kind === "hold") lone.held = each.count;
      else if (each.kind === "advance") await world.clock.advance(each.ticks / 1000);
      else if (watches) void [gate.status, gate.statusIndicator, gate.currentInUse];
      if (each.kind === "watch") continue;
      const { status, statusIndicator } = gate;
      decided.push(`${Object.values(status)} ${statusIndicator}`);
    }
    // A reader that fails is logged once, by whoever reads first.
    decided.push(...lone.logs.filter((line) => !line.startsWith("error")));
  });
  return decided;
}

describe("Random lives of a memory gate", () => {
  it("MEM-13 MEM-25 BEY-11 kernel and twin decide alike to the last bit, watched or not", async () => {
    const seen = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
        const wasm = await live("wasm", steps, true);
        assert.deepEqual(wasm, await live("twin", steps, false));
        for (const line of wasm) {
          const what = line.match(/^(look|take) \w+|^instant null|CRITICAL|DRAINING|GREEN|Memory latch \w+/)
            ?.[0];
          if (what !== undefined) seen.set(what, (seen.get(what) ?? 0) + 1);
        }
      }),
      { numRuns: RUNS, seed: SEED },
    );
    for (
      const what of ["look true", "look false", "take true", "take false", "CRITICAL", "DRAINING", "GREEN"]
    ) {
      assert.ok((seen.get(what) ?? 0) > 100, `${what} was met ${seen.get(what)} times (seed ${SEED})`);
    }
  });
});
