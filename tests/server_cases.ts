// What a provider over a real server promises beyond the contract, for both kinds of server.

import assert from "node:assert/strict";
import { it } from "@std/testing/bdd";
import { Admission, Demand, InvalidStateError, UncorrectableError } from "../mod.ts";
import type { PrivateServer } from "../scripts/services/private_server.ts";
import type { DatabaseWorld, PoolOptions, ServerSubject } from "./database_servers.ts";

/** Runs a case with a subject of its own, closed at its end. */
export type With<T> = (
  options: PoolOptions & { readonly bound?: number },
  body: (subject: ServerSubject<T>) => Promise<void>,
) => Promise<void>;

/** Adds the cases to the suite that is open. */
export function serverCases<T>(world: DatabaseWorld<T>, server: () => Promise<PrivateServer>): void {
  const using = subjectsOf(world, server);
  transactionCases(using);
  misuseCases(using);
  leftoverCase(using);
  endOfWorkCases(using, world);
  poolCases(using);
  badInputCases(using, world, server);
}

/** How cases get their subjects. */
export function subjectsOf<T>(world: DatabaseWorld<T>, server: () => Promise<PrivateServer>): With<T> {
  return async ({ bound = 2, ...options }, body) => {
    const subject = await world.open(await server(), "orders", bound, options);
    try {
      await body(subject);
    } finally {
      await subject.dispose();
    }
  };
}

function transactionCases<T>(using: With<T>): void {
  it("DB-21 outside of a transaction a statement is visible at once, in one it is not, and after it again", () =>
    using({}, async (subject) => {
      const { provider } = subject;
      const handle = await provider.acquire();
      const insert = () => subject.insertRow(handle.unwrap());
      await provider.commit(handle);
      await insert();
      assert.equal(await subject.committedRows(), 1);
      await provider.begin(handle);
      await insert();
      assert.equal(await subject.committedRows(), 1);
      await provider.commit(handle);
      await insert();
      assert.equal(await subject.committedRows(), 3);
      await provider.begin(handle);
      await insert();
      await provider.rollback(handle);
      await insert();
      assert.equal(await subject.committedRows(), 4);
      await provider.close(handle);
    }));

  it("DB-18 DB-07 once a commit has ended it is acknowledged: awaiting it returns at once, and others see the data", () =>
    using({}, async (subject) => {
      const { provider } = subject;
      const handle = await provider.acquire();
      await provider.begin(handle);
      await subject.insertRow(handle.unwrap());
      await provider.commit(handle);
      let hasReturned = false;
      void provider.awaitCompletion(handle).then(() => hasReturned = true);
      for (let turn = 0; turn < 10; turn++) await Promise.resolve();
      assert.equal(hasReturned, true);
      assert.equal(await subject.committedRows(), 1);
      await provider.close(handle);
    }));

  it("DB-22 close leaves a session that the pool hands out as read-only as it was, and a writable one writable", async () => {
    for (const isReadOnly of [true, false]) {
      await using({ bound: 1, poolSize: 1, isReadOnly }, async (subject) => {
        const { provider } = subject;
        for (const told of [false, true, false]) {
          const handle = await provider.acquire(told);
          const stack = handle.unwrap();
          assert.equal(await subject.isReadOnly(stack), isReadOnly || told);
          if (isReadOnly || told) await assert.rejects(async () => await subject.insertRow(stack));
          else await subject.insertRow(stack);
          await provider.close(handle);
        }
        assert.equal(await subject.committedRows(), isReadOnly ? 0 : 2);
        assert.equal(await subject.sessions(), 1, "it should be one session all along");
      });
    }
  });
}

function misuseCases<T>(using: With<T>): void {
  it("a second begin is refused and the first transaction goes on; a commit without one does nothing", () =>
    using({}, async (subject) => {
      const { provider } = subject;
      const handle = await provider.acquire();
      await provider.commit(handle);
      await provider.begin(handle);
      await subject.insertRow(handle.unwrap());
      await assert.rejects(provider.begin(handle), InvalidStateError);
      assert.equal(await subject.committedRows(), 0);
      await provider.commit(handle);
      await provider.commit(handle);
      await provider.close(handle);
      assert.equal(await subject.committedRows(), 1);
    }));

  it("a transaction that the job opens in the provider's is refused, and the provider's goes on", () =>
    using({}, async (subject) => {
      const { provider } = subject;
      const handle = await provider.acquire();
      await provider.begin(handle);
      await subject.insertRow(handle.unwrap());
      for (const statement of ["begin", "start transaction"]) {
        await assert.rejects(
          subject.run(handle.unwrap(), statement),
          (error: Error) => /a transaction of the provider's is open/.test(String(error.cause)),
        );
      }
      assert.equal(await subject.committedRows(), 0);
      await provider.commit(handle);
      await provider.close(handle);
      assert.equal(await subject.committedRows(), 1);
    }));

  it("a commit fails when the job has ended the transaction itself", () =>
    using({}, async (subject) => {
      const { provider } = subject;
      const handle = await provider.acquire();
      for (const statement of ["rollback", "commit"]) {
        await provider.begin(handle);
        await subject.run(handle.unwrap(), statement);
        await assert.rejects(provider.commit(handle), /no transaction is open any more/);
        await provider.rollback(handle);
      }
      await provider.close(handle);
      assert.equal(subject.provider.admission.currentInUse, 0);
    }));
}

function leftoverCase<T>(using: With<T>): void {
  it("close ends a transaction that the job opened with a statement of its own", () =>
    using({ bound: 1, poolSize: 1 }, async (subject) => {
      const { provider } = subject;
      const first = await provider.acquire();
      await subject.run(first.unwrap(), "begin");
      await subject.insertRow(first.unwrap());
      await provider.close(first);
      const next = await provider.acquire();
      await subject.insertRow(next.unwrap());
      assert.equal(await subject.committedRows(), 1, "only the next job's row, committed by itself");
      await provider.close(next);
    }));
}

function endOfWorkCases<T>(using: With<T>, { canCancel }: DatabaseWorld<T>): void {
  it("DB-14 a job that goes on after its handle was closed writes nothing, nor ends the next one's connection", () =>
    using({ bound: 1, poolSize: 1 }, async (subject) => {
      const { provider } = subject;
      const handle = await provider.acquire();
      const stack = handle.unwrap();
      await provider.begin(handle);
      await subject.insertRow(stack);
      const closing = provider.close(handle);
      const late = async () => await subject.insertRow(stack);
      await assert.rejects(late, "while it closes");
      await closing;
      await assert.rejects(late, "afterwards");
      const next = await provider.acquire();
      await provider.begin(next);
      await assert.rejects(late, "while the next job has the connection");
      await subject.insertRow(next.unwrap());
      await provider.commit(next);
      await provider.close(next);
      assert.equal(await subject.committedRows(), 1);
    }));

  it("DB-10 DB-11 abort ends a statement that runs, and once close has ended the session is gone", () =>
    using({ bound: 1, poolSize: 1 }, async (subject) => {
      const { provider } = subject;
      for (const isInTransaction of [true, false]) {
        const handle = await provider.acquire();
        if (isInTransaction) await provider.begin(handle);
        await subject.insertRow(handle.unwrap());
        // Where the server cannot be told to stop, it has to end by itself in time.
        const statement = subject.sleep(handle.unwrap(), canCancel ? 30_000 : 300);
        const isCut = assert.rejects(statement, Error);
        await new Promise((resolve) => setTimeout(resolve, 50));
        const startedAt = performance.now();
        provider.abort(handle);
        await isCut;
        assert.ok(performance.now() - startedAt < 200, "a statement that was cut should end at once");
        await provider.close(handle);
        assert.equal(await subject.sessions(), 0);
        assert.equal(await subject.activeConnections(), 0);
        assert.equal(await subject.committedRows(), isInTransaction ? 0 : 1);
      }
    }));
}

function poolCases<T>(using: With<T>): void {
  it("a pool smaller than the bound: jobs wait for the pool, all of them commit, and nothing deadlocks", () =>
    using({ bound: 4, poolSize: 2 }, async (subject) => {
      const { provider } = subject;
      const monitor = new Admission({ memory: null }).start();
      let most = 0;
      await Promise.all(
        Array.from({ length: 12 }, () =>
          monitor.run(new Demand().add(provider.admission), async () => {
            const handle = await provider.acquire();
            await provider.begin(handle);
            await subject.insertRow(handle.unwrap());
            most = Math.max(most, await subject.activeConnections());
            await provider.commit(handle);
            await provider.close(handle);
          })),
      );
      assert.equal(most, 2);
      assert.equal(await subject.committedRows(), 12);
      assert.equal(provider.admission.currentInUse, 0);
      assert.equal(await subject.activeConnections(), 0);
      monitor.stop();
    }));

  it("a checkout that fails on a pool smaller than the bound says so, and one on a larger pool does not", async () => {
    await using({ bound: 4, poolSize: 1, waitMs: 1_000 }, async ({ provider }) => {
      const handle = await provider.acquire();
      await assert.rejects(provider.acquire(), {
        name: "UncorrectableError",
        message: /at most 1 connections and the bound is 4, so jobs wait for the pool/,
      });
      await provider.close(handle);
    });
    await using({ bound: 1, poolSize: 1, waitMs: 1_000 }, async ({ provider }) => {
      const handle = await provider.acquire();
      const fault = await provider.acquire().then(() => null, (error: Error) => error);
      assert.ok(fault instanceof UncorrectableError);
      assert.doesNotMatch(fault.message, /bound/);
      await provider.close(handle);
    });
  });
}

function badInputCases<T>(
  using: With<T>,
  world: DatabaseWorld<T>,
  server: () => Promise<PrivateServer>,
): void {
  it("DB-03 a pool that was closed: acquire is refused and says why, and the permit comes back", () =>
    using({}, async (subject) => {
      const { provider } = subject;
      await subject.endPool();
      const monitor = new Admission({ memory: null }).start();
      const work = monitor.run(new Demand().add(provider.admission), () => provider.acquire());
      await assert.rejects(work, { name: "UncorrectableError", message: /Cannot acquire .*(end|closed)/ });
      assert.equal(provider.admission.currentInUse, 0);
      monitor.stop();
    }));

  it("DB-06 the handle of another provider on the same server is refused, and stays as it was", () =>
    using({}, (subject) =>
      using({}, async (other) => {
        const handle = await other.provider.acquire();
        for (const verb of ["begin", "commit", "rollback", "close"] as const) {
          await assert.rejects(subject.provider[verb](handle), {
            name: "TypeError",
            message: /names provider "orders"/,
          });
        }
        await other.insertRow(handle.unwrap());
        await other.provider.close(handle);
        assert.equal(await other.committedRows(), 1);
      })));

  it("a bound of 0, or of anything but a whole number from 1, is refused", async () => {
    for (const bound of [0, -1, 1.5, Number.NaN]) {
      await assert.rejects(world.open(await server(), "orders", bound, { poolSize: 1 }), {
        name: "RangeError",
        message: /maxConcurrent is .*from 1/,
      });
    }
  });
}
