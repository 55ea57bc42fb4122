import { Hono } from "hono"; // npm install hono
import { admit } from "../../adapters/hono.ts";
import { Admission, CountingGate, Demand, ElasticWindowRateLimiter } from "../../mod.ts";

// Four reports at a time, a hundred a minute: a request gets both at once, or waits and holds neither.
const renderers = new CountingGate("renderers", 4);
const reports = new ElasticWindowRateLimiter("reports", { maxRequests: 100, baseWindowMs: 60_000 });
const demand = new Demand().add(renderers).add(reports);
const admission = new Admission({ maxQueue: 200 }).start();

const app: Hono = new Hono();
app.use("/reports/*", admit({ demand, admission, timeoutMs: 500 }));
app.get("/reports/:id", (c) => c.text(`report ${c.req.param("id")}`));
export { app }; // Deno.serve(app.fetch), Bun.serve({ fetch: app.fetch }), or serve(app) of @hono/node-server.

const burst = await Promise.all(Array.from({ length: 101 }, () => app.request("/reports/1")));
console.log(burst.at(0)?.status, burst.at(-1)?.status, burst.at(-1)?.headers.get("ratelimit-policy"));
