import { fieldOf, isLastCause } from "./causes.ts";

/** Why no answer came: the service cannot be reached now, or its host name leads nowhere. */
export type Unreached = "UNREACHABLE" | "UNRESOLVABLE";

/**
 * Codes of Node, undici and Bun; `ConnectionRefused` and the two after it are those of Bun up to 1.3
 * (https://github.com/oven-sh/bun/issues/34397). `EAI_AGAIN` is a name server that does not answer now.
 */
const CODES: ReadonlyMap<unknown, Unreached> = new Map<unknown, Unreached>([
  ["ENOTFOUND", "UNRESOLVABLE"],
  ...[
    "ECONNREFUSED",
    "ECONNRESET",
    "ECONNABORTED",
    "EPIPE",
    "ETIMEDOUT",
    "EHOSTUNREACH",
    "EHOSTDOWN",
    "ENETUNREACH",
    "ENETDOWN",
    "EAI_AGAIN",
    "UND_ERR_SOCKET",
    "UND_ERR_CONNECT_TIMEOUT",
    "UND_ERR_HEADERS_TIMEOUT",
    "UND_ERR_BODY_TIMEOUT",
    "ConnectionRefused",
    "ConnectionClosed",
    "FailedToOpenSocket",
  ].map((code): [string, Unreached] => [code, "UNREACHABLE"]),
]);

/** Deno's fetch has no codes (2.9.6, tried in November 2026). An address holds no blanks, so these are never part of one. */
const DENO_SENDING = "error sending request ";
const DENO_FAULT = ": client error (";
const DENO_READING = "error reading a body from connection";

/** Longest message that is looked at: addresses are quoted in it. */
const MAX_MESSAGE = 10_000;

/** The begin of the prototype chain in which a class is looked for. */
const MAX_CLASSES = 8;

/** What an error itself, not its causes, says about why no answer came; null when it says nothing of that. */
export function unreachedOf(error: object): Unreached | null {
  const known = CODES.get(fieldOf(error, "code")) ?? denoUnreached(error);
  if (known !== null) return known;
  // The limit that a caller set for one request, as AbortSignal.timeout() and clients report it.
  if (fieldOf(error, "name") === "TimeoutError") return "UNREACHABLE";
  // Clients wrap what fetch threw; where they do not, their own word counts.
  return isLastCause(error) && isOfClass(error, "APIConnectionError") ? "UNREACHABLE" : null;
}

/** Whether somebody aborted the request on purpose. */
export function isAbort(error: object): boolean {
  return fieldOf(error, "name") === "AbortError" || isOfClass(error, "APIUserAbortError");
}

function denoUnreached(error: object): Unreached | null {
  const message = fieldOf(error, "message");
  if (typeof message !== "string" || message.length > MAX_MESSAGE) return null;
  if (message.startsWith(DENO_READING)) return "UNREACHABLE";
  const at = message.startsWith(DENO_SENDING) ? message.indexOf(DENO_FAULT) : -1;
  if (at === -1) return null;
  const fault = message.slice(at);
  // A bad certificate is no passing fault.
  if (fault.includes("certificate")) return null;
  // glibc's and musl's words for a name server that does not answer now.
  const isPassing = fault.includes("Temporary failure") || fault.includes("Try again");
  return fault.includes("dns error") && !isPassing ? "UNRESOLVABLE" : "UNREACHABLE";
}

/** By name: the clients are no dependency of ours, and there may be several copies of one. */
function isOfClass(error: object, name: string): boolean {
  let at: unknown = Object.getPrototypeOf(error);
  for (let depth = 0; depth < MAX_CLASSES && typeof at === "object" && at !== null; depth++) {
    const type = fieldOf(at, "constructor");
    if (typeof type === "function" && type.name === name) return true;
    at = Object.getPrototypeOf(at);
  }
  return false;
}
