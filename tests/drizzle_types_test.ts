// Types flow from the user's schema to whoever works with the database. What must not compile is marked, and tsc checks the marks.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Hono } from "hono";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { database, SqliteResourceProvider, withDatabase } from "../adapters/drizzle/mod.ts";
import { Admission, CountingDBResourceProvider, type DBManagedResource, type Grant } from "../mod.ts";

const orders = sqliteTable("orders", { id: integer("id").primaryKey(), item: text("item").notNull() });

/** Holds only for two types that are the same. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;

/** Compiles when the types are the same. */
function types<_Holds extends true>(): void {}

describe("The types of ./drizzle", () => {
  it("DB-14 are those of the schema, from the provider to the work, its answer and the request", async () => {
    using provider = new SqliteResourceProvider("orders", {
      file: ":memory:",
      maxConcurrent: 1,
      schema: { orders },
      setUp: "CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, item TEXT NOT NULL)",
    });
    const admission = new Admission({ memory: null }).start();
    const found = await withDatabase(admission, provider, async (db, grant) => {
      types<Same<typeof grant, Grant>>();
      // @ts-expect-error: an item must not be null
      await db.insert(orders).values({ item: null }).catch(() => {});
      await db.insert(orders).values({ item: "paint" });
      // @ts-expect-error: the schema has no such table
      assert.equal(db.query.customers, undefined);
      return await db.query.orders.findFirst({ columns: { item: true } });
    });
    types<Same<typeof found, { item: string } | undefined>>();
    assert.deepEqual(found, { item: "paint" });
    const app = new Hono();
    app.get("/", database(admission, provider), database(admission, provider, { name: "more" }), (c) => {
      types<Same<typeof c.var.db, typeof c.var.more>>();
      // @ts-expect-error: there is no variable of that name
      return c.text(String(c.var.other));
    });
    const handle = await provider.acquire();
    const rows = await handle.unwrap().select().from(orders);
    types<Same<typeof rows, { id: number; item: string }[]>>();
    await provider.close(handle);
    // @ts-expect-error: a handle of another type of provider
    const foreign: DBManagedResource<null> = handle;
    await assert.rejects(new CountingDBResourceProvider("other", 1).close(foreign), TypeError);
  });
});
