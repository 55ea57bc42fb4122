import { type Context, Hono } from "hono";
import { admit } from "../../adapters/hono.ts";
import { Admission, Demand, ElasticWindowRateLimiter, KeyedRateLimiter } from "../../mod.ts";

const windows = new KeyedRateLimiter(
  "clients",
  (client: string) => new ElasticWindowRateLimiter(client, { maxRequests: 2, baseWindowMs: 60_000 }),
  { maxKeys: 10_000 },
);

/** A name by which nobody learns the key: names stand in refusals, headers and events. Without a key there is one for all. */
async function clientOf(c: Context): Promise<string> {
  const key = c.req.header("x-api-key") || "none"; // An empty one is none.
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(key)));
  return Array.from(hash.subarray(0, 8), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const limited = admit({
  demand: async (c: Context) => new Demand().add(windows, await clientOf(c)),
  admission: new Admission().start(),
  timeoutMs: 0, // Refuse at once; more than 0 lets a request wait in line.
  standardHeaders: "draft-7",
  headersOnSuccess: true,
});

const app = new Hono();
app.use("/api/*", limited);
app.get("/api/items", (c) => c.json(["one", "two"]));

for (const key of ["red", "red", "red", "blue", ""]) {
  const { status, headers } = await app.request("/api/items", { headers: { "x-api-key": key } });
  console.log(key, status, headers.get("ratelimit"), headers.get("retry-after"));
}
