import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core"; // npm install drizzle-orm
import { SqliteResourceProvider, withDatabase } from "../../adapters/drizzle/mod.ts";
import { Admission, Demand, TokenBucketRateLimiter } from "../../mod.ts";

const notes = sqliteTable("notes", { id: integer("id").primaryKey(), text: text("text").notNull() });
const db = new SqliteResourceProvider("notes", {
  file: ":memory:",
  maxConcurrent: 4, // However many jobs there are.
  schema: { notes },
  setUp: "CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL)",
});
const gpt = new TokenBucketRateLimiter("gpt", { tpm: 600_000, rpm: 600 });
const admission = new Admission().start();

// Tokens and a connection at once, or neither; then a transaction, rolled back when this throws.
function note(text: string): Promise<void> {
  return withDatabase(admission, db, async (tx) => {
    await tx.insert(notes).values({ text });
  }, { transaction: true, demand: new Demand().add(gpt, 800) });
}

await Promise.all(Array.from({ length: 20 }, (_, number) => note(`note ${number}`)));
const all = await withDatabase(admission, db, (tx) => tx.query.notes.findMany(), { readOnly: true });
console.log(`${all.length} notes, ${db.connectionsOut} connections out`);
db.end();
