// What providers over Drizzle say to pools that are none, and what a job's statements do when their handle ends. No server.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { pgTable } from "drizzle-orm/pg-core";
import callbacks from "mysql2";
import mysql from "mysql2/promise";
import pg from "pg";
import { MysqlResourceProvider, PgResourceProvider } from "../adapters/drizzle/mod.ts";
import { checkoutError } from "../adapters/drizzle/checkout.ts";
import { endsInTime } from "../adapters/drizzle/goodbye.ts";
import { connectionForJob, Statements } from "../adapters/drizzle/statements.ts";

const providers = [
  ["PgResourceProvider", PgResourceProvider, /it should be a Pool of pg/],
  ["MysqlResourceProvider", MysqlResourceProvider, /it should be a pool of mysql2\/promise/],
] as const;

describe("Providers over Drizzle", () => {
  for (const [kind, Provider, wanted] of providers) {
    it(`${kind} refuses what is no pool, and says what would do`, () => {
      for (const pool of [undefined, null, 1, "postgres://", {}, [], () => {}, { connect: 1 }]) {
        assert.throws(() => new Provider("orders", { pool, maxConcurrent: 1 } as never), {
          name: "TypeError",
          message: wanted,
        });
      }
      for (const options of [undefined, null, 1]) {
        assert.throws(() => new Provider("orders", options as never), {
          name: "TypeError",
          message: /options are .*: pool, maxConcurrent/,
        });
      }
    });

    it(`${kind} refuses a schema that is no object of tables`, () => {
      const methods = ["connect", "getConnection", "end"];
      const pool = Object.fromEntries(methods.map((method) => [method, () => {}]));
      new Provider("orders", { pool, maxConcurrent: 1, schema: {} } as never);
      for (const schema of ["x", null, [], () => {}, pgTable("notes", {})]) {
        assert.throws(() => new Provider("orders", { pool, maxConcurrent: 1, schema } as never), {
          name: "TypeError",
          message: /^Cannot make a \w+Provider: schema is .*, it should be an object of tables/,
        });
      }
    });

    it(`${kind} refuses a client of postgres.js, and says why`, () => {
      const pool = Object.assign(() => {}, { reserve: () => {}, begin: () => {}, end: () => {} });
      assert.throws(() => new Provider("orders", { pool, maxConcurrent: 1 } as never), {
        name: "TypeError",
        message: /a client of postgres.js, .* the next statement on it never ends/,
      });
    });
  }

  it("PgResourceProvider refuses a client, which is no pool although it connects and ends", () => {
    for (const client of [new pg.Client(), Object.create(new pg.Client())]) {
      assert.throws(() => new PgResourceProvider("orders", { pool: client, maxConcurrent: 1 } as never), {
        name: "TypeError",
        message: "Cannot make a PgResourceProvider: pool is a client of pg, it should be a Pool of pg",
      });
    }
    new PgResourceProvider("orders", { pool: new pg.Pool(), maxConcurrent: 1 });
  });

  it("MysqlResourceProvider refuses a pool with callbacks, and takes its promises", async () => {
    const pool = callbacks.createPool({ host: "127.0.0.1" });
    assert.throws(() => new MysqlResourceProvider("orders", { pool, maxConcurrent: 1 } as never), {
      name: "TypeError",
      message: /with callbacks, it should be .*pool\.promise\(\)/,
    });
    const promises = pool.promise();
    assert.equal(
      new MysqlResourceProvider("orders", { pool: promises, maxConcurrent: 3 }).admission.capacity,
      3,
    );
    await promises.end();
  });

  it("DB-01 has a gate db:<name>, and leaves a bad name or bound to nobody", async () => {
    const pool = new pg.Pool();
    const provider = new PgResourceProvider("orders", { pool, maxConcurrent: 5 });
    assert.equal(provider.admission.limiterName, "db:orders");
    assert.equal(provider.admission.capacity, 5);
    assert.throws(() => new PgResourceProvider("", { pool, maxConcurrent: 5 }), TypeError);
    assert.throws(() => new PgResourceProvider("orders", { pool, maxConcurrent: 0 }), RangeError);
    const other = mysql.createPool({});
    assert.throws(() => new MysqlResourceProvider("orders", { pool: other, maxConcurrent: 0 }), RangeError);
    await Promise.all([pool.end(), other.end()]);
  });

  it("an error without words gets those of the addresses that were tried", () => {
    const fault = new AggregateError([
      new Error("connect ECONNREFUSED ::1"),
      new Error("connect ECONNREFUSED 127.0.0.1"),
    ]);
    const shown = checkoutError(fault, { poolSize: 2, bound: 2 });
    assert.match((shown as Error).message, /ECONNREFUSED ::1; connect ECONNREFUSED 127/);
    assert.equal((shown as Error).cause, fault);
    const plain = new Error("Pool is closed.");
    assert.equal(checkoutError(plain, { poolSize: undefined, bound: 2 }), plain);
  });
});

describe("Statements of a handle", () => {
  it("a refusal lets those go on that run; a cut fails them at once, whatever the driver does", async () => {
    const statements = new Statements();
    let answer = (_value: number) => {};
    const slow = statements.ofJob(() => new Promise<number>((resolve) => answer = resolve), "");
    const stuck = statements.ofJob(() => new Promise<number>(() => {}), "");
    assert.equal(statements.areRunning, true);
    statements.refuse(new Error("closed"));
    assert.throws(() => void statements.ofJob(() => 1, ""), /closed/);
    assert.equal(await statements.own(() => 2), 2);
    answer(3);
    assert.equal(await slow, 3);
    statements.cut(new Error("aborted"));
    await assert.rejects(stuck, /aborted/);
    assert.throws(() => void statements.ofJob(() => 1, ""), /aborted/);
  });

  it("what a driver throws is a rejection, and ended() waits for all that were sent", async () => {
    const statements = new Statements();
    await assert.rejects(
      statements.ofJob(() => {
        throw new Error("bad argument");
      }, ""),
      /bad argument/,
    );
    let answer = () => {};
    const sent = statements.own(() => new Promise<void>((resolve) => answer = resolve));
    let hasEnded = false;
    const ended = statements.ended().then(() => hasEnded = true);
    await Promise.resolve();
    assert.equal(hasEnded, false);
    answer();
    await Promise.all([sent, ended]);
    assert.equal(statements.areRunning, false);
  });

  it("a job opens no transaction in the provider's, however it writes that, and anything else passes", () => {
    const statements = new Statements();
    const send = (text: string) => void statements.ofJob(() => 1, text);
    const opening = [
      "begin",
      "BEGIN isolation level serializable",
      " \n begin;",
      "start transaction",
      "Start  Transaction read only",
    ];
    const others = ["beginning", "select 'begin'", "savepoint one", "start", "update begin set a = 1", ""];
    for (const text of [...opening, ...others]) send(text);
    statements.isInTransaction = true;
    for (const text of opening) {
      assert.throws(() => send(text), /a transaction of the provider's is open/, text);
    }
    for (const text of others) send(text);
  });

  it("a job has the connection as it is, but for its end", () => {
    const connection = {
      id: 7,
      query: (text: unknown) => `answer to ${typeof text === "string" ? text : "an object"}`,
      release: () => "released",
      double: () => 14,
    };
    const sent: unknown[] = [];
    const texts: string[] = [];
    const given = connectionForJob(connection, {
      sending: ["query"],
      forbidden: ["release"],
      send: (call, text) => {
        const answer = call();
        texts.push(text);
        sent.push(answer);
        return answer;
      },
    });
    assert.equal(given.id, 7);
    assert.equal(given.double(), 14);
    assert.equal(given.query("one"), "answer to one");
    assert.deepEqual(sent, ["answer to one"]);
    for (const statement of [{ text: "two" }, { sql: "three" }, {}, undefined]) given.query(statement);
    assert.deepEqual(texts, ["one", "two", "three", "", ""]);
    assert.throws(() => given.release(), {
      name: "TypeError",
      message: /Cannot release\(\) .*close the handle/,
    });
  });

  it("the end of a connection is waited for only so long", async () => {
    assert.equal(await endsInTime(Promise.resolve()), true);
    assert.equal(await endsInTime(Promise.reject(new Error("it failed"))), true);
    assert.equal(await endsInTime(new Promise(() => {}), 5), false);
  });
});
