import type { ModelSpec } from "../../mod.ts";
import type { OutgoingRequest } from "./outgoing.ts";

/** Bytes of a body that count as a token. English text has four or more, and so has most JSON. */
const BYTES_PER_TOKEN = 3;
/** Tokens of an answer whose request names no ceiling. */
const DEFAULT_OUTPUT_TOKENS = 4096;
/** Most tokens in one amount. */
const MOST_TOKENS = 2 ** 31 - 1;
/** Where a request names the ceiling of its answer: OpenAI's chat and responses, then Anthropic's and older ones. */
const CEILINGS = ["max_completion_tokens", "max_output_tokens", "max_tokens"] as const;

/**
 * The tokens that a request may take, rather too many than too few: a token for every three bytes of its body, and the ceiling
 * that it sets for its answer (`max_completion_tokens`, `max_output_tokens` or `max_tokens`), once for each of its `n` answers.
 * Without a ceiling an answer counts 4,096 tokens, or the model's `maxOutputTokens` when that is less; embeddings and decisions
 * have no answer that counts. What the provider counts replaces all this once the response has told it.
 *
 * Images and files in the body count by their bytes, which is far more than providers count: give an estimate of your own.
 *
 * @throws RangeError when the length of the body is not known: it is a form or a stream.
 */
export function estimateTokens(request: OutgoingRequest, model: ModelSpec): number {
  if (request.bodyBytes === null) {
    throw new RangeError(
      `Cannot estimate the tokens of a request to ${request.url.host}: its body is a form or a stream of unknown length, ` +
        "give admittedFetch an estimate",
    );
  }
  const input = Math.ceil(request.bodyBytes / BYTES_PER_TOKEN);
  return Math.min(input + outputTokens(request, model), MOST_TOKENS);
}

function outputTokens({ json, url }: OutgoingRequest, model: ModelSpec): number {
  if (model.kind !== "LLM" || url.pathname.endsWith("/embeddings")) return 0;
  const asked = CEILINGS.map((name) => json?.[name]).find(isCount);
  const each = asked ?? Math.min(DEFAULT_OUTPUT_TOKENS, model.maxOutputTokens ?? DEFAULT_OUTPUT_TOKENS);
  const answers = [json?.["n"], json?.["best_of"]].filter(isCount);
  return each * Math.max(1, ...answers);
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
