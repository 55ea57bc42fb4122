import { Hono } from "hono";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { database, SqliteResourceProvider } from "../../adapters/drizzle/mod.ts";
import { Admission } from "../../mod.ts";

const notes = sqliteTable("notes", { id: integer("id").primaryKey(), text: text("text").notNull() });
const provider = new SqliteResourceProvider("notes", {
  file: ":memory:",
  maxConcurrent: 4,
  schema: { notes },
  setUp: "CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL)",
});
const admission = new Admission({ maxQueue: 200 }).start();

const app: Hono = new Hono();
app.get("/notes", database(admission, provider, { readOnly: true, timeoutMs: 500 }), async (c) => {
  return c.json(await c.var.db.query.notes.findMany());
});
app.post("/notes/:text", database(admission, provider, { transaction: true }), async (c) => {
  const [note] = await c.var.db.insert(notes).values({ text: c.req.param("text") }).returning();
  if (note!.text === "oops") throw new Error("not this one"); // Rolled back, and answered by onError.
  return c.json(note, 201);
});
app.onError((error, c) => c.text(error.message, 500));

for (const text of ["one", "oops", "two"]) await app.request(`/notes/${text}`, { method: "POST" });
console.log(await (await app.request("/notes")).json());
