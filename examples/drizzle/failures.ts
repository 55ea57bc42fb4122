import { DrizzleQueryError } from "drizzle-orm";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { SqliteResourceProvider, withDatabase } from "../../adapters/drizzle/mod.ts";
import { Admission, UncorrectableError } from "../../mod.ts";

const users = sqliteTable("users", { id: integer("id").primaryKey(), name: text("name").notNull().unique() });
const setUp = "CREATE TABLE IF NOT EXISTS users (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)";
const admission = new Admission().start();

function add(file: string, name: string): Promise<void> {
  const db = new SqliteResourceProvider("users", { file, maxConcurrent: 1, schema: { users }, setUp });
  return withDatabase(admission, db, async (tx) => {
    for (let i = 0; i < 2; i++) await tx.insert(users).values({ name });
  }, { transaction: true });
}

/** What the driver said: the innermost cause. */
function saidBy(error: unknown): string {
  while (error instanceof Error && error.cause !== undefined) error = error.cause;
  return String(error);
}

const statement = await add(":memory:", "ann").catch((error) => error);
console.log(statement instanceof DrizzleQueryError, statement.query.slice(0, 11), saidBy(statement));
const connection = await add("/no/such/folder/users.db", "ann").catch((error) => error);
console.log(connection instanceof UncorrectableError, saidBy(connection));
