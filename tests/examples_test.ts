import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import process from "node:process";
import { describe, it } from "@std/testing/bdd";

const ROOT = new URL("../", import.meta.url);

function run(path: string): string {
  const script = new URL(path, ROOT).pathname;
  const args = process.versions.bun === undefined ? ["run", "-A", script] : [script];
  return execFileSync(process.execPath, args, { encoding: "utf8", env: { ...process.env, NO_COLOR: "1" } });
}

describe("The examples of jobs", () => {
  it("DB-25 SG-09 BLD-12 four jobs run on two connections, and the ledger refuses the fifth", () => {
    const printed = run("examples/jobs/first_job.ts");
    assert.equal(printed.match(/^a summary of order [1-4]$/gm)?.length, 4);
    assert.match(
      printed,
      /would exceed its cap of 0\.050000 USD\nspent 0\.013200 USD, connections in use: 0\n$/,
    );
  });
});
