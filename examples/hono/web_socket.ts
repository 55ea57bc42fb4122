import { type Context, Hono } from "hono";
import type { UpgradeWebSocket } from "hono/ws";
import { admit } from "../../adapters/hono.ts";
import { Admission, CountingGate, Demand } from "../../mod.ts";

const sockets = new CountingGate("sockets", 1_000);
const admission = new Admission().start();
const limited = admit({ demand: new Demand().add(sockets), admission, timeoutMs: 0, maxHoldMs: Infinity });

/** `upgradeWebSocket` comes from `hono/deno`, `hono/bun` or `@hono/node-server`. */
export function makeApp(upgradeWebSocket: UpgradeWebSocket): Hono {
  const app: Hono = new Hono();
  app.get(
    "/ws",
    limited,
    upgradeWebSocket((c: Context) => {
      const end = limited.keep(c); // The upgrade is the end of the response, not of the work.
      return { onMessage: (event, ws) => ws.send(`${event.data}`), onClose: end };
    }),
  );
  return app;
}

console.log(limited.heldCount, sockets.status.summary());
