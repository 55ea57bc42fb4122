/** The replay as a program: what it prints and writes, and how it fails, on this runtime and on both. */
import { after, before, describe, it } from "@std/testing/bdd";
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { MAX_TRACE_BYTES } from "../examples/replay/read_trace.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const SCRIPT = join(ROOT, "examples", "replay", "replay.ts");
const HEADER = "TIMESTAMP,ContextTokens,GeneratedTokens";
const RUNTIMES = ["deno", "bun"] as const;
/** Lines of a recorded trace that are replayed; all of its thousands in a long run. */
const TRACE_LINES = process.env.SOAK === "1" ? Infinity : 1000;

let folder = "";

interface Outcome {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

function run(args: readonly string[], options: { cwd?: string; initCwd?: string } = {}): Outcome {
  const flags = process.versions["bun"] === undefined ? ["run", "-A", "--no-check"] : ["run"];
  return spawn(process.execPath, [...flags, SCRIPT, ...args], options);
}

function runOn(runtime: "deno" | "bun", args: readonly string[]): Outcome {
  const flags = runtime === "deno" ? ["run", "-A", "--no-check"] : ["run"];
  return spawn(join(ROOT, "node_modules", ".bin", runtime), [...flags, SCRIPT, ...args], {});
}

function spawn(
  command: string,
  args: readonly string[],
  { cwd = folder, initCwd }: { cwd?: string; initCwd?: string },
) {
  const env: Record<string, string | undefined> = { ...process.env, NO_COLOR: "1", INIT_CWD: initCwd };
  if (initCwd === undefined) delete env["INIT_CWD"];
  const result = spawnSync(command, args, { cwd, env, encoding: "utf8" });
  return { status: result.status, out: result.stdout, err: result.stderr };
}

function write(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return name;
}

/** Asserts a failure: status 1, one line of error, no stack trace, and nothing new in the folder. */
function assertFails(args: readonly string[], expected: RegExp): void {
  const before = readdirSync(folder);
  const { status, out, err } = run(args);
  assert.equal(status, 1, `${out}${err}`);
  assert.match(err, expected);
  assert.match(err, /^[^\n]+\n$/);
  assert.doesNotMatch(err, /\bat .*:\d+/);
  assert.equal(out, "");
  assert.deepEqual(readdirSync(folder), before);
}

describe("replay program", () => {
  before(() => void (folder = mkdtempSync(join(tmpdir(), "sluice replay "))));
  after(() => rmSync(folder, { recursive: true, force: true }));

  it("without a file it replays made-up traffic, prints a table and writes a plot where the user stands", () => {
    const { status, out, err } = run([]);
    assert.equal(status, 0, err);
    assert.match(out, /^Replay of generated traffic, seed 1, on (Deno|Bun) \d/);
    assert.match(out, /200 ms \+ 0\.1 ms per input token \+ 10 ms per output token/);
    assert.match(out, /^Jobs +3,000 +3,000$/m);
    assert.match(out, /^ {2}refused, they can never fit +2 +2$/m);
    assert.match(err, /3,000 of 3,000 jobs through \(100 %\)/);
    assert.ok(out.includes(`Plot: ${join(folder, "replay.svg")}\n`), out);
    const svg = readFileSync(join(folder, "replay.svg"), "utf8");
    assert.match(svg, /^<!--.*-->\n<svg [^]*<\/svg>\n$/);
    const isFresh = svg === readFileSync(join(ROOT, "docs", "replay.svg"), "utf8");
    assert.ok(isFresh, "docs/replay.svg is stale: run npm run demo -- --plot docs/replay.svg");
    rmSync(join(folder, "replay.svg"));
  });

  it("a small trace gives the expected JSON lines, byte for byte, on both runtimes", () => {
    const fixtures = join(ROOT, "tests", "fixtures", "replay");
    const expected = readFileSync(join(fixtures, "hand_worked.expected.jsonl"), "utf8");
    const texts = RUNTIMES.map((runtime) => {
      const args = [
        join(fixtures, "hand_worked.csv"),
        "--tpm",
        "6000",
        "--db=1",
        "--json",
        `${runtime}.jsonl`,
      ];
      const { status, out, err } = runOn(runtime, args);
      assert.equal(status, 0, err);
      assert.ok(
        out.includes(`Jobs: ${join(folder, `${runtime}.jsonl`)}\nPlot: ${join(folder, `${runtime}.svg`)}\n`),
      );
      return readFileSync(join(folder, `${runtime}.jsonl`), "utf8");
    });
    assert.equal(texts[0], texts[1]);
    // The wording of a refusal is the library's, and nobody's to rely on.
    assert.equal(texts[0]?.replace(/"refused":"(?:[^"\\]|\\.)+"/g, '"refused":"..."'), expected);
  });

  it("made-up traffic gives the same JSON and the same plot on both runtimes, also through --runtime", () => {
    const files = RUNTIMES.flatMap((runtime) => {
      assert.equal(runOn(runtime, ["--seed", "9", "--json", `direct-${runtime}.jsonl`]).status, 0);
      const { status, out, err } = run(["--seed=9", `--json=sent-${runtime}.jsonl`, "--runtime", runtime]);
      assert.equal(status, 0, err);
      assert.match(out, runtime === "deno" ? /on Deno \d/ : /on Bun \d/);
      return [`direct-${runtime}`, `sent-${runtime}`];
    });
    for (const extension of ["jsonl", "svg"]) {
      const texts = files.map((file) => readFileSync(join(folder, `${file}.${extension}`), "utf8"));
      assert.ok(texts.every((text) => text === texts[0]), extension);
      assert.ok((texts[0]?.length ?? 0) > 10_000);
    }
  });

  it("file names are relative to where the user stands, also when a script runner has changed the folder", () => {
    const elsewhere = join(folder, "else where");
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, "t.csv"), `\ufeff${HEADER}\r\n2023-11-16 18:17:03.9799600,4808,10\r\n`);
    const { status, err } = run(["t.csv", "--json", "o.jsonl"], {
      cwd: ROOT.replace(/\/$/, ""),
      initCwd: elsewhere,
    });
    assert.equal(status, 0, err);
    assert.deepEqual(readdirSync(elsewhere).sort(), ["o.jsonl", "o.svg", "t.csv"]);
    assert.equal(run(["t.csv", "--plot", "p.svg"], { cwd: elsewhere, initCwd: folder }).status, 0);
    assert.ok(existsSync(join(elsewhere, "p.svg")));
  });

  it("a file that cannot be used is named, with its line, and nothing is written", () => {
    const row = "2023-11-16 18:17:03.9799600,4808,10";
    const bad = (name: string, text: string, expected: RegExp) =>
      assertFails([write(name, text), "--json", "never.jsonl"], expected);
    bad(
      "malformed.csv",
      `${HEADER}\n${row}\nnonsense\n`,
      /^Cannot read malformed\.csv, line 3: it is "nonsense"/,
    );
    bad(
      "negative.csv",
      `${HEADER}\n${row.replace("10", "-10")}\n`,
      /^Cannot read negative\.csv, line 2: .*"-10"/,
    );
    bad(
      "order.csv",
      `${HEADER}\n${row}\n${row.replace(":03.", ":02.")}\n`,
      /order\.csv, line 3: it is 1000 ms earlier/,
    );
    bad("header.csv", `a,b,c\n${row}\n`, /header\.csv, line 1: it is "a,b,c", it should be the header/);
    bad("empty.csv", "", /empty\.csv, line 1: it is empty/);
    bad("bad.jsonl", '{"timestamp": 0}\n', /bad\.jsonl, line 1: input_length is missing/);
    assertFails(["missing.csv"], /^Cannot read missing\.csv: there is no such file\.\n$/);
    truncateSync(join(folder, write("large.csv", "")), MAX_TRACE_BYTES + 1);
    assertFails(["large.csv"], /^Cannot read large\.csv: it has \d+ bytes, it should have at most \d+\.\n$/);
    mkdirSync(join(folder, "some folder"));
    assertFails(["some folder"], /^Cannot read some folder: it is a directory, it should be a file\.\n$/);
  });

  it("bad options and places to write are told before any work is done", () => {
    const trace = write("good.csv", `${HEADER}\n2023-11-16 18:17:03.9799600,4808,10\n`);
    assertFails(
      ["--tpm", "0"],
      /^Cannot use --tpm "0": it should be a whole number from 1 to 100000000\.\n$/,
    );
    assertFails(["--bogus"], /^Cannot use the option "--bogus"/);
    assertFails([trace, "--json", "no/such/o.jsonl"], /^Cannot write no\/such\/o\.jsonl: there is no folder/);
    assertFails([trace, "--plot", "."], /^Cannot write \.: it is a directory/);
    assertFails([trace, "--json", "good.csv"], /^Cannot write good\.csv: it is the trace itself/);
    assertFails([trace, "--json", "x", "--plot", "./x"], /^Cannot write x: it is meant for both/);
    assert.match(run(["--help"]).out, /npm run replay -- \[FILE\] \[options\]/);
  });

  for (const name of ["code", "conv"]) {
    const path = join(ROOT, "..", "shared", "data", `AzureLLMInferenceTrace_${name}.csv`);
    const title = `the Azure trace "${name}" gives the same JSON on both runtimes`;
    if (!existsSync(path)) {
      it.skip(`${title} (skipped: ../shared/data/AzureLLMInferenceTrace_${name}.csv is not there)`);
      continue;
    }
    it(title, () => {
      const lines = readFileSync(path, "utf8").split("\n").slice(0, TRACE_LINES + 1);
      const trace = write(`${name}.csv`, `${lines.join("\n").trimEnd()}\n`);
      const texts = RUNTIMES.map((runtime) => {
        const { status, err } = runOn(runtime, [trace, "--json", `${name}-${runtime}.jsonl`]);
        assert.equal(status, 0, err);
        return readFileSync(join(folder, `${name}-${runtime}.jsonl`), "utf8");
      });
      assert.ok(texts[0] === texts[1], "the JSON differs");
    });
  }
});
