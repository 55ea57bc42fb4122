// Options under a name that nobody reads: every public function and constructor that takes options refuses them.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import callbacks from "mysql2/promise";
import pg from "pg";
import * as drizzle from "../adapters/drizzle/mod.ts";
import { admittedFetch } from "../adapters/fetch.ts";
import { admit, refusalResponse } from "../adapters/hono.ts";
import * as sluice from "../mod.ts";
import { WorkersClock } from "../workers.ts";

const { CountingGate, Demand } = sluice;
const admission = new sluice.Admission({ memory: null }).start();
const gate = new CountingGate("slot", 4);
const demand = new Demand().add(gate);
const endpoint = new sluice.STDIOEndpoint({ command: "files", name: "files" });
const signal = new sluice.RetrySignal(
  "TRANSIENT",
  new sluice.UpstreamFailure({ statusCode: 503 }),
);
const provider = new sluice.CountingDBResourceProvider("orders", 1);
const requirements = () => new sluice.JobRequirements({ timeoutMs: 1_000 }).limiter(gate);
const call = { model: { id: "m" }, depth: "QUICK", input: 1, output: 1 };
const spec = { id: "gpt", tpm: 6_000 };
const prices = { currency: "USD", inputPerMillion: 1, outputPerMillion: 2 };

/** By name, with options that suffice: each is called with one more that nobody reads. */
const TAKERS: Readonly<Record<string, [needed: object, take: (options: never) => unknown]>> = {
  "Admission": [{ memory: null }, (options) => new sluice.Admission(options)],
  "admit": [{}, (options) => admission.admit(demand, options)],
  "admit with maxHoldMs": [{ maxHoldMs: 5 }, (options) => admission.admit(demand, options)],
  "run": [{}, (options) => admission.run(demand, () => 1, options)],
  "CountingGate": [{}, (options) => new CountingGate("http", 1, options)],
  "DatabaseGate": [{}, (options) => new sluice.DatabaseGate("orders", 1, options)],
  "HttpConnectionGate": [{}, (options) => new sluice.HttpConnectionGate(1, options)],
  "ModelGate": [{}, (options) => new sluice.ModelGate({ id: "gpt", maxConcurrent: 1 }, options)],
  "TokenBucketRateLimiter": [
    { tpm: 60, rpm: 60 },
    (options) => new sluice.TokenBucketRateLimiter("gpt", options),
  ],
  "ElasticWindowRateLimiter": [
    { maxRequests: 1, baseWindowMs: 1 },
    (options) => new sluice.ElasticWindowRateLimiter("search", options),
  ],
  "PubMedRateLimiter": [{}, (options) => new sluice.PubMedRateLimiter(options)],
  "UsptoOdpRateLimiter": [{}, (options) => new sluice.UsptoOdpRateLimiter(options)],
  "EPORateLimiter": [{}, (options) => new sluice.EPORateLimiter(options)],
  "a window of EPORateLimiter": [
    {},
    (options) => new sluice.EPORateLimiter({ windows: { SEARCH: options } }),
  ],
  "MemoryPressureGate": [{ limitBytes: 1 }, (options) => new sluice.MemoryPressureGate(options)],
  "KeyedRateLimiter": [
    { maxKeys: 1 },
    (options) => new sluice.KeyedRateLimiter("tenants", () => gate, options),
  ],
  "STDIOEndpoint": [{ command: "files" }, (options) => new sluice.STDIOEndpoint(options)],
  "STDIOEndpointRateLimiter": [{}, (options) => new sluice.STDIOEndpointRateLimiter(endpoint, 1, options)],
  "STDIOEndpoints": [{}, (options) => new sluice.STDIOEndpoints(options)],
  "ModelSpec": [spec, (options) => new sluice.ModelSpec(options)],
  "prices of ModelSpec": [prices, (options) => new sluice.ModelSpec({ ...spec, prices: options })],
  "ModelBinding": [call, (options) => new sluice.ModelBinding(options)],
  "RateLimiterFactory": [{}, (options) => new sluice.RateLimiterFactory(options)],
  "RateLimitInfo": [{ model: "gpt" }, (options) => new sluice.RateLimitInfo(options)],
  "RateLimitInfo.fromHeaders": [{}, (options) => sluice.RateLimitInfo.fromHeaders("gpt", options)],
  "epoFailure": [{ statusCode: 403 }, (options) => sluice.epoFailure(options)],
  "headerReader": [{}, (options) => sluice.headerReader("openai", options)],
  "readRetryAfterMs": [{}, (options) => sluice.readRetryAfterMs(new Headers(), options)],
  "retryDelayMs": [{ reruns: 0 }, (options) => sluice.retryDelayMs(signal, options)],
  "UpstreamFailure": [{ statusCode: 500 }, (options) => new sluice.UpstreamFailure(options)],
  "upstreamError": [{ status: 500 }, (options) => sluice.upstreamError(options)],
  "UpstreamRateLimitError": [{}, (options) => new sluice.UpstreamRateLimitError(options)],
  "SpendGates": [{}, (options) => new sluice.SpendGates(options)],
  "CostLedger": [{}, (options) => new sluice.CostLedger(options)],
  "JobRequirements": [{}, (options) => new sluice.JobRequirements(options)],
  "JobRequirements.database": [{}, (options) => requirements().database(provider, options)],
  "JobRunner": [{}, (options) => new sluice.JobRunner(admission, options)],
  "JobRunner.run": [{}, (options) => new sluice.JobRunner(admission).run(null, () => 1, options)],
  "admit of JobRunner.run": [
    {},
    (options) => new sluice.JobRunner(admission).run(requirements(), () => 1, { admit: options }),
  ],
  "CountingDBResourceProvider": [
    {},
    (options) => new sluice.CountingDBResourceProvider("orders", 1, options),
  ],
  "registerDefault": [{}, (options) => new sluice.DBResourceProviders().registerDefault(options)],
  "clientAddress": [{ peer: "10.0.0.1" }, (options) => sluice.clientAddress(options)],
  "createJobContext": [{}, (options) => sluice.createJobContext(options)],
  "WorkersClock": [{}, (options) => new WorkersClock(options)],
  "admit of ./hono": [{ demand }, (options) => admit(options)],
  "checkedResponse": [{}, (options) => sluice.checkedResponse(new Response(), options)],
  "refusalResponse": [{}, (options) => refusalResponse(new Error("any"), options)],
  "admittedFetch": [{ admission, provider: "openai" }, (options) => admittedFetch(options)],
  "admit of admittedFetch": [
    {},
    (options) => admittedFetch({ admission, provider: "openai", admit: options }),
  ],
  "PgResourceProvider": [
    { pool: new pg.Pool(), maxConcurrent: 1 },
    (options) => new drizzle.PgResourceProvider("orders", options),
  ],
  "MysqlResourceProvider": [
    { pool: callbacks.createPool({}), maxConcurrent: 1 },
    (options) => new drizzle.MysqlResourceProvider("orders", options),
  ],
  "SqliteResourceProvider": [
    { file: ":memory:", maxConcurrent: 1 },
    (options) => new drizzle.SqliteResourceProvider("orders", options),
  ],
  "withDatabase": [{}, (options) => drizzle.withDatabase(admission, provider, () => 1, options)],
  "database": [{}, (options) => drizzle.database(admission, provider, options)],
};

async function refusal(call: () => unknown): Promise<Error> {
  try {
    await call();
  } catch (error) {
    return error as Error;
  }
  throw new Error("it was accepted");
}

describe("An option under a name that nobody reads", () => {
  for (const [name, [needed, take]] of Object.entries(TAKERS)) {
    it(`is refused by ${name}, which then has changed nothing`, async () => {
      const known = Object.keys(needed);
      for (const value of [5, undefined]) {
        const error = await refusal(() => take({ ...needed, trottle: value } as never));
        assert.equal(error.name, "TypeError", String(error));
        assert.match(error.message, /^Cannot .*there is no option "trottle", the options are /);
        for (const each of known) assert.ok(error.message.includes(each), `${error.message} names ${each}`);
      }
      assert.equal(gate.currentInUse, 0);
    });
  }

  it("tells those that there are", () => {
    assert.throws(() => new sluice.Admission({ maxqueue: 5 } as never), {
      message:
        'Cannot make an Admission: there is no option "maxqueue", the options are memory, clock, events, logger, maxQueue, nested',
    });
    assert.throws(() => new sluice.TokenBucketRateLimiter("gpt", { tpm: 60, rmp: 60 } as never), {
      message:
        'Cannot make a TokenBucketRateLimiter: there is no option "rmp", the options are tpm, rpm, clock, logger',
    });
  });
});

describe("What is no object of options", () => {
  it("is refused with what is wanted: a signal, a gate, an array, a number", async () => {
    const others = [AbortSignal.timeout(1), gate, [], 5, null, () => {}];
    for (const other of others) {
      await assert.rejects(admission.admit(demand, other as never), {
        name: "TypeError",
        message: /^Cannot admit: options are .*, they should be an object of options: signal, context/,
      });
    }
    assert.equal(gate.currentInUse, 0);
  });

  it("is neither an object without a class, nor one of a class that holds options", async () => {
    class Patience {
      get timeoutMs(): number {
        return 5;
      }
      readonly failFast = true;
    }
    class Given {
      get timeoutMs(): number {
        return 5;
      }
    }
    const plain = Object.assign(Object.create(null), { timeoutMs: 5 });
    const inheriting = Object.create({ trottle: 1, timeoutMs: 5 });
    for (const options of [{}, Object.create(null), plain, new Patience(), new Given(), inheriting]) {
      (await admission.admit(demand, options)).release();
    }
  });
});

describe("A Demand that is given something", () => {
  it("refuses it, because it would be dropped", () => {
    const Loose = Demand as unknown as new (...given: unknown[]) => sluice.Demand;
    for (const given of [gate, undefined, {}]) {
      assert.throws(() => new Loose(given), {
        name: "TypeError",
        message: /^Cannot make a Demand: it is given .*new Demand\(\)\.add/,
      });
    }
    assert.equal(new Loose().isEmpty, true);
  });
});

describe("The HTTP gate of a JobRunner", () => {
  it("is an account, not a number of connections", () => {
    assert.throws(() => new sluice.JobRunner(admission, { http: 10 } as never), {
      name: "TypeError",
      message: "Cannot make a JobRunner: http is 10, it should be a gate such as HttpConnectionGate",
    });
  });
});

describe("A number that an account cannot have", () => {
  it("is said of what was to be done: making the account, or setting it", () => {
    const bucket = new sluice.TokenBucketRateLimiter("gpt", { tpm: 60, rpm: 60 });
    const wrong: [() => unknown, string][] = [
      [
        () => new CountingGate("http", 0),
        'Cannot make "http": capacity is 0, it should be a whole number from 1',
      ],
      [
        () => gate.setCapacity(0),
        'Cannot set the capacity of "slot": it is 0, it should be a whole number from 1',
      ],
      [
        () => new sluice.TokenBucketRateLimiter("gpt", { tpm: 60, rpm: 0 }),
        'Cannot make "gpt": rpm is 0, it should be finite and 1 or more',
      ],
      [
        () => bucket.setConfig({ tpm: 0, rpm: 60 }),
        'Cannot set the caps of "gpt": tpm is 0, it should be finite and 1 or more',
      ],
      [
        () => bucket.setConfig(null as never),
        'Cannot set the caps of "gpt": they are null, they should be { tpm',
      ],
    ];
    for (const [act, message] of wrong) {
      assert.throws(act, (error: Error) => error.message.startsWith(message), message);
    }
  });
});
