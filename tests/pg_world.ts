// PgResourceProvider on a real pool and a real server.

import { sql } from "drizzle-orm";
import pg from "pg";
import { PgResourceProvider, type PgStack } from "../adapters/drizzle/mod.ts";
import { postgres } from "../scripts/services/postgres.ts";
import type { PrivateServer } from "../scripts/services/private_server.ts";
import { type DatabaseWorld, frozen, type PoolOptions, type ServerSubject } from "./database_servers.ts";

/** What a job works with here. */
export type Stack = PgStack<Record<string, never>>;

let subjects = 0;

export const pgWorld: DatabaseWorld<Stack> = {
  recipe: postgres,
  provider: "PgResourceProvider",
  canCancel: true,
  open: openSubject,
};

async function openSubject(
  server: PrivateServer,
  name: string,
  maxConcurrent: number,
  { poolSize = 2 * maxConcurrent, isReadOnly = false, waitMs }: PoolOptions = {},
): Promise<ServerSubject<Stack>> {
  const table = `jobs_${++subjects}`;
  const pool = new pg.Pool({
    connectionString: server.url,
    max: poolSize,
    application_name: table,
    ...(isReadOnly ? { options: "-c default_transaction_read_only=on" } : {}),
    ...(waitMs === undefined ? {} : { connectionTimeoutMillis: waitMs }),
  });
  const provider = new PgResourceProvider(name, { pool, maxConcurrent });
  const watcher = new pg.Pool({ connectionString: server.url, max: 4 });
  // A host that does not listen there ends with the first idle connection that its server ends.
  for (const each of [pool, watcher]) each.on("error", () => {});
  await watcher.query(`create table ${table} (id serial primary key, worth integer)`);
  const watch = async (statement: string, values: unknown[] = []) =>
    Number((await watcher.query<{ answer: string }>(statement, values)).rows[0]?.answer);
  const run = async (stack: Stack, statement: string) => (await stack.execute(sql.raw(statement))).rows;
  return {
    provider,
    table,
    poolSize,
    run,
    activeConnections: () => pool.totalCount - pool.idleCount,
    committedRows: () => watch(`select count(*) as answer from ${table}`),
    worths: async () =>
      (await watcher.query<{ worth: number }>(`select worth from ${table} order by worth`)).rows.map((
        { worth },
      ) => worth),
    sessions: () =>
      watch("select count(*) as answer from pg_stat_activity where application_name = $1", [table]),
    sessionOf: async (stack) => Number((await run(stack, "select pg_backend_pid() as pid"))[0]?.["pid"]),
    kill: async (session) => void await watcher.query("select pg_terminate_backend($1, 5000)", [session]),
    // A session is a process.
    freeze: (session) => frozen(session),
    insertRow: async (stack) => void await run(stack, `insert into ${table} default values`),
    sleep: (stack, ms) => run(stack, `select pg_sleep(${ms / 1000})`),
    isReadOnly: async (stack) =>
      (await run(stack, "show transaction_read_only"))[0]?.["transaction_read_only"] === "on",
    async breakConnection(stack) {
      const { rows } = await stack.$client.query<{ pid: number }>("select pg_backend_pid() as pid");
      await watcher.query("select pg_terminate_backend($1, 5000)", [rows[0]?.pid]);
    },
    endPool: () => pool.end(),
    async dispose() {
      await Promise.all([watcher.end(), pool.ending ? null : pool.end()]);
    },
  };
}
