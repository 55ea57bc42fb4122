// Keys that are never seen again: what is left of a flood of them.

import assert from "node:assert/strict";
import process from "node:process";
import { describe, it } from "@std/testing/bdd";
import { runChild } from "./children.ts";

const IS_SOAK = process.env.SOAK === "1";
const KEYS = IS_SOAK ? 1_000_000 : 30_000;
const MAX_KEYS = 1000;
const LIMIT_MS = IS_SOAK ? 600_000 : 120_000;

interface Facts {
  readonly size: number;
  readonly accounts: number;
  readonly mostRecords: number;
  readonly kernelBytes: number;
  readonly heapUsed: number;
  readonly refused: number;
  readonly hasKnownPermit: boolean;
  readonly takesAtKnown: number;
}

interface End {
  readonly roomAfterDrops: number;
}

describe("A flood of keys", () => {
  it(`BEY-16 of ${KEYS.toLocaleString("en")} that never come back stays flat, and passes for nobody else`, () => {
    const { lines, errors, status } = runChild("keys", [String(KEYS), String(MAX_KEYS)], LIMIT_MS);
    assert.equal(status, 0, errors);
    const [early, late, end] = lines.map((line) => JSON.parse(line)) as [Facts, Facts, End];
    const told = lines.join("\n");
    assert.equal(late.size, 2 * MAX_KEYS, told);
    // Records of what was collected stand until the collector has told of it.
    assert.ok(late.mostRecords <= 4 * MAX_KEYS && late.accounts <= 2 * MAX_KEYS, told);
    assert.ok(late.kernelBytes <= early.kernelBytes + 1_048_576, told);
    assert.ok(late.heapUsed < 1.25 * early.heapUsed + 1_000_000, told);
    assert.ok(late.refused > KEYS / 10, told);
    // Grants that nobody settles keep their keys only until they are collected. A collector may miss a few.
    assert.ok(end.roomAfterDrops > 0.9 * MAX_KEYS, told);
    assert.equal(late.hasKnownPermit, false, told);
    // Two tokens come back with every second turn.
    assert.equal(late.takesAtKnown, KEYS / 2000, told);
  });
});
