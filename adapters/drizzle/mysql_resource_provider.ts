import type { MySql2DrizzleConfig } from "drizzle-orm/mysql2";
import type { Pool, PoolConnection } from "mysql2/promise";
import { AbstractDBResourceProvider, type CountingGateOptions } from "../../mod.ts";
import { checkOptionNames, type OptionNames } from "../option_names.ts";
import { checkoutError, checkPool, opened } from "./checkout.ts";
import { MysqlConnection, type MysqlStack } from "./mysql_connection.ts";
import { checkSchema, withSchema } from "./schema.ts";

/** The pool, the bound, and what `drizzle()` takes: `schema` with `mode`, `logger`, `casing`, `cache`. */
export type MysqlResourceProviderOptions<S extends Record<string, unknown> = Record<string, never>> =
  & MySql2DrizzleConfig<S>
  & CountingGateOptions
  & {
    /** A pool of `mysql2/promise`. It is the host's: nothing of it is changed, and it is the host who ends it. */
    pool: Pool;
    /** How many connections jobs may hold: a whole number from 1 to 2^31 - 1, at most the pool's `connectionLimit`. */
    maxConcurrent: number;
  };

const OPTIONS: OptionNames<MysqlResourceProviderOptions & { mode?: unknown }> = {
  pool: true,
  maxConcurrent: true,
  clock: true,
  schema: true,
  mode: true,
  logger: true,
  casing: true,
  cache: true,
};

/**
 * MySQL and MariaDB, through a promise pool of `mysql2`: one connection of the pool per handle, from `acquire` to `close`. A handle
 * unwraps to a Drizzle database on that connection alone, with the schema's types.
 *
 * Outside of a transaction each statement is committed by itself, as the pool's connections are by default. Within the provider's a
 * `db.transaction()` of the job's own is refused, and `commit` fails when the transaction is not open any more: the job has ended it,
 * or used a statement that commits by itself, such as `create table`; what was done until then is committed. After a deadlock the
 * server has rolled everything back, and each statement fails until a rollback. `acquire(true)` makes all transactions of the
 * session read-only until `close`.
 *
 * A statement that the job sends after its handle was closed or aborted fails. `abort` fails those that run; `close` then waits
 * until the server has ended the session, for a second at most. A server ends a statement that runs longer than that when it is
 * done: a limit of its own (`max_execution_time`, `max_statement_time`) is what ends it earlier. A connection that broke is
 * thrown away.
 *
 * With a pool smaller than the bound, jobs that have their permit wait for a connection, and an acquire that fails says so.
 */
export class MysqlResourceProvider<S extends Record<string, unknown> = Record<string, never>>
  extends AbstractDBResourceProvider<MysqlStack<S>> {
  readonly #pool: Pool;
  readonly #config: MySql2DrizzleConfig<S>;
  /** The connection below each stack. */
  readonly #connections = new WeakMap<MysqlStack<S>, MysqlConnection<S>>();

  /**
   * A provider with a gate of its own.
   *
   * @param name any non-empty string.
   * @throws TypeError or RangeError naming what is not as said.
   */
  constructor(name: string, options: MysqlResourceProviderOptions<S>) {
    checkOptionNames("Cannot make a MysqlResourceProvider:", options, OPTIONS);
    checkPool(options.pool, {
      kind: "MysqlResourceProvider",
      wanted: "a pool of mysql2/promise",
      methods: ["getConnection", "end"],
    });
    checkSchema("Cannot make a MysqlResourceProvider:", options.schema);
    const { pool, maxConcurrent, clock, ...config } = options;
    super(name, maxConcurrent, clock === undefined ? {} : { clock });
    this.#pool = pool;
    this.#config = config;
  }

  /** Takes a connection out of the pool. */
  protected override async checkOut(readOnly: boolean): Promise<MysqlStack<S>> {
    // Loaded here, so that the entry can be imported without `mysql2`.
    const { drizzle } = await import("drizzle-orm/mysql2");
    const client = await this.#pool.getConnection().catch((fault: unknown) => {
      throw checkoutError(fault, { poolSize: sizeOf(this.#pool), bound: this.admission.capacity });
    });
    const connection = opened(
      client,
      () =>
        new MysqlConnection<S>(
          client,
          (client) => withSchema(drizzle<S, PoolConnection>({ ...this.#config, client }), this.#config),
        ),
    );
    if (readOnly) await connection.tellReadOnly();
    this.#connections.set(connection.stack, connection);
    return connection.stack;
  }

  /** The Drizzle database. */
  protected override stackOf(stack: MysqlStack<S>): MysqlStack<S> {
    return stack;
  }

  /** `start transaction`. */
  protected override beginOn(stack: MysqlStack<S>): Promise<void> {
    return this.#below(stack).begin();
  }

  /** `commit`. */
  protected override commitOn(stack: MysqlStack<S>): Promise<void> {
    return this.#below(stack).commit();
  }

  /** `rollback`. */
  protected override rollbackOn(stack: MysqlStack<S>): Promise<void> {
    return this.#below(stack).rollback();
  }

  /** Refuses the job's further statements. */
  protected override endWork(stack: MysqlStack<S>): void {
    this.#below(stack).endWork();
  }

  /** Ends what the job left open, and makes the session writable again. */
  protected override restore(stack: MysqlStack<S>): Promise<void> {
    return this.#below(stack).restore();
  }

  /** Releases the connection, or destroys it. */
  protected override handBack(stack: MysqlStack<S>, isSound: boolean): Promise<void> {
    return this.#below(stack).handBack(isSound);
  }

  /** Fails what runs, and closes the connection. */
  protected override sever(stack: MysqlStack<S>): void {
    this.#below(stack).sever();
  }

  #below(stack: MysqlStack<S>): MysqlConnection<S> {
    return this.#connections.get(stack)!;
  }
}

/** `connectionLimit`, where the driver shows it. 0 means no limit. */
function sizeOf(pool: Pool): number | undefined {
  const limit: unknown = Reflect.get(Object(Reflect.get(Object(pool.pool), "config")), "connectionLimit");
  return typeof limit === "number" && limit > 0 ? limit : undefined;
}
