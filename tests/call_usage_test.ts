// What providers say of a call's usage, on its way to a price.

import assert from "node:assert/strict";
import process from "node:process";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import { callCost, callUsage, type ProviderKey } from "../mod.ts";

const SEED = Number(process.env.SEED ?? 20_261_130);

const PRICED = {
  id: "llm",
  tpm: 90_000,
  prices: {
    currency: "USD",
    inputPerMillion: 2,
    outputPerMillion: 10,
    cacheWriteFactor: 1.25,
    cacheReadFactor: 0.1,
  },
};

describe("The usage of a call", () => {
  const usages: readonly [provider: ProviderKey, usage: object, tokens: readonly number[]][] = [
    ["anthropic", { input_tokens: 100, output_tokens: 20 }, [100, 20, 0, 0]],
    [
      "anthropic",
      {
        input_tokens: 5_000,
        cache_creation_input_tokens: 2_000,
        cache_read_input_tokens: 3_000,
        output_tokens: 1_000,
      },
      [10_000, 1_000, 2_000, 3_000],
    ],
    [
      "bedrock-anthropic",
      { input_tokens: 1, cache_creation_input_tokens: null, cache_read_input_tokens: 9, output_tokens: 0 },
      [10, 0, 0, 9],
    ],
    ["openai", { prompt_tokens: 12, completion_tokens: 30, total_tokens: 42 }, [12, 30, 0, 0]],
    [
      "openai",
      { prompt_tokens: 12, completion_tokens: 30, prompt_tokens_details: { cached_tokens: 8 } },
      [12, 30, 0, 8],
    ],
    [
      "azure",
      { input_tokens: 12, output_tokens: 29, input_tokens_details: { cached_tokens: 4 }, total_tokens: 41 },
      [12, 29, 0, 4],
    ],
    ["openai-compatible", { prompt_tokens: 8, completion_tokens: 1, prompt_tokens_details: null }, [
      8,
      1,
      0,
      0,
    ]],
    ["openai", { prompt_tokens: 8, total_tokens: 8 }, [8, 0, 0, 0]],
  ];
  for (const [provider, usage, tokens] of usages) {
    it(`SG-05 of ${provider} is read: ${JSON.stringify(usage)}`, () => {
      const { inputTokens, outputTokens, cacheWriteTokens, cacheReadTokens } = callUsage(provider, usage)!;
      assert.deepEqual([inputTokens, outputTokens, cacheWriteTokens, cacheReadTokens], tokens);
    });
  }

  it("SG-05 is priced as it stands: the worked example, as Anthropic says it", () => {
    const usage = callUsage("anthropic", usages[1]![1])!;
    assert.equal(String(callCost(PRICED, usage)), "0.025600 USD");
  });

  it("is null, never zero, when it does not say enough or says junk", () => {
    const unknown: readonly [ProviderKey, unknown][] = [
      ["anthropic", null],
      ["anthropic", undefined],
      ["anthropic", "42"],
      ["anthropic", 42],
      ["anthropic", {}],
      ["anthropic", { input_tokens: 5 }],
      ["anthropic", { output_tokens: 5 }],
      ["anthropic", { input_tokens: "5", output_tokens: 5 }],
      ["anthropic", { input_tokens: 5, output_tokens: -1 }],
      ["anthropic", { input_tokens: 5, output_tokens: 1, cache_read_input_tokens: 0.5 }],
      ["anthropic", { input_tokens: Number.MAX_SAFE_INTEGER, output_tokens: 1, cache_read_input_tokens: 5 }],
      ["openai", { total_tokens: 42 }],
      ["openai", { prompt_tokens: 5 }],
      ["openai", { prompt_tokens: 5, total_tokens: 4 }],
      ["openai", { prompt_tokens: 5, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 6 } }],
      ["openai", { prompt_tokens: 5, completion_tokens: 1, prompt_tokens_details: { cached_tokens: "1" } }],
      ["gemini", { promptTokenCount: 5, candidatesTokenCount: 7 }],
    ];
    for (const [provider, usage] of unknown) {
      assert.equal(callUsage(provider, usage), null, JSON.stringify(usage));
    }
  });

  it("never throws, and what it answers has a price", () => {
    const hostile = new Proxy({}, {
      get: () => {
        throw new Error("no");
      },
    });
    for (const provider of ["anthropic", "openai"] as const) assert.equal(callUsage(provider, hostile), null);
    const providers = fc.constantFrom<ProviderKey>("anthropic", "openai", "gemini");
    const counts = fc.oneof(fc.nat(1_000), fc.integer(), fc.double(), fc.string(), fc.constant(null));
    const details = fc.oneof(counts, fc.record({ cached_tokens: counts }));
    const names = fc.constantFrom(
      "input_tokens",
      "output_tokens",
      "cache_creation_input_tokens",
      "cache_read_input_tokens",
      "prompt_tokens",
      "completion_tokens",
      "total_tokens",
    );
    const usage = fc.tuple(fc.dictionary(names, counts), details).map(([fields, prompt_tokens_details]) => ({
      ...fields,
      prompt_tokens_details,
    }));
    let understood = 0;
    fc.assert(
      fc.property(providers, usage, (provider, said) => {
        const read = callUsage(provider, said);
        if (read === null) return;
        understood++;
        assert.notEqual(callCost(PRICED, read), null);
      }),
      { seed: SEED, numRuns: 2_000 },
    );
    assert.ok(understood >= 20, `${understood} were understood`);
  });
});
