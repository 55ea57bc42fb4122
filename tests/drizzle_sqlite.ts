// Databases for the tests of the embedded provider: in a temporary file or in memory, each with an eye that the pool does not know.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import {
  SqliteResourceProvider,
  type SqliteResourceProviderOptions,
  type SqliteStack,
} from "../adapters/drizzle/mod.ts";

const CREATE = "CREATE TABLE IF NOT EXISTS jobs (id INTEGER PRIMARY KEY AUTOINCREMENT, label TEXT)";

/** Lets a test end the connection below a stack, as a fault of the disk would. */
export class Breakable<S extends Record<string, unknown>> extends SqliteResourceProvider<S> {
  /** Everything on it fails from now on. */
  closeUnder(stack: SqliteStack<S>): void {
    this.sever(stack);
  }
}

/** A provider over a file of its own, with a connection beside the pool. */
export interface FileDatabase<S extends Record<string, unknown>> {
  readonly provider: Breakable<S>;
  readonly path: string;
  /** Sees what is committed, and can lock the file as another process would. */
  readonly watcher: DatabaseSync;
  rows(): number;
  dispose(): void;
}

/** Opens one, with an empty table `jobs`. */
export function fileDatabase<S extends Record<string, unknown>>(
  name: string,
  options: Omit<SqliteResourceProviderOptions<S>, "file">,
): FileDatabase<S> {
  const folder = mkdtempSync(join(tmpdir(), "sluice-drizzle-"));
  const path = join(folder, "jobs.db");
  const watcher = new DatabaseSync(path, { timeout: 0 });
  watcher.exec(`PRAGMA journal_mode = WAL; ${CREATE}`);
  const provider = new Breakable<S>(name, { ...options, file: path });
  return {
    provider,
    path,
    watcher,
    rows: () => Number(watcher.prepare("SELECT count(*) AS rows FROM jobs").get()!["rows"]),
    dispose() {
      provider.end();
      if (watcher.isOpen) watcher.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** A provider over a database in memory, with the table made by the connection that finds none. */
export function memoryDatabase<S extends Record<string, unknown>>(
  name: string,
  options: Omit<SqliteResourceProviderOptions<S>, "file" | "setUp">,
): SqliteResourceProvider<S> {
  return new SqliteResourceProvider<S>(name, { ...options, file: ":memory:", setUp: CREATE });
}
