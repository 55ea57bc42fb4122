import { honoContract } from "./hono/contract.ts";
import { ownServer } from "./hono/servers.ts";

honoContract(await ownServer());
