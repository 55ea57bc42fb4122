/** A schema's tables reach the work of jobs, of `withDatabase` and of Hono's handlers. See same.ts. */
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { Hono } from "hono";
import {
  database,
  PgResourceProvider,
  type PgStack,
  SqliteResourceProvider,
  type SqliteStack,
  withDatabase,
} from "../../adapters/drizzle/mod.ts";
import {
  type Admission,
  CountingDBResourceProvider,
  type Demand,
  type Grant,
  JobRequirements,
  type JobRunner,
} from "../../mod.ts";
import { same } from "./same.ts";

const users = sqliteTable("users", { id: integer("id").primaryKey(), name: text("name").notNull() });
const schema = { users };

declare const admission: Admission;
declare const runner: JobRunner;
declare const demand: Demand;
declare const pool: ConstructorParameters<typeof PgResourceProvider>[1]["pool"];

/** A row as the schema has it. */
interface User {
  id: number;
  name: string;
}

/** The stack is Drizzle's own, with the schema of the options. */
export async function queries(): Promise<void> {
  const provider = new SqliteResourceProvider("app", { file: ":memory:", maxConcurrent: 1, schema });
  const found = await withDatabase(admission, provider, (db, grant) => {
    same<SqliteStack<typeof schema>, typeof db>(true);
    same<Grant, typeof grant>(true);
    // @ts-expect-error no such table
    void db.query.orders;
    return db.query.users.findMany();
  }, { demand, transaction: true });
  same<User[], typeof found>(true);
  // @ts-expect-error a time limit is a number of milliseconds
  await withDatabase(admission, provider, () => 1, { timeoutMs: "1s" });
  // @ts-expect-error whose schema is no schema
  new SqliteResourceProvider("app", { file: ":memory:", maxConcurrent: 1, schema: 1 });
}

/** Without a schema there are no tables to query by name. */
export async function bare(): Promise<void> {
  const provider = new PgResourceProvider("pg", { pool, maxConcurrent: 1 });
  await withDatabase(runner, provider, (db) => {
    same<PgStack<Record<string, never>>, typeof db>(true);
    // @ts-expect-error nothing is known of its tables
    void db.query.users;
  });
}

/** A job's handle has the provider's stack. */
export async function job(): Promise<void> {
  const provider = new SqliteResourceProvider("app", { file: ":memory:", maxConcurrent: 1, schema });
  const requirements = new JobRequirements().database(provider, { readOnly: true });
  const first = await runner.run(requirements, async (scope) => {
    const stack = scope.resource(provider).unwrap();
    same<SqliteStack<typeof schema>, typeof stack>(true);
    return (await stack.query.users.findFirst())?.name;
  });
  same<string | undefined, typeof first>(true);
  // @ts-expect-error no such use
  requirements.database(provider, { readonly: true });
  requirements.database(new CountingDBResourceProvider("own", 3));
}

/** The variable has the stack, under its name. */
export function routes(): Hono {
  const provider = new SqliteResourceProvider("app", { file: ":memory:", maxConcurrent: 1, schema });
  const app = new Hono();
  app.get("/a", database(admission, provider), async (c) => {
    same<SqliteStack<typeof schema>, typeof c.var.db>(true);
    return c.json(await c.var.db.query.users.findMany());
  });
  app.get("/b", database(admission, provider, { name: "shop" }), (c) => {
    same<SqliteStack<typeof schema>, typeof c.var.shop>(true);
    // @ts-expect-error it has another name
    void c.var.db.query;
    return c.text("");
  });
  return app;
}
