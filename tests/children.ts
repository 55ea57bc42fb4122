// Programs of tests/fixtures/children, run on the runtime that runs the test.

import { spawnSync } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** How long a child may take before it is killed: far more than it needs, far less than what it would wait for. */
const CHILD_LIMIT_MS = 50_000;

/** How a child ended. */
export interface Child {
  /** Null when it did not end in time. */
  readonly status: number | null;
  /** Its lines. */
  readonly lines: string[];
  readonly errors: string;
}

/** Runs a program to its end; on Deno with a function `gc`, as `Bun.gc` is there anyway. */
export function runChild(
  name: string,
  args: readonly string[] = [],
  limitMs: number = CHILD_LIMIT_MS,
): Child {
  const program = fileURLToPath(new URL(`./fixtures/children/${name}.ts`, import.meta.url));
  const flags = process.versions["bun"] === undefined
    ? ["run", "-A", "--no-check", "--v8-flags=--expose-gc"]
    : ["run"];
  const env = { ...process.env, NO_COLOR: "1" };
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, program, ...args], {
    encoding: "utf8",
    timeout: limitMs,
    env,
  });
  return { status, lines: stdout.split("\n").filter((line) => line !== ""), errors: stderr };
}
