// Signals that abort a request: in line, in a pause, before the response and amid its body.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Demand } from "../mod.ts";
import {
  chat,
  CHAT_URL,
  completion,
  errorOf,
  events,
  FetchWorld,
  follow,
  json,
  withProvider,
} from "./fetch_world.ts";

describe("Signals", () => {
  it("BEY-02 one that has aborted rejects with its reason, before anything is asked or sent", async () => {
    const world = new FetchWorld();
    const reason = new Error("enough");
    const fetch = world.fetch(() => completion(), { estimate: () => assert.fail("it was asked") });
    assert.equal(await errorOf(fetch(CHAT_URL, chat({}, { signal: AbortSignal.abort(reason) }))), reason);
    assert.equal(
      await errorOf(fetch(new Request(CHAT_URL, chat({}, { signal: AbortSignal.abort(reason) })))),
      reason,
    );
    assert.equal(world.bucket.currentInUse, 0);
    assert.equal(world.sent.length, 0);
  });

  it("one that aborts in line leaves it at once with its reason, and nothing was taken", async () => {
    const world = new FetchWorld();
    const grant = await world.admission.admit(new Demand().add(world.http, 1000));
    const controller = new AbortController();
    const waiting = world.fetch(() => completion())(CHAT_URL, chat({}, { signal: controller.signal }));
    const outcome = follow(waiting);
    await world.settle();
    assert.equal(world.admission.queueSize, 1);
    const reason = { any: "value" };
    controller.abort(reason);
    assert.equal(world.admission.queueSize, 0);
    await world.settle();
    assert.equal(outcome.error, reason);
    assert.equal(world.bucket.currentInUse, 0);
    grant.release();
    world.assertIdle();
  });

  it("BEY-24 one that aborts between the grant and the request returns the tokens as well", async () => {
    const world = new FetchWorld();
    const controller = new AbortController();
    const held = await world.admission.admit(new Demand().add(world.http, 1000));
    const waiting = world.fetch(() => completion(), { demand: (demand) => demand })(
      CHAT_URL,
      chat({}, { signal: controller.signal }),
    );
    const outcome = follow(waiting);
    await world.settle();
    held.release();
    await Promise.resolve();
    controller.abort("now");
    await world.settle();
    assert.equal(outcome.error, "now");
    assert.deepEqual([world.sent.length, world.bucket.currentInUse], [0, 0]);
    world.assertIdle();
  });

  it("one that aborts a pause ends it at once with its reason", async () => {
    const world = new FetchWorld();
    const controller = new AbortController();
    const waiting = follow(
      world.fetch(() => refusal503())(CHAT_URL, chat({}, { signal: controller.signal })),
    );
    await world.settle();
    world.assertIdle();
    assert.equal(world.clock.pendingTimers, 1);
    controller.abort("stop");
    await world.settle();
    assert.equal(waiting.error, "stop");
    assert.equal(world.clock.pendingTimers, 0);
    assert.equal(world.sent.length, 1);
  });

  it("a real one ends a request that hangs, before the response and amid its body", async () => {
    await withProvider((request, response) => {
      if (request.url === "/body") {
        response.writeHead(200, { "content-type": "text/event-stream" }).write(events({ i: 1 }));
      }
    }, async (url) => {
      const world = new FetchWorld();
      const own = world.fetch(() => assert.fail(), { fetch: (input, init) => fetch(input, init) });
      for (const reason of [new Error("mine"), undefined]) {
        const controller = new AbortController();
        const hanging = own(`${url}/none`, chat({}, { signal: controller.signal }));
        setTimeout(() => controller.abort(reason), 20);
        assert.equal(await errorOf(hanging), controller.signal.reason);
      }
      const timed = await errorOf(own(`${url}/none`, chat({}, { signal: AbortSignal.timeout(20) })));
      assert.equal((timed as Error).name, "TimeoutError");
      world.assertIdle();
      const controller = new AbortController();
      const response = await own(`${url}/body`, chat({}, { signal: controller.signal }));
      const reader = response.body!.getReader();
      await reader.read();
      const next = errorOf(reader.read());
      controller.abort(new Error("mid-body"));
      world.assertIdle();
      assert.equal(await next, controller.signal.reason);
    });
  });

  it("one that aborts amid a body, or amid the body of a refusal, rejects with its reason whatever the runtime says", async () => {
    const broken = ({ signal }: Request) =>
      new ReadableStream({
        pull: () =>
          new Promise((_, reject) =>
            signal.addEventListener("abort", () => reject(new TypeError("terminated")))
          ),
      }, { highWaterMark: 0 });
    for (const status of [200, 429]) {
      const world = new FetchWorld();
      const controller = new AbortController();
      const own = world.fetch((_, __, request) => new Response(broken(request), { status }), {
        maxRetries: 0,
      });
      const text = own(CHAT_URL, chat({}, { signal: controller.signal })).then((response) => response.text());
      const outcome = follow(text);
      await world.settle();
      assert.equal(world.http.currentInUse, 1);
      controller.abort("mine");
      await world.settle();
      assert.equal(outcome.error, "mine");
      world.assertIdle();
      const unread = new AbortController();
      const response = follow(own(CHAT_URL, chat({}, { signal: unread.signal })));
      await world.settle();
      unread.abort();
      await world.settle();
      assert.equal(response.value!.status, status);
      world.assertIdle();
    }
  });

  it("one that aborts amid a body ends it also where fetch does not, and lets go of what it came from", async () => {
    // As on Deno, once nobody keeps the response that fetch has answered.
    const world = new FetchWorld();
    for (const early of [0, 1]) {
      let pieces = 0;
      let cancelled: unknown = null;
      const controller = new AbortController();
      const deaf = new ReadableStream<Uint8Array>({
        pull: (stream) => pieces++ < early ? stream.enqueue(new TextEncoder().encode("half")) : undefined,
        cancel: (reason) => void (cancelled = reason),
      }, { highWaterMark: 0 });
      const own = world.fetch(() => new Response(deaf));
      const response = await own(CHAT_URL, chat({}, { signal: controller.signal }));
      const reader = response.body!.getReader();
      for (let i = 0; i < early; i++) await reader.read();
      const outcome = follow(reader.read());
      await world.settle();
      assert.deepEqual(outcome, {});
      const reason = { early };
      controller.abort(reason);
      await world.settle();
      assert.equal(outcome.error, reason);
      assert.equal(cancelled, reason);
      world.assertIdle();
    }
  });

  it("one that many requests share carries one listener of ours, and none in the end", async () => {
    const world = new FetchWorld();
    const controller = new AbortController();
    let listeners = 0;
    const { signal } = controller;
    const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
    Object.assign(signal, {
      addEventListener: (...args: Parameters<typeof add>) => (listeners++, add(...args)),
      removeEventListener: (...args: Parameters<typeof remove>) => (listeners--, remove(...args)),
    });
    const fetch = world.fetch(() => completion(5), { fetch: () => Promise.resolve(completion(5)) });
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => fetch(CHAT_URL, chat({}, { signal }))),
    );
    assert.equal(listeners, 1);
    for (const response of responses) await response.text();
    assert.equal(listeners, 0);
    const answers = [new Response(null, { status: 503 }), completion(5)];
    const retried = world.fetch(() => completion(), { fetch: () => Promise.resolve(answers.shift()!) });
    const outcome = follow(retried(CHAT_URL, chat({}, { signal })));
    await world.settle();
    assert.equal(listeners, 1);
    await world.clock.advance(1000);
    await outcome.value!.text();
    assert.equal(listeners, 0);
  });
});

function refusal503(): Response {
  return json({}, { status: 503 });
}
