import { spawn } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { ROOT, toolEnvironment } from "../scripts/support/project.ts";
import type { Task } from "./plan.ts";
import type { EffortName, Reading } from "./workload.ts";

/** A contender that has not ended by then is stopped. */
const LIMIT_MS = 180_000;

const CHILD = join(ROOT, "bench", "child.ts");

function commandOf({ runtime, workload, contender, size }: Task, effort: EffortName): [string, string[]] {
  const args = [CHILD, workload.name, contender, effort, String(size)];
  if (runtime === "bun") return ["bun", ["run", ...args]];
  const flags = ["run", "-A", "--no-check", "--quiet", "--v8-flags=--expose-gc,--max-old-space-size=8192"];
  return ["deno", [...flags, "--config", join(ROOT, "deno.json"), ...args]];
}

/**
 * Runs a task once, in a process of its own.
 * @throws Error with what the process wrote when it failed.
 */
export function runChild(task: Task, effort: EffortName): Promise<Reading> {
  const [command, args] = commandOf(task, effort);
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: ROOT,
      env: toolEnvironment({ NO_COLOR: "1" }),
      stdio: ["ignore", "pipe", "pipe"],
      shell: process.platform === "win32",
    });
    let output = "";
    let complaints = "";
    child.stdout.on("data", (chunk) => output += chunk);
    child.stderr.on("data", (chunk) => complaints += chunk);
    let isLate = false;
    const limit = setTimeout(() => {
      isLate = true;
      child.kill("SIGKILL");
    }, LIMIT_MS);
    child.on("error", reject);
    child.on("close", (code, signal) => {
      clearTimeout(limit);
      const ending = isLate ? `took longer than ${LIMIT_MS / 1_000} s` : `ended with ${signal ?? `status ${code}`}`;
      if (code === 0) resolve(JSON.parse(output) as Reading);
      else reject(new Error(`${ending}: ${complaints.trim().slice(-600)}`));
    });
  });
}
