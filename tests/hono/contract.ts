// What the Hono adapter promises on every server, through real sockets.

import assert from "node:assert/strict";
import { after, before, describe, it } from "@std/testing/bdd";
import { Hono } from "hono";
import { cors } from "hono/cors";
import { streamSSE, streamText } from "hono/streaming";
import { admit } from "../../adapters/hono.ts";
import { Admission, CountingGate, Demand, ElasticWindowRateLimiter } from "../../mod.ts";
import { ManualClock } from "../../testing/mod.ts";
import { eventually, RawClient, type RawRequest } from "./raw_client.ts";
import type { HonoServer, Listening } from "./servers.ts";

const SLOTS = 2;

/** An app with one gate, and the doors by which a test lets its handlers go on. */
class World {
  readonly gate = new CountingGate("slots", SLOTS);
  readonly other = new CountingGate("other", SLOTS);
  readonly window = new ElasticWindowRateLimiter("daily", { maxRequests: 1, baseWindowMs: 86_400_000 });
  readonly admission = new Admission({ memory: null }).start();
  readonly holdClock = new ManualClock();
  readonly demand = new Demand().add(this.gate).add(this.other);
  readonly limited = admit({
    demand: this.demand,
    admission: this.admission,
    timeoutMs: 60_000,
    maxHoldMs: 60_000,
    clock: this.holdClock,
  });
  #doors: (() => void)[] = [];

  get inUse(): number {
    return this.gate.currentInUse;
  }

  /** Resolves when a test opens the doors. */
  door(): Promise<void> {
    return new Promise((resolve) => this.#doors.push(resolve));
  }

  async openDoors(): Promise<void> {
    await eventually(() => this.#doors.length > 0, () => "nobody stands at the door");
    for (const open of this.#doors.splice(0)) open();
  }

  async rests(): Promise<void> {
    await eventually(
      () => this.inUse === 0 && this.other.currentInUse === 0 && this.limited.heldCount === 0,
      () => `${this.inUse} in use, ${this.limited.heldCount} held`,
    );
  }

  async queues(count: number): Promise<void> {
    await eventually(() => this.admission.queueSize === count, () => `${this.admission.queueSize} in line`);
  }
}

const BYTES = new Uint8Array([104, 105]);

/** Whole bodies under `path`, once without the middleware and once with it. */
function addWholeBodies(app: Hono, path: string): void {
  app.get(`${path}/text`, (c) => c.text("hi"));
  app.get(`${path}/text_with_header`, (c) => c.text("hi", 201, { "x-one": "1" }));
  app.get(`${path}/json`, (c) => c.json({ hi: 1 }));
  app.get(`${path}/html`, (c) => c.html("<b>hi</b>"));
  app.get(`${path}/late_html`, (c) => c.html(Promise.resolve("<b>hi</b>")));
  app.get(`${path}/bytes`, (c) => c.body(BYTES, 200, { "content-type": "application/octet-stream" }));
  app.get(`${path}/empty`, (c) => c.body(null, 204));
  app.get(`${path}/redirect`, (c) => c.redirect("/elsewhere"));
  app.get(`${path}/made`, () => new Response("hi", { headers: { "content-type": "text/plain" } }));
  app.get(`${path}/not_modified`, () => new Response(null, { status: 304 }));
  app.get(`${path}/cors`, cors(), (c) => c.text("hi"));
  app.get(`${path}/throws`, () => {
    throw new Error("on purpose");
  });
}

const WHOLE_BODIES =
  "text text_with_header json html late_html bytes empty redirect made not_modified cors throws missing"
    .split(" ");

function addStreams(app: Hono, world: World): void {
  app.get("/limited/stream", (c) =>
    streamText(c, async (stream) => {
      await stream.write("one");
      await world.door();
      await stream.write("two");
    }));
  app.get("/limited/idle", (c) =>
    streamSSE(c, async (stream) => {
      await stream.writeSSE({ data: "first" });
      await new Promise<void>((resolve) => stream.onAbort(resolve));
    }));
  app.get("/limited/broken", () => {
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(BYTES),
      pull: () => world.door().then(() => Promise.reject(new Error("on purpose"))),
    });
    return new Response(body, { headers: { "content-type": "text/plain" } });
  });
  app.get("/limited/slow", async (c) => {
    await world.door();
    return c.text("done");
  });
}

function makeApp(world: World, server: HonoServer): Hono {
  const app = new Hono();
  app.onError((error, c) => c.text(error.message, 500));
  addWholeBodies(app, "/plain");
  app.use("/replaced/*", async (c, next) => {
    await next();
    c.res = undefined;
    c.res = new Response("replaced");
  });
  app.use("/replaced/*", world.limited);
  app.get("/replaced/stream", () => new Response(new ReadableStream({ start: (it) => it.enqueue(BYTES) })));
  app.use("/limited/*", world.limited);
  addWholeBodies(app, "/limited");
  addStreams(app, world);
  const { window, admission } = world;
  app.get("/daily", admit({ demand: new Demand().add(window), admission }), (c) => c.text("today's"));
  if (server.upgradeWebSocket !== null) {
    app.get("/ws", world.limited, server.upgradeWebSocket((c) => ({ onClose: world.limited.keep(c) })));
  }
  return app;
}

/** Registers the cases for one server. */
export function honoContract(server: HonoServer): void {
  describe(`Hono's admit on ${server.name}`, () => {
    let world: World;
    let listening: Listening;
    const get: Get = (path, request) => new RawClient(listening.port, path, request);

    before(async () => {
      world = new World();
      listening = await server.listen(makeApp(world, server));
    });
    after(() => listening.close());

    wholeCases(() => world, get);
    streamCases(() => world, get);
    lineCases(() => world, get);
    if (server.upgradeWebSocket !== null) socketCases(() => world, () => listening.port);
  });
}

type Get = (path: string, request?: RawRequest) => RawClient;

/** A response without what differs between any two. */
function withoutDate(received: string): string {
  return received.replace(/^date:.*\r\n/im, "");
}

function wholeCases(world: () => World, get: Get): void {
  for (const kind of WHOLE_BODIES) {
    it(`sends ${kind} as the app does without it, and holds nothing afterwards`, async () => {
      const plain = get(`/plain/${kind}`);
      const limited = get(`/limited/${kind}`);
      await Promise.all([plain.closed, limited.closed]);
      assert.ok(limited.status >= 200, "a response came");
      assert.equal(withoutDate(limited.received), withoutDate(plain.received));
      await world().rests();
    });
  }

  it("releases once the body of a HEAD request is dropped, also of a stream that would never end", async () => {
    for (const kind of ["text", "idle", "stream"]) {
      const client = get(`/limited/${kind}`, { method: "HEAD" });
      await eventually(() => client.received.includes("\r\n\r\n"), () => client.received);
      assert.equal(client.status, 200);
      await world().rests();
      client.leave();
      if (kind === "stream") await world().openDoors();
    }
  });
}

function streamCases(world: () => World, get: Get): void {
  it("holds while a stream runs and releases at its end", async () => {
    const client = get("/limited/stream");
    await eventually(() => client.received.includes("one"), () => client.received);
    assert.equal(world().inUse, 1);
    assert.equal(world().limited.heldCount, 1);
    await world().openDoors();
    await client.closed;
    assert.ok(client.received.includes("two"));
    await world().rests();
  });

  it("releases when a client leaves a stream, also an idle one", async () => {
    for (const path of ["/limited/stream", "/limited/idle"]) {
      const client = get(path);
      await eventually(() => /one|first/.test(client.received), () => client.received);
      assert.equal(world().inUse, 1);
      client.leave();
      if (path.endsWith("stream")) await world().openDoors();
      await world().rests();
    }
  });

  it("releases when a stream breaks", async () => {
    const client = get("/limited/broken");
    await eventually(() => client.received.includes("hi"), () => client.received);
    assert.equal(world().inUse, 1);
    await world().openDoors();
    await world().rests();
    client.leave();
  });

  it("takes back the grant of a body that an outer middleware replaced, at the latest after the holding time", async () => {
    const client = get("/replaced/stream");
    await client.closed;
    assert.ok(client.received.endsWith("replaced") || client.received.includes("replaced\r\n"));
    await world().holdClock.advance(60_000);
    await get("/limited/text").closed;
    await world().rests();
  });
}

function lineCases(world: () => World, get: Get): void {
  const fill = async () => {
    const holders = Array.from({ length: SLOTS }, () => get("/limited/slow"));
    await eventually(() => world().inUse === SLOTS, () => `${world().inUse} in use`);
    return holders;
  };

  it("BEY-24 lets a client that goes away leave the line at once, with nothing held", async () => {
    const holders = await fill();
    const client = get("/limited/text");
    await world().queues(1);
    assert.equal(world().inUse, SLOTS, "a waiter holds nothing");
    client.leave();
    await world().queues(0);
    await world().openDoors();
    await Promise.all(holders.map((holder) => holder.closed));
    await world().rests();
  });

  it("serves everybody who waited, but for the one who left", async () => {
    const holders = await fill();
    const waiting: RawClient[] = [];
    for (let i = 1; i <= 5; i++) {
      waiting.push(get("/limited/text"));
      await world().queues(i);
    }
    waiting[1]!.leave();
    await world().queues(4);
    await world().openDoors();
    await Promise.all([...holders, ...waiting].map((client) => client.closed));
    assert.deepEqual(waiting.map((client) => client.status), [200, 0, 200, 200, 200]);
    await world().rests();
  });

  it("BEY-21 refuses at once what cannot be granted in time, and tells when it can", async () => {
    const first = get("/daily");
    await first.closed;
    assert.equal(first.status, 200);
    const second = get("/daily");
    await second.closed;
    assert.equal(second.status, 500, "the app's error handler was asked");
    const retryAfterS = Number(second.header("retry-after"));
    assert.ok(retryAfterS > 86_300 && retryAfterS <= 86_400, `Retry-After is ${retryAfterS}`);
    assert.equal(second.header("ratelimit-policy"), '"daily";q=1;w=86400');
    assert.equal(second.header("ratelimit"), `"daily";r=0;t=${retryAfterS}`);
  });
}

function socketCases(world: () => World, port: () => number): void {
  it("keeps the grant of a WebSocket that the app took over until it closes", async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${port()}/ws`);
    await new Promise((resolve) => socket.onopen = resolve);
    assert.equal(world().inUse, 1);
    const closed = new Promise((resolve) => socket.onclose = resolve);
    socket.close();
    await closed;
    await world().rests();
  });
}
