// The suite that ships for authors of database providers, on PgResourceProvider and a real server.

// Left out of npm run ok: it starts database servers.

import { dbResourceProviderContract } from "../testing/mod.ts";
import { describeOn, runner } from "./database_servers.ts";
import { pgWorld } from "./pg_world.ts";

describeOn(pgWorld.recipe, "The contract", (server) => {
  dbResourceProviderContract(runner, {
    name: pgWorld.provider,
    holdsConnections: true,
    open: async (name, maxConcurrent) => await pgWorld.open(await server(), name, maxConcurrent),
  });
});
