// Entries of models whose calls have a price in tokens.

import { ModelSpec, type ModelSpecFields, type ThinkingMode } from "../mod.ts";

/** An entry of a language model. */
export function llm(
  thinkingMode: ThinkingMode,
  maxOutputTokens: number,
  more: Partial<ModelSpecFields> = {},
): ModelSpec {
  return new ModelSpec({
    id: "llm",
    providerKey: "anthropic",
    tpm: 1_000_000,
    maxContextTokens: 1_000_000,
    maxOutputTokens,
    thinkingMode,
    ...more,
  });
}

/** One that books reasoning, with a ceiling of 64,000 tokens. */
export const EXTENDED: ModelSpec = llm("EXTENDED", 64_000);
/** One whose calls have no output. */
export const EMBEDDINGS: ModelSpec = llm("NONE", 1, {
  id: "embed",
  providerKey: "openai-embeddings",
  maxContextTokens: 8_192,
});
/** Likewise, by kind of decision. */
export const DECISION: ModelSpecFields = {
  id: "judge",
  providerKey: "kev-decision",
  maxContextTokens: 8_000,
  tpm: 15_000_000,
  rpm: 1_200,
};
