import type { CountingGateOptions } from "../accounts/counting_gate.ts";
import type { DatabaseGate } from "../accounts/database_gate.ts";
import type { DBManagedResource, DBResourceProvider } from "./db_resource_provider.ts";
import { OwnHandles } from "./own_handles.ts";
import { providerGate } from "./provider_gate.ts";

/**
 * A bound without a database: jobs take connections from the host's own pool themselves, and the permits of this provider keep
 * them from having more out than it says. Its handles unwrap to null; its verbs look whose handle it is and do nothing else.
 * For a job whose demand names it and that has at most one connection out at a time.
 */
export class CountingDBResourceProvider implements DBResourceProvider<null> {
  /** As given. */
  readonly name: string;
  /** A gate `db:<name>` of the given bound. */
  readonly admission: DatabaseGate;
  readonly #handles = new OwnHandles<null, true>(this);

  /**
   * A provider with a gate of its own.
   *
   * @param name any non-empty string.
   * @param maxConcurrent how many jobs at a time: a whole number from 1 to 2^31 - 1, at most the size of the pool.
   * @throws TypeError or RangeError when one of them is not as said.
   */
  constructor(name: string, maxConcurrent: number, options: CountingGateOptions = {}) {
    this.admission = providerGate(new.target.name, { name, maxConcurrent }, options);
    this.name = name;
  }

  /** A handle that unwraps to null. There is no connection that could be told of `readOnly`. */
  acquire(_readOnly?: boolean): Promise<DBManagedResource<null>> {
    return Promise.resolve(this.#handles.make(true, () => null));
  }

  /** Looks whose handle it is. Rejects with TypeError when it is not this provider's. */
  begin(handle: DBManagedResource<null>): Promise<void> {
    return this.#verify("begin", handle);
  }

  /** Looks whose handle it is. Rejects with TypeError when it is not this provider's. */
  commit(handle: DBManagedResource<null>): Promise<void> {
    return this.#verify("commit", handle);
  }

  /** Looks whose handle it is, and never waits. Rejects with TypeError when it is not this provider's. */
  awaitCompletion(handle: DBManagedResource<null>): Promise<void> {
    return this.#verify("awaitCompletion", handle);
  }

  /** Looks whose handle it is. Rejects with TypeError when it is not this provider's. */
  rollback(handle: DBManagedResource<null>): Promise<void> {
    return this.#verify("rollback", handle);
  }

  /** Looks whose handle it is. Rejects with TypeError when it is not this provider's. */
  close(handle: DBManagedResource<null>): Promise<void> {
    return this.#verify("close", handle);
  }

  /** Looks whose handle it is. @throws TypeError when it is not this provider's. */
  abort(handle: DBManagedResource<null>): void {
    this.#handles.stateOf("abort", handle);
  }

  // deno-lint-ignore require-await -- what it throws has to come as a rejection
  async #verify(verb: string, handle: DBManagedResource<null>): Promise<void> {
    this.#handles.stateOf(verb, handle);
  }
}
