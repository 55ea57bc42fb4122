import type { DrizzleConfig } from "drizzle-orm";
import type { Pool } from "pg";
import { AbstractDBResourceProvider, type CountingGateOptions } from "../../mod.ts";
import { checkOptionNames, type OptionNames } from "../option_names.ts";
import { checkoutError, checkPool, opened } from "./checkout.ts";
import { PgConnection, type PgStack } from "./pg_connection.ts";
import { checkSchema, withSchema } from "./schema.ts";

/** The pool, the bound, and what `drizzle()` takes: `schema`, `logger`, `casing`, `cache`. */
export interface PgResourceProviderOptions<S extends Record<string, unknown> = Record<string, never>>
  extends DrizzleConfig<S>, CountingGateOptions {
  /** A `Pool` of the package `pg`. It is the host's: nothing of it is changed, and it is the host who ends it. */
  pool: Pool;
  /** How many connections jobs may hold: a whole number from 1 to 2^31 - 1, at most the pool's `max`. */
  maxConcurrent: number;
}

const OPTIONS: OptionNames<PgResourceProviderOptions> = {
  pool: true,
  maxConcurrent: true,
  clock: true,
  schema: true,
  logger: true,
  casing: true,
  cache: true,
};

/**
 * PostgreSQL, through a pool of `pg`: one client of the pool per handle, from `acquire` to `close`. A handle unwraps to a Drizzle
 * database on that client alone, with the schema's types.
 *
 * Outside of a transaction each statement is committed by itself. Within the provider's a `db.transaction()` of the job's own is
 * refused, and `commit` fails when the job has ended the transaction itself, or when a statement in it had failed, because
 * PostgreSQL then rolls it back. `acquire(true)` makes all transactions of the session read-only until `close`.
 *
 * A statement that the job sends after its handle was closed or aborted fails. `abort` fails those that run, and asks the server to
 * cancel them; `close` then waits until the server has ended the session, for a second at most, so that there are never more
 * sessions in use than permits. A client whose connection broke is thrown away.
 *
 * With a pool smaller than the bound, jobs that have their permit wait for a client as long as the pool lets them
 * (`connectionTimeoutMillis`), and an acquire that fails says so.
 */
export class PgResourceProvider<S extends Record<string, unknown> = Record<string, never>>
  extends AbstractDBResourceProvider<PgStack<S>> {
  readonly #pool: Pool;
  readonly #config: DrizzleConfig<S>;
  /** The connection below each stack. */
  readonly #connections = new WeakMap<PgStack<S>, PgConnection<S>>();

  /**
   * A provider with a gate of its own.
   *
   * @param name any non-empty string.
   * @throws TypeError or RangeError naming what is not as said; a client of postgres.js is refused.
   */
  constructor(name: string, options: PgResourceProviderOptions<S>) {
    checkOptionNames("Cannot make a PgResourceProvider:", options, OPTIONS);
    checkPool(options.pool, {
      kind: "PgResourceProvider",
      wanted: "a Pool of pg",
      methods: ["connect", "end"],
    });
    checkSchema("Cannot make a PgResourceProvider:", options.schema);
    const { pool, maxConcurrent, clock, ...config } = options;
    super(name, maxConcurrent, clock === undefined ? {} : { clock });
    this.#pool = pool;
    this.#config = config;
  }

  /** Takes a client out of the pool. */
  protected override async checkOut(readOnly: boolean): Promise<PgStack<S>> {
    // Loaded here, so that the entry can be imported without `pg`.
    const { drizzle } = await import("drizzle-orm/node-postgres");
    const client = await this.#pool.connect().catch((fault: unknown) => {
      throw checkoutError(fault, { poolSize: this.#pool.options?.max, bound: this.admission.capacity });
    });
    const connection = opened(
      client,
      () =>
        new PgConnection<S>(
          client,
          (client) => withSchema(drizzle({ ...this.#config, client }), this.#config),
        ),
    );
    if (readOnly) await connection.tellReadOnly();
    this.#connections.set(connection.stack, connection);
    return connection.stack;
  }

  /** The Drizzle database. */
  protected override stackOf(stack: PgStack<S>): PgStack<S> {
    return stack;
  }

  /** `begin`. */
  protected override beginOn(stack: PgStack<S>): Promise<void> {
    return this.#below(stack).begin();
  }

  /** `commit`. */
  protected override commitOn(stack: PgStack<S>): Promise<void> {
    return this.#below(stack).commit();
  }

  /** `rollback`. */
  protected override rollbackOn(stack: PgStack<S>): Promise<void> {
    return this.#below(stack).rollback();
  }

  /** Refuses the job's further statements. */
  protected override endWork(stack: PgStack<S>): void {
    this.#below(stack).endWork();
  }

  /** Ends what the job left open, and puts the read-only setting back. */
  protected override restore(stack: PgStack<S>): Promise<void> {
    return this.#below(stack).restore();
  }

  /** Releases the client, or ends it. */
  protected override handBack(stack: PgStack<S>, isSound: boolean): Promise<void> {
    return this.#below(stack).handBack(isSound);
  }

  /** Fails what runs, and ends the session. */
  protected override sever(stack: PgStack<S>): void {
    this.#below(stack).sever();
  }

  #below(stack: PgStack<S>): PgConnection<S> {
    return this.#connections.get(stack)!;
  }
}
