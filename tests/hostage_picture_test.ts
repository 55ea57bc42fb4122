// docs/hostage.svg: what the README shows first is what its script draws, and says what it should.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "@std/testing/bdd";
import { drawHostages } from "../examples/hostage/draw.ts";
import { measure } from "../examples/hostage/measure.ts";
import { play, SPAN_MS } from "../examples/hostage/scenario.ts";
import { oneAdmission, oneAtATime } from "../examples/hostage/ways.ts";

const AXIS = { endTicks: SPAN_MS, columnCount: 60 };

describe("The picture of the hostages", () => {
  it("is what its script draws, on every runtime", async () => {
    const committed = readFileSync(new URL("../docs/hostage.svg", import.meta.url), "utf8");
    assert.equal(await drawHostages(), committed, "run examples/hostage/write.ts");
  });

  it("MON-03 MON-23 jobs that wait for tokens hold no place, and others pass them", async () => {
    const stepping = await play(oneAtATime);
    const sluice = await play(oneAdmission);
    assert.equal(measure(stepping, AXIS).mostHostages, 8);
    assert.equal(measure(sluice, AXIS).mostHostages, 0);
    assert.ok(measure(sluice, AXIS).longestPlainWaitMs < measure(stepping, AXIS).longestPlainWaitMs / 8);
  });

  it("costs the jobs with tokens nothing: they begin and end at the same instants", async () => {
    const [stepping, sluice] = (await Promise.all([play(oneAtATime), play(oneAdmission)])).map((jobs) =>
      jobs.filter(({ tokens }) => tokens > 0).map(({ beginMs, endMs }) => [beginMs, endMs])
    );
    assert.equal(sluice!.length, 40);
    assert.deepEqual(sluice, stepping);
  });
});
