/**
 * Several test files in one process: loading what they share costs more than most of their cases. TEST_BATCH has their paths.
 *
 * A file may change nothing that others see: what is different after its load, or after its last case, is a failure of it. A file
 * that has to says so in a line of its own, "// Runs alone: REASON.", and gets a process to itself.
 */
import { resolve } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { currentHost, type KernelHost, useHost } from "../core/host.ts";
import { it, openFile } from "./bdd.ts";
import { Surroundings } from "./surroundings.ts";

const surroundings = new Surroundings();

/** Loads a file; the kernel that it made meanwhile, or null. */
async function loadKernelOf(file: string): Promise<KernelHost | null> {
  const { Instance } = WebAssembly;
  let hasMade = false;
  WebAssembly.Instance = class extends Instance {
    constructor(module: WebAssembly.Module, imports?: WebAssembly.Imports) {
      super(module, imports);
      hasMade = true;
    }
  };
  useHost(null);
  try {
    await import(pathToFileURL(resolve(file)).href);
    return hasMade ? currentHost() : null;
  } finally {
    WebAssembly.Instance = Instance;
  }
}

async function open(file: string): Promise<void> {
  // As in a process of its own: the first case finds the kernel in which lives what the file made while it was loaded.
  // None is kept for longer or made for nothing: beside a few kernels each further one makes Bun collect all garbage.
  let host: KernelHost | null = null;
  const before = () => {
    useHost(host);
    host = null;
  };
  openFile(file, { before, after: () => surroundings.mustBeSame(file) });
  try {
    host = await loadKernelOf(file);
    surroundings.mustBeSame(file);
  } catch (error) {
    // An error of a load is told by no report, and on Deno not even by the status.
    it("is loaded", () => {
      throw error;
    });
  }
}

for (const file of JSON.parse(process.env["TEST_BATCH"] ?? "[]") as string[]) await open(file);
