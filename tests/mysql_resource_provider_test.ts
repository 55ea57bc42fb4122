// MysqlResourceProvider on a real server: what both kinds of server share, and what is MySQL's own.

// Left out of npm run ok: it starts database servers.

import assert from "node:assert/strict";
import { it } from "@std/testing/bdd";
import { int, mysqlTable, serial } from "drizzle-orm/mysql-core";
import mysql from "mysql2/promise";
import { UncorrectableError } from "../mod.ts";
import { MysqlResourceProvider } from "../adapters/drizzle/mod.ts";
import type { PrivateServer } from "../scripts/services/private_server.ts";
import { describeOn } from "./database_servers.ts";
import { mysqlWorld } from "./mysql_world.ts";
import { serverCases } from "./server_cases.ts";
import { serverFaultCases } from "./server_faults.ts";

function commitCases(server: () => Promise<PrivateServer>): void {
  it("after a deadlock nothing of the transaction stays, and nothing is written until it was rolled back", async () => {
    const subject = await mysqlWorld.open(await server(), "orders", 2);
    const { provider, table } = subject;
    const handles = [await provider.acquire(), await provider.acquire()];
    const [one, other] = handles.map((handle) => handle.unwrap());
    assert.ok(one && other);
    for (const id of [1, 2]) await subject.run(one, `insert into ${table} values (${id}, 0)`);
    for (const handle of handles) await provider.begin(handle);
    const lock = (stack: typeof one, id: number) =>
      subject.run(stack, `update ${table} set worth = worth + 1 where id = ${id}`);
    await lock(one, 1);
    await lock(other, 2);
    const ends = await Promise.allSettled([lock(one, 2), lock(other, 1)]);
    const loser = ends.findIndex(({ status }) => status === "rejected");
    const [lost, won] = [handles[loser], handles[1 - loser]];
    assert.ok(lost && won);
    await provider.commit(won);
    await assert.rejects(
      async () => await subject.insertRow(lost.unwrap()),
      (error: Error) => /because of a deadlock/.test(String(error.cause)),
    );
    const fault = await provider.commit(lost).then(() => null, (error: unknown) => error);
    assert.ok(fault instanceof UncorrectableError);
    assert.match(fault.message, /because of a deadlock/);
    await provider.rollback(lost);
    await subject.insertRow(lost.unwrap());
    for (const handle of handles) await provider.close(handle);
    assert.deepEqual(await subject.worths(), [0, 1, 1]);
    await subject.dispose();
  });

  it("a commit fails after a statement that commits by itself", async () => {
    const subject = await mysqlWorld.open(await server(), "orders", 1);
    const { provider } = subject;
    const handle = await provider.acquire();
    await provider.begin(handle);
    await subject.run(handle.unwrap(), "create table committing (id integer)");
    await assert.rejects(provider.commit(handle), /a statement that commits by itself/);
    await provider.close(handle);
    await subject.dispose();
  });
}

function stackCases(server: () => Promise<PrivateServer>): void {
  it("unwraps to a Drizzle database of the user's schema, on the handle's connection alone", async () => {
    const jobs = mysqlTable("typed_jobs", { id: serial("id").primaryKey(), worth: int("worth").notNull() });
    const pool = mysql.createPool({ uri: (await server()).url, connectionLimit: 2 });
    await pool.query("create table typed_jobs (id serial primary key, worth integer not null)");
    const options = { pool, maxConcurrent: 2, schema: { jobs }, mode: "default" } as const;
    const provider = new MysqlResourceProvider("typed", options);
    const handle = await provider.acquire();
    const db = handle.unwrap();
    await provider.begin(handle);
    await db.insert(jobs).values({ worth: 7 });
    const rows: { id: number; worth: number }[] = await db.query.jobs.findMany();
    assert.deepEqual(rows, [{ id: 1, worth: 7 }]);
    // @ts-expect-error -- a column that the schema does not have
    assert.equal(rows[0]?.price, undefined);
    assert.deepEqual((await pool.query("select * from typed_jobs"))[0], []);
    await assert.rejects(db.transaction(async (tx) => void await tx.select().from(jobs)), {
      message: /begin/,
    });
    await provider.rollback(handle);
    await db.transaction(async (tx) => void await tx.insert(jobs).values({ worth: 8 }));
    assert.deepEqual((await db.select().from(jobs)).map(({ worth }) => worth), [8]);
    await provider.close(handle);
    await pool.end();
  });

  it("leaves no listener on a connection that goes back, and gives one back that drizzle() refused", async () => {
    const pool = mysql.createPool({
      uri: (await server()).url,
      connectionLimit: 1,
      waitForConnections: false,
    });
    const schema = { jobs: mysqlTable("jobs", { id: serial("id") }) };
    const bad = new MysqlResourceProvider("bad", { pool, maxConcurrent: 1, schema } as never);
    for (let round = 0; round < 3; round++) {
      await assert.rejects(bad.acquire(), { name: "UncorrectableError", message: /mode/ });
    }
    const provider = new MysqlResourceProvider("listening", { pool, maxConcurrent: 1 });
    const counts: number[] = [];
    for (let round = 0; round < 20; round++) {
      const handle = await provider.acquire(round % 2 === 0);
      const { connection } = handle.unwrap().$client;
      await provider.close(handle);
      counts.push(connection.listenerCount("error"));
    }
    assert.equal(counts.at(-1), counts[0]);
    await pool.end();
  });
}

describeOn(mysqlWorld.recipe, mysqlWorld.provider, (server) => {
  commitCases(server);
  stackCases(server);
  serverCases(mysqlWorld, server);
  serverFaultCases(mysqlWorld, server);
});
