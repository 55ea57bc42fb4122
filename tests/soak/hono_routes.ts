// The routes of the soak. It imports nothing of a runtime: workerd has it in a bundle.

import type { Context, Hono } from "hono";
import { streamSSE, streamText } from "hono/streaming";
import type { Chance } from "../chance.ts";

/** Names of the routes, as often as they are asked. */
export const PATHS: readonly string[] =
  "text json empty redirect made throws slow slow stream stream sse idle idle pull".split(" ");
/** Places of the gate before them. */
export const SLOTS = 48;

/** Resolves after so many milliseconds. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Routes that answer in every way, some of them never. */
export function addRoutes(app: Hono, chance: Chance): void {
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
