/** Concurrent requests on workerd, over HTTP: limits of an isolate, and the Durable Object of examples/workers/. */

// Left out of npm run ok: it starts workerd and waits in real time.

import assert from "node:assert/strict";
import { after, before, describe, it } from "@std/testing/bdd";
import { type RunningWorker, startWorker } from "./workerd.ts";

/** Of tests/fixtures/workers/site.ts. */
const BEAT_MS = 100;
/** After so long a request that is gone has been noticed, on a busy machine too. */
const NOTICED_MS = 20 * BEAT_MS;
/** How long it may take until a request that was sent is handled. */
const ARRIVAL_MS = 50;
/** A request that takes so long is lost. */
const LIMIT_MS = 20_000;

interface Answer {
  status: number;
  body: { waitedMs?: number; grantedAt?: number; code?: string | null; outcome?: string };
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function ask(
  worker: RunningWorker,
  path: string,
  signal: AbortSignal = AbortSignal.timeout(LIMIT_MS),
): Promise<Answer> {
  const response = await fetch(worker.url + path, { signal });
  return { status: response.status, body: await response.json() };
}

/** Asks for all paths, each one a little later than the one before it. */
function askInTurn(worker: RunningWorker, ...paths: string[]): Promise<Answer[]> {
  return Promise.all(paths.map((path, index) => sleep(index * ARRIVAL_MS).then(() => ask(worker, path))));
}

function cancelling(path: string, afterMs: number): string {
  return `/cancel?afterMs=${afterMs}&path=${encodeURIComponent(path)}`;
}

describe("Requests of one isolate", () => {
  let site: RunningWorker;
  before(async () => {
    const flags = ["enable_request_signal", "nodejs_compat"];
    site = await startWorker({ path: "tests/fixtures/workers/site.ts", flags });
  });
  after(() => site.stop());

  async function state(): Promise<{ waiting: number; inUse: number; activeMs: number; worked: string[] }> {
    return (await ask(site, "/state")).body as Awaited<ReturnType<typeof state>>;
  }

  async function assertIdle(): Promise<void> {
    const { waiting, inUse } = await state();
    assert.deepEqual({ waiting, inUse }, { waiting: 0, inUse: 0 });
  }

  it("are granted when others release, in order of arrival", async () => {
    const names = ["a", "b", "c", "d", "e", "f"];
    const paths = names.map((name) => `/job?gate=1&workMs=100&name=${name}`);
    const answers = await askInTurn(site, ...paths);
    const granted = answers.map(({ body }) => body.grantedAt!);
    assert.deepEqual((await state()).worked.slice(-6), names);
    for (const [index, at] of granted.entries()) {
      if (index > 0) assert.ok(at - granted[index - 1]! >= 100, `two at once: ${granted}`);
    }
    await assertIdle();
  });

  it("are granted at the instants that a bucket computes", async () => {
    await ask(site, "/empty");
    const answers = await Promise.all([2_000, 1_000, 3_000].map((each) => ask(site, `/job?tokens=${each}`)));
    // 10 tokens a millisecond: 600 ms for all, whoever came first.
    const waits = answers.map(({ body }) => body.waitedMs!).sort((a, b) => a - b);
    assert.ok(waits[0]! >= 90 && waits[2]! >= 550 && waits[2]! < 5_000, `waited ${waits}`);
  });

  it("are refused with 503 when their time is up, and when the line is full", async () => {
    const [, late] = await askInTurn(site, "/job?gate=1&workMs=500", "/job?gate=1&timeoutMs=100");
    assert.deepEqual([late!.status, late!.body.code], [503, "timeout"]);

    const holder = ask(site, "/job?gate=1&workMs=500");
    await sleep(ARRIVAL_MS);
    const crowd = await Promise.all(Array.from({ length: 21 }, () => ask(site, "/job?gate=1")));
    const refused = crowd.filter(({ status }) => status === 503);
    assert.deepEqual(refused.map(({ body }) => body.code), ["queue_full"]);
    await holder;
    await assertIdle();
  });

  it("leave the line at once with the signal of a request that is cancelled", async () => {
    const holder = ask(site, "/job?gate=1&workMs=600");
    await sleep(ARRIVAL_MS);
    const { body } = await ask(site, cancelling("/job?gate=1&signal=1&name=gone", 100));
    assert.equal(body.outcome, "cancelled");
    assert.equal((await state()).waiting, 0);
    await holder;
    assert.ok(!(await state()).worked.includes("gone"));
    await assertIdle();
  });

  it("get a grant that a pass gave to a request which was cancelled without a word", async () => {
    const holder = ask(site, "/job?gate=1&workMs=300");
    await sleep(ARRIVAL_MS);
    const [cancelled, next] = await askInTurn(
      site,
      cancelling("/job?gate=1&name=silent", 100),
      "/job?gate=1&name=next",
    );
    assert.equal(cancelled!.body.outcome, "cancelled");
    assert.ok(next!.body.waitedMs! < NOTICED_MS);
    await holder;
    const { worked } = await state();
    assert.deepEqual([worked.includes("silent"), worked.includes("next")], [false, true]);
    await assertIdle();
  });

  it("get what a request held that was cancelled at work, or ended without releasing", async () => {
    await ask(site, cancelling("/job?gate=1&workMs=5000", 100));
    assert.ok((await ask(site, "/job?gate=1")).body.waitedMs! < NOTICED_MS);
    await ask(site, "/job?gate=1&forget=1");
    assert.ok((await ask(site, "/job?gate=1")).body.waitedMs! < NOTICED_MS);
    await assertIdle();
  });

  it("keep their grants while they live: work under waitUntil, and a stream", async () => {
    const path = `/kept?gate=1&workMs=${8 * BEAT_MS}&name=kept`;
    await askInTurn(site, cancelling(path, 100), "/job?gate=1&name=after");
    assert.deepEqual((await state()).worked.slice(-2), ["kept", "after"]);

    const stream = fetch(`${site.url}/stream?gate=1&workMs=${15 * BEAT_MS}`).then((response) =>
      response.text()
    );
    await sleep(ARRIVAL_MS);
    const { body } = await ask(site, "/job?gate=1");
    assert.match(await stream, /^\.{5,}$/);
    assert.ok(body.waitedMs! >= 8 * BEAT_MS, `the stream lost its grant after ${body.waitedMs} ms`);
    await assertIdle();
  });

  it("lose nothing to clients that close their connection while they wait", async () => {
    const holder = ask(site, "/job?gate=1&workMs=400");
    await sleep(ARRIVAL_MS);
    const leaving = new AbortController();
    const gone = Array.from({ length: 3 }, () => ask(site, "/job?gate=1", leaving.signal));
    await sleep(2 * ARRIVAL_MS);
    leaving.abort();
    for (const each of await Promise.allSettled(gone)) assert.equal(each.status, "rejected");
    await holder;
    assert.equal((await ask(site, "/job?gate=1&timeoutMs=5000")).status, 200);
    await assertIdle();
  });

  it("show when an account was last used, although no turn's end is noticed", async () => {
    await sleep(600);
    await ask(site, "/job?gate=1");
    const { activeMs } = await state();
    assert.ok(activeMs < 500, `last used ${activeMs} ms ago`);
  });

  it("have the heap reader they are given, and none without", async () => {
    assert.deepEqual((await ask(site, "/memory")).body, { asked: 1, accounts: 1 });
  });

  it("are told of nested demands where the runtime has AsyncLocalStorage", async () => {
    assert.equal((await ask(site, "/nested")).body.code, "nested_demand");
    await assertIdle();
  });

  it("are served by the example", async () => {
    assert.deepEqual(await ask(site, "/example"), { status: 200, body: { waitedMs: 0 } });
  });
});

describe("Requests of an isolate without nodejs_compat", () => {
  it("are not told of nested demands, and wait in vain within their time", async () => {
    const site = await startWorker({ path: "tests/fixtures/workers/site.ts" });
    try {
      assert.equal((await ask(site, "/nested")).body.code, "timeout");
    } finally {
      await site.stop();
    }
  });
});

describe("Requests that wait in a Durable Object", () => {
  let lender: RunningWorker;
  before(async () => {
    lender = await startWorker({ path: "tests/fixtures/workers/lender.ts", objects: ["Limit"] });
  });
  after(() => lender.stop());

  /** The object lends six at a time. */
  function six(path: string): Promise<Answer[]> {
    return Promise.all(Array.from({ length: 6 }, () => ask(lender, path)));
  }

  it("are granted when others give back, and refused when their time is up", async () => {
    const holders = six("/borrow?workMs=400");
    await sleep(ARRIVAL_MS);
    const [late, next] = await Promise.all([
      ask(lender, "/borrow?timeoutMs=100"),
      ask(lender, "/borrow"),
    ]);
    assert.equal(late.body.code, "timeout");
    assert.deepEqual([next.body.code, next.body.waitedMs! >= 100], [null, true]);
    assert.ok((await holders).every(({ body }) => body.code === null));
  });

  it("get at once what requests held that ended without giving back, or were cancelled", async () => {
    await six("/borrow?forget=1");
    assert.equal((await ask(lender, "/borrow?timeoutMs=1000")).body.code, null);
    await six(cancelling("/borrow?workMs=5000", 100));
    assert.equal((await ask(lender, "/borrow?timeoutMs=1000")).body.code, null);
  });

  it("spend no tokens when they were cancelled while they waited, and wait for the clock otherwise", async () => {
    const holders = six("/borrow?workMs=300");
    await sleep(ARRIVAL_MS);
    await ask(lender, cancelling("/borrow?tokens=590000", 100));
    await holders;
    assert.equal((await ask(lender, "/borrow?tokens=590000&timeoutMs=1000")).body.code, null);
    const { body } = await ask(lender, "/borrow?tokens=15000");
    assert.ok(body.waitedMs! >= 200 && body.waitedMs! < 2_000, `waited ${body.waitedMs} ms for 5,000 tokens`);
  });

  it("are served by the example", async () => {
    const response = await fetch(`${lender.url}/example`);
    assert.deepEqual([response.status, await response.text()], [200, "an answer"]);
  });
});
