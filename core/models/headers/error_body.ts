import { quietly } from "./quietly.ts";

/** The longest body that is parsed, in characters. */
const MAX_BODY_CHARS = 65_536;

/** As much of a provider's error object as is read. */
export interface ErrorBody {
  readonly code?: unknown;
  readonly status?: unknown;
  readonly message?: unknown;
  readonly details?: unknown;
}

/**
 * The error object in a body that is JSON text or was parsed already: `{ error }`, a list that begins with that (a stream of
 * Gemini's), or the error object itself. Undefined for anything else. Reading its members may throw.
 */
export function errorOf(body: unknown): ErrorBody | undefined {
  const parsed = typeof body === "string" ? parsedBody(body) : body;
  const first = Array.isArray(parsed) ? parsed[0] : parsed;
  const error = isObject(first) && isObject(first.error) ? first.error : first;
  return isObject(error) ? error : undefined;
}

/** Whether it has members. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function parsedBody(body: string): unknown {
  return body.length > MAX_BODY_CHARS ? undefined : quietly(() => JSON.parse(body));
}
