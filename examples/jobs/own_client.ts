import {
  Admission,
  callUpstream,
  checkedResponse,
  headerReader,
  JobRequirements,
  JobRunner,
  ModelBinding,
  RateLimiterRegistry,
  UpstreamNotFoundError,
} from "../../mod.ts";

const gpt = { id: "gpt", tpm: 90_000, maxContextTokens: 128_000, maxOutputTokens: 16_000 };
const accounts = new RateLimiterRegistry();
const runner = new JobRunner(new Admission().start(), { accounts });
const reader = headerReader("openai");

/** Stands for fetch. */
function send(
  body: { prompt: string; max_completion_tokens: number },
  _signal: AbortSignal,
): Promise<Response> {
  if (body.prompt === "a secret") return Promise.resolve(new Response("no such model", { status: 404 }));
  const headers = { "x-ratelimit-limit-tokens": "60000", "x-ratelimit-limit-requests": "600" };
  return Promise.resolve(
    Response.json({ text: `about ${body.prompt}`, usage: { total_tokens: 420 } }, { headers }),
  );
}

/** One request. A fetch does not throw when it is refused, `checkedResponse` does. */
async function ask(prompt: string, most: number, signal: AbortSignal) {
  const sent = await send({ prompt, max_completion_tokens: most }, signal);
  const response = await checkedResponse(sent, { provider: "openai" });
  const info = reader.onSuccess(gpt.id, response.headers); // What the provider says about its limits becomes the bucket's caps.
  accounts.learnLimits(gpt, { info, kind: "LLM", isSuccess: true, isStreaming: false });
  return await response.json() as { text: string; usage: { total_tokens: number } };
}

function tell(prompt: string): Promise<string> {
  const call = new ModelBinding({ model: gpt, depth: "IMMEDIATE", input: 1_000, output: "COMPACT" });
  return runner.run(new JobRequirements({ timeoutMs: 60_000 }).model(call), async (scope) => {
    const { text, usage } = await callUpstream(
      scope.account(call),
      () => ask(prompt, call.reservation.output, scope.signal),
    );
    scope.settle(call, usage.total_tokens); // Of 5,096 reserved tokens 4,676 are there again at once.
    return text;
  });
}

console.log(await tell("a fox"), accounts.bucket(gpt).capacity);
try {
  await tell("a secret");
} catch (error) {
  if (!(error instanceof UpstreamNotFoundError)) throw error;
  console.log(error.code, error.status, error.message);
}
