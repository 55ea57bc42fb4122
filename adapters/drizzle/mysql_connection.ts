import type { MySql2Database } from "drizzle-orm/mysql2";
import type { PoolConnection, ResultSetHeader, RowDataPacket } from "mysql2/promise";
import { endsInTime } from "./goodbye.ts";
import { connectionForJob, Statements } from "./statements.ts";

/** What a handle unwraps to. */
export type MysqlStack<S extends Record<string, unknown>> = MySql2Database<S> & { $client: PoolConnection };

/**
 * Bits of the status that the server sends with each statement that answers no rows.
 * Source: https://dev.mysql.com/doc/dev/mysql-server/latest/mysql__com_8h.html
 */
const IN_TRANSACTION = 1;
const AUTOCOMMIT = 2;
/** The error after which InnoDB has rolled the whole transaction back. Source: https://dev.mysql.com/doc/refman/8.4/en/innodb-error-handling.html */
const DEADLOCK = 1213;
/** The variable has two names, of which each server knows one or both. */
const READ_ONLY = "show session variables where variable_name in ('transaction_read_only', 'tx_read_only')";

/** A connection of the pool while a handle has it. */
export class MysqlConnection<S extends Record<string, unknown>> {
  /** The Drizzle database of the job. */
  readonly stack: MysqlStack<S>;
  readonly #connection: PoolConnection;
  readonly #statements = new Statements();
  #isBroken = false;
  #goodbye: Promise<void> | null = null;
  /** As the server said last. */
  #status = AUTOCOMMIT;
  /** Whether the server said that the transaction is open when it was begun: some proxies before servers do not. */
  #tellsTransactions = false;
  /** The deadlock that ended the transaction. */
  #deadlock: Error | null = null;
  /** Whether the pool handed it out as read-only; null when it was not told anything. */
  #wasReadOnly: boolean | null = null;
  readonly #hearError = (): void => void (this.#isBroken = true);

  constructor(connection: PoolConnection, drizzle: (connection: PoolConnection) => MysqlStack<S>) {
    this.#connection = connection;
    this.stack = drizzle(connectionForJob(connection, {
      sending: ["query", "execute"],
      forbidden: ["release", "end", "destroy"],
      send: (call, text) => this.#sendForJob(call, text),
    }));
    connection.on("error", this.#hearError);
  }

  /** Tells the session that it will not write. Where that fails, the pool has it back. */
  async tellReadOnly(): Promise<void> {
    try {
      const [rows] = await this.#statements.own(() => this.#connection.query<RowDataPacket[]>(READ_ONLY));
      this.#wasReadOnly = rows.some((row) => row["Value"] === "ON");
      await this.#query("set session transaction read only");
    } catch (fault) {
      await this.handBack(false);
      throw fault;
    }
  }

  async begin(): Promise<void> {
    await this.#query("start transaction");
    this.#statements.isInTransaction = true;
    this.#tellsTransactions = (this.#status & IN_TRANSACTION) !== 0;
  }

  /** @throws Error when the transaction is not open any more, because nothing of it may be committed then, or all of it was. */
  async commit(): Promise<void> {
    if (this.#deadlock !== null) throw this.#deadlock;
    if (this.#tellsTransactions && (this.#status & IN_TRANSACTION) === 0) {
      throw new Error(
        "no transaction is open any more: a statement that commits by itself, or the job, has ended it",
      );
    }
    await this.#query("commit");
    this.#statements.isInTransaction = false;
  }

  async rollback(): Promise<void> {
    await this.#query("rollback");
    this.#statements.isInTransaction = false;
    this.#deadlock = null;
  }

  /** The job's statements fail from now on. */
  endWork(): void {
    this.#statements.refuse(new Error("the handle was closed, so its connection is another job's"));
  }

  /** Leaves nothing to the next who gets it: no transaction that the job opened itself, no setting. */
  async restore(): Promise<void> {
    if (this.#isBroken) return;
    // Without auto-commit any statement may have opened one, and those that answer rows do not tell.
    if ((this.#status & (IN_TRANSACTION | AUTOCOMMIT)) !== AUTOCOMMIT) await this.rollback();
    if (this.#wasReadOnly === null) return;
    await this.#query(`set session transaction read ${this.#wasReadOnly ? "only" : "write"}`);
  }

  /** Fails what runs, at once, and closes our end of the connection. */
  sever(): void {
    this.#goodbye ??= this.#sayGoodbye();
  }

  /** Gives it back to the pool, which throws it away when it is not sound: then the server has let go of it before, if it can. */
  async handBack(isSound: boolean): Promise<void> {
    if (isSound && !this.#isBroken) {
      this.#connection.off("error", this.#hearError);
      return this.#connection.release();
    }
    this.sever();
    await this.#goodbye;
  }

  async #sayGoodbye(): Promise<void> {
    this.#statements.cut(new Error("the connection was aborted"));
    const stream = streamOf(this.#connection);
    const gone = stream === null || stream.closed
      ? null
      : new Promise<void>((resolve) => stream.once("close", resolve));
    this.#connection.destroy();
    if (gone !== null && !await endsInTime(gone)) stream?.destroy();
  }

  /** After a deadlock the server would commit each further statement by itself. */
  #sendForJob(call: () => unknown, text: string): Promise<unknown> {
    if (this.#deadlock !== null) throw this.#deadlock;
    return this.#statements.ofJob(() => this.#watched(call), text);
  }

  async #query(text: string): Promise<void> {
    await this.#statements.own(() => this.#watched(() => this.#connection.query<ResultSetHeader>(text)));
  }

  async #watched(call: () => unknown): Promise<unknown> {
    try {
      const answer = await call();
      const status: unknown = Array.isArray(answer)
        ? Reflect.get(Object(answer[0]), "serverStatus")
        : undefined;
      if (typeof status === "number") this.#status = status;
      return answer;
    } catch (fault) {
      if (fault instanceof Error && Reflect.get(fault, "errno") === DEADLOCK) this.#loseTransaction(fault);
      throw fault;
    }
  }

  #loseTransaction(fault: Error): void {
    if (!this.#statements.isInTransaction) return;
    this.#deadlock = new Error("the server has rolled the transaction back, because of a deadlock", {
      cause: fault,
    });
  }
}

interface Socket {
  readonly closed: boolean;
  once(event: "close", listener: () => void): unknown;
  destroy(): void;
}

/** The socket of a connection, or null where the driver hides it. */
function streamOf(connection: PoolConnection): Socket | null {
  const stream: unknown = Reflect.get(Object(connection.connection), "stream");
  return isSocket(stream) ? stream : null;
}

function isSocket(stream: unknown): stream is Socket {
  return typeof stream === "object" && stream !== null && typeof Reflect.get(stream, "once") === "function" &&
    typeof Reflect.get(stream, "closed") === "boolean";
}
