// The suite that ships for authors of database providers can fail: it catches every bad habit planted in one.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { CountingDBResourceProvider, type DBManagedResource } from "../mod.ts";
import { type DBContractHarness, dbResourceProviderContract, type TestRunner } from "../testing/mod.ts";
import { AT_THE_END, Latched } from "./broken_providers/at_the_end.ts";
import { AT_WORK } from "./broken_providers/at_work.ts";
import { insertRow, SqlitePool } from "./sqlite_pool.ts";
import { type MakeProvider, SqliteProvider, sqliteSubject } from "./sqlite_provider.ts";

/** Runs the cases of the suite with such a title; answers those that ran, and those that failed with why. */
async function verdictOf<T>(
  harness: DBContractHarness<T>,
  titles: RegExp,
): Promise<{ ran: string[]; failed: string[] }> {
  const cases: [string, () => void | Promise<void>][] = [];
  const runner: TestRunner = {
    describe: (_, body) => body(),
    it: (title, body) => void (titles.test(title) && cases.push([title, body])),
  };
  dbResourceProviderContract(runner, harness);
  const failed: string[] = [];
  for (const [title, body] of cases) {
    try {
      await body();
    } catch (error) {
      failed.push(`${title}: ${error}`);
    }
  }
  return { ran: cases.map(([title]) => title), failed };
}

/** Bad habits of a provider that only counts. */
const COUNTING: readonly {
  habit: string;
  caught: RegExp;
  make(pool: SqlitePool, name: string, maxConcurrent: number): CountingDBResourceProvider;
}[] = [
  {
    habit: "checks a connection out",
    caught: /^DB-25 its handle/,
    make: (pool, ...args) =>
      new class extends CountingDBResourceProvider {
        override acquire(): Promise<DBManagedResource<null>> {
          pool.checkOut();
          return super.acquire();
        }
      }(...args),
  },
  {
    habit: "minds a second transaction",
    caught: /^DB-25 its handle/,
    make: (_, ...args) =>
      new class extends CountingDBResourceProvider {
        readonly #begun = new Set<DBManagedResource<null>>();

        override begin(handle: DBManagedResource<null>): Promise<void> {
          if (this.#begun.has(handle)) return Promise.reject(new Error("a transaction is open"));
          this.#begun.add(handle);
          return super.begin(handle);
        }
      }(...args),
  },
  {
    habit: "waits",
    caught: /^DB-25 awaitCompletion/,
    make: (_, ...args) =>
      new class extends CountingDBResourceProvider {
        override awaitCompletion(): Promise<void> {
          return new Promise(() => {});
        }
      }(...args),
  },
  {
    habit: "has a wider gate",
    caught: /^DB-13 DB-25/,
    make: (_, name, maxConcurrent) => new CountingDBResourceProvider(name, maxConcurrent + 1),
  },
  {
    habit: "verifies nothing",
    caught: /^DB-06/,
    make: (_, ...args) =>
      new class extends CountingDBResourceProvider {
        override rollback(): Promise<void> {
          return Promise.resolve();
        }
      }(...args),
  },
];

/** Short, because what never comes has to be waited for. */
const patienceMs = 250;

describe("dbResourceProviderContract", () => {
  it("passes sound providers, with a case for each rule that they hold", async () => {
    const makes: MakeProvider[] = [
      (...args) => new SqliteProvider(...args),
      (...args) => new Latched(...args),
    ];
    for (const make of makes) {
      const { ran, failed } = await verdictOf({
        name: "sound",
        holdsConnections: true,
        open: (...args) => sqliteSubject(make, ...args),
      }, /./);
      assert.deepEqual(failed, []);
      const ids = "01 02 03 04 05 06 07 08 09 10 11 12 13 14 17 19".split(" ").map((id) => `DB-${id}`);
      assert.deepEqual(ids.filter((id) => !ran.some((title) => title.includes(id))), []);
    }
  });

  for (const { habit, caught, make } of [...AT_WORK, ...AT_THE_END]) {
    it(`catches a provider that ${habit}`, async () => {
      const { ran, failed } = await verdictOf({
        name: habit,
        holdsConnections: true,
        patienceMs,
        open: (...args) => sqliteSubject(make, ...args),
      }, caught);
      assert.notEqual(ran.length, 0, "a case has that title");
      assert.notEqual(failed.length, 0, `it passed ${ran.join("; ")}`);
    });
  }

  for (const { habit, caught, make } of COUNTING) {
    it(`catches a counting provider that ${habit}`, async () => {
      const { ran, failed } = await verdictOf({
        name: habit,
        holdsConnections: false,
        patienceMs,
        open(name, maxConcurrent) {
          const pool = new SqlitePool(3 * maxConcurrent);
          return {
            provider: make(pool, name, maxConcurrent),
            activeConnections: () => pool.active,
            committedRows: () => pool.rows,
            dispose: () => pool.dispose(),
            async useConnection(whileOut) {
              const connection = pool.checkOut();
              await insertRow(connection);
              await whileOut();
              pool.handBack(connection, true);
            },
          };
        },
      }, caught);
      assert.notEqual(ran.length, 0, "a case has that title");
      assert.notEqual(failed.length, 0, `it passed ${ran.join("; ")}`);
    });
  }
});
