import type { DBManagedResource } from "../mod.ts";
import { same } from "./checks.ts";
import type { DBHoldingSubject } from "./db_contract.ts";

/** A handle with a transaction that has inserted a row. */
export async function openTransaction<T>(subject: DBHoldingSubject<T>): Promise<DBManagedResource<T>> {
  const handle = await subject.provider.acquire();
  await subject.provider.begin(handle);
  await subject.insertRow(handle.unwrap());
  return handle;
}

/** Inserts a row and commits it; answers once others can see it. */
export async function commitRow<T>(
  subject: DBHoldingSubject<T>,
  handle: DBManagedResource<T>,
): Promise<void> {
  await subject.provider.begin(handle);
  await subject.insertRow(handle.unwrap());
  await subject.provider.commit(handle);
  await subject.provider.awaitCompletion(handle);
}

/** As many jobs as the bound allows get sound connections, work, and give them back. */
export async function workOn<T>(subject: DBHoldingSubject<T>): Promise<void> {
  const before = await subject.committedRows();
  const handles = [await subject.provider.acquire(), await subject.provider.acquire()];
  for (const handle of handles) await commitRow(subject, handle);
  same(await subject.committedRows(), before + handles.length, "rows that the next jobs committed");
  for (const handle of handles) await subject.provider.close(handle);
  same(await subject.activeConnections(), 0, "connections out after the next jobs");
}
