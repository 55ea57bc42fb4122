// docs/drizzle.md: its snippets are the files of examples/drizzle/, and those run.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { describe, it } from "@std/testing/bdd";

const ROOT = new URL("../", import.meta.url);
const FOLDER = new URL("examples/drizzle/", ROOT);

/** What each example prints. */
const PRINTS: Readonly<Record<string, RegExp>> = {
  "failures.ts":
    /^true insert into Error.*: UNIQUE constraint failed: users\.name true Error.*: unable to open database file/,
  "first_database.ts": /^20 notes, 0 connections out$/,
  "request_database.ts": /"?id"?: 1.*"one".*"?id"?: 2.*"two"/s,
};

function run(file: string): string {
  const script = fileURLToPath(new URL(file, FOLDER));
  const args = process.versions.bun === undefined ? ["run", "-A", script] : [script];
  const env = { ...process.env, NO_COLOR: "1" };
  return execFileSync(process.execPath, args, { encoding: "utf8", env }).replace(/\s+/g, " ").trim();
}

function snippets(page: string): string[] {
  const text = readFileSync(new URL(page, ROOT), "utf8");
  return [...text.matchAll(/```ts\n([\s\S]*?)```/g)].map((found) => found[1]!);
}

/** An example as a user writes it. */
function source(file: string): string {
  return readFileSync(new URL(file, FOLDER), "utf8")
    .replace("../../adapters/drizzle/mod.ts", "@sluice/admission/drizzle")
    .replace("../../mod.ts", "@sluice/admission");
}

describe("The page of Drizzle", () => {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith(".ts")).sort();

  it("quotes every example word for word, but for the imports, and nothing else", () => {
    assert.deepEqual(snippets("docs/drizzle.md").toSorted(), files.map(source).toSorted());
  });

  for (const file of files) {
    it(`runs ${file}`, () => {
      assert.match(run(file), PRINTS[file] ?? assert.fail(`what ${file} prints is not said in this test`));
    });
  }
});
