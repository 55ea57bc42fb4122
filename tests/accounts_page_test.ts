// docs/accounts.md: its snippets are the files of examples/accounts/, and those run.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { describe, it } from "@std/testing/bdd";

const ROOT = new URL("../", import.meta.url);
const FOLDER = new URL("examples/accounts/", ROOT);

/** What each example prints. */
const PRINTS: Readonly<Record<string, RegExp>> = {
  "counting_gate.ts": /one is drawn.*two is drawn.*three is drawn/s,
  "database_gate.ts": /^db:orders 1\/16 active, 15 free$/m,
  "database_provider.ts": /^db:orders 2 at most$/m,
  "elastic_window.ts": /^9\/10 .*2000ms.*HEALTHY.* throttle:2\.0x false$/m,
  "health.ts": /^gpt +token_bucket +0\/6,000 +0% +0 +throttle:1\.5x\ndb:orders +semaphore +3\/4 +75% +0 +-$/m,
  "http_connection_gate.ts": /^http 1\/64 active, 63 free$/m,
  "keyed.ts": /^200 for 2001:db8:0:7::\/64\nclient 2001:db8:0:7::\/64 1 1$/m,
  "memory_gate.ts": /^true blocked\nfalse GREEN$/m,
  "model_gate.ts": /^judge-large 1\/1 active, 0 free false$/m,
  "own_account.ts": /60 MB beside 30.*30 MB beside 60.*50 MB beside 0.*120 MB can never be uploaded/s,
  "registry.ts": /^true 1000\n120000 240$/m,
  "services.ts":
    /^HTTP 429 from epo:search: .*^PubMed .* 1\/3 .*^epo:search .* 2\/6 .* throttle:5\.0x\nepo:retrieval .* -$/ms,
  "stdio_endpoints.ts": /^read by npx -y files-server$/m,
  "token_bucket.ts": /^600000 throttle:1\.5x$/m,
};

function run(file: string): string {
  const script = fileURLToPath(new URL(file, FOLDER));
  const args = process.versions.bun === undefined ? ["run", "-A", script] : [script];
  return execFileSync(process.execPath, args, { encoding: "utf8", env: { ...process.env, NO_COLOR: "1" } });
}

describe("The page of accounts", () => {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith(".ts")).sort();

  it("quotes every example word for word, but for the import, and nothing else", () => {
    const page = readFileSync(new URL("docs/accounts.md", ROOT), "utf8");
    const quoted = [...page.matchAll(/```ts\n([\s\S]*?)```/g)].map((found) => found[1]!);
    const sources = files.map((file) =>
      readFileSync(new URL(file, FOLDER), "utf8").replace("../../mod.ts", "@sluice/admission")
    );
    assert.deepEqual(quoted.toSorted(), sources.toSorted());
  });

  for (const file of files) {
    it(`runs ${file}`, () => {
      assert.match(run(file), PRINTS[file] ?? assert.fail(`what ${file} prints is not said in this test`));
    });
  }
});
