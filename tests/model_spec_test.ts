// A model's entry: what it says, and what its kind must say.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { ModelGate, ModelSpec, type ModelSpecFields, RateLimiterFactory } from "../mod.ts";

/** A spec where TypeScript would not let it through. */
function spec(fields: unknown): ModelSpecFields {
  return fields as ModelSpecFields;
}

/** An LLM's entry that says everything. */
const SONNET = {
  id: "sonnet-live",
  identity: "sonnet",
  providerKey: "anthropic",
  wireModelId: "sonnet-2026",
  maxContextTokens: 200_000,
  maxOutputTokens: 64_000,
  thinkingMode: "EXTENDED",
  tpm: 90_000,
  rpm: 7,
  maxConcurrent: null,
  outputBudgets: { VERDICT: 1, COMPACT: 2, STANDARD: 3, EXTENDED: 4 },
  thinkingBudgets: { QUICK: 5, STANDARD: 6, THOROUGH: 7, ULTRA: 8 },
  prices: {
    currency: "USD",
    inputPerMillion: 3,
    outputPerMillion: 15,
    cacheWriteFactor: 1.25,
    cacheReadFactor: 0.1,
  },
} as const;

/** What every entry of the kind must say. */
const METERED = { id: "m", tpm: 1, maxContextTokens: 1, maxOutputTokens: 1 };
const DECISION = { id: "d", providerKey: "kev-decision", maxContextTokens: 8_000 };

describe("A ModelSpec", () => {
  it("PR-01 carries what the entry says, frozen", () => {
    const full = new ModelSpec(SONNET);
    assert.deepEqual({ ...full }, SONNET);
    for (const frozen of [full, full.outputBudgets, full.thinkingBudgets, full.prices]) {
      assert.ok(Object.isFrozen(frozen));
    }
    assert.equal(Object.isFrozen(SONNET.prices), false, "the caller's own objects are left alone");
    assert.equal(ModelSpec.from(full), full, "a spec is not validated twice");
  });

  it("PR-01 needs an id and nothing else, and tells what the entry does not say by 0 and null", () => {
    const bare = new ModelSpec({ id: "gpt" });
    assert.deepEqual({ ...bare }, {
      id: "gpt",
      identity: "gpt",
      providerKey: null,
      wireModelId: "gpt",
      maxContextTokens: null,
      maxOutputTokens: null,
      thinkingMode: "NONE",
      tpm: 0,
      rpm: 0,
      maxConcurrent: null,
      outputBudgets: null,
      thinkingBudgets: null,
      prices: null,
    });
    assert.deepEqual(ModelSpec.from({ id: "gpt" }), bare);
  });

  it("PR-01 is the same as another by its id alone: variants of one model have accounts of their own", () => {
    const factory = new RateLimiterFactory();
    const batch = new ModelSpec({ id: "gpt-batch", identity: "gpt", wireModelId: "gpt-2026", tpm: 5 });
    const other = new ModelSpec({ id: "gpt-batch", identity: "other", wireModelId: "other", tpm: 9 });
    const live = new ModelSpec({ ...batch, id: "gpt-live" });
    assert.equal(factory.bucket(batch), factory.bucket(other));
    assert.notEqual(factory.bucket(batch), factory.bucket(live));
    assert.deepEqual([batch.identity, live.identity], ["gpt", "gpt"]);
  });

  it("refuses what cannot be an entry, naming the field, its value and what would do", () => {
    const fromOne = ["maxConcurrent", "maxContextTokens", "maxOutputTokens"];
    for (const field of ["tpm", "rpm", ...fromOne]) {
      for (const value of [NaN, Infinity, -1, 1.5, ...(fromOne.includes(field) ? [0, 2 ** 31] : [])]) {
        assert.throws(() => new ModelSpec(spec({ id: "gpt", [field]: value })), {
          name: "RangeError",
          message: new RegExp(`"gpt": ${field} is ${value}, it should be a whole number from `),
        });
      }
      for (const value of ["3", {}, true, 3n]) {
        assert.throws(() => new ModelSpec(spec({ id: "gpt", [field]: value })), {
          name: "TypeError",
          message: new RegExp(`${field} is .*should be a whole number`),
        });
      }
    }
    for (const id of [undefined, null, "", 5]) {
      assert.throws(() => new ModelSpec(spec({ id, tpm: 5 })), { name: "TypeError", message: /id is / });
      assert.throws(() => new ModelGate(spec({ id, maxConcurrent: 5 })), {
        name: "TypeError",
        message: /id is /,
      });
    }
    for (const field of ["wireModelId", "identity", "providerKey"]) {
      for (const value of ["", 5]) {
        assert.throws(() => new ModelSpec(spec({ id: "gpt", [field]: value })), {
          name: "TypeError",
          message: new RegExp(`${field} is .*non-empty string`),
        });
      }
    }
    assert.throws(() => new ModelSpec(spec({ id: "gpt", thinkingMode: "DEEP" })), {
      name: "TypeError",
      message: /thinkingMode is "DEEP", it should be one of NONE, EXTENDED, ADAPTIVE, REASONING_EFFORT/,
    });
    for (const fields of [undefined, null, "gpt", 5]) {
      assert.throws(() => new ModelSpec(spec(fields)), TypeError);
    }
  });
});

describe("The kind of a model", () => {
  it("PR-02 is told by the ending of its provider's key", () => {
    const kinds = [
      undefined,
      "openai",
      "openai-embeddings",
      "decision",
      "x-embeddings-2",
      "a-decision-embeddings",
    ]
      .map((providerKey) => new ModelSpec(spec({ ...METERED, providerKey })).kind);
    assert.deepEqual(kinds, ["LLM", "LLM", "EMBEDDINGS", "LLM", "LLM", "EMBEDDINGS"]);
    assert.equal(new ModelSpec({ ...DECISION, tpm: 5 }).kind, "DECISION");
  });

  it("PR-03 an LLM and an embeddings entry need a quota, a context window and an output ceiling", () => {
    for (const providerKey of ["openai", "openai-embeddings"]) {
      for (const field of ["tpm", "maxContextTokens", "maxOutputTokens"]) {
        const entry = { ...METERED, providerKey, [field]: undefined };
        assert.throws(() => new ModelSpec(spec(entry)), {
          name: "TypeError",
          message: new RegExp(`"m".*"${providerKey}": ${field} is (0|null), it should be`),
        });
        assert.equal(
          new ModelSpec(spec({ ...entry, providerKey: null })).kind,
          "LLM",
          "without a key it owes nothing",
        );
      }
      assert.ok(new ModelSpec({ ...METERED, providerKey }));
    }
  });

  it("PR-03 a decision entry needs a context window and one limit, the others have no maxConcurrent", () => {
    assert.equal(new ModelSpec({ ...DECISION, maxConcurrent: 1 }).maxConcurrent, 1);
    assert.equal(new ModelSpec({ ...DECISION, tpm: 15_000_000, rpm: 1_200 }).tpm, 15_000_000);
    const one = /tpm is .* and maxConcurrent .*, exactly one/;
    assert.throws(() => new ModelSpec({ ...DECISION, tpm: 5, maxConcurrent: 1 }), {
      name: "TypeError",
      message: one,
    });
    assert.throws(() => new ModelSpec(DECISION), { name: "TypeError", message: one });
    assert.throws(
      () => new ModelSpec({ ...DECISION, tpm: 5, maxContextTokens: null }),
      /maxContextTokens is null/,
    );
    assert.throws(() => new ModelSpec({ ...DECISION, maxConcurrent: 0 }), RangeError);
    for (const providerKey of ["openai", "openai-embeddings"]) {
      assert.throws(() => new ModelSpec({ ...METERED, providerKey, maxConcurrent: 1 }), {
        name: "TypeError",
        message: /maxConcurrent is 1, it should be left out: only a decision entry/,
      });
    }
  });

  it("PR-09 a table of budgets is whole or absent: four rungs; four depths, five where reasoning never stops", () => {
    const rungs = { VERDICT: 1, COMPACT: 2, STANDARD: 3, EXTENDED: 4 };
    const depths = { QUICK: 5, STANDARD: 6, THOROUGH: 7, ULTRA: 8 };
    const refused = (fields: object, message: RegExp) =>
      assert.throws(() => new ModelSpec(spec({ id: "m", ...fields })), { name: "TypeError", message });
    assert.ok(new ModelSpec({ id: "m", outputBudgets: rungs, thinkingBudgets: depths }));
    for (const rung of Object.keys(rungs)) {
      refused({ outputBudgets: { ...rungs, [rung]: undefined } }, new RegExp(`outputBudgets has no ${rung}`));
    }
    refused({ outputBudgets: { ...rungs, MAX: 9 } }, /has "MAX", it should have exactly VERDICT, COMPACT/);
    for (const depth of Object.keys(depths)) {
      refused(
        { thinkingBudgets: { ...depths, [depth]: undefined } },
        new RegExp(`thinkingBudgets has no ${depth}`),
      );
    }
    refused({ thinkingBudgets: { ...depths, IMMEDIATE: 9 }, thinkingMode: "EXTENDED" }, /has "IMMEDIATE"/);
    const effort = { thinkingMode: "REASONING_EFFORT" } as const;
    refused({ ...effort, thinkingBudgets: depths }, /has no IMMEDIATE/);
    assert.ok(new ModelSpec({ id: "m", ...effort, thinkingBudgets: { ...depths, IMMEDIATE: 0 } }));
    refused({ outputBudgets: "many" }, /outputBudgets is "many"/);
    refused({ outputBudgets: { ...rungs, VERDICT: "1" } }, /outputBudgets.VERDICT is "1"/);
    assert.throws(() => new ModelSpec({ id: "m", outputBudgets: { ...rungs, VERDICT: -1 } }), RangeError);
  });
});

describe("The prices of a model", () => {
  const priced = (prices: unknown, providerKey: string | null = null) =>
    new ModelSpec(spec({ ...METERED, providerKey, prices })).prices;

  it("need a currency, and a price for what the kind has; a cached token costs what any costs", () => {
    assert.deepEqual(priced({ currency: "EUR", inputPerMillion: 2, outputPerMillion: 0 }), {
      currency: "EUR",
      inputPerMillion: 2,
      outputPerMillion: 0,
      cacheWriteFactor: 1,
      cacheReadFactor: 1,
    });
    const embeddings = priced({ currency: "EUR", inputPerMillion: 0.02 }, "x-embeddings");
    assert.deepEqual([embeddings?.inputPerMillion, embeddings?.outputPerMillion], [0.02, 0]);
    assert.throws(() => priced({ currency: "EUR", inputPerMillion: 2 }), {
      name: "TypeError",
      message: /"m": prices.outputPerMillion is undefined, it should be a number/,
    });
  });

  it("refuse what is no price, no factor and no currency, by name", () => {
    const prices = { currency: "EUR", inputPerMillion: 2, outputPerMillion: 3 };
    for (const field of ["inputPerMillion", "outputPerMillion", "cacheWriteFactor", "cacheReadFactor"]) {
      for (const value of [-1, NaN, Infinity]) {
        assert.throws(() => priced({ ...prices, [field]: value }), {
          name: "RangeError",
          message: new RegExp(`prices.${field} is ${value}`),
        });
      }
      assert.throws(() => priced({ ...prices, [field]: "2" }), TypeError);
    }
    for (const currency of [undefined, "", "usd", "EURO", "US", 5]) {
      assert.throws(() => priced({ ...prices, currency }), {
        name: "TypeError",
        message: /prices.currency is /,
      });
    }
    for (const junk of ["2", 2, true]) {
      assert.throws(() => priced(junk), { name: "TypeError", message: /prices is / });
    }
  });
});
