// The app that the contract asks on every server. It imports nothing of a runtime: workerd has it in a bundle.

import { Hono } from "hono";
import { cors } from "hono/cors";
import { streamSSE, streamText } from "hono/streaming";
import type { UpgradeWebSocket } from "hono/ws";
import { admit, type AdmitMiddleware } from "../../adapters/hono.ts";
import {
  Admission,
  type Clock,
  CountingGate,
  Demand,
  ElasticWindowRateLimiter,
  systemClock,
} from "../../mod.ts";
import { ManualClock } from "../../testing/mod.ts";

/** Places of the gate that every route shares. */
export const SLOTS = 2;

/** What a test is told of a world. */
export interface WorldState {
  /** Places of the two gates that are taken. */
  readonly inUse: number;
  readonly otherInUse: number;
  /** Grants that the middleware keeps. */
  readonly held: number;
  readonly waiting: number;
  /** Handlers that stand at the door. */
  readonly atDoor: number;
}

/** What a test does to a world and is told of it, wherever it is. */
export interface WorldControl {
  state(): Promise<WorldState>;
  /** Lets everybody go on who stands at the door. */
  openDoors(): Promise<void>;
  /** Moves the clock by which grants are held. */
  advance(ms: number): Promise<void>;
}

/** Two gates and a window, and the doors by which a test lets its handlers go on. */
export class World implements WorldControl {
  readonly gate: CountingGate = new CountingGate("slots", SLOTS);
  readonly other: CountingGate = new CountingGate("other", SLOTS);
  readonly window: ElasticWindowRateLimiter;
  readonly admission: Admission;
  readonly holdClock: ManualClock = new ManualClock();
  readonly limited: AdmitMiddleware;
  #doors: (() => void)[] = [];

  constructor(clock: Clock = systemClock) {
    this.window = new ElasticWindowRateLimiter("daily", {
      maxRequests: 1,
      baseWindowMs: 86_400_000,
      clock,
    });
    this.admission = new Admission({ memory: null, clock }).start();
    this.limited = admit({
      demand: new Demand().add(this.gate).add(this.other),
      admission: this.admission,
      timeoutMs: 60_000,
      maxHoldMs: 60_000,
      clock: this.holdClock,
    });
  }

  state(): Promise<WorldState> {
    return Promise.resolve({
      inUse: this.gate.currentInUse,
      otherInUse: this.other.currentInUse,
      held: this.limited.heldCount,
      waiting: this.admission.queueSize,
      atDoor: this.#doors.length,
    });
  }

  /** Resolves when a test opens the doors. */
  door(): Promise<void> {
    return new Promise((resolve) => this.#doors.push(resolve));
  }

  openDoors(): Promise<void> {
    for (const open of this.#doors.splice(0)) open();
    return Promise.resolve();
  }

  async advance(ms: number): Promise<void> {
    await this.holdClock.advance(ms);
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

/** Their names, and one that is none. */
export const WHOLE_BODIES: readonly string[] =
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

/** The app of a world; without a way to make WebSockets it has none. */
export function makeApp(world: World, upgradeWebSocket: UpgradeWebSocket | null): Hono {
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
  if (upgradeWebSocket !== null) {
    app.get("/ws", world.limited, upgradeWebSocket((c) => ({ onClose: world.limited.keep(c) })));
  }
  return app;
}
