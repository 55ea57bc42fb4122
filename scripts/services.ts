/**
 * `npm run services -- start | stop | status`: private PostgreSQL and MariaDB servers, for as long as somebody wants to look
 * around. Tests start their own.
 *
 * They are those of Debian's packages, run as a system user without rights, on free ports of 127.0.0.1 below 32768, with their
 * data and sockets in a temporary folder. `start` leaves one process behind that holds them; however that ends, they end.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { mariadb } from "./services/mariadb.ts";
import { postgres } from "./services/postgres.ts";
import { PrivateServer } from "./services/private_server.ts";
import { ROOT } from "./support/project.ts";

/** Who holds the servers, and how they are reached. */
interface State {
  readonly pid: number;
  /** Name of the server -> what clients connect with. */
  readonly urls: Readonly<Record<string, string>>;
}

const RECIPES = [postgres, mariadb];
const STATE = join(ROOT, "out", "services.json");
const LOG = join(ROOT, "out", "services.log");
const LOOK_EVERY_MS = 50;

/** What runs now, or null. */
function running(): State | null {
  if (!existsSync(STATE)) return null;
  const state = JSON.parse(readFileSync(STATE, "utf8")) as State;
  return isAlive(state.pid) ? state : null;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function report(state: State | null): void {
  if (state === null) return console.log("no services are running");
  for (const [name, url] of Object.entries(state.urls)) console.log(`${name}: ${url}`);
  for (const { name, isInstalled, debianPackage } of RECIPES) {
    if (!isInstalled) console.log(`${name}: not installed (apt-get install ${debianPackage})`);
  }
}

async function start(): Promise<void> {
  if (running() !== null) return report(running());
  mkdirSync(dirname(STATE), { recursive: true });
  const log = openSync(LOG, "w");
  const script = fileURLToPath(import.meta.url);
  const args = process.versions["deno"] === undefined ? [script] : ["run", "-A", "--no-check", script];
  const holder = spawn(process.execPath, [...args, "hold"], { detached: true, stdio: ["ignore", log, log] });
  let hasEnded = false;
  holder.on("exit", () => hasEnded = true);
  while (running()?.pid !== holder.pid) {
    if (hasEnded) throw new Error(`Cannot start the services:\n${readFileSync(LOG, "utf8")}`);
    await pause();
  }
  holder.unref();
  report(running());
}

/** What `start` leaves behind: it holds the servers until it is told to end. */
async function hold(): Promise<void> {
  const servers: [string, PrivateServer][] = [];
  let isEnding = false;
  const end = async () => {
    if (isEnding) return;
    isEnding = true;
    for (const [, server] of servers) await server.dispose();
    rmSync(STATE, { force: true });
    process.exit(0);
  };
  process.on("SIGTERM", end);
  for (const recipe of RECIPES.filter(({ isInstalled }) => isInstalled)) {
    servers.push([recipe.name, await PrivateServer.open(recipe)]);
  }
  const urls = Object.fromEntries(servers.map(([name, { url }]) => [name, url]));
  writeFileSync(STATE, JSON.stringify({ pid: process.pid, urls }), { mode: 0o600 });
  setInterval(() => {}, 2 ** 30);
}

async function stop(): Promise<void> {
  const state = running();
  if (state !== null) process.kill(state.pid, "SIGTERM");
  while (running() !== null) await pause();
  report(null);
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
}

const VERBS: Readonly<Record<string, () => void | Promise<void>>> = {
  start,
  stop,
  hold,
  status: () => report(running()),
};

const [verb = ""] = process.argv.slice(2);
const run = Object.hasOwn(VERBS, verb) ? VERBS[verb] : undefined;
if (run === undefined) {
  console.error("Usage: npm run services -- start | stop | status");
  process.exit(2);
}
await run();
// The log and the holder stay open for the one that was started.
if (verb !== "hold") process.exit(0);
