import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import type { Hono } from "hono";

/** A server that listens. */
export interface Listening {
  readonly url: string;
  close(): Promise<void>;
}

/** Serves an app on the machine itself, on Node's server, which Deno and Bun have too. `Deno.serve(app.fetch)` does as well. */
export function serveApp(app: Hono): Promise<Listening> {
  return new Promise((resolve) => {
    const server = serve(
      { fetch: app.fetch, port: 0, hostname: "127.0.0.1" },
      ({ port }: AddressInfo) =>
        resolve({ url: `http://127.0.0.1:${port}`, close: () => close(server as Server) }),
    );
  });
}

async function close(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
}
