// Bad input and bad disks: the embedded provider says what is wrong, and neither a connection nor a permit is lost.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { describe, it } from "@std/testing/bdd";
import { sql } from "drizzle-orm";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import {
  SqliteResourceProvider,
  type SqliteResourceProviderOptions,
  withDatabase,
} from "../adapters/drizzle/mod.ts";
import { Admission, InvalidStateError, UncorrectableError } from "../mod.ts";
import { type FileDatabase, fileDatabase, memoryDatabase } from "./drizzle_sqlite.ts";

const jobs = sqliteTable("jobs", { id: integer("id").primaryKey(), label: text("label") });
const schema = { jobs };

function withFile(body: (world: FileDatabase<typeof schema>) => Promise<void>): () => Promise<void> {
  return async () => {
    const world = fileDatabase("jobs", { maxConcurrent: 2, schema });
    try {
      await body(world);
      assert.equal(world.provider.connectionsOut, 0, "connections out at the end");
    } finally {
      world.dispose();
    }
  };
}

/** A job on that provider fails with a message, and nothing of it is left. */
async function failsToAcquire(provider: SqliteResourceProvider, message: RegExp): Promise<void> {
  const admission = new Admission({ memory: null }).start();
  for (let times = 0; times < 3; times++) {
    const job = withDatabase(admission, provider, () => assert.fail("there is no database"));
    await assert.rejects(job, (error: Error) => {
      assert.ok(error instanceof UncorrectableError);
      assert.match(error.message, message);
      return true;
    });
  }
  assert.deepEqual([provider.connectionsOut, provider.admission.currentInUse], [0, 0]);
}

describe("Options of the embedded provider", () => {
  const good = { file: "orders.db", maxConcurrent: 1 };

  it("DB-01 that are wrong are refused, each with its value and what would do", () => {
    const wrong: readonly [Record<string, unknown>, string, RegExp][] = [
      [{ file: "" }, "TypeError", /file is "", it should be a path or ":memory:"/],
      [{ file: "file:orders?mode=memory" }, "TypeError", /it should be a path or ":memory:"/],
      [{ file: 7 }, "TypeError", /file is 7/],
      [{ maxConcurrent: 0 }, "RangeError", /maxConcurrent is 0, it should be/],
      [{ maxConcurrent: 1.5 }, "RangeError", /maxConcurrent is 1\.5/],
      [{ maxConcurrent: "2" }, "TypeError", /maxConcurrent is "2"/],
      [{ busyTimeoutMs: -1 }, "RangeError", /busyTimeoutMs is -1, it should be finite and 0 or more/],
      [{ busyTimeoutMs: Number.NaN }, "RangeError", /busyTimeoutMs is NaN/],
      [{ busyTimeoutMs: "5" }, "TypeError", /busyTimeoutMs is "5", it should be a number/],
      [{ setUp: 1 }, "TypeError", /setUp is 1, it should be SQL text/],
      [{ clock: {} }, "TypeError", /clock/],
      [
        { schema: "x" },
        "TypeError",
        /schema is "x", it should be an object of tables.*: schema: \{ notes \}/,
      ],
      [{ schema: null }, "TypeError", /schema is null, it should be/],
      [{ schema: [jobs] }, "TypeError", /schema is an object of class Array, it should be/],
      [{ schema: jobs }, "TypeError", /schema is a table, it should be an object of tables/],
    ];
    for (const [options, name, message] of wrong) {
      const make = () => new SqliteResourceProvider("orders", { ...good, ...options } as typeof good);
      assert.throws(make, { name, message }, String(message));
    }
    assert.throws(() => new SqliteResourceProvider("", good), { name: "TypeError", message: /name is ""/ });
    assert.throws(
      () => new SqliteResourceProvider("orders", null as unknown as SqliteResourceProviderOptions),
      {
        name: "TypeError",
        message:
          "Cannot make a SqliteResourceProvider: options are null, they should be an object of options: file, " +
          "maxConcurrent, clock, schema, casing, logger, busyTimeoutMs, setUp",
      },
    );
  });
});

describe("A provider without a schema", () => {
  it("says what is missing where a job asks for db.query of a table, and is otherwise as any other", async () => {
    const admission = new Admission({ memory: null }).start();
    const provider = new SqliteResourceProvider("jobs", { file: ":memory:", maxConcurrent: 1 });
    try {
      const job = withDatabase(admission, provider, (db) => Reflect.get(db.query, "jobs"));
      await assert.rejects(job, (error: Error) => {
        assert.match(
          String(error.cause ?? error),
          /^TypeError: Cannot use db\.query\.jobs: the provider .* without a schema, .*: schema: \{ jobs \}$/,
        );
        return true;
      });
      await withDatabase(admission, provider, async (db) => {
        assert.deepEqual(Object.keys(await db.query), []);
        assert.equal(JSON.stringify(db.query), "{}");
        assert.match(inspect(db.query), /\{\}/);
        assert.deepEqual(await db.all(sql`SELECT 1`), [[1]]);
      });
      assert.equal(provider.connectionsOut, 0);
    } finally {
      provider.end();
    }
  });
});

describe("A database that cannot be opened", () => {
  it("DB-03 is an error of the job that says why, with its permit back", async () => {
    const folder = mkdtempSync(join(tmpdir(), "sluice-faults-"));
    try {
      const junk = join(folder, "junk.db");
      writeFileSync(
        junk,
        "this is no database, although it is longer than a header of a hundred bytes. ".repeat(9),
      );
      const files: readonly [string, RegExp][] = [
        [join(folder, "missing", "orders.db"), /"orders".*unable to open database file/],
        [junk, /"orders".*file is not a database/],
      ];
      for (const [file, message] of files) {
        await failsToAcquire(new SqliteResourceProvider("orders", { file, maxConcurrent: 1 }), message);
      }
      const setUp = "PRAGMA synchronous = NORMAL; SELECT missing";
      const file = join(folder, "orders.db");
      await failsToAcquire(
        new SqliteResourceProvider("orders", { file, maxConcurrent: 1, setUp }),
        /"orders".*no such column: missing/,
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("DB-03 has ended: idle connections are closed, those out when they come back", async () => {
    const provider = memoryDatabase("orders", { maxConcurrent: 2, schema });
    const [first, second] = [await provider.acquire(), await provider.acquire()];
    await provider.close(first);
    provider.end();
    provider.end();
    await second.unwrap().insert(jobs).values({});
    await provider.close(second);
    await failsToAcquire(provider as unknown as SqliteResourceProvider, /the provider has ended/);
  });
});

describe("A handle of the embedded provider", () => {
  it(
    "DB-03 DB-13 is one of as many as the gate has permits, also after the gate has grown",
    withFile(async ({ provider }) => {
      const handles = [await provider.acquire(), await provider.acquire()];
      const beyond = /all 2 connections are out, acquire only under a permit of the provider's gate/;
      await assert.rejects(provider.acquire(), beyond);
      provider.admission.setCapacity(3);
      handles.push(await provider.acquire());
      assert.equal(provider.connectionsOut, 3);
      for (const handle of handles) await provider.close(handle);
    }),
  );

  it(
    "DB-21 begins once at a time, and commits nothing when nothing has begun",
    withFile(async ({ provider, rows }) => {
      const handle = await provider.acquire();
      await provider.commit(handle);
      await handle.unwrap().insert(jobs).values({});
      assert.equal(rows(), 1, "a statement outside of a transaction is committed by itself");
      await provider.begin(handle);
      await assert.rejects(provider.begin(handle), (error: Error) => {
        return error instanceof InvalidStateError && /a transaction is open/.test(error.message);
      });
      await handle.unwrap().insert(jobs).values({});
      await provider.commit(handle);
      assert.equal(rows(), 2);
      await provider.close(handle);
    }),
  );

  it(
    "DB-09 DB-22 hands on no transaction that the job opened itself",
    withFile(async ({ provider, rows }) => {
      const handle = await provider.acquire();
      await handle.unwrap().run(sql`BEGIN IMMEDIATE`);
      await handle.unwrap().insert(jobs).values({});
      await provider.close(handle);
      assert.equal(rows(), 0);
      const next = await provider.acquire();
      await provider.begin(next);
      await next.unwrap().insert(jobs).values({});
      await provider.commit(next);
      await provider.close(next);
      assert.equal(rows(), 1);
    }),
  );

  it(
    "DB-17 fails to commit what the job has ended itself",
    withFile(async ({ provider, rows }) => {
      const handle = await provider.acquire();
      await provider.begin(handle);
      await handle.unwrap().insert(jobs).values({});
      await handle.unwrap().run(sql`ROLLBACK`);
      await assert.rejects(provider.commit(handle), (error: Error) => {
        return error instanceof UncorrectableError && /no transaction is active/.test(error.message);
      });
      await provider.close(handle);
      assert.equal(rows(), 0);
    }),
  );

  it(
    "DB-19 whose disk is full rolls back, and the next job works",
    withFile(async ({ provider, rows }) => {
      const admission = new Admission({ memory: null }).start();
      const job = withDatabase(admission, provider, async (db) => {
        await db.insert(jobs).values({ label: "small" });
        await db.run(sql`PRAGMA max_page_count = 8`);
        await db.insert(jobs).values({ label: "large".repeat(20_000) });
      }, { transaction: true });
      await assert.rejects(job, ({ cause }) => /database or disk is full/.test(String(cause)));
      assert.deepEqual([provider.connectionsOut, provider.admission.currentInUse, rows()], [0, 0, 0]);
      await withDatabase(admission, provider, (db) => db.insert(jobs).values({}), { transaction: true });
      assert.equal(rows(), 1);
    }),
  );

  it(
    "DB-11 DB-19 whose connection is gone is closed with an error or without, and the connection is not used again",
    withFile(async ({ provider, rows }) => {
      const handle = await provider.acquire();
      const db = handle.unwrap();
      await provider.begin(handle);
      await db.insert(jobs).values({});
      provider.closeUnder(db);
      await assert.rejects(provider.commit(handle), UncorrectableError);
      await provider.close(handle).catch((error) => assert.ok(error instanceof UncorrectableError));
      const next = await provider.acquire();
      await next.unwrap().insert(jobs).values({});
      await provider.close(next);
      assert.equal(rows(), 1);
    }),
  );
});
