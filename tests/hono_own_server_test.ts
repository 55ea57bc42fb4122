import { honoContract } from "./hono/contract.ts";
import { ownServer } from "./hono/servers.ts";
import { platformOf } from "./hono/site.ts";

honoContract(platformOf(await ownServer()));
