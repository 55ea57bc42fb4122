// How the Hono adapter tells clients the limits of a demand.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Hono } from "hono";
import { admit, type HonoAdmitOptions } from "../adapters/hono.ts";
import {
  AbstractRateLimiter,
  Admission,
  CountingGate,
  Demand,
  ElasticWindowRateLimiter,
  SemaphoreLimiterStatus,
  TokenBucketRateLimiter,
} from "../mod.ts";
import { ManualClock } from "../testing/mod.ts";

function appOf(options: HonoAdmitOptions & { skip?: never }): Hono {
  const app = new Hono();
  app.get(
    "/",
    admit({ admission: new Admission({ memory: null }).start(), ...options }),
    (c) => c.text("in"),
  );
  return app;
}

describe("The RateLimit fields of Hono's admit", () => {
  /** A bucket and a gate, and an app that tells their limits on success. */
  const telling = (standardHeaders: HonoAdmitOptions["standardHeaders"]) => {
    const clock = new ManualClock();
    const bucket = new TokenBucketRateLimiter("gpt", { tpm: 6_000, rpm: 60, clock });
    const window = new ElasticWindowRateLimiter("search", { maxRequests: 40, baseWindowMs: 1_500, clock });
    const demand = new Demand().add(bucket, 3_000).add(window).add(new CountingGate("slots", 8));
    const admission = new Admission({ memory: null, clock }).start();
    const options = { demand, admission, headersOnSuccess: true };
    return appOf(standardHeaders === undefined ? options : { ...options, standardHeaders });
  };
  const fieldsOf = ({ headers }: Response) =>
    Object.fromEntries([...headers].filter(([name]) => name.startsWith("ratelimit")));

  it("stand on granted requests by option, as they are once the request has its grant", async () => {
    assert.deepEqual(fieldsOf(await telling(undefined).request("/")), {
      "ratelimit-policy":
        '"gpt";q=60;w=60, "gpt:tokens";q=6000;w=60;qu="tokens", "search";q=40;w=2, "slots";q=8;qu="concurrent-requests"',
      "ratelimit": '"gpt";r=59, "gpt:tokens";r=3000, "search";r=39, "slots";r=7',
    });
  });

  it("have the forms of drafts 7 and 6, for what has the least left of the limits in time", async () => {
    assert.deepEqual(fieldsOf(await telling("draft-7").request("/")), {
      "ratelimit-policy": "6000;w=60",
      "ratelimit": "limit=6000, remaining=3000, reset=30",
    });
    assert.deepEqual(fieldsOf(await telling("draft-6").request("/")), {
      "ratelimit-policy": "6000;w=60",
      "ratelimit-limit": "6000",
      "ratelimit-remaining": "3000",
      "ratelimit-reset": "30",
    });
    assert.deepEqual(fieldsOf(await telling(false).request("/")), {});
  });

  it("stand in both older forms on a refusal, for what is short", async () => {
    for (const form of ["draft-7", "draft-6"] as const) {
      const app = telling(form);
      await app.request("/");
      await app.request("/");
      const refused = await app.request("/");
      assert.deepEqual([refused.status, refused.headers.get("retry-after")], [429, "30"]);
      const reset = form === "draft-7" ? "ratelimit" : "ratelimit-reset";
      assert.match(refused.headers.get(reset)!, /(^|reset=)30$/);
    }
  });

  it("stand on responses that a handler makes without the context as well", async () => {
    const demand = new Demand().add(new CountingGate("slots", 8));
    const limited = admit({ demand, headersOnSuccess: true });
    const app = new Hono().get("/", limited, () => new Response("made"));
    const response = await app.request("/");
    assert.deepEqual([response.headers.get("ratelimit"), await response.text()], ['"slots";r=7', "made"]);
  });

  it("are left out for accounts of one's own, unless their status is one of the library's", async () => {
    class Own extends AbstractRateLimiter<void> {
      readonly limiterName = "own";
      readonly limiterCategory = "own";
      readonly capacity = 5;
      readonly currentInUse = 5;
      readonly status;
      constructor(isKnown: boolean) {
        super();
        this.status = isKnown ? new SemaphoreLimiterStatus(5, 0, 0) : { summary: () => "full" };
      }
      fits = () => false;
      tryTake = () => false;
      give(): void {}
      earliestFit = () => null;
    }
    for (const [isKnown, policy] of [[true, '"own";q=5;qu="concurrent-requests"'], [false, null]] as const) {
      const response = await appOf({ demand: new Demand().add(new Own(isKnown)), timeoutMs: 0 }).request("/");
      assert.deepEqual([response.status, response.headers.get("ratelimit-policy")], [503, policy]);
    }
  });

  it("tell 16 accounts at most, however many a demand names", async () => {
    const demand = new Demand();
    for (let i = 0; i < 60; i++) demand.add(new CountingGate(`gate ${i}`, 1));
    const response = await appOf({ demand, headersOnSuccess: true }).request("/");
    assert.equal(response.headers.get("ratelimit")!.split(", ").length, 16);
  });
});
