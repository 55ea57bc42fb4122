// What a provider over a real server does when the server ends a session, or itself: for both kinds of server.

import assert from "node:assert/strict";
import { it } from "@std/testing/bdd";
import { Admission, Demand, UncorrectableError } from "../mod.ts";
import type { PrivateServer } from "../scripts/services/private_server.ts";
import type { DatabaseWorld } from "./database_servers.ts";
import { subjectsOf, type With } from "./server_cases.ts";

/** Adds the cases to the suite that is open. They should come last, because they stop the server. */
export function serverFaultCases<T>(world: DatabaseWorld<T>, server: () => Promise<PrivateServer>): void {
  const using = subjectsOf(world, server);
  brokenCases(using);
  frozenCases(using);
  serverDownCases(using, server);
}

function brokenCases<T>(using: With<T>): void {
  it("DB-19 a backend that is killed in mid-transaction: its commit fails, nothing of it stays, the permit comes back", () =>
    using({}, async (subject) => {
      const { provider } = subject;
      const monitor = new Admission({ memory: null }).start();
      const work = monitor.run(new Demand().add(provider.admission), async () => {
        const handle = await provider.acquire();
        try {
          await provider.begin(handle);
          await subject.insertRow(handle.unwrap());
          await subject.kill(await subject.sessionOf(handle.unwrap()));
          await provider.commit(handle);
        } finally {
          await provider.close(handle).catch((fault) => assert.ok(fault instanceof UncorrectableError));
        }
      });
      await assert.rejects(work, UncorrectableError);
      assert.equal(provider.admission.currentInUse, 0);
      assert.equal(await subject.activeConnections(), 0);
      assert.equal(await subject.committedRows(), 0);
      const handle = await provider.acquire();
      await subject.insertRow(handle.unwrap());
      await provider.close(handle);
      assert.equal(await subject.committedRows(), 1);
      monitor.stop();
    }));

  it("a backend that is killed while its job runs a statement, or none: the connection is thrown away", () =>
    using({ bound: 1, poolSize: 1 }, async (subject) => {
      const { provider } = subject;
      for (const isRunning of [true, false]) {
        const handle = await provider.acquire();
        const session = await subject.sessionOf(handle.unwrap());
        const statement = isRunning
          ? assert.rejects(subject.sleep(handle.unwrap(), 20_000), Error)
          : Promise.resolve();
        await subject.kill(session);
        await statement;
        await new Promise((resolve) => setTimeout(resolve, 50));
        await provider.close(handle);
        assert.equal(await subject.activeConnections(), 0);
        const next = await provider.acquire();
        assert.notEqual(await subject.sessionOf(next.unwrap()), session);
        await provider.close(next);
      }
    }));
}

function frozenCases<T>(using: With<T>): void {
  it("DB-10 DB-20 a server that answers nothing any more: abort fails what runs, and close ends a second later at most", () =>
    using({ bound: 1, poolSize: 1 }, async (subject) => {
      const { provider } = subject;
      for (const isRunning of [true, false]) {
        const handle = await provider.acquire();
        await provider.begin(handle);
        await subject.insertRow(handle.unwrap());
        const session = await subject.sessionOf(handle.unwrap());
        const thaw = await subject.freeze(session);
        try {
          const statement = isRunning ? assert.rejects(subject.run(handle.unwrap(), "select 1")) : null;
          const closing = provider.close(handle).catch(() => {});
          await new Promise((resolve) => setTimeout(resolve, 30));
          const startedAt = performance.now();
          provider.abort(handle);
          await statement;
          assert.ok(performance.now() - startedAt < 300, "a statement that was cut should end at once");
          await closing;
          assert.ok(performance.now() - startedAt < 2_000, "the close should not wait for the server");
          assert.equal(await subject.activeConnections(), 0);
        } finally {
          thaw();
        }
        const next = await provider.acquire();
        assert.notEqual(await subject.sessionOf(next.unwrap()), session);
        await provider.close(next);
      }
      assert.equal(await subject.committedRows(), 0);
    }));
}

function serverDownCases<T>(using: With<T>, server: () => Promise<PrivateServer>): void {
  it("DB-03 a server that is down: acquire is refused and says why; when it is up again jobs go on", () =>
    using({}, async (subject) => {
      const { provider } = subject;
      const monitor = new Admission({ memory: null }).start();
      const work = () =>
        monitor.run(new Demand().add(provider.admission), async () => {
          const handle = await provider.acquire();
          await subject.insertRow(handle.unwrap());
          await provider.close(handle);
        });
      const { stop, start } = await controls(server);
      await stop();
      await assert.rejects(work(), { name: "UncorrectableError", message: /Cannot acquire .*ECONNREFUSED/ });
      assert.equal(provider.admission.currentInUse, 0);
      assert.equal(await subject.activeConnections(), 0);
      await start();
      await work();
      assert.equal(provider.admission.currentInUse, 0);
      monitor.stop();
    }));

  it("a restart of the server in mid-transaction: everything held fails, is closed and thrown away, and jobs go on", () =>
    using({}, async (subject) => {
      const { provider } = subject;
      const { crash, start } = await controls(server);
      const handles = [await provider.acquire(), await provider.acquire()];
      for (const handle of handles) {
        await provider.begin(handle);
        await subject.insertRow(handle.unwrap());
      }
      await crash();
      await start();
      for (const handle of handles) {
        await assert.rejects(async () => await subject.insertRow(handle.unwrap()));
        await assert.rejects(provider.commit(handle), UncorrectableError);
        await provider.close(handle).catch((fault) => assert.ok(fault instanceof UncorrectableError));
      }
      assert.equal(await subject.activeConnections(), 0);
      const handle = await provider.acquire();
      await provider.begin(handle);
      await subject.insertRow(handle.unwrap());
      await provider.commit(handle);
      await provider.close(handle);
      // The watcher's own connection may have gone with the server: a second look is on a new one.
      await Promise.resolve(subject.committedRows()).catch(() => {});
      assert.equal(await subject.committedRows(), 1);
    }));
}

async function controls(
  server: () => Promise<PrivateServer>,
): Promise<Record<"start" | "stop" | "crash", () => Promise<void>>> {
  const each = await server();
  return { start: () => each.start(), stop: () => each.stop(), crash: () => each.crash() };
}
