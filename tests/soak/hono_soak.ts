// A Hono app under clients that mostly misbehave: half of them leave at a random instant, others ask HEAD, meet errors, or
// listen to streams that never end.

import assert from "node:assert/strict";
import process from "node:process";
import { describe, it } from "@std/testing/bdd";
import { type Context, Hono } from "hono";
import { streamSSE, streamText } from "hono/streaming";
import { admit } from "../../adapters/hono.ts";
import { Admission, CountingGate, Demand } from "../../mod.ts";
import { Chance } from "../chance.ts";
import { eventually, RawClient } from "../hono/raw_client.ts";
import { watchReleases } from "../hono/releases.ts";
import type { HonoServer, Listening } from "../hono/servers.ts";

const REQUESTS = process.env.SOAK === "1" ? 20_000 : 2_000;
/** Clients at a time: more than there are slots, so that many wait. */
const CLIENTS = 96;
const SLOTS = 48;
/** How long a client that does not leave early listens to a stream without an end. */
const PATIENCE_MS = 60;
const PATHS = "text json empty redirect made throws slow slow stream stream sse idle idle pull".split(" ");

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function addRoutes(app: Hono, chance: Chance): void {
  const untilLeft = (stream: { onAbort(fn: () => void): void }) =>
    new Promise<void>((resolve) => stream.onAbort(resolve));
  app.get("/text", (c) => c.text("hi"));
  app.get("/json", (c) => c.json({ hi: 1 }));
  app.get("/empty", (c) => c.body(null, 204));
  app.get("/redirect", (c) => c.redirect("/text"));
  app.get("/made", () => new Response("hi"));
  app.get("/throws", () => Promise.reject(new Error("on purpose")));
  app.get("/slow", async (c) => {
    await pause(chance.below(8));
    return c.text("hi");
  });
  app.get("/stream", (c) =>
    streamText(c, async (stream) => {
      for (let i = chance.below(5); i >= 0 && !stream.aborted; i--) {
        await stream.write("some text\n");
        await pause(chance.below(4));
      }
    }));
  app.get("/sse", (c) =>
    streamSSE(c, async (stream) => {
      while (!stream.aborted) {
        await stream.writeSSE({ data: "tick" });
        await pause(1 + chance.below(8));
      }
    }));
  app.get("/idle", (c: Context) =>
    streamSSE(c, async (stream) => {
      await stream.writeSSE({ data: "first" });
      await untilLeft(stream);
    }));
  app.get("/pull", () => {
    let left = chance.below(4);
    const pull = async (controller: ReadableStreamDefaultController) => {
      await pause(chance.below(3));
      if (left-- > 0) controller.enqueue(new Uint8Array(1_000));
      else if (chance.below(4) === 0) controller.error(new Error("on purpose"));
      else controller.close();
    };
    return new Response(new ReadableStream({ pull }), { headers: { "content-type": "text/plain" } });
  });
}

/** One client from its request to its end; answers what became of it. */
async function visit(port: number, chance: Chance): Promise<string> {
  const path = chance.pick(PATHS);
  const method = chance.below(10) === 0 ? "HEAD" : "GET";
  const isLeaving = chance.below(2) === 0;
  const patienceMs = isLeaving ? chance.below(20) : PATIENCE_MS;
  const client = new RawClient(port, `/${path}`, { method });
  // Also for HEAD: Hono's event streams ask for a connection that stays open.
  const isEndless = path === "sse" || path === "idle";
  if (isLeaving || isEndless) {
    await Promise.race([client.closed, pause(patienceMs)]);
    client.leave();
  }
  await client.closed;
  return client.received === "" ? "left" : String(client.status);
}

async function play(
  listening: Listening,
  chance: Chance,
  growthBytes: number,
): Promise<Map<string, number>> {
  const outcomes = new Map<string, number>();
  let left = REQUESTS;
  let quarterBytes = 0;
  const clients = Array.from({ length: CLIENTS }, async () => {
    while (left-- > 0) {
      const outcome = await visit(listening.port, chance);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      if (left === Math.floor(REQUESTS * 0.75)) quarterBytes = process.memoryUsage().rss;
    }
  });
  await Promise.all(clients);
  const growth = process.memoryUsage().rss - quarterBytes;
  assert.ok(growth < growthBytes, `grew by ${(growth / 2 ** 20).toFixed(0)} MB after the first quarter`);
  return outcomes;
}

/** Registers the soak on one server; the process may grow by so much after a quarter of the requests. */
export function honoSoak(server: HonoServer, growthBytes: number): void {
  describe(`Hono's admit on ${server.name} among clients that leave`, () => {
    it(`${REQUESTS.toLocaleString("en")} requests leave no grant, no waiter and no second release`, async () => {
      const seed = Number(process.env.SEED ?? 11);
      const chance = new Chance(seed);
      const gate = new CountingGate("slots", SLOTS);
      const admission = new Admission({ memory: null, maxQueue: 1_000 }).start();
      const limited = admit({ demand: new Demand().add(gate), admission, maxHoldMs: Infinity });
      const app = new Hono().use(limited) as unknown as Hono;
      app.onError((_, c) => c.text("sorry", 500));
      addRoutes(app, chance);
      const listening = await server.listen(app);
      const releases = watchReleases();
      const outcomes = await play(listening, chance, growthBytes);
      const facts = () =>
        `${gate.currentInUse} in use, ${limited.heldCount} held, ${admission.queueSize} waiting, ` +
        `${JSON.stringify([...outcomes])}, seed ${seed}`;
      await eventually(() => gate.currentInUse + limited.heldCount + admission.queueSize === 0, facts);
      releases.stop();
      await listening.close();
      assert.equal(releases.doubles, 0, facts());
      for (const outcome of ["left", "200", "204", "302", "500"]) {
        assert.ok((outcomes.get(outcome) ?? 0) > REQUESTS / 200, facts());
      }
    });
  });
}
