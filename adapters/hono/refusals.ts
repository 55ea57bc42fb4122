import {
  type AdmissionError,
  type Demand,
  TimeoutError,
  UncorrectableError,
  UpstreamRequestError,
} from "../../mod.ts";
import { plainName } from "./structured_fields.ts";

/** What the body of a refusal says (RFC 9457). */
export interface Problem {
  /** A problem type that the RateLimit draft registers, or `about:blank`. */
  readonly type: string;
  readonly title: string;
  readonly status: 402 | 422 | 429 | 503 | 504;
  readonly detail?: string;
  /** The accounts that are short, by the names that the RateLimit fields use; the one that takes longest first. */
  readonly "violated-policies"?: readonly string[];
}

/** A refusal as HTTP tells it. */
export interface Refusal {
  readonly problem: Problem;
  /** Accounts that are short, by `limiterName`. */
  readonly accounts: readonly string[];
  /** Seconds, 1 or more, or null when no time is known. */
  readonly retryAfterS: number | null;
}

const TYPES = "https://iana.org/assignments/http-problem-types";
const QUOTA_EXCEEDED = {
  type: `${TYPES}#quota-exceeded`,
  title: "Too Many Requests",
  status: 429,
  detail: "The quota that this request needs is used up for now.",
} as const;
const REDUCED_CAPACITY = {
  type: `${TYPES}#temporary-reduced-capacity`,
  title: "Service Unavailable",
  status: 503,
  detail: "The service has no room for this request now.",
} as const;
const UNAVAILABLE = { type: "about:blank", title: "Service Unavailable", status: 503 } as const;

/** Most names in a problem. */
const MAX_NAMES = 16;

/**
 * What a refusal is to a client; null for an error that is the app's own (a demand that never fits, a wrong state), which
 * goes to its error handler as it is.
 *
 * @param short the accounts that are short now, for errors that name none themselves.
 */
export function refusalOf(
  error: AdmissionError,
  demand: Demand | null,
  short: () => readonly string[],
): Refusal | null {
  switch (error.code) {
    case "timeout":
      return timeoutRefusal(error, demand);
    case "queue_full":
      return refusal(REDUCED_CAPACITY, short(), retryAfterOf(error));
    case "keys_full":
      return refusal(REDUCED_CAPACITY, keyedLimiterOf(error), retryAfterOf(error));
    case "circuit_blocked":
      return refusal(REDUCED_CAPACITY, accountOf(error), retryAfterOf(error));
    case "cancelled":
    case "stopped":
    case "defect":
      return refusal(UNAVAILABLE, [], null);
    case "job_timeout":
      return refusal({ type: "about:blank", title: "Gateway Timeout", status: 504 }, [], null);
    case "correctable":
      return refusal(unprocessable(error), [], null);
    case "spend_cap":
      return refusal({ type: "about:blank", title: "Payment Required", status: 402 }, [], null);
    default:
      return null;
  }
}

/** The message is written for whoever made the request, but for what a service that we asked has said to us. */
function unprocessable(error: AdmissionError): Problem {
  const problem = { type: "about:blank", title: "Unprocessable Content", status: 422 } as const;
  return error instanceof UpstreamRequestError ? problem : { ...problem, detail: error.message };
}

/** Who waited for the clock exceeded a quota; who waited for others to finish met a service that is full. */
function timeoutRefusal(error: AdmissionError, demand: Demand | null): Refusal {
  const waitingOn = error instanceof TimeoutError ? error.waitingOn : [];
  const retryAfterS = retryAfterOf(error);
  const first = demand?.entries.find(({ key }) => key.limiterName === waitingOn[0]);
  const isQuota = demand === null ? retryAfterS !== null : first?.limiter.replenishment === "TIME";
  return refusal(isQuota ? QUOTA_EXCEEDED : REDUCED_CAPACITY, waitingOn, retryAfterS);
}

function refusal(
  kind: Omit<Problem, "violated-policies">,
  accounts: readonly string[],
  retryAfterS: number | null,
): Refusal {
  const names = [...new Set(accounts.slice(0, MAX_NAMES).map(plainName))];
  const problem = names.length === 0 ? kind : { ...kind, "violated-policies": names };
  return { problem, accounts, retryAfterS };
}

function accountOf(error: AdmissionError): string[] {
  return error instanceof UncorrectableError && error.account !== null ? [error.account] : [];
}

function keyedLimiterOf(error: AdmissionError): string[] {
  const { limiter } = error as { limiter?: unknown };
  return typeof limiter === "string" ? [limiter] : [];
}

/** Whole seconds, rounded up: a client that waits them out never comes too early. */
function retryAfterOf(error: AdmissionError): number | null {
  const { retryAfterMs } = error as { retryAfterMs?: unknown };
  if (typeof retryAfterMs !== "number" || !Number.isFinite(retryAfterMs)) return null;
  return Math.max(1, Math.ceil(retryAfterMs / 1000));
}
