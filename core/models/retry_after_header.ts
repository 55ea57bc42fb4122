import { fieldOf } from "./causes.ts";

/** Digits and a fraction, and so few that the number is exact. */
const NUMBER = /^\d{1,12}(\.\d{1,6})?$/;
/** Longest value that is looked at. */
const MAX_VALUE = 32;

/**
 * Seconds that the headers on an error ask to wait, 0 when they do not say: `retry-after-ms`, else `retry-after` in seconds.
 * Headers are found as clients carry them: a `Headers` or an object with names in lower case, under `headers`,
 * `responseHeaders` or `response.headers`.
 */
export function retryAfterHeader(error: unknown): number {
  const headers = fieldOf(error, "headers") ?? fieldOf(error, "responseHeaders") ??
    fieldOf(fieldOf(error, "response"), "headers");
  return numberIn(headers, "retry-after-ms") / 1000 || numberIn(headers, "retry-after");
}

function numberIn(headers: unknown, name: string): number {
  const value = valueOf(headers, name);
  if (typeof value !== "string" || value.length > MAX_VALUE) return 0;
  const trimmed = value.trim();
  return NUMBER.test(trimmed) ? Number(trimmed) : 0;
}

function valueOf(headers: unknown, name: string): unknown {
  const get = fieldOf(headers, "get");
  if (typeof get !== "function") return fieldOf(headers, name);
  try {
    return Reflect.apply(get, headers, [name]);
  } catch {
    return undefined;
  }
}
