// A crowd in line: what a parked waiter weighs, and that nothing of it is left once it is drained.

import assert from "node:assert/strict";
import process from "node:process";
import { describe, it } from "@std/testing/bdd";
import { runChild } from "./children.ts";

const IS_SOAK = process.env.SOAK === "1";
const WAITERS = IS_SOAK ? 1_000_000 : 20_000;
/** Waiters let go at a time; one by one unless CROWD_BATCH says more. */
const BATCH = Number(process.env.CROWD_BATCH ?? 1);
const LIMIT_MS = IS_SOAK ? 600_000 : 50_000;

/** Most bytes of heap for a parked waiter and its promise: 264 on V8, 200 on JavaScriptCore, and some for the rest of the process. */
const MOST_HEAP_BYTES = 300;
/** What may be left on the heap after a second round, whatever its size: code, caches, what the runtime itself keeps. */
const SLACK_BYTES = 1_500_000;

interface Round {
  before: number;
  crowded: number;
  after: number;
  kernel: number;
}

function roundsOf(kind: "gate" | "bucket"): { first: Round; second: Round; told: string } {
  const { status, lines, errors } = runChild("crowd", [kind, String(WAITERS), String(BATCH)], LIMIT_MS);
  assert.equal(status, 0, errors);
  const [first, second] = lines.map((line) => JSON.parse(line) as Round);
  return { first: first!, second: second!, told: lines.join("\n") };
}

describe(`A crowd of ${WAITERS.toLocaleString("en")}`, () => {
  for (const kind of ["gate", "bucket"] as const) {
    it(`parked on one ${kind} and drained leaves the heap where it was, and the next one finds the kernel's room`, () => {
      const { first, second, told } = roundsOf(kind);
      assert.ok(second.after - second.before < SLACK_BYTES, told);
      assert.equal(second.kernel, first.kernel, told);
      assert.ok((second.crowded - second.before) / WAITERS < MOST_HEAP_BYTES, told);
    });
  }
});
