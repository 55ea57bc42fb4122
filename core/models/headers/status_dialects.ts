import type { Dialect } from "./dialect.ts";

/**
 * Providers that send no limits: a 429 says how long to wait, and nothing else says anything. So it is with the embeddings
 * of Azure OpenAI (RI-10) and the decision endpoint of System One (RI-15).
 */
export const WAIT_ONLY: Dialect = {
  success: () => null,
  error: ({ status, headers: { retryAfterMs } }) =>
    status === 429 ? { retryAfterMs, wasRateLimited: true, type: "CAPACITY" } : null,
  log: (headers) => ({ requestId: headers.token("x-request-id") }),
};

/**
 * Bedrock's own models: a 429 (ThrottlingException) says that a quota was hit, and no number is told
 * (https://docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html). Claude on Bedrock answers as
 * Anthropic does.
 */
export const BEDROCK: Dialect = {
  success: () => null,
  error: ({ status }) => status === 429 ? { wasRateLimited: true, type: "CAPACITY" } : null,
  log: (headers) => ({
    amazonErrorType: headers.token("x-amzn-errortype"),
    amazonRequestId: headers.token("x-amzn-requestid"),
  }),
};
