import { type Context, Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { admit } from "../../adapters/hono.ts";
import { Admission, Demand, ElasticWindowRateLimiter } from "../../mod.ts";

// A window for each known key: whoever sends another one is turned away before anything is made for it.
const windows = new Map(["red", "blue"].map((key) => [
  key,
  new ElasticWindowRateLimiter(`key:${key}`, { maxRequests: 2, baseWindowMs: 60_000 }),
]));

function demandOf(c: Context): Demand {
  const window = windows.get(c.req.header("x-api-key") ?? "");
  if (window === undefined) throw new HTTPException(401, { message: "Unknown key" });
  return new Demand().add(window);
}

const app = new Hono();
app.use("/api/*", admit({ demand: demandOf, admission: new Admission().start(), timeoutMs: 0 }));
app.get("/api/items", (c) => c.json(["one", "two"]));

for (const key of ["red", "red", "red", "blue", "green"]) {
  const { status } = await app.request("/api/items", { headers: { "x-api-key": key } });
  console.log(key, status);
}
