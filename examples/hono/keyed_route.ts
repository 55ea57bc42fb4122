import { type Context, Hono } from "hono";
import type { GetConnInfo } from "hono/conninfo";
import { HTTPException } from "hono/http-exception";
import { admit } from "../../adapters/hono.ts";
import {
  Admission,
  clientAddress,
  CountingGate,
  Demand,
  ElasticWindowRateLimiter,
  KeyedRateLimiter,
} from "../../mod.ts";

// 64 requests at a time, and two a minute for each client. Beyond 10,000 clients at a time a new one is refused with 503.
const everybody = new CountingGate("everybody", 64);
const clients = new KeyedRateLimiter(
  "clients",
  (address: string) =>
    new ElasticWindowRateLimiter(`client ${address}`, { maxRequests: 2, baseWindowMs: 60_000 }),
  { maxKeys: 10_000 },
);

/** `getConnInfo` comes from `hono/deno`, `hono/bun`, `hono/cloudflare-workers` or `@hono/node-server/conninfo`. */
export function makeApp(getConnInfo: GetConnInfo): Hono {
  const demandOf = (c: Context): Demand => {
    const peer = getConnInfo(c).remote.address;
    // Behind one proxy of ours: of X-Forwarded-For the last entry counts, the others anybody can write.
    const client = clientAddress({ peer, headers: c.req.raw.headers, trustedProxies: 1 });
    if (client === null) throw new HTTPException(400, { message: "Nobody knows who asks" });
    return new Demand().add(clients, client).add(everybody);
  };
  const app: Hono = new Hono();
  app.use("/api/*", admit({ demand: demandOf, admission: new Admission().start(), timeoutMs: 0 }));
  app.get("/api/items", (c) => c.json(["one", "two"]));
  return app;
}

const app = makeApp(() => ({ remote: { address: "10.0.0.1" } })); // The proxy.
const NETWORK = "2001:db8:0:7"; // All of it is one client.
for (const told of ["203.0.113.7", "203.0.113.7", "6.6.6.6, 203.0.113.7", `${NETWORK}::1`, `${NETWORK}::2`]) {
  const { status, headers } = await app.request("/api/items", { headers: { "X-Forwarded-For": told } });
  console.log(told, status, headers.get("ratelimit"));
}
