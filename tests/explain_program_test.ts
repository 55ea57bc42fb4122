/** `npm run explain`: the same text on both runtimes, clear errors, and looks that agree with what admission does. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import { SCENARIOS } from "../examples/explain/scenarios.ts";
import { Stage } from "../examples/explain/stage.ts";
import { storyText } from "../examples/explain/text.ts";
import { CountingGate, Demand, TokenBucketRateLimiter } from "../mod.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const SCRIPT = join(ROOT, "examples", "explain", "explain.ts");
const NAMES = SCENARIOS.map(({ name }) => name);
const RUNS = process.env.SOAK === undefined ? 100 : 2_000;

function runOn(runtime: "deno" | "bun", args: readonly string[]) {
  const flags = runtime === "deno" ? ["run", "-A", "--no-check"] : ["run"];
  const command = join(ROOT, "node_modules", ".bin", runtime);
  const { status, stdout, stderr } = spawnSync(command, [...flags, SCRIPT, ...args], { encoding: "utf8" });
  return { status, out: stdout, err: stderr };
}

const run = (...args: string[]) => runOn(process.versions.bun === undefined ? "deno" : "bun", args);

interface Job {
  readonly tokens: number;
  readonly permits: number;
  readonly timeoutMs: number;
  readonly afterMs: number;
  readonly isOver: boolean;
}

/** Plays random jobs; the stage fails when a look and the events after it disagree. Answers how many looks there were. */
async function playAtRandom(jobs: readonly Job[]): Promise<number> {
  const stage = new Stage();
  const bucket = new TokenBucketRateLimiter("bucket", { tpm: 60_000, rpm: 60_000, clock: stage.clock });
  const gate = new CountingGate("gate", 3);
  const out = new Set<string>();
  for (const [index, { tokens, permits, timeoutMs, afterMs, isOver }] of jobs.entries()) {
    const demand = new Demand();
    if (tokens > 0) demand.add(bucket, tokens);
    if (permits > 0 || tokens === 0) demand.add(gate, Math.max(1, permits));
    await stage.arrives(`job ${index}`, demand, timeoutMs === 0 ? {} : { timeoutMs });
    await stage.until(stage.clock.now() + afterMs);
    out.add(`job ${index}`);
    const done = isOver ? [...out].find((name) => stage.hasGrant(name)) : undefined;
    if (done === undefined) continue;
    out.delete(done);
    await stage.releases(done);
  }
  return stage.end().steps.flatMap(({ notes }) => notes.filter((note) => "walk" in note)).length;
}

describe("npm run explain", () => {
  it("plays the first scenario where none is named, and prints the same on both runtimes", () => {
    for (const args of [[], ...NAMES.map((name) => [name])]) {
      const [deno, bun] = [runOn("deno", args), runOn("bun", args)];
      assert.deepEqual([deno.status, deno.err, bun.status, bun.err], [0, "", 0, ""]);
      assert.equal(deno.out, bun.out);
      assert.ok(deno.out.startsWith(`${args[0] ?? "hostage"}: `), deno.out);
      assert.match(deno.out, /^[ -~\n]+$/, "plain text, without a colour");
      assert.ok(deno.out.split("\n").every((line) => line.length <= 110), "no line is too long for a page");
    }
  });

  it("lists its scenarios and says how to use it", () => {
    const [list, help] = [run("--list").out, run("--help").out];
    assert.deepEqual(list.match(/^ {2}\w+/gm)?.map((name) => name.trim()), NAMES);
    assert.ok(help.includes(list));
    assert.match(help, /npm run explain -- \[SCENARIO\] \[options\]/);
  });

  it("tells what it cannot explain in one line, with what would do", () => {
    const fails = (args: readonly string[], expected: string) => {
      const { status, out, err } = run(...args);
      assert.deepEqual([status, out, err], [1, "", `${expected}\n`]);
    };
    fails(["nope"], `Cannot explain "nope": it should be one of ${NAMES.join(", ")}.`);
    fails([""], `Cannot explain "": it should be one of ${NAMES.join(", ")}.`);
    fails(["meter", "hostage"], `Cannot explain "meter" and "hostage": name one scenario at a time.`);
    fails(["--all"], `Cannot use the option "--all": it should be --list or --help.`);
  });

  it("sets off headings where it is told to, and nothing else", async () => {
    const stage = new Stage();
    await SCENARIOS[0]!.play(stage);
    const story = stage.end();
    const [plain, bold] = [(text: string) => text, (text: string) => `<${text}>`];
    const texts = [plain, bold].map((emphasis) => storyText(SCENARIOS[0]!, story, emphasis));
    assert.equal(texts[1]!.replace(/^<(.*)>$/gm, "$1"), texts[0]);
    assert.equal(texts[1]!.match(/^</gm)?.length, story.steps.length + 1);
  });

  it("BEY-40 MON-27 what explain says of each waiter before a pass is what the pass does", async () => {
    const job = fc.record({
      tokens: fc.constantFrom(0, 100, 900, 20_000, 60_000, 60_001),
      permits: fc.constantFrom(0, 1, 2, 3, 4),
      timeoutMs: fc.constantFrom(0, 0, 50, 700),
      afterMs: fc.constantFrom(0, 1, 100, 2_000),
      isOver: fc.boolean(),
    });
    let looks = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(job, { minLength: 5, maxLength: 30 }), async (jobs) => {
        looks += await playAtRandom(jobs);
      }),
      { numRuns: RUNS },
    );
    assert.ok(looks > RUNS * 10, `only ${looks} looks in ${RUNS} plays`);
  });

  it("fails when a pass does what no look has said", async () => {
    const stage = new Stage();
    const gate = new CountingGate("gate", 1);
    await stage.arrives("first", new Demand().add(gate));
    await stage.arrives("second", new Demand().add(gate));
    const freed = stage.shrinks("a release that is taken for a decrease", () => {
      queueMicrotask(() => stage.grantOf("first").release());
    });
    await assert.rejects(freed, /explain said that nobody leaves, second did/);
  });
});
