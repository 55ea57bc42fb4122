import { show } from "../invariant.ts";
import type { ModelKind } from "./model_kind.ts";
import { RateLimitInfo } from "./rate_limit_info.ts";

const KINDS: readonly ModelKind[] = ["LLM", "EMBEDDINGS", "DECISION"];

/** A call that was answered, as far as learning caps from it needs it. */
export interface AnsweredCall {
  /** What its headers said, or null when nothing. */
  readonly info: RateLimitInfo | null;
  /** What was asked for. Only `LLM` teaches. */
  readonly kind: ModelKind;
  /** False for every error, also one whose headers name limits. */
  readonly isSuccess: boolean;
  /** Whether the answer came in pieces. */
  readonly isStreaming: boolean;
}

/**
 * The caps that an answer teaches, or null: only successful answers of an LLM that were not streamed do, and only with both
 * numbers (RI-06).
 *
 * @throws TypeError when a member is not as said.
 */
export function learnedLimits(id: string, call: AnsweredCall): { tpm: number; rpm: number } | null {
  const { info, kind, isSuccess, isStreaming } = checkedCall(id, call);
  if (info === null || kind !== "LLM" || !isSuccess || isStreaming || info.wasRateLimited) return null;
  const { tokensPerMinute: tpm, requestsPerMinute: rpm } = info;
  return tpm > 0 && rpm > 0 ? { tpm, rpm } : null;
}

function checkedCall(id: string, call: AnsweredCall): AnsweredCall {
  const fail = (member: string, value: unknown, better: string) =>
    new TypeError(`Cannot learn limits of ${show(id)}: ${member} is ${show(value)}, it should be ${better}`);
  if (typeof call !== "object" || call === null) throw fail("the call", call, "an object");
  const { info, kind, isSuccess, isStreaming } = call;
  if (info !== null && !(info instanceof RateLimitInfo)) throw fail("info", info, "a RateLimitInfo or null");
  if (!KINDS.includes(kind)) throw fail("kind", kind, `one of ${KINDS.join(", ")}`);
  if (typeof isSuccess !== "boolean") throw fail("isSuccess", isSuccess, "true or false");
  if (typeof isStreaming !== "boolean") throw fail("isStreaming", isStreaming, "true or false");
  return call;
}
