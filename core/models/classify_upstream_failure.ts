import { causesOf, isLastCause, statusOf } from "./causes.ts";
import { AdmissionError, UncorrectableError } from "../errors.ts";
import { isQuotaExhausted, partsOf, QuotaExhaustedError } from "./quota_exhausted_error.ts";
import { isAbort, unreachedOf } from "./reachability.ts";
import { type RetryKind, RetrySignal } from "./retry_signal.ts";
import { ExternalServiceError } from "./upstream_errors.ts";
import { UpstreamFailure } from "./upstream_failure.ts";

/**
 * Kinds that an answer names in a stream that began with 200, where there is no status any more, and the status that they stand
 * for. Anthropic's: https://docs.claude.com/en/api/errors; OpenAI's: https://platform.openai.com/docs/guides/error-codes.
 */
const STATUS_OF_TYPE: ReadonlyMap<unknown, number> = new Map<unknown, number>([
  ["rate_limit_error", 429],
  ["rate_limit_exceeded", 429],
  ["api_error", 500],
  ["server_error", 500],
  ["timeout_error", 504],
  ["overloaded_error", 529],
]);

/**
 * What to throw instead of a failure of an upstream call: a RetrySignal when the job is to be run again, a QuotaExhaustedError
 * when there is nothing left to spend, an UncorrectableError when the host name leads nowhere, else the error itself, unchanged.
 * The original is the cause of what is new; a signal or quota error that is already there is answered as it is.
 *
 * The error and its causes are looked at from the outside in, at most 32; the first that says something decides. Status comes
 * first, then codes; the text of a request or an answer plays no part, but for Anthropic's answer to used-up credit. 429 is a
 * rate limit, 529 overload whoever sends it, 408 and other 5xx are transient, and so are refused, reset and timed-out
 * connections. Aborts, other errors of this library and all that is not known stay unchanged.
 */
export function classifyUpstreamFailure(error: unknown): unknown {
  for (const link of causesOf(error)) {
    const verdict = verdictOn(link, error);
    if (verdict !== null) return verdict;
  }
  return error;
}

/** What one link of the chain makes of the whole, or null when it says nothing. */
function verdictOn(link: object, error: unknown): unknown {
  if (link instanceof RetrySignal || link instanceof QuotaExhaustedError) return link;
  // What else this library says stands: a failure behind it was judged before.
  if (link instanceof AdmissionError && statusOf(link) === 0 && !(link instanceof ExternalServiceError)) {
    return error;
  }
  if (isAbort(link)) return error;
  if (isQuotaExhausted(link)) return new QuotaExhaustedError(failureOf(error, 0), { cause: error });
  const status = statusOf(link);
  if (status >= 400) return verdictOnStatus(status, error);
  return verdictWithoutStatus(link, error);
}

function verdictOnStatus(status: number, error: unknown): unknown {
  const kind = kindOf(status);
  return kind === null ? error : new RetrySignal(kind, failureOf(error, status), { cause: error });
}

function verdictWithoutStatus(link: object, error: unknown): unknown {
  const unreached = unreachedOf(link);
  if (unreached === "UNRESOLVABLE") {
    const detail = failureOf(error, 0).summary();
    return new UncorrectableError(`The upstream's host name cannot be resolved: ${detail}`, { cause: error });
  }
  if (unreached === "UNREACHABLE" || isSilence(link)) {
    return new RetrySignal("TRANSIENT", failureOf(error, 0), { cause: error });
  }
  const status = partsOf(link).map(({ type, code }) => STATUS_OF_TYPE.get(type) ?? STATUS_OF_TYPE.get(code))
    .find((found) => found !== undefined);
  return status === undefined ? null : verdictOnStatus(status, error);
}

/** Whether it is our own word for a service that gave no answer, with nothing behind it that says why. */
function isSilence(link: object): boolean {
  return link instanceof ExternalServiceError && link.status === 0 && isLastCause(link);
}

/** UF-07. */
function kindOf(status: number): RetryKind | null {
  if (status === 429) return "RATE_LIMIT";
  if (status === 529) return "OVERLOAD";
  return status === 408 || (status >= 500 && status <= 599) ? "TRANSIENT" : null;
}

/** What the chain says, with the status that it was judged by where it carries none. */
function failureOf(error: unknown, status: number): UpstreamFailure {
  const failure = UpstreamFailure.from(error);
  return failure.statusCode === 0 && status > 0
    ? new UpstreamFailure({ ...failure, statusCode: status })
    : failure;
}
