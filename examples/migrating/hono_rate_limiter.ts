import { type Context, Hono } from "hono";
import { admit } from "../../adapters/hono.ts";
import { Admission, Demand, ElasticWindowRateLimiter, KeyedRateLimiter } from "../../mod.ts";

const windows = new KeyedRateLimiter(
  "clients",
  (key: string) => new ElasticWindowRateLimiter(key, { maxRequests: 2, baseWindowMs: 60_000 }),
  { maxKeys: 10_000 },
);
const limited = admit({
  demand: (c: Context) => new Demand().add(windows, c.req.header("x-api-key") ?? "none"),
  admission: new Admission().start(),
  timeoutMs: 0, // Refuse at once; more than 0 lets a request wait in line.
  standardHeaders: "draft-7",
  headersOnSuccess: true,
});

const app = new Hono();
app.use("/api/*", limited);
app.get("/api/items", (c) => c.json(["one", "two"]));

for (const key of ["red", "red", "red", "blue"]) {
  const { status, headers } = await app.request("/api/items", { headers: { "x-api-key": key } });
  console.log(key, status, headers.get("ratelimit"), headers.get("retry-after"));
}
