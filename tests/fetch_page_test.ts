// docs/fetch.md: its snippets are the files of examples/fetch/, and those run.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { describe, it } from "@std/testing/bdd";

const ROOT = new URL("../", import.meta.url);
const FOLDER = new URL("examples/fetch/", ROOT);

/** What each example prints. */
const PRINTS: Readonly<Record<string, RegExp>> = {
  "chat.ts": /^200 42 2 requests\nthrottle:1\.5x$/m,
  "circuit.ts": /^503 down HEALTHY\n503 down BLOCKED\ncircuit_blocked upstream$/m,
  "gateway_errors.ts":
    /^200 .*42.*\n422 .*"gpt-6.*\n413 A demand of 600019 .*\n499 \n504 .*too long\n502 .*reached\n503 .*Unavailable.*$/m,
};

function run(file: string): string {
  const script = fileURLToPath(new URL(file, FOLDER));
  const args = process.versions.bun === undefined ? ["run", "-A", script] : [script];
  return execFileSync(process.execPath, args, { encoding: "utf8", env: { ...process.env, NO_COLOR: "1" } });
}

describe("The page of the admitted fetch", () => {
  const files = readdirSync(FOLDER).sort();
  const page = readFileSync(new URL("docs/fetch.md", ROOT), "utf8");

  it("quotes every example word for word, but for the imports, and nothing else", () => {
    const quoted = [...page.matchAll(/```ts\n([\s\S]*?)```/g)].map((found) => found[1]!);
    const sources = files.map((file) =>
      readFileSync(new URL(file, FOLDER), "utf8")
        .replace("../../adapters/fetch.ts", "@sluice/admission/fetch")
        .replace("../../adapters/hono.ts", "@sluice/admission/hono")
        .replace("../../mod.ts", "@sluice/admission")
    );
    assert.deepEqual(quoted.toSorted(), sources.toSorted());
  });

  it("lists every option", () => {
    const source = readFileSync(new URL("adapters/fetch/options.ts", ROOT), "utf8");
    const body = /export interface AdmittedFetchOptions \{([\s\S]*?)\n\}/.exec(source)![1]!;
    const options = [...body.matchAll(/^ {2}readonly (\w+)\??:/gm)].map((found) => found[1]!);
    const listed = [...page.matchAll(/^\| `(\w+)` /gm)].map((found) => found[1]!);
    assert.ok(options.length > 10);
    assert.deepEqual(listed.toSorted(), options.toSorted());
  });

  for (const file of files) {
    it(`runs ${file}`, () => {
      assert.match(run(file), PRINTS[file] ?? assert.fail(`what ${file} prints is not said in this test`));
    });
  }
});
