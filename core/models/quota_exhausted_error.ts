import { fieldOf, statusOf } from "./causes.ts";
import { UncorrectableError } from "../errors.ts";
import type { UpstreamFailure } from "./upstream_failure.ts";

/**
 * Marks of spent money in `error.type`, `error.code` or `error.details.error_code` of an answer.
 * OpenAI's: https://help.openai.com/en/articles/6614457-troubleshooting-api-usage-and-spend-limits;
 * Anthropic's: https://docs.claude.com/en/api/errors, and the error codes in @anthropic-ai/sdk.
 */
const MARKS: ReadonlySet<unknown> = new Set([
  "insufficient_quota",
  "credit_balance_exhausted",
  "organization_spend_limit_exceeded",
  "organization_usage_limit_exceeded",
  "project_spend_limit_exceeded",
  "billing_error",
  "contract_spend_limit_reached",
  "enforced_spend_limit_reached",
]);

/**
 * Anthropic answers 400 `invalid_request_error` when the credit is used up, and only the text tells it from a bad request
 * (https://github.com/anthropics/anthropic-sdk-typescript/issues/618). Only the begin of the text counts: further on it may
 * quote the request.
 */
const LOW_CREDIT = "Your credit balance is too low";

/** The account upstream has nothing left to spend: waiting does not help, so nothing is retried. Code `quota_exhausted`. */
export class QuotaExhaustedError extends UncorrectableError {
  /** The name of the class. */
  override readonly name = "QuotaExhaustedError";
  /** In place of `uncorrectable`. */
  override readonly code = "quota_exhausted";
  /** What the upstream said. */
  readonly failure: UpstreamFailure;

  /** The cause is the client's error. */
  constructor(failure: UpstreamFailure, options?: { cause?: unknown }) {
    super(`The quota of the upstream account is exhausted: ${failure.summary()}`, options);
    this.failure = failure;
  }
}

/** Whether an error itself, not its causes, says that quota or credit is used up. 402 always does. */
export function isQuotaExhausted(error: unknown): boolean {
  const status = statusOf(error);
  const parts = partsOf(error);
  if (status === 402 || parts.some((part) => MARKS.has(part.type) || MARKS.has(part.code))) return true;
  return status === 400 &&
    parts.some((part) => part.type === "invalid_request_error" && part.message.startsWith(LOW_CREDIT));
}

/** What says of which kind an error is. */
export interface ErrorPart {
  readonly type: unknown;
  readonly code: unknown;
  readonly message: string;
}

/**
 * The error itself and what its body says: clients keep the body, or the `error` in it, under `error`, and the finer code under
 * `code` or `details.error_code`.
 */
export function partsOf(error: unknown): ErrorPart[] {
  const body = fieldOf(error, "error");
  return [error, body, fieldOf(body, "error")].map((part) => {
    const message = fieldOf(part, "message");
    return {
      type: fieldOf(part, "type"),
      code: fieldOf(fieldOf(part, "details"), "error_code") ?? fieldOf(part, "code"),
      message: typeof message === "string" ? message : "",
    };
  });
}
