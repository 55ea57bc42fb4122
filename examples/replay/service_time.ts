import type { TraceRow } from "./trace.ts";

/** Time to first token without any prompt, in ticks: network, queueing and one forward pass, 200 ms. */
export const FIXED_TICKS = 200_000;

/** Prefill of one input token, in ticks: 0.1 ms, that is 10,000 tokens a second. */
export const TICKS_PER_INPUT_TOKEN = 100;

/** Decoding of one output token, in ticks: 10 ms, that is 100 tokens a second. */
export const TICKS_PER_OUTPUT_TOKEN = 10_000;

/** The formula, for people. */
export const SERVICE_FORMULA = "200 ms + 0.1 ms per input token + 10 ms per output token";

/**
 * How long a request keeps its HTTP place and its database permit, in ticks of 0.001 ms. Prefill is compute-bound and
 * grows with the prompt, decode is a step per token: the usual two-phase model of LLM serving (Splitwise, ISCA 2024,
 * whose traces these are). The constants are round numbers of a fast hosted model; whole ticks keep every instant exact.
 */
export function serviceTicks(row: Pick<TraceRow, "inputTokens" | "outputTokens">): number {
  return FIXED_TICKS + TICKS_PER_INPUT_TOKEN * row.inputTokens + TICKS_PER_OUTPUT_TOKEN * row.outputTokens;
}
