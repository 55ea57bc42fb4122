import { describe, it } from "@std/testing/bdd";
import { CountingDBResourceProvider } from "../../mod.ts";
import { dbResourceProviderContract } from "../../testing/mod.ts";

dbResourceProviderContract({ describe, it }, {
  name: "A provider over the host's own pool",
  holdsConnections: false,
  open(name, maxConcurrent) {
    let connections = 0; // Stand for a real pool and a table in a real database.
    let rows = 0;
    return {
      provider: new CountingDBResourceProvider(name, maxConcurrent),
      activeConnections: () => connections,
      committedRows: () => rows,
      async useConnection(whileOut) {
        connections++;
        await whileOut();
        rows++;
        connections--;
      },
    };
  },
});
