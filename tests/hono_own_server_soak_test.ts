import { ownServer } from "./hono/servers.ts";
import { honoSoak } from "./soak/hono_soak.ts";

honoSoak(await ownServer(), 150 * 2 ** 20);
