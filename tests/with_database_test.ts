// withDatabase: one demand, one connection, one transaction, in order, whatever happens.

import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { describe, it } from "@std/testing/bdd";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { withDatabase } from "../adapters/drizzle/mod.ts";
import {
  Admission,
  CancellationError,
  CountingGate,
  createJobContext,
  Demand,
  health,
  healthTable,
  JobRunner,
  JobTimeoutError,
  type LimiterEvent,
  RetrySignal,
  TimeoutError,
  UpstreamFailure,
} from "../mod.ts";
import { ManualClock } from "../testing/mod.ts";
import { type FileDatabase, fileDatabase } from "./drizzle_sqlite.ts";
import { ScriptedDatabase } from "./scripted_jobs.ts";

const jobs = sqliteTable("jobs", { id: integer("id").primaryKey(), label: text("label") });
const schema = { jobs };
type World = FileDatabase<typeof schema> & { readonly events: LimiterEvent[]; readonly admission: Admission };

/** A case with a file of its own and a bound of 1; at its end nothing may be out. */
function withFile(body: (world: World) => Promise<void>): () => Promise<void> {
  return async () => {
    const file = fileDatabase("orders", { maxConcurrent: 1, schema });
    const events: LimiterEvent[] = [];
    const admission = new Admission({ memory: null, events: (event) => void events.push(event) }).start();
    try {
      await body({ ...file, events, admission });
      await admission.drain();
      assert.deepEqual([file.provider.connectionsOut, file.provider.admission.currentInUse], [0, 0]);
    } finally {
      admission.stop();
      file.dispose();
    }
  };
}

/** One turn of the event loop: whoever can go on has gone on. */
function turn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

describe("withDatabase", () => {
  it("DB-31 acquires, begins, works, commits, awaits, closes and releases, in this order", async () => {
    const log: string[] = [];
    const provider = new ScriptedDatabase("scripted", 1, log);
    const admission = new Admission({ memory: null }).start();
    const work = (db: number) => void log.push(`works on ${db}, permits ${provider.admission.currentInUse}`);
    await withDatabase(admission, provider, work, { transaction: true, readOnly: true });
    assert.deepEqual(log.map((line) => line.replace("scripted ", "")), [
      "acquire read-only",
      "begin",
      "works on 1, permits 1",
      "commit",
      "awaitCompletion",
      "close",
    ]);
    assert.equal(provider.admission.currentInUse, 0);
  });

  it(
    "DB-31 answers what the work answers, and others see what it committed",
    withFile(async ({ admission, provider, rows }) => {
      const found = await withDatabase(admission, provider, async (db, grant) => {
        await db.insert(jobs).values({ label: "one" });
        assert.deepEqual([rows(), grant.isSettled, provider.admission.currentInUse], [0, false, 1]);
        return await db.query.jobs.findMany();
      }, { transaction: true });
      assert.deepEqual([found, rows()], [[{ id: 1, label: "one" }], 1]);
    }),
  );

  it(
    "DB-31 rolls back what failed work did, and throws its error as it is",
    withFile(async ({ admission, provider, rows }) => {
      const error = new Error("no stock");
      const job = withDatabase(admission, provider, async (db) => {
        await db.insert(jobs).values({ label: "one" });
        throw error;
      }, { transaction: true });
      await assert.rejects(job, (thrown) => thrown === error);
      assert.equal(rows(), 0);
    }),
  );

  it(
    "DB-02 asks for its permit and what else it needs as one demand, and holds nothing while it waits",
    withFile(async ({ admission, provider }) => {
      const http = new CountingGate("http", 1);
      const held = await admission.admit(new Demand().add(http));
      const demand = new Demand().add(http);
      const job = withDatabase(admission, provider, () => [provider.connectionsOut, http.currentInUse], {
        demand,
      });
      await turn();
      assert.deepEqual([admission.queueSize, provider.admission.currentInUse, provider.connectionsOut], [
        1,
        0,
        0,
      ]);
      held.release();
      assert.deepEqual(await job, [1, 1]);
      assert.equal(http.currentInUse, 0);
    }),
  );

  it(
    "BEY-20 BEY-25 leaves the line at its time limit, by its signal and by its context",
    withFile(async ({ admission, provider, watcher }) => {
      const held = await admission.admit(new Demand().add(provider.admission));
      const never = () => assert.fail("it never has the database");
      const late = withDatabase(admission, provider, never, { timeoutMs: 5 });
      await assert.rejects(late, (error) => {
        return error instanceof TimeoutError && error.waitingOn.join() === "db:orders";
      });
      const controller = new AbortController();
      const aborted = withDatabase(admission, provider, never, { signal: controller.signal });
      const context = createJobContext();
      const cancelled = withDatabase(admission, provider, never, { context });
      const reason = new Error("gone");
      const outcomes = Promise.allSettled([aborted, cancelled]);
      controller.abort(reason);
      context.cancel();
      const [first, second] = await outcomes;
      assert.equal((first as PromiseRejectedResult).reason, reason);
      assert.ok((second as PromiseRejectedResult).reason instanceof CancellationError);
      held.release();
      assert.equal(watcher.isOpen, true);
    }),
  );

  it("DB-20 ends work that runs too long: its database is closed under it, and nothing is committed", async () => {
    const clock = new ManualClock();
    const { provider, rows, dispose } = fileDatabase("orders", { maxConcurrent: 1, schema });
    const runner = new JobRunner(new Admission({ memory: null, clock }).start(), { clock });
    let goOn = () => {};
    let late: unknown = null;
    const job = withDatabase(runner, provider, async (db) => {
      await db.insert(jobs).values({ label: "too slow" });
      await new Promise<void>((resolve) => goOn = resolve);
      await db.insert(jobs).values({ label: "too late" }).catch((error) => late = error);
    }, { transaction: true, workTimeoutMs: 1_000 });
    const ended = assert.rejects(job, (error) => error instanceof JobTimeoutError);
    for (let times = 0; times < 5; times++) await clock.advance(500);
    goOn();
    await ended;
    await turn();
    assert.deepEqual([provider.connectionsOut, provider.admission.currentInUse, rows()], [0, 0, 0]);
    assert.match(String((late as Error | null)?.cause), /the handle was closed or aborted/);
    dispose();
  });

  it("DB-31 work that throws a RetrySignal is done again, in a transaction of its own", async () => {
    const clock = new ManualClock();
    const { provider, rows, dispose } = fileDatabase("orders", { maxConcurrent: 1, schema });
    const runner = new JobRunner(new Admission({ memory: null, clock }).start(), { clock, random: () => 0 });
    let attempts = 0;
    const job = withDatabase(runner, provider, async (db) => {
      await db.insert(jobs).values({ label: `attempt ${++attempts}` });
      if (attempts === 1) throw new RetrySignal("RATE_LIMIT", new UpstreamFailure({ statusCode: 429 }));
    }, { transaction: true });
    for (let times = 0; times < 100 && attempts < 2; times++) await clock.advance(1_000);
    await job;
    assert.deepEqual([attempts, rows()], [2, 1]);
    dispose();
  });

  it(
    "DB-06 refuses what is no provider, no work, no options and no demand, before anything is asked",
    withFile(async ({ admission, provider }) => {
      const fine = () => 1;
      const wrong: readonly [unknown[], RegExp][] = [
        [[admission, {}, fine], /database is an object of class Object, it should be a DBResourceProvider/],
        [[admission, provider, 7], /work is 7, it should be a function/],
        [[admission, provider, fine, null], /options are null/],
        [[admission, provider, fine, { transaction: 1 }], /transaction of a database is 1/],
        [[admission, provider, fine, { readOnly: "no" }], /readOnly of a database is "no"/],
        [[admission, provider, fine, { demand: {} }], /demand is an object of class Object/],
        [[admission, provider, fine, { timeoutMs: "5" }], /timeoutMs is "5"/],
        [[admission, provider, fine, { workTimeoutMs: "5" }], /timeoutMs is "5"/],
        [
          [{}, provider, fine],
          /by, .* is an object of class Object, it should be an Admission or a JobRunner/,
        ],
        [
          [provider, admission, fine],
          /^Cannot work with a database: by, .*Breakable.*; the provider comes second$/,
        ],
      ];
      for (const [args, message] of wrong) {
        await assert.rejects(withDatabase(...args as Parameters<typeof withDatabase>), {
          name: "TypeError",
          message,
        });
      }
      await assert.rejects(withDatabase(admission, provider, fine, { workTimeoutMs: 0 }), RangeError);
      assert.equal(admission.queueSize, 0);
    }),
  );

  it(
    "BEY-33 keeps the caller's async context",
    withFile(async ({ admission, provider }) => {
      const storage = new AsyncLocalStorage<string>();
      const seen = await storage.run("request 7", () => {
        return withDatabase(admission, provider, () => storage.getStore());
      });
      assert.equal(seen, "request 7");
    }),
  );
});

describe("The database of a provider, for those who look", () => {
  it(
    "DB-01 is db:<name> in events, in explain, among the waiters and in health",
    withFile(async ({ admission, provider, events }) => {
      let goOn = () => {};
      const first = withDatabase(admission, provider, () => new Promise<void>((resolve) => goOn = resolve));
      await turn();
      const second = withDatabase(admission, provider, () => "done");
      await turn();
      const explained = admission.explain(new Demand().add(provider.admission));
      assert.deepEqual(explained.accounts.map(({ account }) => account), ["db:orders"]);
      assert.deepEqual(admission.waiters()[0]!.accounts.map(({ account }) => account), ["db:orders"]);
      const [row] = health([provider.admission]);
      assert.deepEqual([row!.name, row!.inUse, row!.capacity, row!.waiters], ["db:orders", 1, 1, 1]);
      assert.match(healthTable([provider.admission]), /^db:orders +semaphore +1\/1 +100% +1 +-$/m);
      goOn();
      await first;
      assert.equal(await second, "done");
      const told = events.filter(({ limiterName }) => limiterName === "db:orders").map(({ type }) => type);
      assert.deepEqual(told, ["GRANTED_IMMEDIATE", "HELD", "RELEASED", "GRANTED_FROM_HOLD", "RELEASED"]);
    }),
  );
});
