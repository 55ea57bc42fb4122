import { HTTPException } from "hono/http-exception";
import { AdmissionError } from "../../mod.ts";
import { errorBody } from "./chat_answer.ts";

/** Headers of the provider that callers get to see. */
const HANDED_ON = ["content-type", "retry-after", "retry-after-ms", "x-request-id"];
/** What nobody reads: the caller has left. */
const CALLER_LEFT = 499;

/** The provider's answer as the gateway's own. Its body is read as the caller reads it. */
export function handOn(answer: Response): Response {
  const headers = new Headers();
  for (const name of HANDED_ON) {
    const value = answer.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  return new Response(answer.body, { status: answer.status, headers });
}

/** What a caller is told when there is no answer of the provider, in the provider's words. */
export function answerTo(error: unknown, callerSignal: AbortSignal): Response {
  if (error instanceof HTTPException) return error.getResponse();
  if (error instanceof AdmissionError) return refusal(error);
  if (callerSignal.aborted) return new Response(null, { status: CALLER_LEFT });
  const isLate = error instanceof DOMException && error.name === "TimeoutError";
  if (isLate) return failure(504, { code: "timeout", message: "The provider took too long" });
  return failure(502, { code: "bad_gateway", message: "The provider cannot be reached" });
}

function refusal(error: AdmissionError): Response {
  const { code, message } = error;
  if (code === "correctable") return failure(404, { code: "model_not_found", message });
  if (code === "uncorrectable") return failure(400, { code: "request_too_large", message });
  const { retryAfterMs } = error as { retryAfterMs?: number | null };
  const isTold = typeof retryAfterMs === "number" && Number.isFinite(retryAfterMs);
  const headers: Record<string, string> = isTold
    ? { "retry-after": String(Math.max(1, Math.ceil(retryAfterMs / 1000))) }
    : {};
  return failure(code === "timeout" ? 429 : 503, { code, message }, headers);
}

function failure(
  status: number,
  { message, code }: { message: string; code: string },
  headers: Record<string, string> = {},
): Response {
  return new Response(errorBody(message, code), {
    status,
    headers: { "content-type": "application/json", ...headers },
  });
}
