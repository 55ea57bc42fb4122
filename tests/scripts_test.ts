/** The scripts that judge everything else: verdicts of two runners, and the table of rules against test titles. */
import { describe, it } from "@std/testing/bdd";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { findingsOf, isOfPeer } from "../scripts/docs.ts";
import { readRules, writeTested } from "../scripts/rules/table.ts";
import { findTitleErrors, listTitles } from "../scripts/rules/titles.ts";
import { ENTRIES } from "../scripts/support/project.ts";
import { sideBySide } from "../scripts/support/side_by_side.ts";
import { compareVerdicts, countVerdicts, mergeVerdicts, readJUnit } from "../scripts/support/verdicts.ts";

describe("verdicts", () => {
  const report = `<testsuites><testsuite name="a">
    <testcase name="a &gt; &quot;b&quot; &#x2192; c" time="0.1" />
    <testcase name="fails"><failure message="x &gt; y">at a &lt;skipped /&gt;</failure></testcase>
    <testcase name="skipped"><skipped /></testcase>
    <testcase name="twice"></testcase>
    <testcase name="twice"><failure message="">x</failure></testcase>
  </testsuite></testsuites>`;

  it("are read from a report", () => {
    const verdicts = readJUnit(report);
    assert.deepEqual([...verdicts], [
      [`a > "b" → c`, ["passed"]],
      ["fails", ["failed"]],
      ["skipped", ["skipped"]],
      ["twice", ["passed", "failed"]],
    ]);
    assert.deepEqual(countVerdicts([verdicts]), { passed: 2, failed: 2, skipped: 1 });
    assert.equal(readJUnit("").size, 0);
  });

  it("that differ between two runtimes are told", () => {
    const left = new Map([["a", ["passed" as const]], ["b", ["passed" as const]], ["c", [
      "passed" as const,
    ]]]);
    const right = new Map([["a", ["passed" as const]], ["b", ["failed" as const]]]);
    assert.deepEqual(compareVerdicts(["deno", left], ["bun", left]), []);
    assert.deepEqual(compareVerdicts(["deno", left], ["bun", right]), [
      "b: passed on deno, failed on bun",
      "c: passed on deno, absent on bun",
    ]);
    assert.deepEqual([...mergeVerdicts(left, right)], [["a", ["passed"]], ["b", ["failed"]], ["c", [
      "failed",
    ]]]);
  });
});

describe("things side by side", () => {
  it("are begun in order, so many at a time, and their results stand in order", async () => {
    const told: string[] = [];
    const finish: (() => void)[] = [];
    const all = sideBySide(["a", "b", "c"], 2, (item) => {
      told.push(item);
      return new Promise<string>((resolve) => finish.push(() => resolve(item.toUpperCase())));
    });
    assert.deepEqual(told, ["a", "b"]);
    finish[1]!();
    await Promise.resolve().then(() => {}).then(() => {});
    assert.deepEqual(told, ["a", "b", "c"]);
    finish[0]!();
    finish[2]!();
    assert.deepEqual(await all, ["A", "B", "C"]);
    assert.deepEqual(await sideBySide([], 0, () => Promise.resolve(1)), []);
  });
});

describe("docs", () => {
  const finding = (file: string, name: string) =>
    `error[private-type-ref]: public type 'Skip' references private type '${name}'\n   --> ${file}:10:1\n   | \n`;
  const files: Record<string, string> = {
    "/a.ts": 'import type { Context } from "hono";\nimport {\n  type Hold,\n  Holds,\n} from "./holds.ts";\n',
  };
  const read = (path: string) => files[path]!;

  it("are not blamed for the types of a peer, but for our own private ones and for what lacks a docstring", () => {
    assert.equal(isOfPeer(finding("/a.ts", "Context"), read), true);
    for (const name of ["Hold", "Con", "Other"]) assert.equal(isOfPeer(finding("/a.ts", name), read), false);
    assert.equal(isOfPeer("error[missing-jsdoc]: Context\n   --> /a.ts:10:1\n", read), false);
  });

  it("are found in what the linter prints, colours and all", () => {
    const output =
      `\u001b[1merror[missing-jsdoc]\u001b[0m: no docs\n  --> /a.ts:1:1\n\n\n${finding("/a.ts", "Hold")}` +
      "error: Found 2 documentation lint errors.\n";
    const found = findingsOf(output);
    assert.equal(found.length, 2);
    assert.match(found[0]!, /^error\[missing-jsdoc\]: no docs/);
    assert.equal(isOfPeer(found[1]!, read), false);
  });
});

describe("entries", () => {
  it("are the same for npm and for JSR", () => {
    const { exports } = JSON.parse(readFileSync(new URL("../deno.json", import.meta.url), "utf8"));
    const paths = Object.fromEntries(
      Object.entries(exports as Record<string, string>).map(([entry, path]) => [entry, path.slice(2)]),
    );
    assert.deepEqual({ ...ENTRIES }, paths);
  });
});

describe("rules", () => {
  const table = `## Part A: one\n\n| id | promise | tested in |\n| --- | --- | --- |\n| ZZZ-01 | One. |  |
| ZZZ-02 | Two. | \`tests/old_test.ts\` |\n\n## Waived\n\n| id | reason |\n| --- | --- |\n| ZZZ-02 | Not ours. |\n`;

  it("are read with their parts and waivers", () => {
    const { rules, waived, errors } = readRules(table);
    assert.deepEqual(rules.map(({ id, part, promise }) => [id, part, promise]), [
      ["ZZZ-01", "A", "One."],
      ["ZZZ-02", "A", "Two."],
    ]);
    assert.deepEqual([...waived], [["ZZZ-02", "Not ours."]]);
    assert.deepEqual(errors, []);
  });

  it("that stand twice, or are waived without a reason or a rule, are errors", () => {
    assert.match(
      readRules(table.replace("ZZZ-02 | Two", "ZZZ-01 | Two")).errors.join(),
      /ZZZ-01 stands twice/,
    );
    assert.match(
      readRules(table.replace("Not ours.", "")).errors.join(),
      /ZZZ-02 is waived without a reason/,
    );
    assert.match(
      readRules(`${table}| ZZZ-09 | Unknown. |\n`).errors.join(),
      /ZZZ-09 is waived but is no rule/,
    );
  });

  it("get the column of their tests written, and nothing else", () => {
    const written = writeTested(table, new Map([["ZZZ-01", ["tests/a_test.ts", "tests/b_test.ts"]]]));
    assert.match(written, /\| ZZZ-01 \| One\. \| `tests\/a_test\.ts`, `tests\/b_test\.ts` \|/);
    assert.match(written, /\| ZZZ-02 \| Two\. \| {2}\|/);
    assert.match(written, /\| ZZZ-02 \| Not ours\. \|\n$/);
    assert.equal(
      writeTested(written, new Map([["ZZZ-01", ["tests/a_test.ts", "tests/b_test.ts"]]])),
      written,
    );
  });

  it("are found in the titles of suites and cases that are not skipped", () => {
    // Put together here, so that this file's own titles name no rule.
    const [one, two] = ["ZZZ-" + "01", "ZZZ-" + "02"];
    const text =
      `describe("${one} a", () => { it(\`${two} of \${x}\`, () => {}); it.skip("${two} b", () => {}); });\n`;
    const titles = listTitles("tests/a_test.ts", text);
    assert.deepEqual(titles.map((title) => title.ids), [[one], [two]]);
    assert.deepEqual(findTitleErrors(titles, new Set([one, two])), []);
    assert.match(findTitleErrors(titles, new Set([one])).join(), /names ZZZ-02, not in docs\/rules\.md/);
    const many = listTitles("tests/a_test.ts", `it("${one} ${two} ${one} ${two}", () => {});\n`);
    assert.match(findTitleErrors(many, new Set([one, two])).join(), /names 4 rules, 3 at most/);
  });
});
