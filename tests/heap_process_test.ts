/** The memory gate on real heaps: a process of each runtime fills its own and is held. */

// Left out of npm run ok: it fills the heaps of Node, Deno and Bun in processes of their own.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { after, before, describe, it } from "@std/testing/bdd";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const BIN = join(ROOT, "node_modules", ".bin");
/** How long a process may take: more than ten times what it needs. */
const LIMIT_MS = 60_000;

/** How each runtime is run on a small heap. Deno gets no permission. */
const RUNTIMES: readonly { name: string; command: string; args: (program: string) => string[] }[] = [
  {
    name: "Node, with 256 MB by flag",
    command: "node",
    args: (program) => ["--expose-gc", "--max-old-space-size=256", program],
  },
  {
    name: "Deno, with 256 MB and next to no young generation",
    command: join(BIN, "deno"),
    args: (program) => [
      "run",
      "--no-prompt",
      "--v8-flags=--expose-gc,--max-old-space-size=256,--max-semi-space-size=1",
      program,
    ],
  },
  {
    name: "Bun, with limitBytes",
    command: join(BIN, "bun"),
    args: (program) => ["run", program, String(256 * 2 ** 20)],
  },
];

interface Report {
  logs: string[];
  waiting: number;
  isEmptyGranted: boolean;
  heldOn: string[];
  order: number[];
  firstMs: number;
  shortestGapMs: number;
}

function run(command: string, args: readonly string[]): Promise<Report> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, NO_COLOR: "1", NODE_OPTIONS: "" };
    const child = spawn(command, args, { env, stdio: ["ignore", "pipe", "pipe"], timeout: LIMIT_MS });
    let [out, errors] = ["", ""];
    child.stdout.on("data", (chunk) => out += chunk);
    child.stderr.on("data", (chunk) => errors += chunk);
    child.on("error", reject);
    child.on("close", (status) => {
      if (status === 0) resolve(JSON.parse(out));
      else reject(new Error(`${command} ended with ${status}: ${out}${errors.slice(-2000)}`));
    });
  });
}

describe("A process that fills its heap", () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-heap-"));
  const program = join(folder, "fills_its_heap.mjs");

  before(() => {
    const source = join(ROOT, "tests/fixtures/children/fills_its_heap.ts");
    const flags = ["--bundle", "--format=esm", "--platform=node", "--target=node20", `--outfile=${program}`];
    const { status, stderr } = spawnSync(join(BIN, "esbuild"), [source, ...flags], { encoding: "utf8" });
    assert.equal(status, 0, stderr);
  });

  after(() => rmSync(folder, { recursive: true, force: true }));

  for (const { name, command, args } of RUNTIMES) {
    it(`MEM-07 MEM-27 MON-35 on ${name}: jobs are held, an empty demand passes, the line drains singly`, async () => {
      const { logs, waiting, isEmptyGranted, heldOn, order, firstMs, shortestGapMs } = await run(
        command,
        args(program),
      );
      assert.deepEqual(logs, ["Memory latch set", "Memory latch cleared"]);
      assert.equal(waiting, 5);
      assert.equal(isEmptyGranted, true);
      assert.deepEqual(heldOn, ["memory"]);
      assert.deepEqual(order, [0, 1, 2, 3, 4]);
      assert.ok(firstMs < 10_000, `the first was granted ${firstMs} ms after the heap was freed`);
      // At least 50 ms of the kernel's clock: the caller's own clock is read a little later, now and then.
      assert.ok(shortestGapMs >= 40, `two were granted within ${shortestGapMs} ms`);
    });
  }
});
