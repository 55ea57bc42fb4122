import { type Context, Hono } from "hono";
import { admittedFetch } from "../../adapters/fetch.ts";
import { admit, refusalResponse } from "../../adapters/hono.ts";
import { Admission, AdmissionError, classifyUpstreamFailure, CountingGate, Demand } from "../../mod.ts";

/** Stands for a provider that answers, never answers, or cannot be reached, as the prompt says. */
function provider(_: unknown, { body, signal }: RequestInit = {}): Promise<Response> {
  const { prompt } = JSON.parse(String(body));
  if (prompt === "vanish") return Promise.reject(Object.assign(new Error("gone"), { code: "ECONNREFUSED" }));
  if (prompt !== "hang") return Promise.resolve(Response.json({ usage: { total_tokens: 42 } }));
  return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
}

const TIME_LIMIT_MS = 200; // In earnest a minute.
const limited = admit({ demand: new Demand().add(new CountingGate("open", 1_000)), timeoutMs: 0 });
const admission = new Admission({ maxQueue: 200 }).start();
const ask = admittedFetch({
  admission,
  provider: "openai",
  models: [{ id: "gpt-5-mini", tpm: 500_000, rpm: 500 }],
  admit: { timeoutMs: TIME_LIMIT_MS / 4 }, // For each wait in line: the rest is the provider's.
  maxRetries: 0, // Left out, three.
  fetch: provider,
});

const app = new Hono();
app.use("/v1/*", limited);
app.post("/v1/chat/completions", async (c) => {
  const body = await c.req.text();
  const signal = AbortSignal.any([c.req.raw.signal, AbortSignal.timeout(TIME_LIMIT_MS)]);
  const answer = await ask("https://api.openai.com/v1/chat/completions", { method: "POST", body, signal });
  const type = answer.headers.get("content-type") ?? "text/plain";
  return new Response(answer.body, { status: answer.status, headers: { "content-type": type } });
});
app.onError((error: Error, c: Context) => {
  const refusal = refusalResponse(error);
  if (refusal !== null) return refusal;
  if (error instanceof AdmissionError && error.code === "uncorrectable") return c.text(error.message, 413);
  if (c.req.raw.signal.aborted) return new Response(null, { status: 499 });
  if (error.name === "TimeoutError") return c.text("The provider took too long", 504);
  if (classifyUpstreamFailure(error) !== error) return c.text("The provider cannot be reached", 502);
  return c.text("Internal Server Error", 500); // A bug: log it.
});

async function post(request: object, signal: AbortSignal | null = null): Promise<void> {
  const body = JSON.stringify({ model: "gpt-5-mini", max_tokens: 500, ...request });
  const url = "http://localhost/v1/chat/completions";
  const response = await app.request(new Request(url, { method: "POST", body, signal }));
  console.log(response.status, (await response.text()).slice(0, 140));
}

await post({ prompt: "hi" });
await post({ prompt: "hi", model: "gpt-6" });
await post({ prompt: "hi", max_tokens: 600_000 });
await post({ prompt: "hang" }, AbortSignal.timeout(50)); // A caller that leaves.
await post({ prompt: "hang" });
await post({ prompt: "vanish" });

limited.admission.stop(); // Both lines, when the server stops.
admission.stop();
await post({ prompt: "hi" });
