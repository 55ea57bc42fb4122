// The database of a request: typed, its own until the handler has answered, and gone with it.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Hono } from "hono";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { database, type SqliteStack } from "../adapters/drizzle/mod.ts";
import { Admission, Demand, RetrySignal, TimeoutError, UpstreamFailure } from "../mod.ts";
import { type FileDatabase, fileDatabase } from "./drizzle_sqlite.ts";

const jobs = sqliteTable("jobs", { id: integer("id").primaryKey(), label: text("label") });
const schema = { jobs };
type Stack = SqliteStack<typeof schema>;
type World = FileDatabase<typeof schema> & { readonly admission: Admission };

function withFile(body: (world: World) => Promise<void>): () => Promise<void> {
  return async () => {
    const file = fileDatabase("orders", { maxConcurrent: 1, schema });
    const admission = new Admission({ memory: null }).start();
    try {
      await body({ ...file, admission });
      await admission.drain();
      assert.deepEqual([file.provider.connectionsOut, file.provider.admission.currentInUse], [0, 0]);
    } finally {
      file.dispose();
    }
  };
}

describe("The Hono middleware database()", () => {
  it(
    "DB-04 DB-31 gives handlers c.var.db on a connection of theirs, and commits when they have answered",
    withFile(async ({ admission, provider, rows }) => {
      const app = new Hono();
      app.post("/jobs/:label", database(admission, provider, { transaction: true }), async (c) => {
        const [job] = await c.var.db.insert(jobs).values({ label: c.req.param("label") }).returning();
        assert.deepEqual([rows(), provider.connectionsOut, provider.admission.currentInUse], [0, 1, 1]);
        return c.json(job, 201);
      });
      const response = await app.request("/jobs/paint", { method: "POST" });
      assert.deepEqual([response.status, await response.json()], [201, { id: 1, label: "paint" }]);
      assert.equal(rows(), 1);
    }),
  );

  it(
    "DB-31 rolls back what a handler did that threw, and onError answers once",
    withFile(async ({ admission, provider, rows }) => {
      const errors: string[] = [];
      const app = new Hono().onError((error, c) => {
        errors.push(error.message);
        return c.text("no", 409);
      });
      const failures = [
        new Error("no stock"),
        new RetrySignal("RATE_LIMIT", new UpstreamFailure({ statusCode: 429, detail: "later" })),
      ];
      app.post("/:which", database(admission, provider, { transaction: true }), async (c) => {
        await c.var.db.insert(jobs).values({ label: "gone" });
        throw failures[Number(c.req.param("which"))]!;
      });
      for (const which of [0, 1]) {
        const response = await app.request(`/${which}`, { method: "POST" });
        assert.deepEqual([response.status, await response.text(), rows()], [409, "no", 0]);
      }
      assert.deepEqual(errors, failures.map(({ message }) => message));
    }),
  );

  it(
    "DB-17 a commit that fails becomes the answer",
    withFile(async ({ admission, provider, rows }) => {
      const app = new Hono().onError((error, c) => c.text(error.message, 500));
      app.post("/", database(admission, provider, { transaction: true }), async (c) => {
        await c.var.db.insert(jobs).values({ label: "gone" });
        provider.closeUnder(c.var.db);
        return c.text("ok");
      });
      const response = await app.request("/", { method: "POST" });
      assert.equal(response.status, 500);
      assert.match(await response.text(), /Cannot commit on provider "orders"/);
      assert.equal(rows(), 0);
    }),
  );

  it(
    "BEY-20 a request waits within its limit, beside what else it needs, and leaves the line when its client does",
    withFile(async ({ admission, provider }) => {
      const app = new Hono().onError((error, c) => c.text(error.name, 503));
      app.get("/", database(admission, provider, { timeoutMs: 5, readOnly: true }), (c) => c.text("never"));
      app.get("/long", database(admission, provider), (c) => c.text("never"));
      const held = await admission.admit(new Demand().add(provider.admission));
      const response = await app.request("/");
      assert.deepEqual([response.status, await response.text()], [503, TimeoutError.name]);
      const controller = new AbortController();
      const leaving = app.request("/long", { signal: controller.signal });
      await new Promise((resolve) => void setImmediate(resolve));
      assert.equal(admission.queueSize, 1);
      controller.abort();
      await leaving;
      assert.equal(admission.queueSize, 0);
      held.release();
    }),
  );

  it(
    "DB-14 a database kept beyond the answer fails; two have two names",
    withFile(async ({ admission, provider, ...world }) => {
      const other = fileDatabase("stock", { maxConcurrent: 1, schema });
      const kept: Stack[] = [];
      const app = new Hono();
      app.get(
        "/",
        database(admission, provider),
        database(admission, other.provider, { name: "stock" }),
        async (c) => {
          const { db, stock } = c.var;
          kept.push(db, stock);
          return c.json([await db.select().from(jobs), await stock.select().from(jobs)]);
        },
      );
      world.watcher.exec("INSERT INTO jobs (label) VALUES ('here')");
      assert.deepEqual(await (await app.request("/")).json(), [[{ id: 1, label: "here" }], []]);
      for (const db of kept) {
        await assert.rejects(async () => void await db.select().from(jobs), ({ cause }) => {
          return /the handle was closed or aborted/.test(String(cause));
        });
      }
      other.dispose();
    }),
  );

  it(
    "DB-01 is refused at once for what is no provider, no admission, no name and no options",
    withFile(({ admission, provider }) => {
      const wrong: readonly [unknown[], RegExp][] = [
        [[admission, {}], /database is an object of class Object/],
        [
          [undefined, provider],
          /by, the first argument, is undefined, it should be an Admission or a JobRunner/,
        ],
        [
          [provider, admission],
          /^Cannot work with a database: by, .*Breakable.*; the provider comes second$/,
        ],
        [[admission, provider, { name: "" }], /name is "", it should be a non-empty string/],
        [[admission, provider, { name: 7 }], /name is 7/],
        [[admission, provider, null], /options are null/],
        [[admission, provider, { demand: 1 }], /demand is 1/],
      ];
      for (const [args, message] of wrong) {
        const make = () => database(...args as Parameters<typeof database>);
        assert.throws(make, { name: "TypeError", message });
      }
      return Promise.resolve();
    }),
  );
});
