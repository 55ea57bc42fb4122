import { fieldOf } from "../models/causes.ts";
import type { ProviderKey } from "../models/headers/header_reader.ts";
import type { CallUsage } from "./cost.ts";

/**
 * What a provider's `usage` object says, in the form that `callCost` takes; null when it does not say enough or says junk: what is
 * not known never counts as zero. It never throws.
 *
 * Anthropic (and on Bedrock): `input_tokens`, `cache_creation_input_tokens` and `cache_read_input_tokens` stand beside each other and
 * are added up (https://docs.claude.com/en/docs/build-with-claude/prompt-caching).
 *
 * OpenAI and its like: `prompt_tokens` and `completion_tokens` of a chat, `input_tokens` and `output_tokens` of a response, the cached
 * among the input (https://platform.openai.com/docs/guides/prompt-caching). Embeddings have a total and no output.
 */
export function callUsage(provider: ProviderKey, usage: unknown): CallUsage | null {
  const said = provider === "anthropic" || provider === "bedrock-anthropic"
    ? ofAnthropic(usage)
    : ofOpenAI(usage);
  return Object.values(said).every(isCount) &&
      said.cacheWriteTokens + said.cacheReadTokens <= said.inputTokens
    ? said
    : null;
}

function ofAnthropic(usage: unknown): Required<CallUsage> {
  const cacheWriteTokens = numberIn(usage, "cache_creation_input_tokens") ?? 0;
  const cacheReadTokens = numberIn(usage, "cache_read_input_tokens") ?? 0;
  return {
    inputTokens: (numberIn(usage, "input_tokens") ?? NaN) + cacheWriteTokens + cacheReadTokens,
    outputTokens: numberIn(usage, "output_tokens") ?? NaN,
    cacheWriteTokens,
    cacheReadTokens,
  };
}

function ofOpenAI(usage: unknown): Required<CallUsage> {
  const inputTokens = numberIn(usage, "prompt_tokens") ?? numberIn(usage, "input_tokens") ?? NaN;
  const output = numberIn(usage, "completion_tokens") ?? numberIn(usage, "output_tokens");
  const details = fieldOf(usage, "prompt_tokens_details") ?? fieldOf(usage, "input_tokens_details");
  return {
    inputTokens,
    outputTokens: output ?? (numberIn(usage, "total_tokens") ?? NaN) - inputTokens,
    cacheWriteTokens: 0,
    cacheReadTokens: numberIn(details, "cached_tokens") ?? 0,
  };
}

/** Null for what is absent or null; NaN for what is no number. */
function numberIn(fields: unknown, name: string): number | null {
  const value = fieldOf(fields, name) ?? null;
  return value === null || typeof value === "number" ? value : NaN;
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}
