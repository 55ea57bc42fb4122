import type { DatabaseGate } from "../accounts/database_gate.ts";

/**
 * What a job holds of a database: one connection, with the state of its transaction, from `acquire` to `close`. The permit is
 * not here: it is in the job's grant, and comes back with that.
 */
export interface DBManagedResource<T> {
  /** Who made it, and the only one who accepts it. */
  readonly provider: DBResourceProvider<T>;
  /**
   * The stack's own object on this connection, the same each time; null where the provider holds none. The job works with it
   * and leaves its closing, and its transactions, to the provider.
   *
   * @throws InvalidStateError once it was closed or aborted: the connection may be somebody else's by then.
   */
  unwrap(): T;
}

/**
 * A database that jobs use, with its bound as an account. A job names `admission` in its demand; only under the permit that
 * it is granted does anybody call `acquire`. So `acquire` never waits for a permit, and no verb gives one back.
 *
 * Every verb but `abort` answers a promise and never throws. Each rejects with TypeError for anything but a handle that this
 * provider made, `abort` throws it; what the driver says no to comes as UncorrectableError with the driver's error as cause.
 * `T` is the type of the stack's object. AbstractDBResourceProvider keeps all this for those who extend it, and
 * `dbResourceProviderContract` in `./testing` checks it.
 */
export interface DBResourceProvider<T> {
  /** Any non-empty string, always the same. */
  readonly name: string;
  /** Its bound: always the same account, named `db:<name>`, whose capacity is how many connections jobs may hold. */
  readonly admission: DatabaseGate;
  /**
   * Checks one connection out, before any statement. The handle keeps that one until it is closed.
   *
   * @param readOnly tells the connection that it will not write; it has forgotten that when the next job gets it. False when
   * left out.
   */
  acquire(readOnly?: boolean): Promise<DBManagedResource<T>>;
  /** Opens a transaction. */
  begin(handle: DBManagedResource<T>): Promise<void>;
  /** Commits it; without one, does nothing. */
  commit(handle: DBManagedResource<T>): Promise<void>;
  /**
   * Resolves once no transaction is open: at once, or when the open one ends by a commit (a failed one as well), a rollback,
   * a close or an abort. It says nothing about how that went. After it, others see what was committed.
   */
  awaitCompletion(handle: DBManagedResource<T>): Promise<void>;
  /** Discards the transaction; without one, does nothing. */
  rollback(handle: DBManagedResource<T>): Promise<void>;
  /**
   * Rolls an open transaction back and hands the connection back, also when that failed: then it rejects with an
   * UncorrectableError that has the failure, or an AggregateError of all, as cause. It is not tried again: a second close
   * hands nothing back and reports nothing.
   */
  close(handle: DBManagedResource<T>): Promise<void>;
  /**
   * Cuts the connection without waiting for the driver. Statements fail from then on and nothing more is committed; a close
   * hands the connection back. Again, or after a close that has ended, it does nothing.
   */
  abort(handle: DBManagedResource<T>): void;
}
