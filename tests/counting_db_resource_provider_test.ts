// A bound on the host's own pool, measured on a real one.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import { Admission, CountingDBResourceProvider, DatabaseGate, Demand } from "../mod.ts";
import { ManualClock } from "../testing/mod.ts";
import { insertRow, SqlitePool } from "./sqlite_pool.ts";

/** Jobs that each take a connection of the pool under a permit, some failing on the way; answers the pool's peak. */
async function peakOf(jobs: readonly { turns: number; fails: boolean }[], bound: number): Promise<number> {
  const pool = new SqlitePool(jobs.length);
  const provider = new CountingDBResourceProvider("orders", bound);
  const admission = new Admission({ memory: null }).start();
  const demand = new Demand().add(provider.admission);
  const results = await Promise.allSettled(jobs.map(({ turns, fails }) =>
    admission.run(demand, async () => {
      const handle = await provider.acquire();
      const connection = pool.checkOut();
      try {
        await insertRow(connection);
        for (let turn = 0; turn < turns; turn++) await Promise.resolve();
        if (fails) throw new Error("the job failed");
      } finally {
        pool.handBack(connection, true);
        await provider.close(handle);
      }
    })
  ));
  const failed = results.filter((result) => result.status === "rejected").length;
  assert.equal(failed, jobs.filter((job) => job.fails).length);
  assert.deepEqual([pool.rows, pool.active, provider.admission.currentInUse], [jobs.length, 0, 0]);
  pool.dispose();
  return pool.peak;
}

describe("CountingDBResourceProvider", () => {
  it("DB-01 DB-25 has a name, a gate of its bound, and handles that unwrap to null", async () => {
    const provider = new CountingDBResourceProvider("contract", 2);
    const { name, admission } = provider;
    assert.ok(admission instanceof DatabaseGate);
    assert.deepEqual([name, admission.limiterName, admission.capacity], ["contract", "db:contract", 2]);
    const handle = await provider.acquire();
    assert.deepEqual([handle.unwrap(), handle.provider], [null, provider]);
    assert.ok(Object.isFrozen(handle));
  });

  it("DB-13 DB-25 6 jobs on a bound of 2 use at most 2 connections of a pool of 6", async () => {
    const jobs = Array.from({ length: 6 }, () => ({ turns: 3, fails: false }));
    assert.equal(await peakOf(jobs, 2), 2);
  });

  it("DB-25 whatever jobs do, the peak of the pool is at most the bound", async () => {
    const job = fc.record({ turns: fc.nat(8), fails: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        fc.array(job, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 1, max: 5 }),
        async (jobs, bound) => assert.ok(await peakOf(jobs, bound) <= Math.min(bound, jobs.length)),
      ),
      { numRuns: 20 },
    );
  });

  it("DB-06 each verb names the provider, and what it was given", async () => {
    const orders = new CountingDBResourceProvider("orders", 1);
    const foreign = await new CountingDBResourceProvider("stock", 1).acquire();
    for (const verb of ["begin", "commit", "awaitCompletion", "rollback", "close"] as const) {
      const promise = orders[verb](foreign);
      await assert.rejects(promise, { name: "TypeError", message: /"orders": handle is .*provider "stock"/ });
      await assert.rejects(orders[verb](null as never), { name: "TypeError", message: /handle is null, it/ });
    }
    assert.throws(() => orders.abort(5 as never), {
      name: "TypeError",
      message: /Cannot abort .*handle is 5/,
    });
  });

  it("refuses a name or a bound that is none, and stamps with the clock it is given", () => {
    for (const name of ["", null, 5]) {
      assert.throws(() => new CountingDBResourceProvider(name as string, 1), {
        name: "TypeError",
        message: /CountingDBResourceProvider: name is .*non-empty string/,
      });
    }
    const wrong: [unknown, string][] = [
      [0, "RangeError"],
      [-1, "RangeError"],
      [1.5, "RangeError"],
      [NaN, "RangeError"],
      [Infinity, "RangeError"],
      [2 ** 31, "RangeError"],
      ["2", "TypeError"],
      [undefined, "TypeError"],
    ];
    for (const [bound, name] of wrong) {
      assert.throws(() => new CountingDBResourceProvider("orders", bound as number), {
        name,
        message: /maxConcurrent is .*it should be a whole number/,
      });
    }
    const clock = new ManualClock(0, 5_000);
    const { admission } = new CountingDBResourceProvider("orders", 1, { clock });
    admission.tryTake([undefined], []);
    assert.equal(admission.status.lastActivity, 5_000);
  });
});
