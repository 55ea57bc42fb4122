// docs/errors.md: written from the code, by meeting every error.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "@std/testing/bdd";
import { listFiles, ROOT } from "../scripts/support/project.ts";
import { codeOf, errorOf, patternOf, thrownBy } from "../scripts/errors/case.ts";
import { errorClasses } from "../scripts/errors/classes.ts";
import { CASES, errorsPage } from "../scripts/errors/page.ts";

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");

describe("The page of errors", () => {
  it("is what the code says now: npm run errors writes it anew", async () => {
    assert.equal(read("docs/errors.md"), await errorsPage());
  });

  it("meets every error class that mod.ts exports, and no other", () => {
    const exported = errorClasses().map(({ name }) => name);
    assert.ok(exported.length > 20, exported.join());
    assert.deepEqual([...new Set(CASES.map(({ type }) => type))].toSorted(), exported.toSorted());
  });

  it("meets every code that an error of core may have", async () => {
    const sources = listFiles(ROOT, "core", (path) => path.endsWith(".ts")).map(read).join("\n");
    const classes = [...sources.matchAll(/extends AdmissionError\b[\s\S]*?super\(\s*"(\w+)"/g)].map((found) =>
      found[1]!
    );
    const others = /code\?: ([^;]+);/.exec(read("core/errors.ts"))![1]!.match(/\w+/g)!;
    const own = [...sources.matchAll(/code = "(\w+)"|CancellationError\("(\w+)"/g)].map((found) =>
      found[1] ?? found[2]!
    );
    const given = [...classes, ...others, ...own];
    const met = new Set<string | null>();
    for (const each of CASES) met.add(codeOf(await errorOf(each)));
    for (const code of ["timeout", "defect", "stopped", "quota_exhausted"]) {
      assert.ok(given.includes(code), code);
    }
    assert.deepEqual([...new Set(given)].filter((code) => !met.has(code)), []);
  });

  it("describes every field", () => {
    for (const { name, doc, fields } of errorClasses()) {
      assert.ok(doc.length > 20, name);
      for (const field of fields) assert.ok(field.doc !== "" && field.type !== "unknown", field.name);
    }
  });
});

describe("A case of the page", () => {
  const given = { type: "RangeError", when: "", remedy: "", template: "<n> is too much (of <m>)" };
  const meeting = (error: unknown) => ({ ...given, provoke: () => error });

  it("is refused when its error is of another class, or its message does not fit the template", async () => {
    const fitting = new RangeError("3 is too much (of 2)");
    assert.equal(await errorOf(meeting(fitting)), fitting);
    for (
      const other of [new TypeError("3 is too much (of 2)"), new RangeError(" is too much (of 2)"), null]
    ) {
      await assert.rejects(errorOf(meeting(other)), /Cannot show RangeError/);
    }
    assert.equal(patternOf("a.b").test("aXb"), false);
  });

  it("is refused when nothing goes wrong", async () => {
    await assert.rejects(thrownBy(() => "fine"), /met none/);
    await assert.rejects(thrownBy(() => Promise.resolve("fine")), /met none/);
  });
});
