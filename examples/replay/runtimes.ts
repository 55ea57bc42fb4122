import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { RuntimeName } from "./command_line.ts";
import { UserError } from "./user_error.ts";

/** The folder of the project. */
export const PROJECT_FOLDER: string = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** The runtime this program is running on. */
export function currentRuntime(): RuntimeName {
  return process.versions["bun"] === undefined ? "deno" : "bun";
}

/** The runtime's name and version, for the report. */
export function runtimeTitle(): string {
  const bun = process.versions["bun"];
  return bun === undefined ? `Deno ${process.versions["deno"] ?? ""}`.trimEnd() : `Bun ${bun}`;
}

/**
 * The folder the user stands in. npm, Bun and `deno task` run scripts in the project's folder and put the user's into
 * INIT_CWD; it counts only where that has happened.
 */
export function userFolder(): string {
  const folder = process.cwd();
  return folder === PROJECT_FOLDER ? process.env["INIT_CWD"] ?? folder : folder;
}

/**
 * Runs a program on another runtime, with the same terminal.
 * @returns its exit status
 * @throws UserError when the runtime is not installed.
 */
export function runOn(runtime: RuntimeName, script: string, args: readonly string[]): number {
  const local = join(PROJECT_FOLDER, "node_modules", ".bin", runtime);
  const isWindows = process.platform === "win32";
  const command = existsSync(local) && !isWindows ? local : runtime;
  const flags = runtime === "deno" ? ["run", "-A", "--no-check"] : ["run"];
  const result = spawnSync(command, [...flags, script, ...args], { stdio: "inherit", shell: isWindows });
  if (result.error) {
    throw new UserError(
      `Cannot run on ${runtime}: it is not installed, "npm install" in the project brings it.`,
    );
  }
  return result.status ?? 1;
}
