// The suite that ships for authors of database providers, on MysqlResourceProvider and a real server.

// Left out of npm run ok: it starts database servers.

import { dbResourceProviderContract } from "../testing/mod.ts";
import { describeOn, runner } from "./database_servers.ts";
import { mysqlWorld } from "./mysql_world.ts";

describeOn(mysqlWorld.recipe, "The contract", (server) => {
  dbResourceProviderContract(runner, {
    name: mysqlWorld.provider,
    holdsConnections: true,
    open: async (name, maxConcurrent) => await mysqlWorld.open(await server(), name, maxConcurrent),
  });
});
