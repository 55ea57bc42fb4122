/**
 * The entry `./drizzle` as a user has it, with `drizzle-orm` installed and no driver: the embedded database where the runtime has
 * `node:sqlite`, and a clear error where it has not, as on Node 20.
 */
import { Admission, InvalidStateError } from "@sluice/admission";
import { PgResourceProvider, SqliteResourceProvider, withDatabase } from "@sluice/admission/drizzle";
import { integer, sqliteTable } from "drizzle-orm/sqlite-core";

const numbers = sqliteTable("numbers", { id: integer("id").primaryKey() });

/** Writes and reads; gives what was done, and throws when something does not hold. */
export async function runDrizzleSmoke(): Promise<string> {
  if (typeof PgResourceProvider !== "function") throw new Error("The entry lacks a provider.");
  try {
    return await useEmbedded();
  } catch (error) {
    if (error instanceof InvalidStateError) return "no node:sqlite here, and it says so";
    throw error;
  }
}

async function useEmbedded(): Promise<string> {
  const provider = new SqliteResourceProvider("smoke", {
    file: ":memory:",
    maxConcurrent: 2,
    schema: { numbers },
    setUp: "CREATE TABLE IF NOT EXISTS numbers (id INTEGER PRIMARY KEY)",
  });
  const admission = new Admission({ memory: null }).start();
  await withDatabase(admission, provider, (db) => db.insert(numbers).values([{ id: 1 }, { id: 2 }]), {
    transaction: true,
  });
  const found = await withDatabase(admission, provider, (db) => db.query.numbers.findMany());
  const sum: number = found.reduce((total, { id }) => total + id, 0);
  if (sum !== 3 || provider.connectionsOut !== 0) throw new Error(`The sum is ${sum}, it should be 3.`);
  provider.end();
  return "2 rows through Drizzle";
}
