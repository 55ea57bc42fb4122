// `npm run gateway`: what it prints, how it fails, and when a promise counts as broken. Its long run is for people.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { describe, it } from "@std/testing/bdd";
import { brokenPromises, tableText } from "../examples/llm_gateway/report.ts";
import type { Side } from "../examples/llm_gateway/trial.ts";

const SCRIPT = fileURLToPath(new URL("../examples/llm_gateway.ts", import.meta.url));

function run(...args: string[]): { status: number | null; out: string; err: string } {
  const flags = process.versions["bun"] === undefined ? ["run", "-A", "--no-check"] : ["run"];
  const env = { ...process.env, NO_COLOR: "1" };
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, SCRIPT, ...args], {
    env,
    encoding: "utf8",
    timeout: 120_000,
  });
  return { status, out: stdout, err: stderr };
}

/** The two numbers of a row. */
function row(out: string, label: string): [number, number] {
  const line = out.split("\n").find((each) => each.startsWith(label)) ?? assert.fail(`${label}?\n${out}`);
  const [sluice, plain] = line.slice(label.length).trim().split(/ {2,}/).map((cell) =>
    Number(cell.replace(/[, %]/g, ""))
  );
  return [sluice!, plain!];
}

const KEPT: Side = {
  calls: [{ answerMs: 20, status: 200, tokens: 600 }, { answerMs: 40, status: 200, tokens: 400 }],
  waitsMs: [10, 30],
  refused: 0,
  tokens: 950,
  granted: 1000,
  fullest: 0.98,
  tokensInAll: 1000,
};

describe("The gateway's program", () => {
  it("in four seconds reaches no 429 with Sluice, many without, answers everybody and loses no token", () => {
    // Half of the quota, shared by two: a crowded machine may be late by half a minute of the quota, and nothing breaks.
    const { out, err } = run("--seconds", "4", "--share=50", "--gateways", "2");
    assert.match(out, /^LLM gateway, on (Deno|Bun) \d/);
    assert.match(err, /4 of 4 seconds run \(100 %\)/);
    const [calls, callsWithout] = row(out, "Calls");
    assert.ok(calls > 30 && callsWithout > 30, out);
    assert.equal(row(out, "  answered")[0], calls, out);
    const [refused, refusedWithout] = row(out, "429s of the provider");
    assert.equal(refused, 0, out);
    assert.ok(refusedWithout > 0, out);
    assert.ok(row(out, "  fullest minute, reservations included")[0] <= 100, out);
    const [used] = row(out, "Tokens used, of the quota");
    assert.ok(used > 20 && used < 60, out);
    // How much is used is a matter of the machine as well; everything else is not.
    assert.doesNotMatch(err, /refused|no answer|counted/);
  });

  it("tells a promise that is broken, each in a sentence", () => {
    assert.deepEqual(brokenPromises(KEPT, { share: 96 }), []);
    const broken = (more: Partial<Side>) => brokenPromises({ ...KEPT, ...more }, { share: 96 });
    assert.match(broken({ refused: 3 }).join(), /^the provider refused 3 requests, it should be none$/);
    assert.match(broken({ tokens: 949 }).join(), /^949 tokens were used, 94\.9 % .* 95\.0 % or more$/);
    assert.match(broken({ tokensInAll: 1001 }).join(), /^callers were told of 1,000 tokens.* counted 1,001/);
    const unanswered = [...KEPT.calls, { answerMs: 1, status: 503, tokens: 0 }];
    assert.match(broken({ calls: unanswered }).join(), /^1 callers got no answer/);
  });

  it("prints both sides, in commas and percent", () => {
    const plain = { ...KEPT, waitsMs: [], refused: 1234 };
    const table = tableText({ sluice: KEPT, plain });
    assert.match(table, /^429s of the provider +0 +1,234$/m);
    assert.match(table, /^Tokens used, of the quota +95\.0 % +95\.0 %$/m);
    assert.match(table, /^Wait in line in ms: p50 +10 +-$/m);
  });

  it("refuses what it cannot use in a line that says what would do, and shows its help", () => {
    for (
      const [args, expected] of [
        [["--seconds", "x"], /--seconds "x": it should be a whole number from 3 to 3600/],
        [["--share=101"], /--share "101": it should be a whole number from 10 to 100/],
        [["--gateways", "0"], /--gateways "0"/],
        [["--runtime", "node"], /--runtime "node": it should be deno or bun/],
        [["--fast"], /"--fast": it should be one of --seconds, --share, --gateways, --runtime, --help/],
        [["twice"], /"twice": there should be options only/],
      ] as const
    ) {
      const { status, out, err } = run(...args);
      assert.equal(status, 1);
      assert.equal(out, "");
      assert.match(err, expected);
      assert.match(err, /^Cannot use [^\n]+\n$/);
    }
    const { status, out } = run("--help");
    assert.equal(status, 0);
    assert.match(out, /npm run gateway -- \[options\]/);
  });

  it("is a command of a fresh clone", () => {
    const { scripts } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
    assert.equal(scripts["gateway"], "node scripts/ensure.mjs examples/llm_gateway.ts");
  });
});
