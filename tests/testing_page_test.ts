// docs/testing.md: its snippets are the files of examples/testing/, whose tests run, and its table has all of the clock.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, it } from "@std/testing/bdd";
import * as testing from "../testing/mod.ts";

const ROOT = new URL("../", import.meta.url);
const PAGE = new URL("docs/testing.md", ROOT);
const FOLDER = new URL("examples/testing/", ROOT);
/** What every Clock has. */
const OF_ANY_CLOCK = ["constructor", "now", "wallNow", "setTimer"];

describe("The page of testing", () => {
  const page = readFileSync(PAGE, "utf8");

  it("quotes every example word for word, but for the imports, and nothing else", () => {
    const quoted = [...page.matchAll(/```ts\n([\s\S]*?)```/g)].map((found) => found[1]!);
    const sources = readdirSync(FOLDER).map((file) =>
      readFileSync(new URL(file, FOLDER), "utf8")
        .replace("../../adapters/fetch.ts", "@sluice/admission/fetch")
        .replace("../../adapters/hono.ts", "@sluice/admission/hono")
        .replace("../../mod.ts", "@sluice/admission")
        .replace("../../testing/mod.ts", "@sluice/admission/testing")
    );
    assert.ok(sources.length > 2);
    assert.deepEqual(quoted.toSorted(), sources.toSorted());
  });

  it("lists every member of a ManualClock that not every clock has", () => {
    const members = Object.getOwnPropertyNames(testing.ManualClock.prototype);
    const expected = members.filter((name) => !OF_ANY_CLOCK.includes(name));
    const listed = [...page.matchAll(/^\| `(?:await )?(\w+)[^|]* +\|/gm)].map((found) => found[1]!);
    assert.ok(expected.length > 4);
    assert.deepEqual([...new Set(listed)].toSorted(), expected.toSorted());
  });

  it("names everything that the entry has", () => {
    const names = Object.keys(testing);
    assert.ok(names.includes("ManualClock"));
    assert.deepEqual(names.filter((name) => !page.includes(`\`${name}\``)), []);
  });
});
