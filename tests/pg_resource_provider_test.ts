// PgResourceProvider on a real server: what both kinds of server share, and what is PostgreSQL's own.

// Left out of npm run ok: it starts database servers.

import assert from "node:assert/strict";
import { it } from "@std/testing/bdd";
import { integer, pgTable, serial } from "drizzle-orm/pg-core";
import pg from "pg";
import { UncorrectableError } from "../mod.ts";
import { PgResourceProvider } from "../adapters/drizzle/mod.ts";
import type { PrivateServer } from "../scripts/services/private_server.ts";
import { describeOn } from "./database_servers.ts";
import { pgWorld } from "./pg_world.ts";
import { serverCases } from "./server_cases.ts";
import { serverFaultCases } from "./server_faults.ts";

function commitCases(server: () => Promise<PrivateServer>): void {
  it("a commit fails, and commits nothing, when a statement of the transaction had failed", async () => {
    const subject = await pgWorld.open(await server(), "orders", 1);
    const { provider } = subject;
    const handle = await provider.acquire();
    await provider.begin(handle);
    await subject.insertRow(handle.unwrap());
    await assert.rejects(subject.run(handle.unwrap(), "select 1 / 0"));
    const fault = await provider.commit(handle).then(() => null, (error: unknown) => error);
    assert.ok(fault instanceof UncorrectableError);
    assert.match(fault.message, /a statement in the transaction had failed/);
    await provider.close(handle);
    assert.equal(await subject.committedRows(), 0);
    await subject.dispose();
  });
}

function stackCases(server: () => Promise<PrivateServer>): void {
  it("unwraps to a Drizzle database of the user's schema, on the handle's client alone", async () => {
    const jobs = pgTable("typed_jobs", { id: serial("id").primaryKey(), worth: integer("worth").notNull() });
    const pool = new pg.Pool({ connectionString: (await server()).url, max: 2 });
    await pool.query("create table typed_jobs (id serial primary key, worth integer not null)");
    const lines: string[] = [];
    const logger = { logQuery: (line: string) => void lines.push(line) };
    const provider = new PgResourceProvider("typed", { pool, maxConcurrent: 2, schema: { jobs }, logger });
    const handle = await provider.acquire();
    const db = handle.unwrap();
    await provider.begin(handle);
    await db.insert(jobs).values({ worth: 7 });
    const rows: { id: number; worth: number }[] = await db.query.jobs.findMany();
    assert.deepEqual(rows, [{ id: 1, worth: 7 }]);
    // @ts-expect-error -- a column that the schema does not have
    assert.equal(rows[0]?.price, undefined);
    assert.equal(lines.length, 2);
    assert.deepEqual((await pool.query("select * from typed_jobs")).rows, []);
    await assert.rejects(db.transaction(async (tx) => void await tx.select().from(jobs)), {
      message: /begin/,
    });
    await provider.rollback(handle);
    await db.transaction(async (tx) => void await tx.insert(jobs).values({ worth: 8 }));
    assert.deepEqual((await db.select().from(jobs)).map(({ worth }) => worth), [8]);
    await provider.close(handle);
    await pool.end();
  });

  it("leaves no listener on a client that goes back, and none of the pool's settings changed", async () => {
    const pool = new pg.Pool({ connectionString: (await server()).url, max: 1 });
    const before = { ...pool.options };
    const provider = new PgResourceProvider("listening", { pool, maxConcurrent: 1 });
    const counts: (readonly number[])[] = [];
    for (let round = 0; round < 20; round++) {
      const handle = await provider.acquire(round % 2 === 0);
      const { $client } = handle.unwrap();
      await provider.close(handle);
      counts.push(["error", "end"].map((event) => $client.listenerCount(event)));
    }
    assert.deepEqual(counts.at(-1), counts[0]);
    assert.deepEqual({ ...pool.options }, before);
    await pool.end();
  });

  it("a client that its job would release or end is refused that, and statements of its own end with the handle", async () => {
    const pool = new pg.Pool({ connectionString: (await server()).url, max: 1 });
    const provider = new PgResourceProvider("clients", { pool, maxConcurrent: 1 });
    const handle = await provider.acquire();
    const { $client } = handle.unwrap();
    assert.throws(() => $client.release(), { name: "TypeError", message: /its provider does/ });
    assert.throws(() => void $client.end(), TypeError);
    assert.equal((await $client.query("select 1 as one")).rows[0]?.one, 1);
    await provider.close(handle);
    assert.throws(() => void $client.query("select 1"), /the handle was closed/);
    assert.equal(pool.idleCount, 1);
    await pool.end();
  });
}

describeOn(pgWorld.recipe, pgWorld.provider, (server) => {
  commitCases(server);
  stackCases(server);
  serverCases(pgWorld, server);
  serverFaultCases(pgWorld, server);
});
