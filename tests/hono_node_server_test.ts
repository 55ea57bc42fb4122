// Runs alone: @hono/node-server replaces the global Request and Response of its process.
import { honoContract } from "./hono/contract.ts";
import { nodeServer } from "./hono/servers.ts";
import { platformOf } from "./hono/site.ts";

honoContract(platformOf(nodeServer()));
