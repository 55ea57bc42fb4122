// A real pool of connections to a real database: handles of node:sqlite on one file in WAL mode.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** A pool that counts what is out, keeps what comes back, and refuses what it did not hand out. */
export class SqlitePool {
  readonly #folder = mkdtempSync(join(tmpdir(), "sluice-sqlite-"));
  readonly #size: number;
  readonly #idle: DatabaseSync[] = [];
  readonly #out = new Set<DatabaseSync>();
  readonly #watcher: DatabaseSync;
  #isEnded = false;
  /** Most connections that were out at one time. */
  peak = 0;

  constructor(size: number) {
    this.#size = size;
    this.#watcher = this.#connect();
    this.#watcher.exec("PRAGMA journal_mode = WAL; CREATE TABLE jobs (id INTEGER PRIMARY KEY)");
  }

  /** Connections out now. */
  get active(): number {
    return this.#out.size;
  }

  /** Rows that a connection outside of the pool sees. */
  get rows(): number {
    return Number(this.#watcher.prepare("SELECT count(*) AS rows FROM jobs").get()!["rows"]);
  }

  /** A connection, at once. @throws Error when all are out or the pool has ended. */
  checkOut(): DatabaseSync {
    if (this.#isEnded) throw new Error("the pool has ended");
    if (this.active === this.#size) throw new Error(`all ${this.#size} connections are out`);
    const connection = this.#idle.pop() ?? this.#connect();
    this.#out.add(connection);
    this.peak = Math.max(this.peak, this.active);
    return connection;
  }

  /** Takes a connection back, to be used again or thrown away. @throws Error when it is not out. */
  handBack(connection: DatabaseSync, isSound: boolean): void {
    if (!this.#out.delete(connection)) throw new Error("this connection is not out");
    if (isSound) this.#idle.push(connection);
    else if (connection.isOpen) connection.close();
  }

  /** Every later checkout fails. */
  end(): void {
    this.#isEnded = true;
  }

  /** Closes everything and removes the file. */
  dispose(): void {
    for (const connection of [this.#watcher, ...this.#idle, ...this.#out]) {
      if (connection.isOpen) connection.close();
    }
    rmSync(this.#folder, { recursive: true });
  }

  #connect(): DatabaseSync {
    // A writer that finds another one gets an error at once: waiting inside SQLite would stop the event loop.
    return new DatabaseSync(join(this.#folder, "jobs.db"), { timeout: 0 });
  }
}

/** Inserts one row; while somebody else writes it waits, and lets the event loop run. */
export async function insertRow(connection: DatabaseSync): Promise<void> {
  for (;;) {
    try {
      connection.exec("INSERT INTO jobs DEFAULT VALUES");
      return;
    } catch (error) {
      if (!/database is locked/.test(String(error))) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
