// The suite that ships for authors of database providers, on the embedded provider over a file.

import { describe, it } from "@std/testing/bdd";
import { sql } from "drizzle-orm";
import type { SqliteStack } from "../adapters/drizzle/mod.ts";
import { dbResourceProviderContract } from "../testing/mod.ts";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { fileDatabase } from "./drizzle_sqlite.ts";

const jobs = sqliteTable("jobs", { id: integer("id").primaryKey(), label: text("label") });

dbResourceProviderContract<SqliteStack<{ jobs: typeof jobs }>>({ describe, it }, {
  name: "SqliteResourceProvider",
  holdsConnections: true,
  open(name, maxConcurrent) {
    const { provider, rows, dispose } = fileDatabase(name, { maxConcurrent, schema: { jobs } });
    return {
      provider,
      activeConnections: () => provider.connectionsOut,
      committedRows: rows,
      insertRow: async (db) => void await db.insert(jobs).values({}),
      isReadOnly: async (db) => (await db.values<[number]>(sql`PRAGMA query_only`))[0]![0] === 1,
      breakConnection: (db) => provider.closeUnder(db),
      endPool: () => provider.end(),
      dispose,
    };
  },
});
