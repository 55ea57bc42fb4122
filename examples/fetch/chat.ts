import { admittedFetch } from "../../adapters/fetch.ts";
import { Admission, RateLimiterRegistry } from "../../mod.ts";

/** Stands for a provider that is asked too early once. */
function provider(): Promise<Response> {
  if (++requests === 1) {
    return Promise.resolve(new Response("{}", { status: 429, headers: { "retry-after-ms": "20" } }));
  }
  return Promise.resolve(Response.json({ choices: [], usage: { total_tokens: 42 } }));
}

let requests = 0;
const gpt = { id: "gpt-5-mini", tpm: 500_000, rpm: 500 };
const accounts = new RateLimiterRegistry(); // The process's one set; new RateLimiterFactory() is a set of its own.
const fetch = admittedFetch({
  admission: new Admission().start(),
  provider: "openai",
  models: [gpt],
  accounts,
  admit: { timeoutMs: 20_000 }, // For each wait in line, well below the signal's time.
  pauseMs: () => 10, // Left out, a pause is drawn from 5 to 30 s, and longer each time.
  fetch: provider, // Left out, the global fetch.
});

const response = await fetch("https://api.openai.com/v1/chat/completions", {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ model: "gpt-5-mini", max_completion_tokens: 500, messages: [] }),
  signal: AbortSignal.timeout(30_000), // For the wait, the pauses, the request and its body together.
});
// Read to its end: the permits are back, and the usage is settled.
const { usage } = await response.json() as { usage: { total_tokens: number } };
console.log(response.status, usage.total_tokens, `${requests} requests`);
console.log(accounts.bucket(gpt).statusIndicator); // The 429 has slowed the model down.
