/** Where things are, and how a tool of node_modules is run: shared by all scripts. */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { delimiter, dirname, join, relative, sep } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** The project's root folder. */
export const ROOT: string = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Entry of the package -> source file. The exports of deno.json are the same. */
export const ENTRIES: Readonly<Record<string, string>> = {
  ".": "mod.ts",
  "./drizzle": "adapters/drizzle/mod.ts",
  "./fetch": "adapters/fetch.ts",
  "./hono": "adapters/hono.ts",
  "./testing": "testing/mod.ts",
  "./workers": "workers.ts",
};

/** Folders that hold nothing of ours. */
const FOREIGN = new Set(["node_modules", "out", "coverage", "dist"]);

/** Paths below `folder` for which `wanted` is true: relative to `root`, with forward slashes, sorted. */
export function listFiles(root: string, folder: string, wanted: (path: string) => boolean): string[] {
  const top = join(root, folder);
  if (!existsSync(top)) return [];
  const found: string[] = [];
  const folders = [top];
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    for (const entry of readdirSync(at, { withFileTypes: true })) {
      if (FOREIGN.has(entry.name) || (entry.name.startsWith(".") && entry.isDirectory())) continue;
      const path = join(at, entry.name);
      if (entry.isDirectory()) folders.push(path);
      else if (wanted(path)) found.push(relative(root, path).split(sep).join("/"));
    }
  }
  return found.sort();
}

/** The environment in which the tools of node_modules come first. */
export function toolEnvironment(extra: Record<string, string> = {}): Record<string, string | undefined> {
  const bin = join(ROOT, "node_modules", ".bin");
  return { ...process.env, ...extra, PATH: `${bin}${delimiter}${process.env.PATH ?? ""}` };
}

/** How a command ended; `output` is empty unless it was captured. */
export interface CommandResult {
  readonly status: number;
  readonly output: string;
}

/** Runs a tool to its end. Its output goes to the terminal, or with `capture` into the result. */
export function runTool(
  command: string,
  args: readonly string[],
  options: { cwd?: string; env?: Record<string, string>; capture?: boolean; timeoutMs?: number } = {},
): CommandResult {
  const result = spawnSync(command, [...args], {
    cwd: options.cwd ?? ROOT,
    env: toolEnvironment(options.env),
    stdio: options.capture ? "pipe" : "inherit",
    encoding: "utf8",
    maxBuffer: 256 * 1024 * 1024,
    ...(options.timeoutMs === undefined ? {} : { timeout: options.timeoutMs }),
    shell: process.platform === "win32",
  });
  const output = options.capture ? `${result.stdout ?? ""}${result.stderr ?? ""}` : "";
  if (result.error) return { status: 1, output: `${output}${command}: ${result.error.message}` };
  return { status: result.status ?? 1, output };
}

/** The same for a tool beside which others run: its output is captured, both streams as they come. */
export function runToolBeside(command: string, args: readonly string[]): Promise<CommandResult> {
  return new Promise((resolve) => {
    const child = spawn(command, [...args], {
      cwd: ROOT,
      env: toolEnvironment(),
      stdio: ["ignore", "pipe", "pipe"],
      shell: process.platform === "win32",
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8");
      stream.on("data", (chunk) => output += chunk);
    }
    child.on("error", (error) => resolve({ status: 1, output: `${output}${command}: ${error.message}\n` }));
    child.on("close", (status) => resolve({ status: status ?? 1, output }));
  });
}
