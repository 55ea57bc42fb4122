// A database provider over a real pool, complete, as an author would write it.

import type { DatabaseSync } from "node:sqlite";
import { AbstractDBResourceProvider } from "../mod.ts";
import type { DBHoldingSubject } from "../testing/mod.ts";
import { insertRow, SqlitePool } from "./sqlite_pool.ts";

/** Jobs work with the connection itself. */
export class SqliteProvider extends AbstractDBResourceProvider<DatabaseSync> {
  protected readonly pool: SqlitePool;

  constructor(pool: SqlitePool, name: string, maxConcurrent: number) {
    super(name, maxConcurrent);
    this.pool = pool;
  }

  protected override checkOut(readOnly: boolean): DatabaseSync {
    const connection = this.pool.checkOut();
    if (readOnly) connection.exec("PRAGMA query_only = ON");
    return connection;
  }

  protected override stackOf(connection: DatabaseSync): DatabaseSync {
    return connection;
  }

  protected override beginOn(connection: DatabaseSync): void {
    connection.exec("BEGIN");
  }

  protected override commitOn(connection: DatabaseSync): void {
    connection.exec("COMMIT");
  }

  protected override rollbackOn(connection: DatabaseSync): void {
    if (connection.isTransaction) connection.exec("ROLLBACK");
  }

  protected override restore(connection: DatabaseSync): void {
    connection.exec("PRAGMA query_only = OFF");
  }

  protected override handBack(connection: DatabaseSync, isSound: boolean): void {
    this.pool.handBack(connection, isSound);
  }

  protected override sever(connection: DatabaseSync): void {
    connection.close();
  }
}

/** How a subject is made of a pool. */
export type MakeProvider = (pool: SqlitePool, name: string, maxConcurrent: number) => SqliteProvider;

/** A subject for the contract, with a pool twice as large as the bound. */
export function sqliteSubject(
  make: MakeProvider,
  name: string,
  maxConcurrent: number,
): DBHoldingSubject<DatabaseSync> {
  const pool = new SqlitePool(2 * maxConcurrent);
  return {
    provider: make(pool, name, maxConcurrent),
    activeConnections: () => pool.active,
    committedRows: () => pool.rows,
    insertRow,
    isReadOnly: (connection) => connection.prepare("PRAGMA query_only").get()!["query_only"] === 1,
    breakConnection: (connection) => connection.close(),
    endPool: () => pool.end(),
    dispose: () => pool.dispose(),
  };
}
