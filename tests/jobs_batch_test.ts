// The batch of docs/jobs.md when somebody presses Ctrl-C.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { describe, it } from "@std/testing/bdd";

const BATCH = fileURLToPath(new URL("../examples/jobs/batch.ts", import.meta.url));

/** What the batch prints, and its exit code, when it is interrupted at its first retry. */
function interrupted(): Promise<{ printed: string; status: number | null }> {
  const args = process.versions["bun"] === undefined ? ["run", "-A", "--no-check", BATCH] : [BATCH];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  return new Promise((resolve, reject) => {
    let printed = "";
    let isInterrupted = false;
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
      if (isInterrupted || !printed.includes("asks anew")) return;
      // A child that was ended by its kill() has no status on Deno.
      isInterrupted = process.kill(child.pid!, "SIGINT");
    });
    child.on("error", reject).on("close", (status) => resolve({ printed, status }));
  });
}

describe("A batch that is interrupted", () => {
  it("CAN-10 BEY-27 ends by itself, has stored what was paid for, counts what is left, and holds nothing", async () => {
    const { printed, status } = await interrupted();
    assert.equal(status, 130, printed);
    const [, stored, left, dollars] = /^(\d+) stored, (\d+) left, spent (\S+) USD$/m.exec(printed) ?? [];
    assert.equal(Number(stored) + Number(left), 60, printed);
    assert.ok(Number(stored) >= 1 && Number(left) >= 1, printed);
    assert.equal(
      Number(dollars),
      Number((Number(stored) * 0.00055).toFixed(6)),
      "each summary was paid for once",
    );
    assert.match(printed, /^held: 0 places, 0 connections, 0 pauses$/m);
  });
});
