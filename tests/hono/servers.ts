// The servers that the Hono adapter is tried on: the runtime's own one, and Node's, which both runtimes offer.

import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { serve } from "@hono/node-server";
import type { Hono } from "hono";
import type { UpgradeWebSocket } from "hono/ws";

/** A server that listens. */
export interface Listening {
  readonly port: number;
  close(): Promise<void>;
}

/** One way to serve an app. */
export interface HonoServer {
  readonly name: string;
  /** How WebSockets are made, null where that takes another package. */
  readonly upgradeWebSocket: UpgradeWebSocket | null;
  listen(app: Hono): Promise<Listening>;
}

interface DenoServer {
  readonly addr: { port: number };
  shutdown(): Promise<void>;
}

interface BunServer {
  readonly port: number;
  stop(closeActive: boolean): Promise<void>;
}

/** What of the two runtimes is used here. */
interface Runtimes {
  readonly Deno?: { serve(options: object, fetch: unknown): DenoServer };
  readonly Bun?: { serve(options: object): BunServer };
}

const { Deno, Bun } = globalThis as unknown as Runtimes;

/** Deno.serve or Bun.serve. */
export async function ownServer(): Promise<HonoServer> {
  const name = "the runtime's own server";
  if (process.versions.bun === undefined) {
    const { upgradeWebSocket } = await import("hono/deno");
    return { name, upgradeWebSocket, listen: (app) => Promise.resolve(listenOnDeno(app)) };
  }
  const { upgradeWebSocket, websocket } = await import("hono/bun");
  return { name, upgradeWebSocket, listen: (app) => Promise.resolve(listenOnBun(app, websocket)) };
}

function listenOnDeno(app: Hono): Listening {
  const server = Deno!.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, app.fetch);
  return { port: server.addr.port, close: () => server.shutdown() };
}

function listenOnBun(app: Hono, websocket: unknown): Listening {
  const server = Bun!.serve({ port: 0, hostname: "127.0.0.1", fetch: app.fetch, websocket });
  return { port: server.port, close: () => server.stop(true) };
}

/** `@hono/node-server`, on the `node:http` of whichever runtime this is. */
export function nodeServer(): HonoServer {
  return { name: "@hono/node-server", upgradeWebSocket: null, listen: listenOnNode };
}

function listenOnNode(app: Hono): Promise<Listening> {
  return new Promise((resolve) => {
    const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }: AddressInfo) => {
      resolve({ port, close: () => closeNode(server as Server) });
    });
  });
}

function closeNode(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
