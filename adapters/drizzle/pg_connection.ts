import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { PoolClient, QueryResult } from "pg";
import { cancelStatement } from "./pg_cancel.ts";
import { endsInTime } from "./goodbye.ts";
import { connectionForJob, Statements } from "./statements.ts";

/** What a handle unwraps to. */
export type PgStack<S extends Record<string, unknown>> = NodePgDatabase<S> & { $client: PoolClient };

const SETTING = "default_transaction_read_only";
/** The setting as it was, and sets it: a list is evaluated for a row that is already there. */
const TELL =
  `with old as materialized (select current_setting('${SETTING}') as was) select was, set_config('${SETTING}', 'on', false) from old`;

/** A client of the pool while a handle has it. */
export class PgConnection<S extends Record<string, unknown>> {
  /** The Drizzle database of the job. */
  readonly stack: PgStack<S>;
  readonly #client: PoolClient;
  readonly #statements = new Statements();
  readonly #gone: Promise<void>;
  #hearEnd: () => void = () => {};
  #isBroken = false;
  #goodbye: Promise<void> | null = null;
  /** The setting that the pool handed it out with, when it was told that it is only read from. */
  #wasReadOnly: string | null = null;
  readonly #hearError = (): void => void (this.#isBroken = true);

  constructor(client: PoolClient, drizzle: (client: PoolClient) => PgStack<S>) {
    this.#client = client;
    this.stack = drizzle(connectionForJob(client, {
      sending: ["query"],
      forbidden: ["release", "end"],
      send: (call, text) => this.#statements.ofJob(call, text),
    }));
    // A client that is out of the pool has no listener, and an error that nobody hears ends the process.
    client.on("error", this.#hearError);
    this.#gone = new Promise((resolve) => this.#hearEnd = resolve);
    client.on("end", this.#hearEnd);
  }

  /** Tells the session that it will not write. Where that fails, the pool has it back. */
  async tellReadOnly(): Promise<void> {
    try {
      const { rows } = await this.#query(TELL);
      this.#wasReadOnly = String(rows[0]?.["was"]);
    } catch (fault) {
      await this.handBack(false);
      throw fault;
    }
  }

  async begin(): Promise<void> {
    await this.#query("begin");
    this.#statements.isInTransaction = true;
  }

  /** @throws Error when the server did not commit, which it answers with success where a statement has failed. */
  async commit(): Promise<void> {
    if (this.#client.getTransactionStatus() === "I") {
      throw new Error("no transaction is open any more: the job has ended it itself, it should leave that");
    }
    const { command } = await this.#query("commit");
    this.#statements.isInTransaction = false;
    if (command !== "COMMIT") {
      throw new Error("a statement in the transaction had failed, so the server has rolled it back");
    }
  }

  async rollback(): Promise<void> {
    await this.#query("rollback");
    this.#statements.isInTransaction = false;
  }

  /** The job's statements fail from now on. */
  endWork(): void {
    this.#statements.refuse(new Error("the handle was closed, so its connection is another job's"));
  }

  /** Leaves nothing to the next who gets it: no transaction that the job opened itself, no setting. */
  async restore(): Promise<void> {
    if (this.#isBroken) return;
    if (this.#client.getTransactionStatus() !== "I") await this.rollback();
    if (this.#wasReadOnly === null) return;
    await this.#query(`select set_config('${SETTING}', $1, false)`, [this.#wasReadOnly]);
  }

  /** Fails what runs, at once; the server is told to stop it and to end the session. */
  sever(): void {
    this.#goodbye ??= this.#sayGoodbye();
  }

  /** Gives it back to the pool, which throws it away when it is not sound: then the server has let go of it before, if it can. */
  async handBack(isSound: boolean): Promise<void> {
    if (isSound && !this.#isBroken) {
      this.#client.off("error", this.#hearError).off("end", this.#hearEnd);
      return this.#client.release();
    }
    this.sever();
    await this.#goodbye;
    this.#client.release(true);
  }

  async #sayGoodbye(): Promise<void> {
    const { areRunning } = this.#statements;
    this.#statements.cut(new Error("the connection was aborted"));
    if (areRunning) cancelStatement(this.#client);
    const end = async () => {
      await this.#statements.ended();
      this.#end();
      await this.#gone;
    };
    // With a statement that still runs this destroys the socket.
    if (!await endsInTime(end())) this.#end();
  }

  #end(): void {
    this.#client.end().catch(() => {});
  }

  #query(text: string, values: unknown[] = []): Promise<QueryResult<Record<string, unknown>>> {
    return this.#statements.own(() => this.#client.query<Record<string, unknown>>(text, values));
  }
}
