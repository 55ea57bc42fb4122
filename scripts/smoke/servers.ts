/** Runs the smoke program on the server runtimes: Node, Bun and Deno as they are, workerd over a socket. */
import { build } from "esbuild";
import { spawn } from "node:child_process";
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runTool, toolEnvironment } from "../support/project.ts";

/** What a runtime said. */
export interface SmokeResult {
  readonly isOk: boolean;
  readonly text: string;
}

const LIMIT_MS = 60_000;

/** The commands; Deno gets no permission at all, since the library must not ask for one. */
export const SERVER_COMMANDS: Readonly<Record<string, readonly string[]>> = {
  node: ["node", "main.js"],
  bun: ["bun", "main.js"],
  deno: ["deno", "run", "--quiet", "--no-prompt", "--node-modules-dir=manual", "main.js"],
};

/** The same for the program with Drizzle, whose database in memory asks Deno's user for everything. */
export const DRIZZLE_COMMANDS: Readonly<Record<string, readonly string[]>> = {
  "node drizzle": ["node", "drizzle/main.js"],
  "bun drizzle": ["bun", "drizzle/main.js"],
  "deno drizzle": ["deno", "run", "-A", "--quiet", "--node-modules-dir=manual", "drizzle/main.js"],
};

/** Runs the program with one of the commands. */
export function runOnServer(command: readonly string[], folder: string): SmokeResult {
  const [name = "", ...args] = command;
  const { status, output } = runTool(name, args, { cwd: folder, capture: true, timeoutMs: LIMIT_MS });
  return { isOk: status === 0 && output.includes("smoke ok"), text: output.trim() };
}

/**
 * Compatibility dates to run with. On the older one compiling is forbidden at start-up as well, and there is no
 * FinalizationRegistry (it came on 2025-05-05); the newer one is what a new project gets.
 */
export const WORKERD_DATES: readonly string[] = ["2025-05-01", "2026-07-01"];

const CONFIG = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [
      (name = "bundle.js", esModule = embed "bundle.js"),
      (name = "kernel.wasm", wasm = embed "kernel.wasm"),
    ],
    compatibilityDate = "DATE",
  ))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`;

/** Runs the program in workerd, whose handlers must not compile: the kernel is injected. */
export async function runOnWorkerd(folder: string, date: string): Promise<SmokeResult> {
  await build({
    absWorkingDir: folder,
    entryPoints: { bundle: "worker.ts" },
    outdir: ".",
    bundle: true,
    format: "esm",
    target: "es2022",
    logLevel: "warning",
    plugins: [{
      name: "compiled kernel",
      setup: (it) =>
        it.onResolve({ filter: /kernel\.wasm$/ }, () => ({ path: "./kernel.wasm", external: true })),
    }],
  });
  copyFileSync(join(folder, "node_modules/@sluice/admission/kernel.wasm"), join(folder, "kernel.wasm"));
  writeFileSync(join(folder, "config.capnp"), CONFIG.replace("DATE", date));
  return await askWorkerd(folder);
}

function askWorkerd(folder: string): Promise<SmokeResult> {
  return new Promise((resolve) => {
    const child = spawn("workerd", ["serve", "--control-fd=1", "config.capnp"], {
      cwd: folder,
      env: toolEnvironment(),
    });
    let messages = "";
    let isAsked = false;
    const end = (isOk: boolean, text: string): void => {
      clearTimeout(limit);
      child.kill("SIGKILL");
      resolve({ isOk, text: `${text}${isOk ? "" : `\n${messages}`}`.trim() });
    };
    const limit = setTimeout(() => end(false, "workerd did not answer in time"), LIMIT_MS);
    child.stderr.on("data", (chunk) => messages += chunk);
    child.on("error", (error) => end(false, error.message));
    child.on("close", (status) => end(false, `workerd ended with status ${status}`));
    child.stdout.on("data", (chunk) => {
      const port = /"port":\s*(\d+)/.exec(String(chunk))?.[1];
      if (port === undefined || isAsked) return;
      isAsked = true;
      fetch(`http://127.0.0.1:${port}/`).then(
        async (response) => end(response.ok, await response.text()),
        (error: unknown) => end(false, String(error)),
      );
    });
  });
}
