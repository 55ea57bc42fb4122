/** A server of our own: its data in a temporary folder, on a free port of the loopback, gone when we are. */
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chownSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { Keeper } from "./keeper.ts";
import type { Place, Recipe } from "./recipe.ts";
import { FOLDER_PREFIX, sweep } from "./sweep.ts";

/** Below the ports that systems give to clients, which start at 32768 on Linux. */
const PORTS = { first: 20_000, last: 32_000 } as const;
const MOST_TRIES = 5;
const READY_LIMIT_MS = 60_000;
const LOOK_EVERY_MS = 20;

/** One server that runs, or can be started again. */
export class PrivateServer {
  /** What clients connect with; the same after a restart. */
  readonly url: string;
  readonly folder: string;
  readonly #recipe: Recipe;
  readonly #keeper: Keeper;

  private constructor(recipe: Recipe, place: Place, keeper: Keeper) {
    this.#recipe = recipe;
    this.#keeper = keeper;
    this.url = recipe.url(place);
    this.folder = place.folder;
  }

  /** Makes and starts one. @throws Error when it is not installed or does not start; its log is in the message. */
  static async open(recipe: Recipe): Promise<PrivateServer> {
    if (!recipe.isInstalled) {
      throw new Error(`Cannot start ${recipe.name}: it is not installed, install ${recipe.debianPackage}`);
    }
    sweep();
    // Somebody may take the port between the look and the start.
    for (let tries = 1;; tries++) {
      const server = await PrivateServer.#make(recipe);
      try {
        await server.start();
        return server;
      } catch (error) {
        await server.dispose();
        if (tries === MOST_TRIES) throw error;
      }
    }
  }

  static async #make(recipe: Recipe): Promise<PrivateServer> {
    const folder = mkdtempSync(join(tmpdir(), `${FOLDER_PREFIX}${process.pid}-`));
    const place = { folder, port: await freePort(), password: randomBytes(12).toString("hex") };
    const user = process.getuid?.() === 0 ? systemUser(recipe) : null;
    const names = Object.entries(recipe.files(place)).map(([name, content]) => {
      writeFileSync(join(folder, name), content, { mode: 0o600 });
      return name;
    });
    if (user !== null) {
      for (const path of [folder, ...names.map((name) => join(folder, name))]) {
        chownSync(path, user.uid, user.gid);
      }
    }
    const keeper = new Keeper({
      folder,
      prepare: asUser(user, recipe.prepare(place)),
      serve: asUser(user, recipe.serve(place)),
      signals: recipe.signals,
    });
    const server = new PrivateServer(recipe, place, keeper);
    if (await keeper.tell("prepare") !== 0) {
      const log = server.#log();
      await keeper.end();
      throw new Error(`Cannot make the data of ${recipe.name}:\n${log.slice(-2000)}`);
    }
    return server;
  }

  /** Starts it, and answers when it takes connections. @throws Error when it does not; its log is in the message. */
  async start(): Promise<void> {
    const before = this.#log().length;
    await this.#keeper.tell("start");
    for (let waitedMs = 0; waitedMs < READY_LIMIT_MS; waitedMs += LOOK_EVERY_MS) {
      const news = this.#log().slice(before);
      if (news.includes(this.#recipe.readyLine)) return;
      if (this.#recipe.failure.test(news)) break;
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
    throw new Error(`Cannot start ${this.#recipe.name}:\n${this.#log().slice(before).slice(-2000)}`);
  }

  /** Shuts it down in order; connections are cut. */
  async stop(): Promise<void> {
    await this.#keeper.tell("stop");
  }

  /** Ends it as a crash would. */
  async crash(): Promise<void> {
    await this.#keeper.tell("crash");
  }

  /** Ends it for good and removes its folder. */
  async dispose(): Promise<void> {
    await this.#keeper.end();
  }

  /** What it has written; all that is not ASCII is lost. */
  #log(): string {
    try {
      return readFileSync(join(this.folder, "log"), "latin1");
    } catch {
      return "";
    }
  }
}

interface User {
  readonly uid: number;
  readonly gid: number;
}

/** The first of these users that the system has. Servers refuse to run as root, and should not. */
function systemUser(recipe: Recipe): User {
  for (const name of recipe.users) {
    const [uid, gid] = ["-u", "-g"].map((flag) => {
      const { status, stdout } = spawnSync("id", [flag, name], { encoding: "utf8" });
      return status === 0 ? Number(stdout) : 0;
    });
    if (uid !== undefined && gid !== undefined && uid > 0) return { uid, gid };
  }
  throw new Error(`Cannot start ${recipe.name} as root: there is no user ${recipe.users.join(" or ")}`);
}

function asUser(user: User | null, command: readonly string[]): readonly string[] {
  if (user === null) return command;
  return ["setpriv", `--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups", ...command];
}

async function freePort(): Promise<number> {
  for (;;) {
    const port = PORTS.first + Math.floor(Math.random() * (PORTS.last - PORTS.first));
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}
