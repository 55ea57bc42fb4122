import { spawn } from "node:child_process";
import { join } from "node:path";
import { ROOT, toolEnvironment } from "../scripts/support/project.ts";
import type { Errand, Report } from "./child.ts";
import type { Runtime } from "./options.ts";
import type { Task } from "./plan.ts";
import type { EffortName } from "./workload.ts";

/** A process that has not ended by then is stopped. */
const LIMITS_MS: Readonly<Record<EffortName, number>> = { tiny: 60_000, quick: 20_000, full: 60_000 };

const CHILD = join(ROOT, "bench", "child.ts");

function commandOf(runtime: Runtime): [string, string[]] {
  if (runtime === "bun") return ["bun", ["run", CHILD]];
  const flags = ["run", "-A", "--no-check", "--quiet", "--v8-flags=--expose-gc,--max-old-space-size=8192"];
  return ["deno", [...flags, "--config", join(ROOT, "deno.json"), CHILD]];
}

/** Runs tasks of one runtime once, in one process; a report for each, in their order. */
export async function runChild(tasks: readonly Task[], effort: EffortName): Promise<Report[]> {
  const errands = tasks.map(({ workload, contender, size }): Errand => ({
    workload: workload.name,
    contender,
    size,
  }));
  const { output, ending } = await runToEnd(
    commandOf(tasks[0]!.runtime),
    [effort, JSON.stringify(errands)],
    LIMITS_MS[effort],
  );
  const reports = output.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line) as Report);
  return tasks.map((_, index) => reports[index] ?? { failure: `the process ${ending}` });
}

function runToEnd(
  [command, flags]: [string, string[]],
  args: readonly string[],
  limitMs: number,
): Promise<{ output: string; ending: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...flags, ...args], {
      cwd: ROOT,
      env: toolEnvironment({ NO_COLOR: "1" }),
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    let complaints = "";
    child.stdout.on("data", (chunk) => output += chunk);
    child.stderr.on("data", (chunk) => complaints += chunk);
    let isLate = false;
    const limit = setTimeout(() => {
      isLate = true;
      child.kill("SIGKILL");
    }, limitMs);
    child.on("error", reject);
    child.on("close", (code, signal) => {
      clearTimeout(limit);
      const ended = isLate
        ? `ran longer than ${limitMs / 1_000} s`
        : `ended with ${signal ?? `status ${code}`}`;
      resolve({ output, ending: `${ended}: ${complaints.trim().slice(-600)}` });
    });
  });
}
