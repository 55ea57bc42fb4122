// `refusalResponse`: routes that ask admission themselves, and error handlers, refuse as Hono's `admit` does.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { admit, type RefusalOptions, refusalResponse } from "../adapters/hono.ts";
import {
  Admission,
  type AdmissionError,
  CorrectableError,
  CountingGate,
  Demand,
  ElasticWindowRateLimiter,
  InvalidStateError,
  JobTimeoutError,
  KeysFullError,
  NestedDemandError,
  SpendCapError,
  TimeoutError,
  TokenBucketRateLimiter,
  UncorrectableError,
  upstreamError,
  UpstreamFailure,
} from "../mod.ts";
import { ManualClock } from "../testing/mod.ts";

/** Everything of a response that a client sees. */
async function seen(response: Response): Promise<unknown[]> {
  return [response.status, Object.fromEntries(response.headers), await response.text()];
}

interface Scene {
  readonly demand: Demand;
  readonly admission: Admission;
  readonly status: number;
  /** 0 when left out. */
  readonly timeoutMs?: number;
}

/** Who refuses. */
const SCENES: Readonly<Record<string, () => Scene>> = {
  "a window that is used up": () => {
    const clock = new ManualClock();
    const search = new ElasticWindowRateLimiter("search", { maxRequests: 1, baseWindowMs: 60_000, clock });
    const admission = new Admission({ memory: null, clock }).start();
    const demand = new Demand().add(search);
    admission.tryAdmit(demand);
    return { demand, admission, status: 429 };
  },
  "a bucket beside a gate that others hold": () => {
    const clock = new ManualClock();
    const gpt = new TokenBucketRateLimiter("gpt", { tpm: 600, rpm: 60, clock });
    const pool = new CountingGate("pool", 1);
    const admission = new Admission({ memory: null, clock }).start();
    const demand = new Demand().add(pool).add(gpt, 600);
    admission.tryAdmit(demand);
    return { demand, admission, status: 429 };
  },
  "a gate that others hold": () => {
    const admission = new Admission({ memory: null }).start();
    const demand = new Demand().add(new CountingGate("pool", 1));
    admission.tryAdmit(demand);
    return { demand, admission, status: 503 };
  },
  "a line that is full": () => {
    const pool = new CountingGate("pool", 1);
    const admission = new Admission({ memory: null, maxQueue: 0 }).start();
    admission.tryAdmit(new Demand().add(pool));
    const demand = new Demand().add(pool).add(new CountingGate("free", 1));
    return { demand, admission, status: 503, timeoutMs: 1_000 };
  },
  "an open circuit": () => {
    const clock = new ManualClock();
    const search = new ElasticWindowRateLimiter("search", { maxRequests: 9, baseWindowMs: 1_000, clock });
    for (let i = 0; i < 11; i++) search.onRateLimitError(new UpstreamFailure({ statusCode: 429 }));
    const admission = new Admission({ memory: null, clock }).start();
    return { demand: new Demand().add(search), admission, status: 503 };
  },
  "an admission that was stopped": () => {
    const admission = new Admission({ memory: null }).start();
    admission.stop();
    return { demand: new Demand().add(new CountingGate("pool", 1)), admission, status: 503 };
  },
};

describe("refusalResponse", () => {
  for (const [what, scene] of Object.entries(SCENES)) {
    it(`BEY-20 answers in a route as admit does before it: ${what}`, async () => {
      for (const standardHeaders of ["draft-12", "draft-7", "draft-6", false] as const) {
        const { demand, admission, status, timeoutMs = 0 } = scene();
        const app = new Hono();
        app.get("/before", admit({ demand, admission, timeoutMs, standardHeaders }), (c) => c.text("in"));
        app.get("/inside", async (c) => {
          try {
            return await admission.run(demand, () => c.text("in"), { timeoutMs });
          } catch (error) {
            return refusalResponse(error, { demand, admission, standardHeaders }) ?? c.text("no", 500);
          }
        });
        const [before, inside] = await Promise.all(["/before", "/inside"].map((path) => app.request(path)));
        assert.equal(before!.status, status);
        assert.deepEqual(await seen(inside!), await seen(before!));
      }
    });
  }

  it("answers in an error handler what handlers and admit have thrown, and leaves other errors to it", async () => {
    const daily = new ElasticWindowRateLimiter("daily", { maxRequests: 1, baseWindowMs: 86_400_000 });
    const admission = new Admission({ memory: null }).start();
    const demand = new Demand().add(daily);
    admission.tryAdmit(demand);
    const app = new Hono();
    app.get("/before", admit({ demand, admission, timeoutMs: 0 }), (c) => c.text("in"));
    app.get("/inside", (c) => admission.run(demand, () => c.text("in"), { timeoutMs: 0 }));
    app.get("/broken", () => {
      throw new Error("mine");
    });
    app.onError((error, c) => refusalResponse(error) ?? c.text("sorry", 500));
    const before = await app.request("/before");
    assert.equal(before.status, 429);
    assert.match(before.headers.get("ratelimit") ?? "", /^"daily";r=0;t=86\d{3}$/);
    const inside = await app.request("/inside");
    assert.deepEqual([inside.status, inside.headers.get("ratelimit")], [429, null], "no demand, no limits");
    assert.match(inside.headers.get("retry-after") ?? "", /^86\d{3}$/);
    assert.equal(await inside.text(), await before.text());
    const broken = await app.request("/broken");
    assert.deepEqual([broken.status, await broken.text()], [500, "sorry"]);
  });

  it("has the status that the error says, and without a demand goes by whether a time is known", () => {
    const facts = { waitedMs: 5, waitingOn: ["gpt"] };
    const spend = { cap: null, spent: null, committed: null, asked: null };
    const cases: [AdmissionError, number, string | null][] = [
      [new TimeoutError("late", { ...facts, retryAfterMs: 1_500 }), 429, "2"],
      [new TimeoutError("late", { ...facts, retryAfterMs: null }), 503, null],
      [new KeysFullError("full", { limiter: "clients", maxKeys: 1 }), 503, null],
      [new UncorrectableError("open", { code: "circuit_blocked", retryAfterMs: 30_000 }), 503, "30"],
      [new SpendCapError("spent", spend), 402, null],
      [new JobTimeoutError({ timeoutMs: 9, part: "execute", provider: null }), 504, null],
      [new CorrectableError("shorten it"), 422, null],
    ];
    for (const [error, status, retryAfter] of cases) {
      const response = refusalResponse(error)!;
      assert.deepEqual([response.status, response.headers.get("retry-after")], [status, retryAfter]);
      assert.equal(response.headers.get("content-type"), "application/problem+json");
    }
  });

  it("tells a client nothing of what a service behind us has said, nor where it is", async () => {
    const fields = { service: "inner", endpoint: "http://10.0.0.7/v1", detail: "no such index" };
    for (const status of [400, 404, 413, 422]) {
      const text = await refusalResponse(upstreamError({ status, ...fields }))!.text();
      assert.deepEqual(JSON.parse(text), {
        type: "about:blank",
        title: "Unprocessable Content",
        status: 422,
      });
    }
    for (const status of [401, 429, 500, 503]) {
      assert.equal(refusalResponse(upstreamError({ status, ...fields })), null);
    }
  });

  it("is null for what is no refusal", () => {
    const errors: unknown[] = [
      undefined,
      "late",
      new Error("mine"),
      new RangeError("mine"),
      new DOMException("gone", "AbortError"),
      new HTTPException(401, { message: "who?" }),
      new HTTPException(500, { cause: new Error("mine") }),
      new InvalidStateError("no"),
      new UncorrectableError("never fits", { account: "pool" }),
      new NestedDemandError("no", { account: "a", ancestors: [] }),
    ];
    for (const error of errors) assert.equal(refusalResponse(error), null, String(error));
  });

  it("refuses options that are none, by name", () => {
    const cases: [object, RegExp][] = [
      [{ demand: {} }, /^Cannot answer a refusal: demand is .* it should be a Demand$/],
      [{ admission: null }, /: admission is null, it should be an Admission$/],
      [
        { standardHeaders: "draft-5" },
        /: standardHeaders is "draft-5", it should be "draft-12", .* or false$/,
      ],
    ];
    for (const [options, message] of cases) {
      assert.throws(() => refusalResponse(new Error("mine"), options as RefusalOptions), {
        name: "TypeError",
        message,
      });
    }
  });
});
