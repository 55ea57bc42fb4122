import { honoContract } from "./hono/contract.ts";
import { workerdPlatform } from "./hono/workerd_platform.ts";

honoContract(workerdPlatform);
