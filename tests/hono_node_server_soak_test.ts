// Runs alone: @hono/node-server replaces the global Request and Response of its process.
import { nodeServer } from "./hono/servers.ts";
import { honoSoak } from "./soak/hono_soak.ts";

// Deno's node:http grows by 220 MB under the same clients without the middleware (Deno 2.9.6, November 2026).
honoSoak(nodeServer(), 500 * 2 ** 20);
