/** docs/api.md lists every export: a new one is a line in a diff. What is a type only is compared by `npm run ok -- docs`. */
import { describe, it } from "@std/testing/bdd";
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { type ApiExport, apiLines, renderApi } from "../scripts/support/api_table.ts";
import { ENTRIES } from "../scripts/support/project.ts";

const ROOT = new URL("../", import.meta.url);
const PAGE = readFileSync(new URL("docs/api.md", ROOT), "utf8");
/** Kinds of exports that are there when the program runs. */
const VALUES = /\((class|function|constant)\)$/;

async function valuesOf(path: string): Promise<string[]> {
  return Object.keys(await import(new URL(path, ROOT).href) as object);
}

describe("docs/api.md", () => {
  for (const [entry, path] of Object.entries(ENTRIES)) {
    it(`lists the classes, functions and constants of ${entry}, and no other`, async () => {
      const main = entry === "." ? [] : await valuesOf(ENTRIES["."]!);
      const own = (await valuesOf(path)).filter((name) => !main.includes(name));
      const head = `@sluice/admission${entry.slice(1)} `;
      const listed = [...apiLines(PAGE)].filter((line) => line.startsWith(head) && VALUES.test(line));
      assert.deepEqual(listed.map((line) => line.slice(head.length).split(" ")[0]).sort(), own.sort());
    });
  }

  it("lists no class, function or constant that no guide has a place for", () => {
    const generated = ["api.md", "errors.md", "rules.md"];
    const pages = readdirSync(new URL("docs/", ROOT)).filter((name) =>
      name.endsWith(".md") && !generated.includes(name)
    );
    const guides = ["README.md", ...pages.map((name) => `docs/${name}`)].map((path) =>
      readFileSync(new URL(path, ROOT), "utf8")
    );
    const words = new Set(guides.join("\n").match(/\w+/g));
    const values = [...apiLines(PAGE)].filter((line) => VALUES.test(line)).map((line) => line.split(" ")[1]!);
    assert.ok(values.length > 80, `${values.length}`);
    assert.deepEqual(values.filter((name) => !words.has(name)), []);
  });

  it("is about entries that say what they are", () => {
    for (const path of Object.values(ENTRIES)) {
      assert.match(readFileSync(new URL(path, ROOT), "utf8"), /^\/\*\*[^]*?\n \* @module\n \*\/\n/, path);
    }
  });

  it("says what each export is", () => {
    const silent = PAGE.split("\n").filter((line) => /^\| `/.test(line) && /\| *\|$/.test(line));
    assert.deepEqual(silent, []);
  });
});

describe("the table of exports", () => {
  const gate: ApiExport = {
    name: "Gate",
    kind: "class",
    doc: "So many permits,\na | b. More.\n\nSecond paragraph.",
  };
  const clock: ApiExport = { name: "Clock", kind: "interface", doc: "Time" };

  it("has the first sentence of a docstring, and what two entries share once", () => {
    const page = renderApi([[".", [gate]], ["./workers", [gate, clock]]]);
    assert.match(page, /^\| `Gate` \| class \| So many permits, a \\\| b\. \|$/m);
    assert.deepEqual([...apiLines(page)], [
      "@sluice/admission Gate (class)",
      "@sluice/admission/workers Clock (interface)",
    ]);
  });

  it("knows a new export, a lost one and one of another kind from the others", () => {
    const was = apiLines(renderApi([[".", [gate, clock]]]));
    const is = apiLines(renderApi([[".", [{ ...gate, kind: "type" }]]]));
    assert.deepEqual([...is].filter((line) => !was.has(line)), ["@sluice/admission Gate (type)"]);
    assert.deepEqual([...was].filter((line) => !is.has(line)).length, 2);
  });
});
