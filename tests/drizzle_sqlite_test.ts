// The embedded provider: what a Drizzle user can do on its handles, and what it does when something goes wrong.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { eq, relations, sql } from "drizzle-orm";
import { blob, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { type SqliteResourceProviderOptions, withDatabase } from "../adapters/drizzle/mod.ts";
import { Admission, InvalidStateError, UncorrectableError } from "../mod.ts";
import { ManualClock } from "../testing/mod.ts";
import { type FileDatabase, fileDatabase, memoryDatabase } from "./drizzle_sqlite.ts";

const jobs = sqliteTable("jobs", { id: integer("id").primaryKey(), label: text("label") });
const notes = sqliteTable("notes", {
  id: integer("id").primaryKey(),
  jobId: integer("job_id").notNull(),
  label: text("label"),
  isDone: integer("is_done", { mode: "boolean" }),
  at: integer("at", { mode: "timestamp_ms" }),
  tags: text("tags", { mode: "json" }).$type<string[]>(),
  body: blob("body", { mode: "buffer" }),
});
const schema = {
  jobs,
  notes,
  jobRelations: relations(jobs, ({ many }) => ({ notes: many(notes) })),
  noteRelations: relations(notes, ({ one }) => ({
    job: one(jobs, { fields: [notes.jobId], references: [jobs.id] }),
  })),
};
const NOTES = "CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, job_id INTEGER NOT NULL, " +
  "label TEXT, is_done INTEGER, at INTEGER, tags TEXT, body BLOB)";

type Options = Omit<SqliteResourceProviderOptions<typeof schema>, "file" | "schema" | "maxConcurrent">;

/** A case with a file of its own and a bound of 2. */
function withFile(
  body: (world: FileDatabase<typeof schema>) => Promise<void>,
  options: Options = {},
): () => Promise<void> {
  return async () => {
    const world = fileDatabase("jobs", { maxConcurrent: 2, schema, setUp: NOTES, ...options });
    try {
      await body(world);
    } finally {
      world.dispose();
    }
  };
}

describe("Drizzle on a handle of the embedded provider", () => {
  it(
    "DB-14 reads and writes with the schema's types: joins, relations, JSON, dates, booleans, bytes",
    withFile(async ({ provider }) => {
      const handle = await provider.acquire();
      const db = handle.unwrap();
      const [job] = await db.insert(jobs).values({ label: "first" }).returning();
      const note = {
        ...{ id: 7, jobId: job!.id, label: "note", isDone: true, tags: ["a", "é"] },
        at: new Date(1_700_000_000_123),
        body: Buffer.from([0, 1, 255]),
      };
      await db.insert(notes).values(note);
      const [joined] = await db.select().from(jobs).innerJoin(notes, eq(notes.jobId, jobs.id));
      assert.deepEqual(joined!.jobs, { id: 1, label: "first" });
      assert.deepEqual({ ...joined!.notes, body: [...joined!.notes.body!] }, { ...note, body: [0, 1, 255] });
      const found = await db.query.jobs.findFirst({ with: { notes: { columns: { label: true } } } });
      assert.deepEqual(found, { id: 1, label: "first", notes: [{ label: "note" }] });
      assert.equal(await db.select().from(jobs).where(eq(jobs.id, 99)).get(), undefined);
      assert.deepEqual(await db.select().from(jobs).where(eq(jobs.id, 1)).get(), { id: 1, label: "first" });
      const prepared = db.select({ label: jobs.label }).from(jobs).where(eq(jobs.id, sql.placeholder("id")))
        .prepare();
      assert.deepEqual(await prepared.all({ id: 1 }), [{ label: "first" }]);
      await provider.close(handle);
    }),
  );

  it(
    "DB-14 runs a batch in order, and a transaction of the job's own with its savepoints",
    withFile(async ({ provider, rows }) => {
      const handle = await provider.acquire();
      const db = handle.unwrap();
      const [, all] = await db.batch([db.insert(jobs).values({ label: "a" }), db.select().from(jobs)]);
      assert.deepEqual(all, [{ id: 1, label: "a" }]);
      await db.transaction(async (outer) => {
        await outer.insert(jobs).values({ label: "kept" });
        const inner = outer.transaction(async (savepoint) => {
          await savepoint.insert(jobs).values({ label: "dropped" });
          throw new Error("inner");
        });
        await assert.rejects(inner, { message: "inner" });
      }, { behavior: "immediate" });
      assert.equal(rows(), 2);
      await provider.begin(handle);
      const nested = db.transaction(() => Promise.resolve());
      await assert.rejects(nested, ({ cause }) => /within a transaction/.test(String(cause)));
      await db.insert(jobs).values({ label: "still open" });
      await provider.commit(handle);
      assert.equal(rows(), 3);
      await provider.close(handle);
    }),
  );

  it(
    "DB-05 DB-21 refuses to write when it is read-only, and sees the last commit while somebody writes",
    withFile(async ({ provider, watcher }) => {
      const handle = await provider.acquire(true);
      const db = handle.unwrap();
      watcher.exec("BEGIN IMMEDIATE; INSERT INTO jobs (label) VALUES ('open')");
      await provider.begin(handle);
      assert.deepEqual(await db.select().from(jobs), []);
      const write = async () => void await db.insert(jobs).values({});
      await assert.rejects(write, ({ cause }) => /readonly/.test(String(cause)));
      watcher.exec("COMMIT");
      assert.deepEqual(await db.select().from(jobs), [], "one transaction sees one state");
      await provider.commit(handle);
      assert.equal((await db.select().from(jobs)).length, 1);
      await provider.close(handle);
    }),
  );
});

describe("A database in memory", () => {
  it("DB-03 is shared by the handles of its provider, and outlives them all", async () => {
    using provider = memoryDatabase("memory", { maxConcurrent: 2, schema });
    using other = memoryDatabase("memory", { maxConcurrent: 2, schema });
    const [first, second] = [await provider.acquire(), await provider.acquire()];
    await first.unwrap().insert(jobs).values({ label: "one" });
    assert.deepEqual(await second.unwrap().select().from(jobs), [{ id: 1, label: "one" }]);
    for (const handle of [first, second]) {
      provider.abort(handle);
      await provider.close(handle);
    }
    const third = await provider.acquire();
    assert.equal((await third.unwrap().select().from(jobs)).length, 1);
    const foreign = await other.acquire();
    assert.deepEqual(await foreign.unwrap().select().from(jobs), []);
    await provider.close(third);
    await other.close(foreign);
    assert.equal(provider.connectionsOut, 0);
  });

  it("DB-07 a commit waits for those who read, and readers for the one who writes", async () => {
    const clock = new ManualClock();
    using provider = memoryDatabase("memory", { maxConcurrent: 2, schema, clock });
    const [writer, reader] = [await provider.acquire(), await provider.acquire(true)];
    await provider.begin(reader);
    assert.deepEqual(await reader.unwrap().select().from(jobs), []);
    await provider.begin(writer);
    await writer.unwrap().insert(jobs).values({ label: "one" });
    let isCommitted = false;
    const commit = provider.commit(writer).then(() => isCommitted = true);
    await clock.advance(100);
    assert.equal(isCommitted, false);
    await provider.commit(reader);
    await clock.advance(8);
    await commit;
    assert.equal((await reader.unwrap().select().from(jobs)).length, 1);
    await provider.close(writer);
    await provider.close(reader);
  });
});

describe("A locked database", () => {
  const clock = new ManualClock();

  it(
    "DB-13 is tried again while the event loop runs, and had once the other writer is done",
    withFile(async ({ provider, watcher, rows }) => {
      const handle = await provider.acquire();
      watcher.exec("BEGIN IMMEDIATE; INSERT INTO jobs (label) VALUES ('theirs')");
      let hasBegun = false;
      const begin = provider.begin(handle).then(() => hasBegun = true);
      await clock.advance(999);
      assert.equal(hasBegun, false);
      watcher.exec("COMMIT");
      await clock.advance(8);
      await begin;
      await handle.unwrap().insert(jobs).values({ label: "ours" });
      await provider.commit(handle);
      assert.equal(rows(), 2);
      watcher.exec("BEGIN IMMEDIATE");
      const insert = handle.unwrap().insert(jobs).values({ label: "by itself" }).run();
      await clock.advance(50);
      watcher.exec("COMMIT");
      await clock.advance(8);
      await insert;
      assert.equal(rows(), 3);
      await provider.close(handle);
    }, { busyTimeoutMs: 1_000, clock }),
  );

  it(
    "DB-03 beyond the limit is an error that says so, and nothing is left out or held",
    withFile(async ({ provider, watcher }) => {
      const admission = new Admission({ memory: null }).start();
      await provider.close(await provider.acquire());
      watcher.exec("BEGIN IMMEDIATE");
      const job = withDatabase(admission, provider, () => assert.fail("it never begins"), {
        transaction: true,
      });
      const refused = assert.rejects(job, (error: UncorrectableError) => {
        assert.ok(error instanceof UncorrectableError);
        assert.match(
          error.message,
          /"jobs".*the database is still locked by another connection after 1000 ms/,
        );
        return true;
      });
      for (let ms = 0; ms <= 1_008; ms += 8) await clock.advance(8);
      await refused;
      assert.deepEqual([provider.connectionsOut, provider.admission.currentInUse], [0, 0]);
      const handle = await provider.acquire();
      const statement = async () => void await handle.unwrap().insert(jobs).values({});
      const failed = assert.rejects(statement, ({ cause }) => {
        assert.match(String(cause), /still locked by another connection after 1000 ms/);
        assert.equal((cause as Error & { cause: { errcode: number } }).cause.errcode, 5);
        return true;
      });
      await clock.advance(1_008);
      await failed;
      watcher.exec("ROLLBACK");
      await provider.close(handle);
    }, { busyTimeoutMs: 1_000, clock }),
  );

  it(
    "DB-03 when a connection is opened is waited for as well",
    withFile(async ({ provider, watcher }) => {
      watcher.exec("BEGIN IMMEDIATE");
      const acquired = provider.acquire();
      await clock.advance(100);
      watcher.exec("COMMIT");
      await clock.advance(8);
      await provider.close(await acquired);
    }, { busyTimeoutMs: 1_000, clock }),
  );

  it(
    "DB-09 keeps no close waiting: a transaction that still waits for its turn does not begin any more",
    withFile(async ({ provider, watcher }) => {
      const handle = await provider.acquire();
      watcher.exec("BEGIN IMMEDIATE");
      const refused = assert.rejects(
        provider.begin(handle),
        ({ cause }) => cause instanceof InvalidStateError,
      );
      await clock.advance(20);
      const closed = provider.close(handle);
      await clock.advance(8);
      await refused;
      await closed;
      assert.equal(provider.connectionsOut, 0);
      watcher.exec("ROLLBACK");
    }, { busyTimeoutMs: 1_000, clock }),
  );

  it(
    "DB-03 that has changed since a transaction read it is an error at once: no wait would help",
    withFile(async ({ provider, watcher }) => {
      const handle = await provider.acquire();
      const late = handle.unwrap().transaction(async (tx) => {
        await tx.select().from(jobs);
        watcher.exec("INSERT INTO jobs (label) VALUES ('between')");
        await tx.insert(jobs).values({ label: "late" });
      });
      await assert.rejects(late, ({ cause }) => (cause as { errcode: number }).errcode === 517);
      await provider.close(handle);
    }, { busyTimeoutMs: 1_000, clock }),
  );

  it(
    "DB-09 whoever still tries when the handle is closed fails, and never writes on the next one's connection",
    withFile(async ({ provider, watcher, rows }) => {
      const handle = await provider.acquire();
      const db = handle.unwrap();
      watcher.exec("BEGIN IMMEDIATE");
      const left = db.insert(jobs).values({ label: "left behind" }).run();
      const failed = assert.rejects(left, ({ cause }) => cause instanceof InvalidStateError);
      await provider.close(handle);
      const next = await provider.acquire();
      watcher.exec("COMMIT");
      await clock.advance(100);
      await failed;
      await assert.rejects(async () => void await db.select().from(jobs), ({ cause }) => {
        assert.match(String(cause), /Cannot query: the handle was closed or aborted, acquire another/);
        return true;
      });
      await provider.close(next);
      assert.equal(rows(), 0);
    }, { clock }),
  );
});
