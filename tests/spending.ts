/** Jobs, calls and caps for tests of spending. The workflow is "night" unless a test says otherwise. */
import assert from "node:assert/strict";
import {
  Cost,
  CostLedger,
  createJobContext,
  type JobContext,
  ModelBinding,
  ModelSpec,
  type ModelSpecFields,
  SpendCapError,
} from "../mod.ts";

/** An amount of dollars. */
export const usd = (amount: number): Cost => new Cost(amount, "USD");

/** An LLM's entry with prices: 2 USD for a million tokens of input, 10 of output. */
export function spec(fields: Partial<ModelSpecFields> = {}): ModelSpec {
  return new ModelSpec({
    id: "llm",
    providerKey: "anthropic",
    tpm: 10_000_000,
    maxContextTokens: 10_000_000,
    maxOutputTokens: 1_000_000,
    prices: { currency: "USD", inputPerMillion: 2, outputPerMillion: 10 },
    ...fields,
  });
}

/** A model without prices. */
export const UNPRICED: ModelSpec = spec({ id: "local", prices: null });
/** A model that costs 1 EUR for a million tokens. */
export const EUROS: ModelSpec = spec({
  id: "euro",
  prices: { currency: "EUR", inputPerMillion: 1, outputPerMillion: 1 },
});

/** A priced call. */
export function call(input: number, output: number, model: ModelSpec = spec()): ModelBinding {
  const binding = new ModelBinding({ model, depth: "IMMEDIATE", input, output });
  binding.price();
  return binding;
}

/** A priced call that reserves so much, in millionths of a unit. */
export function reserving(micros: number): ModelBinding {
  return call(micros, 0, spec({ prices: { currency: "USD", inputPerMillion: 1, outputPerMillion: 1 } }));
}

/** A priced call of 3 USD. */
export const THREE: ModelBinding = call(1_000_000, 100_000);

/** A job of a workflow. */
export function job(workflow: unknown = "night"): JobContext {
  return createJobContext({ metadata: { workflow } });
}

/** The refusal of a check. */
export function refusal(check: () => void): SpendCapError {
  let found: unknown = null;
  assert.throws(check, (error: Error) => {
    found = error;
    return error instanceof SpendCapError;
  });
  return found as SpendCapError;
}

/** What the workflow has spent, and what it has committed. */
export function sums(ledger: CostLedger, currency = "USD"): number[] {
  return [ledger.spent("night", currency).amount, ledger.committed("night", currency).amount];
}

/** A ledger with these caps on the workflow. */
export function cappedLedger(...caps: readonly Cost[]): CostLedger {
  const ledger = new CostLedger();
  for (const cap of caps) ledger.cap("night", cap);
  return ledger;
}
