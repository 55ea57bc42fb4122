// How the Hono adapter refuses: status, Retry-After, problem document, and who may answer instead.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { admit, type HonoAdmitOptions } from "../adapters/hono.ts";
import {
  Admission,
  AdmissionError,
  CancellationError,
  CorrectableError,
  CountingGate,
  Demand,
  ElasticWindowRateLimiter,
  InvalidStateError,
  JobTimeoutError,
  KeyedRateLimiter,
  NestedDemandError,
  TimeoutError,
  TokenBucketRateLimiter,
  UncorrectableError,
  UpstreamFailure,
} from "../mod.ts";
import { ManualClock } from "../testing/mod.ts";

const TYPES = "https://iana.org/assignments/http-problem-types#";

function appOf(options: HonoAdmitOptions & { skip?: never }): Hono {
  const app = new Hono();
  app.get(
    "/",
    admit({ admission: new Admission({ memory: null }).start(), ...options }),
    (c) => c.text("in"),
  );
  return app;
}

/** An app that refuses with an error of the demand function. */
function refusing(error: unknown): Hono {
  return appOf({ demand: () => Promise.reject(error) });
}

async function problemOf(response: Response): Promise<Record<string, unknown>> {
  assert.equal(response.headers.get("content-type"), "application/problem+json");
  return await response.json() as Record<string, unknown>;
}

describe("A refusal of Hono's admit", () => {
  it("BEY-20 is a 429 with the instant and the quota when the clock is waited for", async () => {
    const clock = new ManualClock();
    const search = new ElasticWindowRateLimiter("search", { maxRequests: 2, baseWindowMs: 60_000, clock });
    const app = appOf({
      demand: new Demand().add(search),
      admission: new Admission({ memory: null, clock }).start(),
    });
    await app.request("/");
    await clock.advance(1_500);
    await app.request("/");
    const response = await app.request("/");
    assert.equal(response.status, 429);
    assert.equal(response.headers.get("retry-after"), "59", "58,500 ms are 59 s, rounded up");
    assert.equal(response.headers.get("ratelimit-policy"), '"search";q=2;w=60');
    assert.equal(response.headers.get("ratelimit"), '"search";r=0;t=59');
    assert.deepEqual(await problemOf(response), {
      type: `${TYPES}quota-exceeded`,
      title: "Too Many Requests",
      status: 429,
      detail: "The quota that this request needs is used up for now.",
      "violated-policies": ["search"],
    });
  });

  it("BEY-20 is a 503 without an instant when only others' releases can help", async () => {
    const gate = new CountingGate("pool", 3);
    const admission = new Admission({ memory: null }).start();
    const held = await admission.admit(new Demand().add(gate, 3));
    const response = await appOf({ demand: new Demand().add(gate), admission, timeoutMs: 0 }).request("/");
    held.release();
    assert.equal(response.status, 503);
    assert.equal(response.headers.get("retry-after"), null);
    assert.equal(response.headers.get("ratelimit-policy"), '"pool";q=3;qu="concurrent-requests"');
    assert.equal(response.headers.get("ratelimit"), '"pool";r=0');
    const problem = await problemOf(response);
    assert.equal(problem["type"], `${TYPES}temporary-reduced-capacity`);
    assert.deepEqual(problem["violated-policies"], ["pool"]);
  });

  it("BEY-22 is a 503 that names what is short when the line is full", async () => {
    const clock = new ManualClock();
    const bucket = new TokenBucketRateLimiter("gpt", { tpm: 600, rpm: 60, clock });
    const admission = new Admission({ memory: null, clock, maxQueue: 1 }).start();
    const demand = new Demand().add(bucket, 600);
    const app = appOf({ demand, admission, timeoutMs: 600_000 });
    await app.request("/");
    const waiting = app.request("/");
    const response = await app.request("/");
    assert.equal(response.status, 503);
    assert.equal(response.headers.get("retry-after"), "60");
    assert.equal(
      response.headers.get("ratelimit-policy"),
      '"gpt";q=60;w=60, "gpt:tokens";q=600;w=60;qu="tokens"',
    );
    assert.equal(response.headers.get("ratelimit"), '"gpt";r=59;t=60, "gpt:tokens";r=0;t=60');
    assert.deepEqual((await problemOf(response))["violated-policies"], ["gpt"]);
    await clock.advance(60_000);
    assert.equal((await waiting).status, 200);
  });

  it("is a 503 with the cooldown when a circuit is open", async () => {
    const clock = new ManualClock();
    const search = new ElasticWindowRateLimiter("search", {
      maxRequests: 9,
      baseWindowMs: 1_000,
      initialCooldownMs: 30_000,
      clock,
    });
    for (let i = 0; i < 11; i++) {
      search.onRateLimitError(new UpstreamFailure({ statusCode: 429, service: "search" }));
    }
    assert.equal(search.circuitState, "BLOCKED");
    const admission = new Admission({ memory: null, clock }).start();
    const response = await appOf({ demand: new Demand().add(search), admission }).request("/");
    const problem = await problemOf(response);
    assert.deepEqual([response.status, response.headers.get("retry-after")], [503, "30"]);
    assert.equal(problem["type"], `${TYPES}temporary-reduced-capacity`);
    assert.deepEqual(problem["violated-policies"], ["search"]);
  });

  it("is a 503 when admission was stopped, a 402, 422 or 504 when the error says so", async () => {
    const admission = new Admission({ memory: null }).start();
    admission.stop();
    const demand = new Demand().add(new CountingGate("slot", 1));
    assert.equal((await appOf({ demand, admission }).request("/")).status, 503);
    const cases: [AdmissionError, number, string | undefined][] = [
      [new CancellationError("cancelled", "secret"), 503, undefined],
      [new UncorrectableError("secret", { code: "defect" }), 503, undefined],
      [new AdmissionError("spend_cap", "secret"), 402, undefined],
      [new JobTimeoutError({ timeoutMs: 9, part: "commit", provider: "secret" }), 504, undefined],
      [new CorrectableError("The prompt is too long, shorten it"), 422, "The prompt is too long, shorten it"],
    ];
    for (const [error, status, detail] of cases) {
      const response = await refusing(error).request("/");
      const text = JSON.stringify(await problemOf(response.clone()));
      assert.equal(response.status, status);
      assert.equal((JSON.parse(text) as { detail?: string }).detail, detail);
      assert.ok(!/secret|stack|\.ts/.test(text), text);
    }
  });

  it("is a 503 that names the keyed limiter when it has no place for another key, without an instant", async () => {
    const clients = new KeyedRateLimiter(
      "clients",
      (name: string) => new ElasticWindowRateLimiter(name, { maxRequests: 1, baseWindowMs: 60_000 }),
      { maxKeys: 1 },
    );
    const app = appOf({ demand: (c) => new Demand().add(clients, c.req.query("key") ?? "") });
    assert.equal((await app.request("/?key=red")).status, 200);
    const response = await app.request("/?key=blue");
    assert.deepEqual([response.status, response.headers.get("retry-after")], [503, null]);
    assert.deepEqual(await problemOf(response), {
      type: `${TYPES}temporary-reduced-capacity`,
      title: "Service Unavailable",
      status: 503,
      detail: "The service has no room for this request now.",
      "violated-policies": ["clients"],
    });
  });

  it("never answers with Retry-After 0, and leaves it out where no time is known", async () => {
    const facts = { waitedMs: 1, waitingOn: [] };
    for (
      const [retryAfterMs, told] of [[0, "1"], [1, "1"], [1_000, "1"], [1_001, "2"], [null, null]] as const
    ) {
      const response = await refusing(new TimeoutError("late", { ...facts, retryAfterMs })).request("/");
      assert.equal(response.headers.get("retry-after"), told);
    }
  });
});

describe("An error that is the app's own", () => {
  const never = new Demand().add(new CountingGate("two", 2), 3);
  const cases: [string, HonoAdmitOptions["demand"], (error: Error) => boolean][] = [
    ["a demand that never fits", never, (it) => it instanceof UncorrectableError],
    ["a demand function that throws", () => Promise.reject(new Error("mine")), (it) => it.message === "mine"],
    ["a demand function that answers nonsense", () => ({}) as Demand, (it) => it instanceof TypeError],
    ["one that answers nothing", () => undefined as unknown as Demand, (it) => it instanceof TypeError],
    ["a wrong state", () => Promise.reject(new InvalidStateError("no")), (it) => "code" in it],
    [
      "a nested demand",
      () => Promise.reject(new NestedDemandError("no", { account: "a", ancestors: [] })),
      (it) => it instanceof NestedDemandError,
    ],
  ];
  for (const [what, demand, isIt] of cases) {
    it(`reaches the error handler as it is: ${what}`, async () => {
      const seen: Error[] = [];
      const limited = admit({ demand, admission: new Admission({ memory: null }).start() });
      const app = new Hono().get("/", limited, (c) => c.text("in"));
      app.onError((error, c) => {
        seen.push(error);
        return c.text("sorry", 500);
      });
      const response = await app.request("/");
      assert.deepEqual([response.status, response.headers.get("ratelimit")], [500, null]);
      assert.ok(isIt(seen[0]!), String(seen[0]));
      assert.equal(limited.heldCount, 0);
    });
  }

  it("an HTTPException of the demand function is answered as it says", async () => {
    assert.equal((await refusing(new HTTPException(401, { message: "who?" })).request("/")).status, 401);
  });
});

describe("Who answers a refusal of Hono's admit", () => {
  const full = () => {
    const daily = new ElasticWindowRateLimiter("daily", { maxRequests: 1, baseWindowMs: 86_400_000 });
    const admission = new Admission({ memory: null }).start();
    admission.tryAdmit(new Demand().add(daily));
    return { demand: new Demand().add(daily), admission };
  };

  it("the app's error handler sees an HTTPException with the error as its cause", async () => {
    const app = appOf(full());
    app.onError((error, c) => {
      assert.ok(error instanceof HTTPException && error.cause instanceof TimeoutError);
      return c.json({ busy: error.cause.waitingOn, status: error.getResponse().status }, 418);
    });
    const response = await app.request("/");
    assert.equal(response.status, 418);
    assert.deepEqual(await response.json(), { busy: ["daily"], status: 429 });
    assert.match(response.headers.get("retry-after")!, /^86\d{3}$/, "the context carries the fields");
  });

  it("the hook may answer, with the fields on its context, or only listen", async () => {
    const seen: string[] = [];
    const listening = await appOf({ ...full(), onRefused: (_, error) => void seen.push(error.code) }).request(
      "/",
    );
    assert.deepEqual([listening.status, seen], [429, ["timeout"]]);
    const onRefused: HonoAdmitOptions["onRefused"] = (c) => Promise.resolve(c.text("later", 503));
    const answered = await appOf({ ...full(), onRefused }).request("/");
    assert.deepEqual([answered.status, await answered.text()], [503, "later"]);
    assert.match(answered.headers.get("ratelimit")!, /^"daily";r=0;t=86\d{3}$/);
  });

  it("the hook hears of what would be a 500 too, and may make it something else", async () => {
    const demand = new Demand().add(new CountingGate("two", 2), 3);
    const onRefused: HonoAdmitOptions["onRefused"] = (c, error) =>
      error.code === "uncorrectable" ? c.text("too large", 413) : undefined;
    assert.equal((await appOf({ demand, onRefused }).request("/")).status, 413);
  });

  it("nobody is answered whose client left while it waited", async () => {
    const gate = new CountingGate("slot", 1);
    const admission = new Admission({ memory: null }).start();
    using _held = await admission.admit(new Demand().add(gate));
    const hooks: string[] = [];
    const onRefused: HonoAdmitOptions["onRefused"] = (_, error) => void hooks.push(error.code);
    const app = appOf({ demand: new Demand().add(gate), admission, onRefused });
    const controller = new AbortController();
    const waiting = app.request("/", { signal: controller.signal });
    await new Promise((resolve) => setTimeout(resolve, 0));
    assert.equal(admission.queueSize, 1);
    controller.abort();
    assert.deepEqual([(await waiting).status, admission.queueSize, hooks], [499, 0, []]);
  });
});
