/** Runs the smoke program as a browser bundle: in headless Chromium where there is one, else in a bare context. */
import { build } from "esbuild";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runTool } from "../support/project.ts";
import { runOnServer, type SmokeResult } from "./servers.ts";

const LIMIT_MS = 60_000;

/** The page tells its server how it went. */
const PAGE_MAIN = `import { runSmoke } from "./program.ts";
const tell = (text) => fetch("/result", { method: "POST", body: text });
runSmoke().then((steps) => tell("smoke ok: " + steps), (error) => tell(String(error.stack ?? error)));
`;

/** A context with what every browser has and nothing of Node's: no process, no Buffer, no require. */
const CONTEXT_MAIN = `import vm from "node:vm";
import { readFileSync } from "node:fs";
const names = ["setTimeout", "clearTimeout", "performance", "queueMicrotask", "AbortController", "AbortSignal",
  "DOMException", "EventTarget", "Event", "atob", "btoa", "TextEncoder", "TextDecoder", "crypto", "MessageChannel",
  "structuredClone"];
const globals = Object.fromEntries(names.map((name) => [name, globalThis[name]]));
const told = new Promise((resolve) => globals.fetch = (_, { body }) => resolve(body));
vm.runInNewContext(readFileSync("page.js", "utf8"), globals);
console.log(await told);
`;

async function bundlePage(folder: string): Promise<void> {
  writeFileSync(join(folder, "page_main.js"), PAGE_MAIN);
  await build({
    absWorkingDir: folder,
    entryPoints: { page: "page_main.js" },
    outdir: ".",
    bundle: true,
    format: "iife",
    platform: "browser",
    target: "es2022",
    logLevel: "warning",
  });
}

/** The name of a Chromium on this machine, or null. */
export function findChromium(): string | null {
  for (const name of ["chromium", "chromium-browser", "google-chrome"]) {
    if (runTool(name, ["--version"], { capture: true }).status === 0) return name;
  }
  return null;
}

/** Runs the bundle; the text says where it ran. */
export async function runInBrowser(folder: string, script: (name: string) => string): Promise<SmokeResult> {
  await bundlePage(folder);
  const chromium = findChromium();
  if (chromium !== null) {
    const result = await runInChromium(chromium, script(join(folder, "page.js")));
    return { isOk: result.isOk, text: `${result.text} (in headless ${chromium})` };
  }
  writeFileSync(join(folder, "context.mjs"), CONTEXT_MAIN);
  const result = runOnServer(["node", "context.mjs"], folder);
  return { isOk: result.isOk, text: `${result.text} (no Chromium here: in a bare context without process)` };
}

const FLAGS = [
  "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking",
  "--disable-component-update --disable-sync",
].join(" ").split(" ");

function runInChromium(chromium: string, script: string): Promise<SmokeResult> {
  const profile = mkdtempSync(join(tmpdir(), "sluice-chromium-"));
  return new Promise<SmokeResult>((resolve) => {
    const server = createServer((request, response) => {
      response.setHeader("content-type", "text/html");
      if (request.method !== "POST") return void response.end(`<!doctype html><script>${script}</script>`);
      let body = "";
      request.on("data", (chunk) => body += chunk);
      request.on("end", () => {
        response.end();
        end(body.startsWith("smoke ok"), body);
      });
    });
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      child = spawn(chromium, [...FLAGS, `--user-data-dir=${profile}`, `http://127.0.0.1:${port}/`], {
        stdio: "ignore",
      });
      child.on("error", (error) => end(false, error.message));
    });
    let child: ReturnType<typeof spawn> | null = null;
    const limit = setTimeout(() => end(false, "the page said nothing in time"), LIMIT_MS);
    const end = (isOk: boolean, text: string): void => {
      clearTimeout(limit);
      server.close();
      server.closeAllConnections();
      void endPatiently(child).then(() => resolve({ isOk, text }));
    };
  }).finally(() => removePatiently(profile));
}

/** Asks Chromium to end, which ends its children too, and kills it when it does not: they go on writing into the profile. */
async function endPatiently(child: ReturnType<typeof spawn> | null): Promise<void> {
  if (child === null || child.pid === undefined || child.exitCode !== null || child.signalCode !== null) {
    return;
  }
  const ended = new Promise((resolve) => child.once("close", resolve));
  child.kill("SIGTERM");
  const limit = setTimeout(() => child.kill("SIGKILL"), END_MS);
  await ended;
  clearTimeout(limit);
}

const END_MS = 5_000;
const REMOVAL_TRIES = 20;
const REMOVAL_PAUSE_MS = 250;

/**
 * Removes a folder into which somebody may still be writing: a file that comes while its folder is emptied makes that fail with
 * ENOTEMPTY. A folder that stays is told, and no reason to fail.
 */
export async function removePatiently(
  folder: string,
  remove: (folder: string) => void = (path) => rmSync(path, { recursive: true, force: true }),
  pauseMs: number = REMOVAL_PAUSE_MS,
): Promise<boolean> {
  for (let tries = 1; tries <= REMOVAL_TRIES; tries++) {
    try {
      remove(folder);
      return true;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
  console.warn(`smoke: ${folder} could not be removed`);
  return false;
}
