// The Hono adapter without a socket: what the middleware does with a request and its grant.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Hono } from "hono";
import { cors } from "hono/cors";
import { admit } from "../adapters/hono.ts";
import { Holds } from "../adapters/hono/holds.ts";
import {
  Admission,
  CountingGate,
  Demand,
  ElasticWindowRateLimiter,
  type Grant,
  TokenBucketRateLimiter,
} from "../mod.ts";
import { ManualClock } from "../testing/mod.ts";
import { watchReleases } from "./hono/releases.ts";

function oneSlot(): { gate: CountingGate; demand: Demand; admission: Admission } {
  const gate = new CountingGate("slot", 1);
  return { gate, demand: new Demand().add(gate), admission: new Admission({ memory: null }).start() };
}

describe("Hono's admit and its grant", () => {
  it("stands in a typed variable while the handler runs, and is released when it is over", async () => {
    const { gate, demand, admission } = oneSlot();
    const app = new Hono().get("/", admit({ demand, admission }), (c) => {
      const grant: Grant = c.var.grant;
      return c.json([grant.isSettled, gate.currentInUse]);
    });
    assert.deepEqual(await (await app.request("/")).json(), [false, 1]);
    assert.equal(gate.currentInUse, 0);
  });

  it("has a name of its own, so that middlewares in a row keep theirs", async () => {
    const [one, two] = [oneSlot(), oneSlot()];
    const app = new Hono().get(
      "/",
      admit({ demand: one.demand, admission: one.admission, name: "outer" }),
      admit({ demand: two.demand, admission: two.admission, name: "inner" }),
      (c) => {
        const grants: Grant[] = [c.var.outer, c.var.inner];
        return c.json([grants[0] !== grants[1], one.gate.currentInUse, two.gate.currentInUse]);
      },
    );
    assert.deepEqual(await (await app.request("/")).json(), [true, 1, 1]);
    assert.deepEqual([one.gate.currentInUse, two.gate.currentInUse], [0, 0]);
  });

  it("is left out where a request is skipped", async () => {
    const { gate, demand, admission } = oneSlot();
    const skip = (c: { req: { path: string } }) => Promise.resolve(c.req.path === "/health");
    const limited = admit({ demand, admission, skip });
    const app = new Hono().get("*", limited, (c) => {
      const grant: Grant | undefined = c.var.grant;
      limited.keep(c)();
      return c.json([grant === undefined, gate.currentInUse]);
    });
    assert.deepEqual(await (await app.request("/health")).json(), [true, 0]);
    assert.deepEqual(await (await app.request("/other")).json(), [false, 0], "keep ended it early");
  });

  it("BEY-32 can be settled with what was billed, by the handler", async () => {
    const clock = new ManualClock();
    const bucket = new TokenBucketRateLimiter("gpt", { tpm: 1_000, rpm: 60, clock });
    const admission = new Admission({ memory: null, clock }).start();
    const app = new Hono().post(
      "/",
      admit({ demand: (c) => new Demand().add(bucket, Number(c.req.header("x-tokens"))), admission }),
      (c) => {
        c.var.grant.settle(bucket, 100);
        return c.text("ok");
      },
    );
    await app.request("/", { method: "POST", headers: { "x-tokens": "700" } });
    assert.equal(bucket.status.availableTokens, 900);
  });

  it("is released once, whatever the handler throws", async () => {
    for (const thrown of [new Error("a"), "a text", null]) {
      const { gate, demand, admission } = oneSlot();
      const limited = admit({ demand, admission });
      const app = new Hono().get("/", limited, () => {
        throw thrown;
      });
      app.onError((_, c) => c.text("caught", 500));
      const outcome = await Promise.resolve(app.request("/")).then((it) => it.status, (it) => it);
      assert.ok(outcome === 500 || outcome === thrown);
      assert.deepEqual([gate.currentInUse, limited.heldCount], [0, 0]);
    }
  });

  it("is held while a stream is read, and released when it is cancelled", async () => {
    const { gate, demand, admission } = oneSlot();
    const cancelled: unknown[] = [];
    const app = new Hono().get("/", admit({ demand, admission }), (c) =>
      c.body(
        new ReadableStream({
          pull: (controller) => controller.enqueue(new Uint8Array([1])),
          cancel: (reason) => void cancelled.push(reason),
        }),
        200,
        { "x-kind": "endless" },
      ));
    const response = await app.request("/");
    assert.equal(response.headers.get("x-kind"), "endless");
    const reader = response.body!.getReader();
    assert.deepEqual(await reader.read(), { done: false, value: new Uint8Array([1]) });
    assert.equal(gate.currentInUse, 1);
    await reader.cancel("enough");
    assert.deepEqual(cancelled, ["enough"]);
    assert.equal(gate.currentInUse, 0);
  });

  it("is released at hand-over also where Hono makes the whole body anew, if the runtime keeps it the same", async () => {
    const { gate, demand, admission } = oneSlot();
    const app = new Hono().get("/", admit({ demand, admission }), cors(), (c) => c.text("hi"));
    const response = await app.request("/");
    const one = new Response("one");
    const isKept = new Response(one.body, one).body === one.body;
    assert.equal(gate.currentInUse, isKept ? 0 : 1);
    assert.equal(await response.text(), "hi");
    assert.equal(gate.currentInUse, 0);
  });

  const sent: [string, (response: Response) => Promise<unknown>][] = [
    ["being read", (response) => Promise.resolve(response.body!.getReader())],
    ["read", async (response) => {
      const reader = response.body!.getReader();
      await reader.read();
      reader.releaseLock();
    }],
  ];
  for (const [how, send] of sent) {
    it(`does not wait for the response of an outer middleware that lost its patience, when it is ${how}`, async () => {
      const { gate, demand, admission } = oneSlot();
      let goOn = () => {};
      const limited = admit({ demand, admission });
      const app = new Hono();
      app.onError((error) => assert.fail(`an error came up: ${error.message}`));
      app.use(async (c, next) => {
        void next();
        await Promise.resolve();
        c.res = new Response(new ReadableStream({ start: (it) => it.enqueue(new Uint8Array([1])) }));
      });
      app.get("/", limited, async () => {
        await new Promise<void>((resolve) => goOn = resolve);
        return new Response(new ReadableStream());
      });
      await send(await app.request("/"));
      assert.equal(gate.currentInUse, 1);
      goOn();
      await new Promise((resolve) => setTimeout(resolve, 0));
      assert.deepEqual([gate.currentInUse, limited.heldCount], [0, 0]);
    });
  }

  it("ends when the server's own object says so: info.completed, or outgoing's close", async () => {
    const { gate, demand, admission } = oneSlot();
    const app = new Hono().get("/", admit({ demand, admission }), () => new Response(new ReadableStream()));
    for (const isGood of [true, false]) {
      let settle = () => {};
      const completed = new Promise<void>((resolve, reject) =>
        settle = isGood ? resolve : () => reject(new Error("left"))
      );
      await app.request("/", {}, { completed });
      assert.equal(gate.currentInUse, 1);
      settle();
      await new Promise((resolve) => setTimeout(resolve, 0));
      assert.equal(gate.currentInUse, 0);
    }
    let close = () => {};
    const once = (_event: string, listener: () => void) => void (close = listener);
    await app.request("/", {}, { outgoing: { destroyed: false, once } });
    assert.equal(gate.currentInUse, 1);
    close();
    assert.equal(gate.currentInUse, 0);
    await app.request("/", {}, { outgoing: { destroyed: true, once } });
    assert.equal(gate.currentInUse, 0, "whoever left before is not waited for");
  });
});

describe("Hono's admit and grants that are held for long", () => {
  it("takes back on the next request what was held longer than maxHoldMs, and says so", async () => {
    const clock = new ManualClock();
    const told: string[] = [];
    const gate = new CountingGate("slots", 2);
    const admission = new Admission({ memory: null }).start();
    const logger = { warn: (text: string) => void told.push(text), info: () => {}, error: () => {} };
    const demand = new Demand().add(gate);
    const limited = admit({ demand, admission, clock, maxHoldMs: 1_000, timeoutMs: 0, logger });
    const app = new Hono().get("/lost", limited, () => new Response(new ReadableStream()))
      .get("/whole", limited, (c) => c.text("in"));
    await app.request("/lost");
    await clock.advance(400);
    await app.request("/lost");
    await clock.advance(599);
    assert.equal((await app.request("/whole", { method: "HEAD" })).status, 503, "999 ms are not too long");
    await clock.advance(1);
    assert.equal((await app.request("/whole")).status, 200);
    assert.deepEqual([gate.currentInUse, limited.heldCount, told.length], [1, 1, 1]);
    assert.match(told[0]!, /taken back: its response was not over within 1000 ms/);
    await clock.advance(400);
    await app.request("/whole");
    assert.deepEqual([gate.currentInUse, limited.heldCount, told.length], [0, 0, 2]);
  });

  it("is not held any more once somebody else released it, and is forgotten", async () => {
    const clock = new ManualClock();
    const told: string[] = [];
    const logger = { warn: (text: string) => void told.push(text), info: () => {}, error: () => {} };
    const { admission, demand } = oneSlot();
    const holds = new Holds(clock, 1_000, logger);
    const releases = watchReleases();
    for (let i = 0; i < 1_000; i++) {
      const hold = holds.open(admission.tryAdmit(demand)!, holds.sweep());
      hold.grant.release();
      if (i % 100 === 0) hold.end();
    }
    assert.ok(holds.size <= 64, `${holds.size} are remembered`);
    await clock.advance(1_000);
    holds.sweep();
    assert.deepEqual([holds.size, holds.heldCount, told], [0, 0, []]);
    releases.stop();
    assert.equal(releases.doubles, 0);
  });

  it("leaves a grant that the app keeps to the app, once, until maxHoldMs", async () => {
    const clock = new ManualClock();
    const { gate, demand, admission } = oneSlot();
    const limited = admit({ demand, admission, clock, maxHoldMs: 1_000 });
    const releases = watchReleases();
    const ends: (() => void)[] = [];
    const app = new Hono().get("/", limited, (c) => {
      ends.push(limited.keep(c));
      return c.text("later");
    });
    await app.request("/");
    assert.equal(gate.currentInUse, 1);
    ends[0]!();
    assert.equal(gate.currentInUse, 0);
    await app.request("/");
    ends[0]!();
    assert.equal(gate.currentInUse, 1, "ending one twice does not end another");
    await clock.advance(1_000);
    await app.request("/");
    assert.deepEqual([gate.currentInUse, limited.heldCount], [1, 1], "the third stands, the second is gone");
    releases.stop();
    assert.equal(releases.doubles, 0);
  });

  it("BEY-04 a settlement that fails after the response is logged and breaks nothing", async () => {
    const told: string[] = [];
    const gate = new CountingGate("slot", 1);
    const admission = new Admission({ memory: null }).start();
    const logger = { error: (text: string) => void told.push(text), info: () => {}, warn: () => {} };
    const limited = admit({ demand: new Demand().add(gate), admission, logger });
    const app = new Hono().get("/", limited, (c) => {
      gate.give([undefined]); // More than it has: the release has nothing left to give.
      return c.text("fine");
    });
    assert.equal((await app.request("/")).status, 200);
    assert.equal(limited.heldCount, 0);
    assert.equal(told.length, 1);
    assert.match(told[0]!, /could not be settled after its response/);
  });
});

describe("Hono's admit and long spans", () => {
  it("BEY-50 a window of 30 days opens neither early nor for a step of the wall clock", async () => {
    const days30 = 30 * 86_400_000;
    const clock = new ManualClock();
    const monthly = new ElasticWindowRateLimiter("monthly", { maxRequests: 1, baseWindowMs: days30, clock });
    const admission = new Admission({ memory: null, clock }).start();
    const app = new Hono().get(
      "/",
      admit({ demand: new Demand().add(monthly), admission }),
      (c) => c.text("in"),
    );
    assert.equal((await app.request("/")).status, 200);
    const refused = await app.request("/");
    assert.deepEqual([refused.status, refused.headers.get("retry-after")], [429, "2592000"]);
    await clock.advance(days30 - 10);
    clock.stepWall(3_600_000);
    const waiting = app.request("/");
    await clock.advance(9.999);
    assert.equal(admission.queueSize, 1, "not a tick early");
    await clock.advance(0.001);
    assert.equal((await waiting).status, 200);
  });
});
