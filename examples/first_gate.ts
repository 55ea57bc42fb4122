import { Admission, CountingGate, Demand, TokenBucketRateLimiter } from "../mod.ts";

const gpt = new TokenBucketRateLimiter("gpt", { tpm: 600_000, rpm: 600 });
const http = new CountingGate("http", 64);
const db = new CountingGate("db:orders", 16);
const admission = new Admission().start();

async function answer(prompt: string): Promise<string> {
  const tokens = Math.ceil(prompt.length / 4) + 500;
  using grant = await admission.admit(new Demand().add(gpt, tokens).add(http).add(db));
  const reply = `an answer to ${prompt}`; // Call the model, write to the database: everything is yours here.
  grant.settle(gpt, tokens - 200); // What the provider billed; the rest goes back at once.
  return reply;
}

console.log(await Promise.all(["one", "two", "three"].map(answer)));
