// docs/hono.md: its snippets are the files of examples/hono/, and those run.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { describe, it } from "@std/testing/bdd";

const ROOT = new URL("../", import.meta.url);
const FOLDER = new URL("examples/hono/", ROOT);

/** What each example prints. */
const PRINTS: Readonly<Record<string, RegExp>> = {
  "client_and_model.ts": /^502\n200\n200\n429$/m,
  "keyed_route.ts":
    /^203\.0\.113\.7 200 null\n203\.0\.113\.7 200 null\n6\.6\.6\.6, 203\.0\.113\.7 429 "client 203\.0\.113\.7";r=0;t=(60|59), "everybody";r=64\n.*::1 200 null\n.*::2 200 null$/m,
  "limited_route.ts":
    /^report 1\n1 "renderers";q=4;qu="concurrent-requests", "reports";q=100;w=60\ntrue \{.*#quota-exceeded".*"violated-policies":\["reports"\]\}$/m,
  "own_refusal.ts":
    /^200 null nothing to send\n200 null sent\n429 "mails";r=0;t=(60|59) \{.*#quota-exceeded/m,
  "streaming_route.ts": /^5\d{4}\ntokens as they come\n59\d{3}$/m,
  "web_socket.ts": /^0 0\/1000 active, 1000 free$/m,
};

function run(file: string): string {
  const script = fileURLToPath(new URL(file, FOLDER));
  const args = process.versions.bun === undefined ? ["run", "-A", script] : [script];
  return execFileSync(process.execPath, args, { encoding: "utf8", env: { ...process.env, NO_COLOR: "1" } });
}

/** The snippets of a page, and an example as a user writes it. */
function snippets(page: string): string[] {
  const text = readFileSync(new URL(page, ROOT), "utf8");
  return [...text.matchAll(/```ts\n([\s\S]*?)```/g)].map((found) => found[1]!);
}

function source(file: string): string {
  return readFileSync(new URL(file, FOLDER), "utf8")
    .replace("../../adapters/fetch.ts", "@sluice/admission/fetch")
    .replace("../../adapters/hono.ts", "@sluice/admission/hono")
    .replace("../../mod.ts", "@sluice/admission");
}

describe("The page of Hono", () => {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith(".ts")).sort();

  it("quotes every example word for word, but for the imports, and nothing else", () => {
    assert.deepEqual(snippets("docs/hono.md").toSorted(), files.map(source).toSorted());
  });

  for (const file of files) {
    it(`runs ${file}`, () => {
      assert.match(run(file), PRINTS[file] ?? assert.fail(`what ${file} prints is not said in this test`));
    });
  }
});
