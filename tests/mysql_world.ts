// MysqlResourceProvider on a real pool and a real server.

import { readFileSync } from "node:fs";
import { sql } from "drizzle-orm";
import mysql, { type RowDataPacket } from "mysql2/promise";
import { MysqlResourceProvider, type MysqlStack } from "../adapters/drizzle/mod.ts";
import { mariadb } from "../scripts/services/mariadb.ts";
import type { PrivateServer } from "../scripts/services/private_server.ts";
import { type DatabaseWorld, frozen, type PoolOptions, type ServerSubject } from "./database_servers.ts";

/** What a job works with here. */
export type Stack = MysqlStack<Record<string, never>>;

let subjects = 0;

export const mysqlWorld: DatabaseWorld<Stack> = {
  recipe: mariadb,
  provider: "MysqlResourceProvider",
  canCancel: false,
  open: openSubject,
};

async function openSubject(
  server: PrivateServer,
  name: string,
  maxConcurrent: number,
  { poolSize = 2 * maxConcurrent, isReadOnly = false, waitMs }: PoolOptions = {},
): Promise<ServerSubject<Stack>> {
  const table = `jobs_${++subjects}`;
  const pool = mysql.createPool({
    uri: server.url,
    database: table,
    connectionLimit: poolSize,
    waitForConnections: waitMs === undefined,
  });
  if (isReadOnly) {
    pool.on("connection", (connection) => connection.query("set session transaction read only"));
  }
  const provider = new MysqlResourceProvider(name, { pool, maxConcurrent });
  const watcher = mysql.createPool({ uri: server.url, connectionLimit: 4 });
  // A session does not tell its program, but it does tell its database.
  await watcher.query(`create database ${table}`);
  // No auto_increment: after a crash MariaDB may hand out a number again while it rolls back whoever had it.
  await watcher.query(
    `create table ${table}.${table} (id bigint primary key default (floor(rand() * 9e15)), worth integer)`,
  );
  const watch = async (statement: string, values: unknown[] = []) =>
    Number((await watcher.query<RowDataPacket[]>(statement, values))[0][0]?.["answer"]);
  const run = async (stack: Stack, statement: string) => {
    const [rows] = await stack.execute(sql.raw(statement));
    return Array.isArray(rows) ? rows as Record<string, unknown>[] : [];
  };
  return {
    provider,
    table,
    poolSize,
    run,
    activeConnections: () => connectionsOf(pool),
    committedRows: () => watch(`select count(*) as answer from ${table}.${table}`),
    worths: async () =>
      (await watcher.query<RowDataPacket[]>(`select worth from ${table}.${table} order by worth`))[0].map((
        row,
      ) => Number(row["worth"])),
    sessions: () => sessionsOf(watcher, table),
    sessionOf: async (stack) => Number((await run(stack, "select connection_id() as id"))[0]?.["id"]),
    kill: async (session) => void await watcher.query(`kill ${session}`),
    // A session is a thread.
    freeze: () => frozen(Number(readFileSync(`${server.folder}/server.pid`, "utf8"))),
    insertRow: async (stack) => void await run(stack, `insert into ${table} values ()`),
    sleep: (stack, ms) => run(stack, `select sleep(${ms / 1000})`),
    isReadOnly: async (stack) => (await run(stack, "select @@tx_read_only as answer"))[0]?.["answer"] === 1,
    async breakConnection(stack) {
      await watcher.query(`kill ${stack.$client.threadId}`);
      while (await stack.$client.query("select 1").then(() => true, () => false));
    },
    endPool: () => pool.end(),
    async dispose() {
      await Promise.all([watcher.end(), pool.end().catch(() => {})]);
    },
  };
}

/** Connections out of the pool, which it does not tell in public. */
function connectionsOf(pool: mysql.Pool): number {
  const { _allConnections: all, _freeConnections: free } = pool.pool as unknown as Record<
    string,
    { length: number }
  >;
  return (all?.length ?? 0) - (free?.length ?? 0);
}

/**
 * Sessions in a database. MariaDB closes the socket of a session some time before the session leaves the list, so that only those
 * count that are there at two looks.
 */
async function sessionsOf(watcher: mysql.Pool, database: string): Promise<number> {
  const look = async () => {
    const list = "select id from information_schema.processlist where db = ?";
    return (await watcher.query<RowDataPacket[]>(list, [database]))[0].map((row) => Number(row["id"]));
  };
  const before = await look();
  await new Promise((resolve) => setTimeout(resolve, 5));
  const after = new Set(await look());
  return before.filter((id) => after.has(id)).length;
}
