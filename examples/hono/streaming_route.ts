import { Hono } from "hono";
import { streamText } from "hono/streaming";
import { admit } from "../../adapters/hono.ts";
import { Demand, TokenBucketRateLimiter } from "../../mod.ts";

const gpt = new TokenBucketRateLimiter("gpt", { tpm: 60_000, rpm: 600 });

const app = new Hono();
app.get("/chat", admit({ demand: new Demand().add(gpt, 2_000) }), (c) => {
  const { grant } = c.var;
  return streamText(c, async (stream) => {
    for (const word of ["tokens ", "as ", "they ", "come"]) await stream.write(word);
    grant.settle(gpt, 400); // What the provider billed; the rest goes back at once.
  });
});

const response = await app.request("/chat");
console.log(gpt.status.availableTokens); // The grant is held until the stream ends.
console.log(await response.text());
console.log(gpt.status.availableTokens);
