import { InvalidStateError } from "../../mod.ts";

/** A value as SQLite knows it. */
export type SqliteValue = null | number | bigint | string | Uint8Array;

/** As much of a prepared statement as is used here. */
export interface SqliteStatement {
  run(...values: SqliteValue[]): unknown;
  get(...values: SqliteValue[]): unknown;
  all(...values: SqliteValue[]): unknown[];
  /** Rows come as arrays in the order of the columns: two columns may have one name. */
  setReturnArrays(enabled: boolean): void;
}

/** As much of a connection of `node:sqlite` as is used here. */
export interface SqliteDatabase {
  readonly isOpen: boolean;
  readonly isTransaction: boolean;
  prepare(text: string): SqliteStatement;
  exec(text: string): void;
  close(): void;
}

/** Opens a connection. SQLite itself never waits for a lock: that would stop the event loop. */
export type OpenSqlite = (location: string) => SqliteDatabase;

interface SqliteModule {
  readonly DatabaseSync: new (location: string, options: { timeout: number }) => SqliteDatabase;
}

const WANTED = "it should be Deno, Bun, or Node 22.16 or later";

/**
 * The runtime's own SQLite. It is not imported, because a Node without it could not load the module then.
 *
 * @throws InvalidStateError where there is none.
 */
export function runtimeSqlite(): OpenSqlite {
  const { process } = globalThis as { process?: { getBuiltinModule?(name: string): unknown } };
  const found = process?.getBuiltinModule?.("node:sqlite") as SqliteModule | undefined;
  if (found === undefined) {
    throw new InvalidStateError(`Cannot use SQLite: this runtime has no node:sqlite, ${WANTED}`);
  }
  return (location) => {
    const database = new found.DatabaseSync(location, { timeout: 0 });
    if (typeof database.isTransaction === "boolean") return database;
    database.close();
    throw new InvalidStateError(
      `Cannot use SQLite: the node:sqlite of this runtime does not tell whether a transaction is open, ${WANTED}`,
    );
  };
}
