/**
 * The entry `./drizzle`: databases that jobs and requests use through Drizzle, with their connections as permits. It needs
 * `drizzle-orm`; `pg` and `mysql2` are loaded when a provider of theirs is first used, `hono` only lends types.
 *
 * @module
 */
export {
  SqliteResourceProvider,
  type SqliteResourceProviderOptions,
  type SqliteStack,
} from "./sqlite_resource_provider.ts";
export { PgResourceProvider, type PgResourceProviderOptions } from "./pg_resource_provider.ts";
export type { PgStack } from "./pg_connection.ts";
export { MysqlResourceProvider, type MysqlResourceProviderOptions } from "./mysql_resource_provider.ts";
export type { MysqlStack } from "./mysql_connection.ts";
export { type DatabaseWork, withDatabase, type WithDatabaseOptions } from "./with_database.ts";
export { database, type DatabaseEnv, type DatabaseMiddlewareOptions } from "./hono_database.ts";
