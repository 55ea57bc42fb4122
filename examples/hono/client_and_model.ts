import { type Context, Hono } from "hono";
import { admittedFetch } from "../../adapters/fetch.ts";
import { admit } from "../../adapters/hono.ts";
import { Admission, Demand, ElasticWindowRateLimiter, KeyedRateLimiter } from "../../mod.ts";

const users = new KeyedRateLimiter(
  "users",
  (user: string) => new ElasticWindowRateLimiter(`user ${user}`, { maxRequests: 2, baseWindowMs: 60_000 }),
  { maxKeys: 10_000 },
);
const admission = new Admission({ maxQueue: 200 }).start();
const answers = [503, 200, 200]; // Of a provider.
const ask = admittedFetch({
  admission,
  provider: "openai",
  models: [{ id: "gpt-5-mini", tpm: 500_000, rpm: 500 }],
  maxPauseMs: 0, // No retries here.
  fetch: () => Promise.resolve(Response.json({}, { status: answers.shift()! })),
});

const userOf = (c: Context) => c.req.header("x-user") ?? "nobody"; // In earnest who signed in.
const limited = admit({ demand: (c: Context) => new Demand().add(users, userOf(c)), timeoutMs: 0 });

const app = new Hono();
app.post(
  "/ask",
  limited,
  async (c) => {
    const body = JSON.stringify({ model: "gpt-5-mini", messages: [] });
    const answer = await ask("https://api.openai.com/v1/chat/completions", {
      method: "POST",
      body,
      signal: c.req.raw.signal,
    });
    if (answer.ok) return c.json(await answer.json());
    await answer.body?.cancel();
    c.var.grant.rollback(); // Who got no answer has used nothing up.
    return c.text("the model does not answer", 502);
  },
);

for (let i = 0; i < 4; i++) {
  const { status } = await app.request("/ask", { method: "POST", headers: { "x-user": "ann" } });
  console.log(status);
}
