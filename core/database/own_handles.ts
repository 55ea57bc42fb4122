import type { DBManagedResource, DBResourceProvider } from "./db_resource_provider.ts";
import { show } from "../invariant.ts";

/** The handles that one provider made, and what it keeps of each. They are held weakly. */
export class OwnHandles<T, S> {
  readonly #provider: DBResourceProvider<T>;
  readonly #states = new WeakMap<object, S>();

  constructor(provider: DBResourceProvider<T>) {
    this.#provider = provider;
  }

  /** A new handle. */
  make(state: S, unwrap: () => T): DBManagedResource<T> {
    const handle = Object.freeze({ provider: this.#provider, unwrap });
    this.#states.set(handle, state);
    return handle;
  }

  /**
   * What is kept of a handle. `verb` says for whom it is asked.
   *
   * @throws TypeError when this provider did not make it.
   */
  stateOf(verb: string, handle: DBManagedResource<T>): S {
    const state = this.#states.get(handle);
    if (state !== undefined) return state;
    const { name } = this.#provider;
    throw new TypeError(
      `Cannot ${verb} on provider ${show(name)}: handle is ${
        whose(handle)
      }, it should be one that its acquire() answered`,
    );
  }
}

function whose(handle: unknown): string {
  const other = (handle as Partial<DBManagedResource<unknown>> | null | undefined)?.provider?.name;
  return other === undefined ? show(handle) : `${show(handle)} that names provider ${show(other)}`;
}
