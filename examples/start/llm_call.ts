import { admittedFetch } from "../../adapters/fetch.ts";
import { Admission } from "../../mod.ts";

const fetch = admittedFetch({
  admission: new Admission().start(),
  provider: "openai",
  models: [{ id: "gpt-5-mini", tpm: 500_000, rpm: 500 }],
  fetch: () => Promise.resolve(Response.json({ usage: { total_tokens: 42 } })), // Left out, the global fetch.
});

async function ask(content: string): Promise<number> {
  const messages = [{ role: "user", content }];
  const response = await fetch("https://api.openai.com/v1/chat/completions", {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer YOUR_KEY" },
    body: JSON.stringify({ model: "gpt-5-mini", max_completion_tokens: 500, messages }),
    signal: AbortSignal.timeout(30_000), // For the wait, the request and its body together.
  });
  const { usage } = await response.json() as { usage: { total_tokens: number } };
  return usage.total_tokens; // The body is read to its end: the permits are back, the usage is settled.
}

console.log(await Promise.all(["one", "two", "three"].map(ask)));
