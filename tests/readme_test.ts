// The README: its snippets are the files of examples/start/, and those run; its index, rules and figures are true.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { describe, it } from "@std/testing/bdd";
import { listTitles } from "../scripts/rules/titles.ts";

const ROOT = new URL("../", import.meta.url);
const FOLDER = new URL("examples/start/", ROOT);
/** A README that is longer is not read. */
const MAX_LINES = 260;

/** What each example prints. */
const PRINTS: Readonly<Record<string, RegExp>> = {
  "drizzle_job.ts": /^20 notes, 0 connections out$/m,
  "hono_route.ts": /^200 429 "renderers";q=4;qu="concurrent-requests", "reports";q=100;w=60$/m,
  "llm_call.ts": /^\[ 42, 42, 42 \]$/m,
  "own_limit.ts": /^\[ "20000 MB in use", "11000 MB in use", "11000 MB in use" \]$/m,
};

function run(file: string): string {
  const script = fileURLToPath(new URL(file, FOLDER));
  const args = process.versions.bun === undefined ? ["run", "-A", script] : [script];
  return execFileSync(process.execPath, args, { encoding: "utf8", env: { ...process.env, NO_COLOR: "1" } });
}

const read = (path: string) => readFileSync(new URL(path, ROOT), "utf8");

/** An example as a user writes it. */
function source(file: string): string {
  return read(`examples/start/${file}`)
    .replace(/"\.\.\/\.\.\/adapters\/(\w+)(?:\/mod)?\.ts"/g, '"@sluice/admission/$1"')
    .replace('"../../mod.ts"', '"@sluice/admission"');
}

describe("The README", () => {
  const page = read("README.md");
  const files = readdirSync(FOLDER).sort();
  const links = [...page.matchAll(/\[([^\]]+)\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, text, path]) => ({
    text: text!,
    path: path!,
  }));

  it("quotes every start word for word, but for the imports, and nothing else", () => {
    const quoted = [...page.matchAll(/```ts\n([\s\S]*?)```/g)].map((found) => found[1]!);
    assert.deepEqual(quoted.toSorted(), files.map(source).toSorted());
  });

  for (const file of files) {
    it(`runs ${file}`, () => {
      assert.match(run(file), PRINTS[file] ?? assert.fail(`what ${file} prints is not said in this test`));
    });
  }

  it("leads to every page of docs/", () => {
    const pages = readdirSync(new URL("docs/", ROOT)).filter((file) => file.endsWith(".md"));
    assert.deepEqual(pages.filter((file) => !links.some(({ path }) => path === `docs/${file}`)), []);
  });

  it("leads from each rule to a test that names it", () => {
    const rules = links.filter(({ text }) => /^[A-Z]{2,3}-\d{2}$/.test(text));
    assert.ok(rules.length > 20, `${rules.length} rules`);
    const untold = rules.filter(({ text, path }) =>
      !listTitles(path, read(path)).some(({ ids }) => ids.includes(text))
    );
    assert.deepEqual(untold, []);
  });

  it("has figures and versions that stand in the page of performance", () => {
    const measured = read("docs/performance.md");
    const figures = page.match(/\b\d+(?:\.\d+)? ns\b|\b\d\.\d{3}\b(?! ms)/g) ?? [];
    assert.ok(figures.length >= 5, figures.join());
    assert.deepEqual(figures.filter((figure) => !measured.includes(figure)), []);
    const peers = [...page.matchAll(/^\| \[([\w-]+)\]\(https:[^)]+\) ([\d.]+) /gm)].filter(([, name]) =>
      name !== "hono-rate-limiter"
    );
    assert.ok(peers.length >= 9, `${peers.length} peers`);
    assert.deepEqual(peers.filter(([, name, version]) => !measured.includes(`${name} ${version}.`)), []);
  });

  it("gives the commands that continuous integration runs", () => {
    assert.match(page, /^npm run demo /m);
    assert.match(page, /^npm test /m);
    assert.match(read(".ci/run"), /^ {2}npm test /m);
  });

  it("is short", () => {
    const lines = page.trimEnd().split("\n");
    assert.ok(lines.length <= MAX_LINES, `${lines.length} lines`);
  });
});
