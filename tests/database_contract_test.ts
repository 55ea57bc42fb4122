// The suite that ships for authors of database providers, on real providers over a real pool.

import { describe, it } from "@std/testing/bdd";
import { CountingDBResourceProvider } from "../mod.ts";
import { dbResourceProviderContract } from "../testing/mod.ts";
import { insertRow, SqlitePool } from "./sqlite_pool.ts";
import { SqliteProvider, sqliteSubject } from "./sqlite_provider.ts";

const runner = { describe, it };

dbResourceProviderContract(runner, {
  name: "A provider on the base class",
  holdsConnections: true,
  open: (name, maxConcurrent) => sqliteSubject((...args) => new SqliteProvider(...args), name, maxConcurrent),
});

dbResourceProviderContract(runner, {
  name: "CountingDBResourceProvider",
  holdsConnections: false,
  open(name, maxConcurrent) {
    const pool = new SqlitePool(3 * maxConcurrent);
    return {
      provider: new CountingDBResourceProvider(name, maxConcurrent),
      activeConnections: () => pool.active,
      committedRows: () => pool.rows,
      dispose: () => pool.dispose(),
      async useConnection(whileOut) {
        const connection = pool.checkOut();
        try {
          await insertRow(connection);
          await whileOut();
        } finally {
          pool.handBack(connection, true);
        }
      },
    };
  },
});
