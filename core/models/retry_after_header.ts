import { fieldOf } from "./causes.ts";
import { readRetryAfterMs } from "./headers/header_reader.ts";
import type { HeaderSource } from "./headers/header_view.ts";

const MS_IN_SECOND = 1000;

/**
 * Seconds that the headers on an error ask to wait, 0 when they do not say. Headers are found as clients carry them: under
 * `headers`, `responseHeaders` or `response.headers`.
 */
export function retryAfterHeader(error: unknown): number {
  const headers = fieldOf(error, "headers") ?? fieldOf(error, "responseHeaders") ??
    fieldOf(fieldOf(error, "response"), "headers");
  return (readRetryAfterMs(headers as HeaderSource) ?? 0) / MS_IN_SECOND;
}
