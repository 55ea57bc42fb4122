import { UncorrectableError } from "../mod.ts";
import { check, rejects, same, within } from "./checks.ts";
import type { DBHoldingSubject, SubjectCases } from "./db_contract.ts";
import { endingCases } from "./db_contract_endings.ts";
import { fanOut } from "./db_fan_out.ts";
import { commitRow, openTransaction, workOn } from "./db_jobs.ts";

/** What a provider promises whose handles hold a connection each. */
export function holdingCases<T>(cases: SubjectCases<DBHoldingSubject<T>>, patienceMs: number): void {
  connectionCases(cases);
  stackCases(cases);
  transactionCases(cases);
  endingCases(cases, patienceMs);
  fanOutCase(cases, patienceMs);
}

function connectionCases<T>({ it }: SubjectCases<DBHoldingSubject<T>>): void {
  it("DB-03 acquire checks one connection out at once, before any statement", async (subject) => {
    const { provider } = subject;
    same(await subject.activeConnections(), 0, "connections out at first");
    const first = await provider.acquire();
    same(await subject.activeConnections(), 1, "connections out after acquire()");
    const second = await provider.acquire();
    same(await subject.activeConnections(), 2, "connections out after two");
    await provider.close(first);
    await provider.close(second);
    same(await subject.activeConnections(), 0, "connections out after both were closed");
  });

  it("DB-03 refuses when no connection can be had", async (subject) => {
    await subject.endPool();
    await rejects(() => subject.provider.acquire(), UncorrectableError, "acquire() from a pool that ended");
    same(await subject.activeConnections(), 0, "connections out after the refusal");
  });

  it("DB-04 keeps its one connection through its transactions, until close", async (subject) => {
    const { provider } = subject;
    const handle = await provider.acquire();
    for (let round = 1; round <= 2; round++) {
      await commitRow(subject, handle);
      same(await subject.activeConnections(), 1, `connections out after commit ${round}`);
      same(await subject.committedRows(), round, `rows after commit ${round}`);
    }
    await provider.close(handle);
    same(await subject.activeConnections(), 0, "connections out after close()");
  });
}

function stackCases<T>({ it }: SubjectCases<DBHoldingSubject<T>>): void {
  it("DB-05 tells the connection that it is only read from, and lets it forget that", async (subject) => {
    const { provider } = subject;
    for (const isReadOnly of [false, true, false]) {
      const handles = [await provider.acquire(isReadOnly), await provider.acquire(isReadOnly)];
      for (const handle of handles) {
        same(
          await subject.isReadOnly(handle.unwrap()),
          isReadOnly,
          `isReadOnly after acquire(${isReadOnly})`,
        );
        if (!isReadOnly) await commitRow(subject, handle);
      }
      for (const handle of handles) await provider.close(handle);
    }
    const handle = await provider.acquire();
    same(await subject.isReadOnly(handle.unwrap()), false, "isReadOnly after acquire()");
    await provider.close(handle);
  });

  it("DB-14 unwrap gives the stack's object, the same each time", async (subject) => {
    const { provider } = subject;
    const handle = await provider.acquire();
    const stack = handle.unwrap();
    check(stack !== null && stack !== undefined, "unwrap() should give the stack's object");
    await provider.begin(handle);
    same(handle.unwrap(), stack, "unwrap() within a transaction");
    await subject.insertRow(stack);
    await provider.commit(handle);
    same(handle.unwrap(), stack, "unwrap() after a commit");
    same(handle.provider, provider, "the handle's provider");
    await provider.close(handle);
  });
}

function transactionCases<T>({ it }: SubjectCases<DBHoldingSubject<T>>): void {
  it("DB-07 others see the data after commit and await, and not before", async (subject) => {
    const { provider } = subject;
    const handle = await openTransaction(subject);
    same(await subject.committedRows(), 0, "rows before the commit");
    await provider.commit(handle);
    await provider.awaitCompletion(handle);
    same(await subject.committedRows(), 1, "rows after it");
    await provider.close(handle);
    same(await subject.committedRows(), 1, "rows after close()");
  });

  it("DB-08 rollback discards, and does nothing when there is nothing to discard", async (subject) => {
    const { provider } = subject;
    const handle = await provider.acquire();
    await provider.rollback(handle);
    await provider.begin(handle);
    await subject.insertRow(handle.unwrap());
    await provider.rollback(handle);
    await provider.rollback(handle);
    same(await subject.committedRows(), 0, "rows after a rollback");
    await commitRow(subject, handle);
    await provider.rollback(handle);
    same(await subject.committedRows(), 1, "rows after a commit and a rollback that came too late");
    await provider.close(handle);
  });

  it("DB-09 close rolls an open transaction back and returns the connection", async (subject) => {
    const handle = await openTransaction(subject);
    await subject.provider.close(handle);
    same(await subject.activeConnections(), 0, "connections out after close()");
    same(await subject.committedRows(), 0, "rows after close()");
    await workOn(subject);
  });

  it("DB-09 DB-19 a second close returns nothing: the next job keeps its connection", async (subject) => {
    const { provider } = subject;
    const handle = await provider.acquire();
    await provider.close(handle);
    await provider.close(handle);
    same(await subject.activeConnections(), 0, "connections out after two closes");
    const next = await openTransaction(subject);
    await provider.close(handle);
    provider.abort(handle);
    same(await subject.activeConnections(), 1, "connections out after a third close and an abort");
    await provider.commit(next);
    await provider.close(next);
    same(await subject.committedRows(), 1, "rows that the next job committed");
    same(await subject.activeConnections(), 0, "connections out at the end");
  });
}

function fanOutCase<T>({ it }: SubjectCases<DBHoldingSubject<T>>, patienceMs: number): void {
  it("DB-13 6 jobs on a bound of 2 all commit, and never hold more than 2 connections", async (subject) => {
    const { provider } = subject;
    await fanOut({
      admission: provider.admission,
      patienceMs,
      activeConnections: () => subject.activeConnections(),
      job: async (meet) => {
        const handle = await within(patienceMs, provider.acquire(), "acquire() under a permit");
        try {
          await meet();
          await commitRow(subject, handle);
        } finally {
          await provider.close(handle);
        }
      },
    });
    same(await subject.committedRows(), 6, "rows that the jobs committed");
  });
}
