import {
  callUpstream,
  classifyUpstreamFailure,
  streamUpstream,
  TokenBucketRateLimiter,
  UpstreamAuthError,
  upstreamError,
  UpstreamRequestError,
} from "../../mod.ts";
import { ManualClock } from "../../testing/mod.ts";
import { type ErrorCase, thrownBy } from "./case.ts";

const bucket = new TokenBucketRateLimiter("gpt", { tpm: 6_000, rpm: 60, clock: new ManualClock() });

type ClientError = { readonly message: string } & Readonly<Record<string, unknown>>;

/** What a client throws: an error with a status, or a code where nobody answered. */
function clientError({ message, ...fields }: ClientError): Error {
  return Object.assign(new Error(message), fields);
}

/** What a bucket's call makes of a client's error. */
function callFailing(fields: ClientError): Promise<unknown> {
  return thrownBy(() => callUpstream(bucket, () => Promise.reject(clientError(fields))));
}

/** A stream that breaks after its first part. */
async function* broken(): AsyncGenerator<string> {
  yield await Promise.resolve("Once upon");
  throw clientError({ message: "overloaded", status: 503 });
}

async function breakStream(): Promise<unknown> {
  return await thrownBy(async () => {
    for await (const _ of streamUpstream(bucket, () => broken())) continue;
  });
}

/** The classes for a status of its own, with what an author does about each. */
const STATUSES: readonly [type: string, status: number, detail: string, when: string, remedy: string][] = [
  ["UpstreamBadRequestError", 400, "max_tokens is required", "The request is malformed", "Mend the request."],
  [
    "UpstreamUnauthorizedError",
    401,
    "invalid api key",
    "The credentials are missing or wrong",
    "Mend the deployment's key; alert on it.",
  ],
  [
    "UpstreamForbiddenError",
    403,
    "model not enabled",
    "The credentials do not allow this",
    "Ask for the right, or use another model; alert on it.",
  ],
  ["UpstreamNotFoundError", 404, "no such model", "There is no such thing", "Mend the name or the address."],
  ["UpstreamTooLargeError", 413, "body over 20 MB", "The request is too large", "Shorten it."],
  [
    "UpstreamUnprocessableError",
    422,
    "unknown tool",
    "The request is well formed and makes no sense to the service",
    "Mend the request.",
  ],
  [
    "UpstreamRateLimitError",
    429,
    "slow down",
    "The service asks to slow down",
    "Nothing when it passes through `callUpstream`, a JobRunner or `admittedFetch`: these slow the bucket down and retry. Often: lower `tpm` and `rpm`.",
  ],
  [
    "UpstreamServerError",
    500,
    "internal error",
    "The service broke",
    "Retry later; a window's circuit opens when it goes on.",
  ],
  [
    "UpstreamBadGatewayError",
    502,
    "no upstream",
    "A gateway got no good answer from the service behind it",
    "As for 500.",
  ],
  ["UpstreamUnavailableError", 503, "overloaded", "The service cannot answer now", "As for 500."],
];

/** What calls of other services meet. */
export const UPSTREAM_CASES: readonly ErrorCase[] = [
  {
    type: "ExternalServiceError",
    when: "A service failed with a status that has no class of its own, or gave no answer (status 0)",
    remedy: "Retry later.",
    template: "The upstream failed: <failure>",
    provoke: () => upstreamError({ status: 529, service: "anthropic", detail: "overloaded" }),
  },
  ...STATUSES.map(([type, status, detail, when, remedy]): ErrorCase => ({
    type,
    when,
    remedy,
    template: "The upstream failed: <failure>, at <endpoint>",
    provoke: () =>
      upstreamError({
        status,
        service: "openai",
        detail,
        endpoint: "https://api.example.com/v1/chat?key=secret",
        retryAfterSeconds: status === 429 ? 2 : 0,
      }),
  })),
  {
    type: "UpstreamRequestError",
    when:
      "The base of the four classes for requests at fault; made by authors of tools for other statuses of that kind",
    remedy: "Mend the request.",
    template: "The upstream failed: <failure>",
    provoke: () =>
      new UpstreamRequestError({ status: 409, service: "search", detail: "index is being rebuilt" }),
  },
  {
    type: "UpstreamAuthError",
    when:
      "The base of the two classes for refused credentials; made by authors of tools for other statuses of that kind",
    remedy: "Mend the deployment.",
    template: "The upstream failed: <failure>",
    provoke: () => new UpstreamAuthError({ status: 407, service: "proxy" }),
  },
  {
    type: "RetrySignal",
    when: "A call failed in a way that may pass: 429, 529, 5xx, no answer. `kind` says which",
    remedy:
      "Let a JobRunner have it, which runs the job again; or pause for `retryDelayMs(signal, { reruns })` and try again yourself.",
    template: "The upstream is to be asked again later: <failure>",
    provoke: () =>
      callFailing({ message: "Rate limit reached for gpt", status: 429, headers: { "retry-after": "2" } }),
  },
  {
    type: "QuotaExhaustedError",
    when: "The account at the provider has no money or quota left",
    remedy: "Pay, or raise the provider's limit; alert on it. Waiting does not help, so nothing is retried.",
    template: "The quota of the upstream account is exhausted: <failure>",
    provoke: () =>
      callFailing({
        message: "You exceeded your current quota",
        status: 429,
        error: { code: "insufficient_quota", message: "You have used up your quota" },
      }),
  },
  {
    type: "UncorrectableError",
    when: "A stream broke after part of the answer had arrived; `cause` is the RetrySignal",
    remedy: "Decide what the part is worth. It is not retried, because somebody has read the part.",
    template:
      "The upstream failed mid-stream, after part of its answer had arrived, so it is not asked again: <failure>",
    provoke: breakStream,
  },
  {
    type: "UncorrectableError",
    when: "The upstream's host name has no address",
    remedy: "Mend the address, or the name server.",
    template: "The upstream's host name cannot be resolved: <failure>",
    provoke: () =>
      classifyUpstreamFailure(
        clientError({ message: "getaddrinfo ENOTFOUND api.example.com", code: "ENOTFOUND" }),
      ),
  },
];
