import assert from "node:assert/strict";
import process from "node:process";
import { describe, it } from "@std/testing/bdd";
import { Chance } from "./chance.ts";
import { SoakWorld } from "./soak/soak_world.ts";

const JOBS = process.env.SOAK === "1" ? 1_000_000 : 100_000;

describe("A busy service on virtual time", () => {
  it(`${JOBS.toLocaleString("en")} jobs leave nothing in use, nobody waiting and no account out of bounds`, async () => {
    const seed = Number(process.env.SEED ?? 7);
    const world = new SoakWorld(new Chance(seed));
    await world.play(JOBS);
    const { granted, failed } = world.outcomes;
    const facts = `granted ${granted}, failed ${JSON.stringify([...failed])}, seed ${seed}`;
    assert.ok(granted > JOBS / 2, facts);
    for (const code of ["timeout", "left", "queue_full", "circuit_blocked"]) {
      assert.ok((failed.get(code) ?? 0) > 0, facts);
    }
  });
});
