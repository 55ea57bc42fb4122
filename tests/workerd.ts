// Starts workerd from node_modules with a Worker of ours, bundled by esbuild, and talks HTTP to it.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { KERNEL_BASE64 } from "../core/generated/kernel_bytes.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const BIN = join(ROOT, "node_modules", ".bin");
/** How long it may take to listen: more than ten times what it needs. */
const LIMIT_MS = 30_000;
/** The packed library has the kernel beside it under this name; here it is the embedded one. */
const KERNEL = "@sluice/admission/kernel.wasm";

/** A Worker to start. */
export interface WorkerSource {
  /** Path of its main module, from the root of the project. */
  readonly path: string;
  readonly flags?: readonly string[];
  /** Class names of its Durable Objects; each is bound under its name in capitals. */
  readonly objects?: readonly string[];
}

/** A Worker that listens. */
export interface RunningWorker {
  /** Where it listens, without a slash at the end. */
  readonly url: string;
  readonly pid: number;
  /** What it has written to its console. */
  readonly messages: string;
  stop(): Promise<void>;
}

/** Bundles the Worker and starts it on a port of 127.0.0.1. */
export async function startWorker(source: WorkerSource): Promise<RunningWorker> {
  const folder = mkdtempSync(join(tmpdir(), "sluice-workerd-"));
  try {
    bundle(source.path, join(folder, "bundle.js"));
    writeFileSync(join(folder, "kernel.wasm"), Buffer.from(KERNEL_BASE64, "base64"));
    writeFileSync(join(folder, "config.capnp"), configOf(source));
    return await serve(folder);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

function bundle(path: string, outfile: string): void {
  const flags = ["--bundle", "--format=esm", "--target=es2022", "--tsconfig-raw={}", `--outfile=${outfile}`];
  const external = [`--external:${KERNEL}`, "--external:cloudflare:workers"];
  const { status, stderr } = spawnSync(join(BIN, "esbuild"), [join(ROOT, path), ...flags, ...external], {
    encoding: "utf8",
  });
  assert.equal(status, 0, stderr);
}

function configOf({ flags = [], objects = [] }: WorkerSource): string {
  const names = (items: readonly string[]): string => items.map((each) => JSON.stringify(each)).join(", ");
  const bindings = ["SELF", ...objects].map((name) =>
    `(name = "${name.toUpperCase()}", ${
      name === "SELF" ? `service = "main"` : `durableObjectNamespace = "${name}"`
    })`
  );
  const namespaces = objects.map((name) => `(className = "${name}", uniqueKey = "${name}")`);
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [
      (name = "bundle.js", esModule = embed "bundle.js"),
      (name = "${KERNEL}", wasm = embed "kernel.wasm"),
    ],
    compatibilityDate = "2026-07-01",
    compatibilityFlags = [${names(flags)}],
    bindings = [${bindings.join(", ")}],
    durableObjectNamespaces = [${namespaces.join(", ")}],
    durableObjectStorage = (inMemory = void),
  ))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`;
}

function serve(folder: string): Promise<RunningWorker> {
  const child = spawn(join(BIN, "workerd"), ["serve", "--control-fd=1", "config.capnp"], { cwd: folder });
  const ended = new Promise<void>((resolve) => child.on("close", () => resolve()));
  let messages = "";
  child.stderr.on("data", (chunk) => messages += chunk);
  const stop = async (): Promise<void> => {
    child.kill("SIGKILL");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  return new Promise((resolve, reject) => {
    const fail = (what: string): void => {
      clearTimeout(limit);
      reject(new Error(`${what}\n${messages}`));
    };
    const limit = setTimeout(() => void stop().then(() => fail("workerd did not listen in time")), LIMIT_MS);
    child.on("error", (error) => fail(error.message));
    child.on("close", (status) => fail(`workerd ended with status ${status}`));
    child.stdout.on("data", (chunk) => {
      const port = /"port":\s*(\d+)/.exec(String(chunk))?.[1];
      if (port === undefined) return;
      clearTimeout(limit);
      resolve({
        url: `http://127.0.0.1:${port}`,
        pid: child.pid!,
        get messages() {
          return messages;
        },
        stop,
      });
    });
  });
}
