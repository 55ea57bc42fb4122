/** The local bdd module must fail what Deno's and Bun's own node:test would let pass, and count alike on both. */
import { after, afterEach, before, beforeEach, describe, it } from "@std/testing/bdd";
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runFile, RUNTIMES } from "../scripts/support/run_tests.ts";
import type { Verdict } from "../scripts/support/verdicts.ts";

const BDD = new URL("./bdd.ts", import.meta.url);

/** Runs a program of cases on both runtimes; gives title -> verdict, after checking that both said the same. */
async function judge(program: string, env: Record<string, string> = {}): Promise<Record<string, Verdict>> {
  const folder = mkdtempSync(join(tmpdir(), "sluice-bdd-"));
  const name = "@std/testing/bdd";
  const write = (file: string, text: string): void => writeFileSync(join(folder, file), text);
  write("deno.json", JSON.stringify({ imports: { [name]: BDD.href } }));
  write("tsconfig.json", JSON.stringify({ compilerOptions: { paths: { [name]: [fileURLToPath(BDD)] } } }));
  write(
    "a_test.ts",
    `import { after, afterEach, before, beforeEach, describe, it } from "${name}";\n${program}`,
  );
  try {
    const options = { env, cwd: folder, isSilent: true };
    const results = await Promise.all(RUNTIMES.map((runtime) => runFile(runtime, "a_test.ts", options)));
    for (const { crash } of results) assert.equal(crash, null);
    const [first, second] = results.map(({ verdicts }) =>
      Object.fromEntries([...verdicts].map(([title, [verdict]]) => [title, verdict]))
    );
    assert.deepEqual(first, second);
    return first as Record<string, Verdict>;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe("bdd", () => {
  it("names a case after its suites and counts passed, failed and skipped ones alike", async () => {
    const verdicts = await judge(`
      describe("a", () => {
        it("passes", () => {});
        it("fails", () => { throw new Error("planted"); });
        it.skip("is skipped", () => { throw new Error("planted"); });
        describe("b", () => { it("rejects", () => Promise.reject(new Error("planted"))); });
      });
      describe.skip("c", () => { it("is skipped", () => {}); });
      it("stands alone", async () => { await 0; });`);
    assert.deepEqual(verdicts, {
      "a > passes": "passed",
      "a > fails": "failed",
      "a > is skipped": "skipped",
      "a > b > rejects": "failed",
      "c > is skipped": "skipped",
      "stands alone": "passed",
    });
  });

  it("fails a case that throws late or leaves a rejection unhandled", async () => {
    const verdicts = await judge(`
      it("late", () => { setTimeout(() => { throw new Error("planted"); }, 0); });
      it("unhandled", () => { Promise.reject(new Error("planted")); });
      it("between", () => {});
      it("late and last", () => { setTimeout(() => { throw new Error("planted"); }, 5); });`);
    assert.deepEqual(verdicts, {
      late: "failed",
      unhandled: "failed",
      between: "passed",
      "late and last": "failed",
    });
  });

  it("fails the cases of a suite whose hook throws", async () => {
    const hooks = ["before", "beforeEach", "afterEach", "after"];
    const verdicts = await judge(
      hooks.map((hook) => `
      describe("${hook}", () => {
        ${hook}(() => { throw new Error("planted"); });
        it("one", () => {});
        it("two", () => {});
      });`).join(""),
    );
    assert.deepEqual(verdicts, {
      "before > one": "failed",
      "before > two": "failed",
      "beforeEach > one": "failed",
      "beforeEach > two": "failed",
      "afterEach > one": "failed",
      "afterEach > two": "failed",
      "after > one": "passed",
      "after > two": "failed",
    });
  });

  it("fails a case that never ends and goes on with the next", async () => {
    const verdicts = await judge(
      `it("hangs", () => new Promise(() => {}));
       it("goes on", () => {});`,
      { TEST_CASE_LIMIT_MS: "300" },
    );
    assert.deepEqual(verdicts, { hangs: "failed", "goes on": "passed" });
  });

  describe("hooks", () => {
    const story: string[] = [];
    before(() => void story.push("before"));
    beforeEach(() => void story.push("beforeEach"));
    afterEach(() => void story.push("afterEach"));

    it("run before the first case", () => assert.deepEqual(story, ["before", "beforeEach"]));

    describe("of an inner suite", () => {
      before(() => void story.push("inner before"));
      beforeEach(() => void story.push("inner beforeEach"));
      after(() => void story.push("inner after"));
      it("run inside those of the outer one", () => {
        assert.deepEqual(story.slice(2), ["afterEach", "inner before", "beforeEach", "inner beforeEach"]);
      });
    });

    it("run after the last case", () => {
      assert.deepEqual(story.slice(6), ["afterEach", "inner after", "beforeEach"]);
    });
  });

  it("refuses suites, cases and hooks inside a running case, and hooks outside of a suite", async () => {
    assert.throws(() => it("inside", () => {}), /inside a running case/);
    assert.throws(() => describe("inside", () => {}), /inside a running case/);
    assert.throws(() => before(() => {}), /inside a running case/);
    const verdicts = await judge(`
      let message = "";
      try { beforeEach(() => {}); } catch (error) { message = error.message; }
      it("tells", () => { if (!message.includes("outside of a suite")) throw new Error(message); });`);
    assert.deepEqual(verdicts, { tells: "passed" });
  });
});
