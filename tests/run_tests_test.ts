/** Several test files in one process: whatever becomes of it, each file is told what is its own, as if it had run alone. */
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { describe, it } from "@std/testing/bdd";
import { isLeftOut, planRuns } from "../scripts/support/plan_runs.ts";
import { type FileResult, type RunOptions, type Runtime, runTogether } from "../scripts/support/run_tests.ts";

const BDD = new URL("./bdd.ts", import.meta.url);
/** Each runtime looks at itself. */
const OWN: Runtime = process.versions["bun"] === undefined ? "deno" : "bun";
const NAME = "@std/testing/bdd";
const GOOD = `describe("good", () => { it("passes", () => {}); });`;

/** Runs programs of cases in one process; gives what is said of each, in a few words. */
async function judge(
  programs: Readonly<Record<string, string>>,
  options: RunOptions = {},
): Promise<Record<string, string>> {
  const folder = mkdtempSync(join(tmpdir(), "sluice-together-"));
  const write = (file: string, text: string): void => writeFileSync(join(folder, file), text);
  write("deno.json", JSON.stringify({ imports: { [NAME]: BDD.href } }));
  write("tsconfig.json", JSON.stringify({ compilerOptions: { paths: { [NAME]: [fileURLToPath(BDD)] } } }));
  for (const [file, program] of Object.entries(programs)) {
    write(`${file}_test.ts`, `import { describe, it } from "${NAME}";\n${program}\n`);
  }
  try {
    const files = Object.keys(programs).map((file) => `${file}_test.ts`);
    const results = await runTogether(OWN, files, { ...options, cwd: folder, isSilent: true });
    return Object.fromEntries(
      results.map((result) => [result.file.replaceAll("_test.ts", ""), inWords(result)]),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The verdicts of a result, or why there are none to go by, and what was left behind. */
function inWords({ crash, verdicts }: FileResult): string {
  if (crash !== null) {
    return `${crash.split("\n")[0]} ${/\S+ leaves .* other than before/.exec(crash)?.[0] ?? ""}`;
  }
  return [...verdicts].map(([title, each]) => `${title}: ${each.join()}`).join("; ");
}

describe("Test files in one process", () => {
  it("have the cases that they have alone, also where titles are the same", async () => {
    assert.deepEqual(
      await judge({ a: GOOD, b: `${GOOD}\nit("stands alone", () => {});`, c: `it.skip("c", () => {});` }),
      {
        a: "good > passes: passed",
        b: "good > passes: passed; stands alone: passed",
        c: "c: skipped",
      },
    );
  });

  it("fail alone for a case that fails, and for a rejection that nobody handles", async () => {
    const told = await judge({
      a: `it("fails", () => { throw new Error("planted"); });`,
      b: GOOD,
      c: `it("rejects", () => void Promise.reject(new Error("planted")));`,
      d: `it("late and last", () => void setTimeout(() => { throw new Error("planted"); }, 5));`,
      e: GOOD,
    });
    assert.deepEqual(told, {
      a: "fails: failed",
      b: "good > passes: passed",
      c: "rejects: failed",
      d: "late and last: failed",
      e: "good > passes: passed",
    });
  });

  it("fail alone for the end of the process, for having no case, and for a load that fails", async () => {
    const told = await judge({
      a: GOOD,
      b: `import process from "node:process";\nit("ends all", () => process.kill(process.pid, "SIGKILL"));`,
      c: GOOD,
      d: `describe("nothing", () => {});`,
      e: `throw new Error("planted");`,
    });
    assert.deepEqual([told["a"], told["c"]], ["good > passes: passed", "good > passes: passed"]);
    assert.match(told["b"]!, /^ended with (SIGKILL|status 137):/);
    for (const file of ["d", "e"]) assert.match(told[file]!, /^ended with status \d+:/);
  });

  it("fail alone for a hang that nothing else can stop", async () => {
    const hang = "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)";
    const told = await judge({ a: GOOD, b: `it("hangs", () => void ${hang});` }, { limitMs: 4000 });
    assert.equal(told["a"], "good > passes: passed");
    assert.match(told["b"]!, /^ran longer than \d\.\d+ minutes/);
  });

  it("fail together for what one leaves behind for the others, and it is named", async () => {
    const told = await judge({
      a: GOOD,
      b: `import process from "node:process";\nit("leaves", () => { process.env.PLANTED = "1"; });`,
    });
    assert.deepEqual(Object.keys(told), ["a", "b", "a + b"]);
    assert.match(told["a + b"]!, /^in one process ended with status 1, though each file passes alone/);
    assert.match(told["a + b"]!, /b_test\.ts leaves process\.env\.PLANTED other than before/);
  });
});

describe("The plan of a run", () => {
  it("lets those go alone that say so, deals the others out evenly, and leaves out none", () => {
    const files = ["a", "b", "alone", "c", "d", "e"];
    const plan = planRuns(files, (file) => file === "alone", 2);
    assert.deepEqual(plan, [["alone"], ["a", "d"], ["b", "e"], ["c"]]);
    assert.deepEqual(planRuns(files, () => true, 2), files.map((file) => [file]));
    assert.deepEqual(planRuns([], () => false, 2), []);
  });

  it("reads in a file that npm run ok leaves it out: all on servers of databases, and four that start other servers or engines", () => {
    const files = readdirSync(new URL(".", import.meta.url)).filter((file) => file.endsWith("_test.ts"));
    const starts = (file: string) =>
      /\b(describeOn|PrivateServer)\(|(pg|mysql)_world\.ts|services\/private_server/.test(
        readFileSync(new URL(file, import.meta.url), "utf8").replaceAll(/`[^`]*`|\/\\b[^\n]*/g, ""),
      );
    const others = [
      "gateway_faults_test.ts",
      "heap_process_test.ts",
      "hono_workerd_soak_test.ts",
      "workers_test.ts",
    ];
    const leftOut = files.filter((file) => isLeftOut(`tests/${file}`));
    assert.deepEqual(leftOut.toSorted(), [...files.filter(starts), ...others].toSorted());
  });

  it("reads in a file that it runs alone, and why", () => {
    const plan = planRuns(["tests/hono_node_server_test.ts", "tests/stop_test.ts", "tests/drain_test.ts"]);
    assert.deepEqual(plan, [["tests/hono_node_server_test.ts"], [
      "tests/stop_test.ts",
      "tests/drain_test.ts",
    ]]);
  });
});
