// Suites on real servers: each file of tests has a private server of its own, for as long as it runs.

import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { after, describe, it } from "@std/testing/bdd";
import type { DBHoldingSubject, TestRunner } from "../testing/mod.ts";
import { PrivateServer } from "../scripts/services/private_server.ts";
import type { Recipe } from "../scripts/services/recipe.ts";

/** Where servers have to be there, a suite without one fails instead of being skipped. */
const ARE_REQUIRED = process.env["SLUICE_SERVERS"] === "required";

/** Adds a suite on a server; where that is not installed its cases are counted as skipped, and the title says why. */
export function describeOn(
  recipe: Recipe,
  title: string,
  body: (server: () => Promise<PrivateServer>) => void,
): void {
  const { name, isInstalled, debianPackage } = recipe;
  if (!isInstalled && !ARE_REQUIRED) {
    describe.skip(`${title}, on ${name}, which is not installed (apt-get install ${debianPackage})`, () => {
      body(() => PrivateServer.open(recipe));
    });
    return;
  }
  describe(`${title}, on ${name}`, () => {
    let server: Promise<PrivateServer> | null = null;
    after(async () => await (await server)?.dispose());
    body(() => server ??= PrivateServer.open(recipe));
  });
}

/** Stops a process with all its threads; what it answers lets it go on. */
export async function frozen(pid: number): Promise<() => void> {
  process.kill(pid, "SIGSTOP");
  // A thread that runs stops a little later.
  const areStopped = () =>
    readdirSync(`/proc/${pid}/task`).every((thread) =>
      /\) T /.test(readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8"))
    );
  while (!areStopped()) await new Promise((resolve) => setTimeout(resolve, 1));
  return () => process.kill(pid, "SIGCONT");
}

/** How a subject's pool is. */
export interface PoolOptions {
  /** Twice the bound when left out. */
  readonly poolSize?: number;
  /** Hands out sessions that are read-only already. */
  readonly isReadOnly?: boolean;
  /** A checkout that would have to wait fails, after this many ms where the driver can wait that long. */
  readonly waitMs?: number;
}

/** A provider over a pool on a real server, and what can be seen and done beside it, over connections of its own. */
export interface ServerSubject<T> extends DBHoldingSubject<T> {
  readonly poolSize: number;
  /** Sessions of the pool as the server sees them, idle ones too. */
  sessions(): Promise<number>;
  /** Number of the session. */
  sessionOf(stack: T): Promise<number>;
  /** Ends the session from the server's side. */
  kill(session: number): Promise<void>;
  /** Lets the server answer nothing on that session, as if the network had gone, until what it answers is called. */
  freeze(session: number): Promise<() => void>;
  /** One statement of a job; answers its rows. */
  run(stack: T, statement: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** A statement that runs so long. */
  sleep(stack: T, ms: number): Promise<unknown>;
  /** The column `worth` of all committed rows. */
  worths(): Promise<number[]>;
  /** Name of its table: columns `id` and `worth`. */
  readonly table: string;
  dispose(): Promise<void>;
}

/** What the suites need of one kind of server. */
export interface DatabaseWorld<T> {
  readonly recipe: Recipe;
  /** Name of the provider's class. */
  readonly provider: string;
  /** Whether the server stops a statement at once whose handle was aborted. */
  readonly canCancel: boolean;
  open(
    server: PrivateServer,
    name: string,
    maxConcurrent: number,
    options?: PoolOptions,
  ): Promise<ServerSubject<T>>;
}

/** A runner for suites that take one. */
export const runner: TestRunner = { describe, it };
