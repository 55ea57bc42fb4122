import type { DrizzleConfig } from "drizzle-orm";
import type { SqliteRemoteDatabase } from "drizzle-orm/sqlite-proxy";
import { AbstractDBResourceProvider, type CountingGateOptions } from "../../mod.ts";
import { checkOptionNames, type OptionNames } from "../option_names.ts";
import { show } from "../show.ts";
import { BUSY_TIMEOUT_MS, BusyRetry } from "./busy.ts";
import { checkSchema } from "./schema.ts";
import { SqliteConnection } from "./sqlite_connection.ts";
import { runtimeSqlite } from "./sqlite_module.ts";
import { SqlitePool } from "./sqlite_pool.ts";

/** What a handle unwraps to: Drizzle's asynchronous database for SQLite proxies, on one connection. */
export type SqliteStack<S extends Record<string, unknown>> = SqliteRemoteDatabase<S>;

/** The file, the bound, and what `drizzle()` takes. */
export interface SqliteResourceProviderOptions<S extends Record<string, unknown> = Record<string, never>>
  extends CountingGateOptions {
  /**
   * The path of the file, made when it is missing; or `:memory:`, a database that only this provider's handles share. That one
   * needs `-A` on Deno, a file needs to be read and written.
   */
  file: string;
  /** How many connections jobs may hold: a whole number from 1 to 2^31 - 1. */
  maxConcurrent: number;
  /** The tables and relations, for `db.query` and its types. */
  schema?: S;
  /** How Drizzle turns the names of columns that have none. */
  casing?: "snake_case" | "camelCase";
  /** Hears each statement; true writes them to the console. */
  logger?: boolean | { logQuery(query: string, params: unknown[]): void };
  /** How long a statement waits while another connection writes, in ms, from 0, finite; 5,000 when left out. */
  busyTimeoutMs?: number;
  /** SQL that each connection runs once, when it is opened: `PRAGMA synchronous = NORMAL`, for example. */
  setUp?: string;
}

const OPTIONS: OptionNames<SqliteResourceProviderOptions> = {
  file: true,
  maxConcurrent: true,
  clock: true,
  schema: true,
  casing: true,
  logger: true,
  busyTimeoutMs: true,
  setUp: true,
};

/**
 * SQLite inside the process, on the runtime's own `node:sqlite` (Deno, Bun, Node 22.16 or later): one connection for each handle,
 * from `acquire` to `close`. At most as many are open as jobs may hold, and each is opened when it is first needed. A handle unwraps
 * to Drizzle's database for SQLite proxies, with the schema's types.
 *
 * A file has a write-ahead log: readers see the last commit while one connection writes. In memory readers and the writer wait for
 * each other. Whoever finds the database locked tries again after a pause of 1 to 8 ms, with the event loop free, and fails after
 * `busyTimeoutMs`; a statement itself runs in the process's one thread, and stops it while it runs.
 *
 * `begin` takes the writer's turn at once (`BEGIN IMMEDIATE`), unless the handle is read-only; so give jobs that only read
 * `readOnly`. A `db.transaction()` of the job's own should ask for `{ behavior: "immediate" }`, and is refused within the provider's.
 * `db.batch` runs its statements one after another, in whatever transaction is open.
 */
export class SqliteResourceProvider<S extends Record<string, unknown> = Record<string, never>>
  extends AbstractDBResourceProvider<SqliteStack<S>> {
  readonly #pool: SqlitePool;
  readonly #busy: BusyRetry;
  readonly #config: DrizzleConfig<S>;
  /** The connection below each stack. */
  readonly #connections = new WeakMap<SqliteStack<S>, SqliteConnection<S>>();

  /**
   * A provider with a gate of its own. Nothing is opened yet.
   *
   * @param name any non-empty string.
   * @throws TypeError or RangeError naming what is not as said; InvalidStateError where there is no `node:sqlite`.
   */
  constructor(name: string, options: SqliteResourceProviderOptions<S>) {
    const { file, maxConcurrent, busyTimeoutMs = BUSY_TIMEOUT_MS, setUp = "", clock, ...config } =
      checkedOptions(options);
    super(name, maxConcurrent, clock === undefined ? {} : { clock });
    this.#busy = new BusyRetry(busyTimeoutMs, clock);
    this.#pool = new SqlitePool(runtimeSqlite(), { file, setUp }, this.#busy);
    this.#config = config;
  }

  /** Connections that jobs have out now. */
  get connectionsOut(): number {
    return this.#pool.out;
  }

  /** Closes what is idle, and each other connection when its handle is closed. Every later acquire fails. */
  end(): void {
    this.#pool.end();
  }

  /** The same as `end`. */
  [Symbol.dispose](): void {
    this.end();
  }

  /** Takes an idle connection, or opens one. */
  protected override async checkOut(readOnly: boolean): Promise<SqliteStack<S>> {
    const database = await this.#pool.take(this.admission.capacity);
    try {
      const connection = new SqliteConnection<S>(database, this.#busy, this.#config);
      if (readOnly) connection.tellReadOnly();
      this.#connections.set(connection.stack, connection);
      return connection.stack;
    } catch (fault) {
      this.#pool.giveBack(database, false);
      throw fault;
    }
  }

  /** The Drizzle database. */
  protected override stackOf(stack: SqliteStack<S>): SqliteStack<S> {
    return stack;
  }

  /** `BEGIN IMMEDIATE`, and `BEGIN` where nothing will be written. */
  protected override beginOn(stack: SqliteStack<S>): Promise<void> {
    return this.#below(stack).begin();
  }

  /** `COMMIT`. */
  protected override commitOn(stack: SqliteStack<S>): Promise<void> {
    return this.#below(stack).commit();
  }

  /** `ROLLBACK`, where a transaction is open. */
  protected override rollbackOn(stack: SqliteStack<S>): void {
    this.#below(stack).rollback();
  }

  /** Refuses the job's further statements, and those that wait for their turn. */
  protected override endWork(stack: SqliteStack<S>): void {
    this.#below(stack).isOver = true;
  }

  /** Ends what the job left open, and lets the connection forget that it is read-only. */
  protected override restore(stack: SqliteStack<S>): void {
    this.#below(stack).restore();
  }

  /** Keeps the connection for the next, or closes it. */
  protected override handBack(stack: SqliteStack<S>, isSound: boolean): void {
    this.#pool.giveBack(this.#below(stack).database, isSound);
  }

  /** Closes the connection. */
  protected override sever(stack: SqliteStack<S>): void {
    this.#below(stack).sever();
  }

  #below(stack: SqliteStack<S>): SqliteConnection<S> {
    return this.#connections.get(stack)!;
  }
}

function checkedOptions<S extends Record<string, unknown>>(
  options: SqliteResourceProviderOptions<S>,
): SqliteResourceProviderOptions<S> {
  const what = "Cannot make a SqliteResourceProvider:";
  checkOptionNames(what, options, OPTIONS);
  const { file, busyTimeoutMs = BUSY_TIMEOUT_MS, setUp = "" } = options;
  if (typeof file !== "string" || file === "" || file.startsWith("file:")) {
    throw new TypeError(`${what} file is ${show(file)}, it should be a path or ":memory:"`);
  }
  if (typeof busyTimeoutMs !== "number") {
    throw new TypeError(`${what} busyTimeoutMs is ${show(busyTimeoutMs)}, it should be a number`);
  }
  if (!Number.isFinite(busyTimeoutMs) || busyTimeoutMs < 0) {
    throw new RangeError(`${what} busyTimeoutMs is ${busyTimeoutMs}, it should be finite and 0 or more`);
  }
  checkSchema(what, options.schema);
  if (typeof setUp !== "string") {
    throw new TypeError(`${what} setUp is ${show(setUp)}, it should be SQL text`);
  }
  return options;
}
