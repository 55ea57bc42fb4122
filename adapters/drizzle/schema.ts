import { is, Table } from "drizzle-orm";
import { show } from "../show.ts";

/** @throws TypeError when it is no object of tables, with what would do. */
export function checkSchema(what: string, schema: unknown): void {
  if (schema === undefined) return;
  const better = "it should be an object of tables and relations: schema: { notes }, or a module of them";
  if (is(schema, Table)) throw new TypeError(`${what} schema is a table, ${better}`);
  if (typeof schema === "object" && schema !== null && !Array.isArray(schema)) return;
  throw new TypeError(`${what} schema is ${show(schema)}, ${better}`);
}

/** What `db.query` is where there is no schema: Drizzle's own is empty, and its users read a property of undefined. */
const NO_TABLES: object = new Proxy({}, {
  get: (_, name) => {
    // Symbols, and what `await` and `JSON.stringify` look for, are asked of any object.
    if (typeof name === "symbol" || name === "then" || name === "toJSON") return undefined;
    throw new TypeError(
      `Cannot use db.query.${name}: the provider was made without a schema, give it the tables: schema: { ${name} }`,
    );
  },
});

/** The database of a handle, whose `query` says what is missing when there is no schema. */
export function withSchema<D extends object>(database: D, { schema }: { readonly schema?: unknown }): D {
  return schema === undefined ? Object.assign(database, { query: NO_TABLES }) : database;
}
