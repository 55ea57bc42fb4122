import type { ProviderKey } from "../../mod.ts";
import { show } from "../show.ts";

/** What a response says about its usage: the members of its `usage` object, those of a stream's events put together. */
export type ResponseUsage = Readonly<Record<string, unknown>>;

/** Whether a provider's usage has no total, and what was read from the cache beside the input. */
const IS_IN_PARTS: Readonly<Record<ProviderKey, boolean>> = {
  openai: false,
  "openai-compatible": false,
  azure: false,
  "azure-embeddings": false,
  anthropic: true,
  bedrock: false,
  "bedrock-anthropic": true,
  gemini: false,
  "system-one": false,
};

/** @throws RangeError, which begins with `what`, for a provider that there is not. */
export function checkProvider(what: string, provider: ProviderKey): void {
  if (typeof provider === "string" && Object.hasOwn(IS_IN_PARTS, provider)) return;
  throw new RangeError(
    `${what} provider is ${show(provider)}, it should be one of ${Object.keys(IS_IN_PARTS).join(", ")}`,
  );
}

/**
 * The tokens that a provider counts against its limits for a response, or null when the usage does not say enough: what is not
 * known never counts as zero.
 *
 * OpenAI and its like: `total_tokens`, else the input and the output together. Cached tokens are part of the input and count as
 * any other (https://community.openai.com/t/does-prompt-caching-reduce-tpm/1138631).
 *
 * Anthropic: `input_tokens`, `cache_creation_input_tokens` and `output_tokens`. What was read from the cache stands beside them and
 * does not count, but for a few older models (https://docs.anthropic.com/en/api/rate-limits): for these, give a function of your
 * own that adds `cache_read_input_tokens`.
 *
 * @throws RangeError for a provider that there is not.
 */
export function countedTokens(provider: ProviderKey, usage: ResponseUsage): number | null {
  checkProvider("Cannot count tokens:", provider);
  if (IS_IN_PARTS[provider]) {
    const written = usage["cache_creation_input_tokens"] ?? 0;
    return sumOf([usage["input_tokens"], written, usage["output_tokens"]]);
  }
  const total = sumOf([usage["total_tokens"]]);
  if (total !== null) return total;
  const input = usage["prompt_tokens"] ?? usage["input_tokens"];
  return sumOf([input, usage["completion_tokens"] ?? usage["output_tokens"]]);
}

/** Null when one is no whole number from 0, or all of them are too many. */
function sumOf(counts: readonly unknown[]): number | null {
  let sum = 0;
  for (const count of counts) {
    if (typeof count !== "number" || !Number.isSafeInteger(count) || count < 0) return null;
    sum += count;
  }
  return Number.isSafeInteger(sum) ? sum : null;
}
