// docs/workers.md: its snippets are the files of examples/workers/, which tests/workers_test.ts runs on workerd.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, it } from "@std/testing/bdd";

const ROOT = new URL("../", import.meta.url);
const FOLDER = new URL("examples/workers/", ROOT);

describe("The page of Workers", () => {
  it("quotes every example word for word, but for the import, and nothing else", () => {
    const page = readFileSync(new URL("docs/workers.md", ROOT), "utf8");
    const quoted = [...page.matchAll(/```ts\n([\s\S]*?)```/g)].map((found) => found[1]!);
    const sources = readdirSync(FOLDER).filter((file) => file.endsWith(".ts")).map((file) =>
      readFileSync(new URL(file, FOLDER), "utf8").replace("../../workers.ts", "@sluice/admission/workers")
    );
    assert.deepEqual(quoted.toSorted(), sources.toSorted());
  });

  it("quotes the settings of a project, with the date that the tests run with", () => {
    const page = readFileSync(new URL("docs/workers.md", ROOT), "utf8");
    const settings = readFileSync(new URL("wrangler.toml", FOLDER), "utf8");
    assert.equal(/```toml\n([\s\S]*?)```/.exec(page)?.[1], settings);
    const date = /compatibility_date = "(.*)"/.exec(settings)![1]!;
    assert.ok(readFileSync(new URL("tests/workerd.ts", ROOT), "utf8").includes(`"${date}"`));
  });
});
