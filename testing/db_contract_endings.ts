import { type DBManagedResource, UncorrectableError } from "../mod.ts";
import { ContractError, rejects, same, within } from "./checks.ts";
import type { DBHoldingSubject, SubjectCases } from "./db_contract.ts";
import { openTransaction, workOn } from "./db_jobs.ts";

/** How a handle ends when things go wrong: aborts, failures, and those who wait meanwhile. */
export function endingCases<T>(cases: SubjectCases<DBHoldingSubject<T>>, patienceMs: number): void {
  abortCases(cases, patienceMs);
  waiterCases(cases, patienceMs);
  failureCases(cases, patienceMs);
}

/** Closes; a failure may only be of the uncorrectable kind, and a second close may not fail at all. */
async function closeAfterTrouble<T>(
  subject: DBHoldingSubject<T>,
  handle: DBManagedResource<T>,
  patienceMs: number,
): Promise<void> {
  const { provider } = subject;
  const failure = await within(
    patienceMs,
    provider.close(handle).then(() => null, (error: unknown) => error),
    "close()",
  );
  if (failure !== null && !(failure instanceof UncorrectableError)) {
    throw new ContractError(`close() failed with ${String(failure)}, it may only with an UncorrectableError`);
  }
  same(await subject.activeConnections(), 0, "connections out after close()");
  await within(patienceMs, provider.close(handle), "a second close()");
  same(await subject.activeConnections(), 0, "connections out after a second close()");
}

function abortCases<T>({ it }: SubjectCases<DBHoldingSubject<T>>, patienceMs: number): void {
  it("DB-10 abort cuts the connection: statements fail, and nothing is committed", async (subject) => {
    const { provider } = subject;
    const handle = await openTransaction(subject);
    const stack = handle.unwrap();
    same(provider.abort(handle), undefined, "what abort() answers, since nobody waits for it");
    provider.abort(handle);
    const statement = async () => await subject.insertRow(stack);
    await rejects(() => within(patienceMs, statement(), "a statement"), Error, "a statement after abort()");
    await rejects(() => provider.commit(handle), Error, "commit() after abort()");
    await closeAfterTrouble(subject, handle, patienceMs);
    same(await subject.committedRows(), 0, "rows");
  });

  it("DB-10 abort beside a commit that runs: the commit ends, and close hands the connection back", async (subject) => {
    const { provider } = subject;
    const handle = await openTransaction(subject);
    const commit = provider.commit(handle).then(() => true, () => false);
    provider.abort(handle);
    const isCommitted = await within(patienceMs, commit, "the commit that was cut");
    await closeAfterTrouble(subject, handle, patienceMs);
    if (isCommitted) same(await subject.committedRows(), 1, "rows of a commit that succeeded");
  });

  it("DB-11 a close right after an abort fails as uncorrectable or not at all, and the connection leaves", async (subject) => {
    const handle = await openTransaction(subject);
    subject.provider.abort(handle);
    await closeAfterTrouble(subject, handle, patienceMs);
    const idle = await subject.provider.acquire();
    subject.provider.abort(idle);
    await closeAfterTrouble(subject, idle, patienceMs);
    await workOn(subject);
  });
}

function waiterCases<T>({ it }: SubjectCases<DBHoldingSubject<T>>, patienceMs: number): void {
  const endings: readonly [string, (s: DBHoldingSubject<T>, handle: DBManagedResource<T>) => unknown][] = [
    ["close()", ({ provider }, handle) => provider.close(handle)],
    ["abort()", ({ provider }, handle) => provider.abort(handle)],
    ["rollback()", ({ provider }, handle) => provider.rollback(handle)],
    ["commit()", ({ provider }, handle) => provider.commit(handle)],
  ];
  it("DB-12 DB-17 close, abort, rollback and commit let everybody go who awaits completion", async (subject) => {
    for (const [what, end] of endings) {
      const handle = await openTransaction(subject);
      const waiters = [subject.provider.awaitCompletion(handle), subject.provider.awaitCompletion(handle)];
      await end(subject, handle);
      await within(patienceMs, Promise.all(waiters), `awaitCompletion() beside ${what}`);
      await within(patienceMs, subject.provider.awaitCompletion(handle), `awaitCompletion() after ${what}`);
      await closeAfterTrouble(subject, handle, patienceMs);
    }
  });

  it("DB-17 a commit that fails lets everybody go who awaits completion", async (subject) => {
    const { provider } = subject;
    const handle = await openTransaction(subject);
    const waiter = provider.awaitCompletion(handle);
    await subject.breakConnection(handle.unwrap());
    await rejects(() => within(patienceMs, provider.commit(handle), "a commit"), Error, "commit() when dead");
    await within(patienceMs, waiter, "awaitCompletion() beside a commit that failed");
    await closeAfterTrouble(subject, handle, patienceMs);
    same(await subject.committedRows(), 0, "rows");
  });
}

function failureCases<T>({ it }: SubjectCases<DBHoldingSubject<T>>, patienceMs: number): void {
  it("DB-19 a connection that died leaves by its close, which is not tried again, and nobody gets it", async (subject) => {
    const handle = await openTransaction(subject);
    await subject.breakConnection(handle.unwrap());
    await closeAfterTrouble(subject, handle, patienceMs);
    await workOn(subject);
  });

  it("DB-19 a rollback that failed does not keep the connection out", async (subject) => {
    const { provider } = subject;
    const handle = await openTransaction(subject);
    await subject.breakConnection(handle.unwrap());
    await within(patienceMs, provider.rollback(handle).catch(() => {}), "rollback() when dead");
    await closeAfterTrouble(subject, handle, patienceMs);
    await workOn(subject);
  });
}
