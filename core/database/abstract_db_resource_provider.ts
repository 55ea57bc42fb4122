import type { CountingGateOptions } from "../accounts/counting_gate.ts";
import type { DatabaseGate } from "../accounts/database_gate.ts";
import type { DBManagedResource, DBResourceProvider } from "./db_resource_provider.ts";
import { InvalidStateError, UncorrectableError } from "../errors.ts";
import { messageOf } from "../faults.ts";
import { providerFault } from "./provider_faults.ts";
import { HeldConnection } from "./held_connection.ts";
import { show } from "../invariant.ts";
import { OwnHandles } from "./own_handles.ts";
import { providerGate } from "./provider_gate.ts";

/**
 * A base for providers over a real pool: it keeps the contract, a subclass says in eight hooks how its driver does it. `C` is
 * what the pool hands out, `T` what jobs work with.
 *
 * The verbs of one handle run one after another, whether they are awaited or not; an abort does not queue, and ends whatever
 * runs. The hooks are never called twice where once is meant: no rollback without a transaction, one `handBack` for each
 * connection, nothing on a connection that was handed back.
 */
export abstract class AbstractDBResourceProvider<T, C = T> implements DBResourceProvider<T> {
  /** As given. */
  readonly name: string;
  /** A gate `db:<name>` of the given bound. */
  readonly admission: DatabaseGate;
  readonly #handles = new OwnHandles<T, HeldConnection<C>>(this);

  /**
   * A provider with a gate of its own.
   *
   * @param name any non-empty string.
   * @param maxConcurrent how many connections jobs may hold: a whole number from 1 to 2^31 - 1, at most the size of the pool.
   * @throws TypeError or RangeError when one of them is not as said.
   */
  constructor(name: string, maxConcurrent: number, options: CountingGateOptions = {}) {
    this.admission = providerGate(new.target.name, { name, maxConcurrent }, options);
    this.name = name;
  }

  /**
   * Takes a connection out of the pool, and tells it when it is only read from. It sends no other statement. Where it fails it
   * keeps nothing out.
   */
  protected abstract checkOut(readOnly: boolean): C | PromiseLike<C>;
  /** The stack's object on this connection: the same each time. */
  protected abstract stackOf(connection: C): T;
  /** Opens a transaction. */
  protected abstract beginOn(connection: C): void | PromiseLike<void>;
  /** Commits it; answers when the database has acknowledged that. */
  protected abstract commitOn(connection: C): void | PromiseLike<void>;
  /** Ends the transaction. It is also called after a begin or a commit that failed, so none may be open. */
  protected abstract rollbackOn(connection: C): void | PromiseLike<void>;
  /** Told at once when a close begins: statements that the job itself sends from now on should fail. Does nothing here. */
  protected endWork(_connection: C): void {}
  /** Undoes what `checkOut` told the connection, for the next who gets it. */
  protected abstract restore(connection: C): void | PromiseLike<void>;
  /**
   * Gives the connection to the pool. One that is not sound (it was aborted, or its rollback or restore failed) must be thrown
   * away there, because a transaction may be open on it. This should not wait for the database: no abort cuts it.
   */
  protected abstract handBack(connection: C, isSound: boolean): void | PromiseLike<void>;
  /** Cuts the connection at once, so that what runs on it fails. A promise is not waited for. */
  protected abstract sever(connection: C): void | PromiseLike<void>;

  /**
   * Checks one connection out. Rejects with UncorrectableError when none is to be had, with TypeError when `readOnly` is no
   * boolean.
   */
  async acquire(readOnly: boolean = false): Promise<DBManagedResource<T>> {
    if (typeof readOnly !== "boolean") {
      throw new TypeError(
        `Cannot acquire on provider ${show(this.name)}: readOnly is ${
          show(readOnly)
        }, it should be true or false`,
      );
    }
    const held = new HeldConnection(await this.#ask("acquire", () => this.checkOut(readOnly)));
    return this.#handles.make(held, () => {
      this.#checkUsable("unwrap a handle", held);
      return this.stackOf(held.connection);
    });
  }

  /** Opens a transaction. Rejects with InvalidStateError when one is open, or the handle was closed or aborted. */
  async begin(handle: DBManagedResource<T>): Promise<void> {
    await this.#inTurn("begin", handle, async (held) => {
      if (held.mayBeInTransaction) {
        throw providerFault(
          new InvalidStateError(
            `Cannot begin on provider ${
              show(this.name)
            }: a transaction is open, commit or roll it back first`,
          ),
        );
      }
      held.mayBeInTransaction = true;
      held.setLatch();
      try {
        await this.#ask("begin", () => this.beginOn(held.connection));
      } catch (fault) {
        held.releaseLatch();
        throw fault;
      }
    });
  }

  /** Commits the open transaction, if there is one. Rejects with InvalidStateError when the handle was closed or aborted. */
  async commit(handle: DBManagedResource<T>): Promise<void> {
    await this.#inTurn("commit", handle, async (held) => {
      if (!held.mayBeInTransaction) return;
      try {
        await this.#ask("commit", () => this.commitOn(held.connection));
        held.mayBeInTransaction = false;
      } finally {
        held.releaseLatch();
      }
    });
  }

  /** Resolves when no transaction is open any more, however it ended. */
  async awaitCompletion(handle: DBManagedResource<T>): Promise<void> {
    await this.#handles.stateOf("awaitCompletion", handle).completion;
  }

  /** Discards the open transaction, if there is one. After a close or an abort nothing is left to discard. */
  async rollback(handle: DBManagedResource<T>): Promise<void> {
    const held = this.#handles.stateOf("rollback", handle);
    if (!held.isUsable) return;
    await held.inTurn(async () => {
      if (!held.isAborted) await this.#rollBack(held);
    });
  }

  /**
   * Ends the handle once its verbs have ended, whatever fails on the way. A later close waits for the first one and reports
   * nothing.
   */
  async close(handle: DBManagedResource<T>): Promise<void> {
    const held = this.#handles.stateOf("close", handle);
    if (held.closing !== null) return await held.closing;
    held.isClosed = true;
    held.releaseLatch();
    const closing = this.#close(held);
    held.closing = closing.catch(() => {});
    await closing;
  }

  /** Severs the connection, and fails whatever runs on it. @throws UncorrectableError when the driver cannot. */
  abort(handle: DBManagedResource<T>): void {
    const held = this.#handles.stateOf("abort", handle);
    if (held.isAborted || held.isHandedBack) return;
    held.isAborted = true;
    held.releaseLatch();
    try {
      // Nobody waits for a driver that answers later, so nobody hears of it when that fails: the pool throws it away.
      Promise.resolve(this.sever(held.connection)).catch(() => {});
    } catch (fault) {
      throw this.#failed("abort", fault);
    } finally {
      held.cut(this.#failed("finish", new Error("the connection was aborted")));
    }
  }

  async #close(held: HeldConnection<C>): Promise<void> {
    const faults: unknown[] = [];
    const collect = (fault: unknown) => void faults.push(fault);
    // Otherwise a job that still runs could write after the rollback, with nothing open that could be rolled back.
    void this.#ask("close", () => this.endWork(held.connection)).catch(collect);
    await held.inTurn(async () => {
      if (held.isAborted) return;
      await this.#rollBack(held);
      // An abort has ended this turn meanwhile, and the connection is the pool's.
      if (held.isAborted) return;
      await this.#ask("restore a connection", () => this.restore(held.connection));
    }).catch(collect);
    held.isHandedBack = true;
    const isSound = faults.length === 0 && !held.isAborted;
    await this.#ask("hand a connection back", () => this.handBack(held.connection, isSound)).catch(collect);
    if (faults.length === 1) throw faults[0];
    if (faults.length > 1) {
      throw this.#failed("close", new AggregateError(faults, faults.map(messageOf).join("; ")));
    }
  }

  async #rollBack(held: HeldConnection<C>): Promise<void> {
    if (!held.mayBeInTransaction) return;
    try {
      await this.#ask("roll back", () => this.rollbackOn(held.connection));
      held.mayBeInTransaction = false;
    } finally {
      held.releaseLatch();
    }
  }

  async #inTurn(
    verb: string,
    handle: DBManagedResource<T>,
    work: (held: HeldConnection<C>) => Promise<void>,
  ): Promise<void> {
    const held = this.#handles.stateOf(verb, handle);
    this.#checkUsable(verb, held);
    await held.inTurn(async () => {
      // A close that came meanwhile has its turn later; an abort has none.
      if (held.isAborted) this.#checkUsable(verb, held);
      await work(held);
    });
  }

  #checkUsable(verb: string, held: HeldConnection<C>): void {
    if (held.isUsable) return;
    throw providerFault(
      new InvalidStateError(
        `Cannot ${verb} on provider ${show(this.name)}: the handle was ${
          held.isAborted ? "aborted" : "closed"
        }, acquire another`,
      ),
    );
  }

  /** Asks the driver; what it throws becomes an UncorrectableError with that as cause. */
  async #ask<R>(verb: string, hook: () => R | PromiseLike<R>): Promise<R> {
    try {
      return await hook();
    } catch (fault) {
      throw this.#failed(verb, fault);
    }
  }

  #failed(verb: string, fault: unknown): UncorrectableError {
    const message = `Cannot ${verb} on provider ${show(this.name)}: ${messageOf(fault)}`;
    return providerFault(new UncorrectableError(message, { cause: fault }));
  }
}
