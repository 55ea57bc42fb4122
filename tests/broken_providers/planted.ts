// What the planted faults of database providers share.

import type { DatabaseSync } from "node:sqlite";
import type { DBManagedResource } from "../../mod.ts";
import { type MakeProvider, SqliteProvider } from "../sqlite_provider.ts";

/** A handle of theirs. */
export type Handle = DBManagedResource<DatabaseSync>;

/** A planted fault. */
export interface Planted {
  readonly habit: string;
  /** Titles of the cases of which at least one must fail. */
  readonly caught: RegExp;
  readonly make: MakeProvider;
}

/** Knows the connection of each handle, also when it was closed. */
export class Remembering extends SqliteProvider {
  protected readonly connections: Map<Handle, DatabaseSync> = new Map();

  override async acquire(readOnly: boolean = false): Promise<Handle> {
    const handle = await super.acquire(readOnly);
    this.connections.set(handle, handle.unwrap());
    return handle;
  }
}
