import type { DrizzleConfig } from "drizzle-orm";
import { drizzle, type SqliteRemoteDatabase } from "drizzle-orm/sqlite-proxy";
import { InvalidStateError } from "../../mod.ts";
import type { BusyRetry } from "./busy.ts";
import { withSchema } from "./schema.ts";
import type { SqliteDatabase, SqliteValue } from "./sqlite_module.ts";

type Method = "run" | "all" | "values" | "get";

/** A connection while one handle has it. What is kept of it beyond that fails: the connection is another job's by then. */
export class SqliteConnection<S extends Record<string, unknown>> {
  /** Drizzle on this connection. */
  readonly stack: SqliteRemoteDatabase<S>;
  readonly #database: SqliteDatabase;
  readonly #busy: BusyRetry;
  /** Set when the handle ends: what the job still sends fails, because the connection will be another's. */
  isOver = false;
  #isReadOnly = false;

  constructor(database: SqliteDatabase, busy: BusyRetry, config: DrizzleConfig<S>) {
    this.#database = database;
    this.#busy = busy;
    const stack = drizzle<S>(
      (text, values, method) => this.#query(text, values, method),
      async (batch) => {
        const answers: { rows: unknown[] }[] = [];
        for (const { sql, params, method } of batch) answers.push(await this.#query(sql, params, method));
        return answers;
      },
      config,
    );
    this.stack = withSchema(stack, config);
  }

  /** For the pool. */
  get database(): SqliteDatabase {
    return this.#database;
  }

  /** Statements that write fail from now on. */
  tellReadOnly(): void {
    this.#isReadOnly = true;
    this.#run("PRAGMA query_only = ON");
  }

  /**
   * One that may write takes its turn as the writer here: a transaction that has only read cannot wait for it any more once
   * another has written.
   */
  begin(): Promise<void> {
    return this.#busy.run(() => {
      this.#checkUsable("begin");
      this.#run(this.#isReadOnly ? "BEGIN" : "BEGIN IMMEDIATE");
    });
  }

  /** In memory it waits for those who read. */
  commit(): Promise<void> {
    return this.#busy.run(() => this.#run("COMMIT"));
  }

  /** Ends the transaction, if SQLite has not done so itself, as it does when the disk is full. */
  rollback(): void {
    if (this.#database.isTransaction) this.#run("ROLLBACK");
  }

  /** As it was when it was opened. */
  restore(): void {
    this.rollback();
    if (this.#isReadOnly) this.#run("PRAGMA query_only = OFF");
  }

  /** Ends it at once; what is not committed is lost. */
  sever(): void {
    this.isOver = true;
    if (this.#database.isOpen) this.#database.close();
  }

  async #query(text: string, values: SqliteValue[], method: Method): Promise<{ rows: unknown[] }> {
    return await this.#busy.run(() => {
      this.#checkUsable("query");
      const statement = this.#database.prepare(text);
      if (method === "run") {
        statement.run(...values);
        return { rows: [] };
      }
      statement.setReturnArrays(true);
      if (method !== "get") return { rows: statement.all(...values) };
      // Drizzle takes the one row here, undefined when there is none, although its type says a list.
      return { rows: statement.get(...values) as unknown[] };
    });
  }

  #checkUsable(verb: string): void {
    if (!this.isOver) return;
    throw new InvalidStateError(`Cannot ${verb}: the handle was closed or aborted, acquire another`);
  }

  /** A prepared statement, because on Deno 2.9 only their errors carry SQLite's code. */
  #run(text: string): void {
    this.#database.prepare(text).run();
  }
}
