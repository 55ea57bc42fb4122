// The tokens that a call of a model reserves.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  ModelBinding,
  type ModelBindingOptions,
  ModelSpec,
  type ModelSpecFields,
  outputBudget,
  type OutputRung,
  thinkingBudget,
  type ThinkingDepth,
  type ThinkingMode,
} from "../mod.ts";
import { DECISION, EMBEDDINGS, EXTENDED, llm } from "./priced_models.ts";

const RUNGS: readonly OutputRung[] = ["VERDICT", "COMPACT", "STANDARD", "EXTENDED", "MAX"];
const DEPTHS: readonly ThinkingDepth[] = ["IMMEDIATE", "QUICK", "STANDARD", "THOROUGH", "ULTRA"];

function call(
  model: ModelSpecFields,
  { input = 100, output = 200, depth = "IMMEDIATE" }: Partial<ModelBindingOptions> = {},
) {
  return new ModelBinding({ model, input, output, depth });
}

function total(...args: Parameters<typeof call>): number {
  return call(...args).price().total;
}

describe("The budgets of a model", () => {
  const thinking = (model: ModelSpec) => DEPTHS.map((depth) => thinkingBudget(model, depth));
  const output = (model: ModelSpec) => RUNGS.map((rung) => outputBudget(model, rung));

  it("PR-06 reasoning is booked by mode and depth, and never without a model", () => {
    const books = (mode: ThinkingMode) => thinking(llm(mode, 64_000)).map((tokens) => tokens > 0);
    assert.deepEqual(books("NONE"), [false, false, false, false, false]);
    assert.deepEqual(books("EXTENDED"), [false, true, true, true, true]);
    assert.deepEqual(books("ADAPTIVE"), [false, true, true, true, true]);
    assert.deepEqual(books("REASONING_EFFORT"), [true, true, true, true, true]);
    assert.deepEqual(DEPTHS.map((depth) => thinkingBudget(null, depth)), [0, 0, 0, 0, 0]);
  });

  it("PR-07 reasoning gets a part of the ceiling, and at least 1,024 tokens", () => {
    assert.deepEqual(thinking(EXTENDED), [0, 4_000, 8_000, 16_000, 16_000]);
    assert.deepEqual(thinking(llm("REASONING_EFFORT", 64_000)), [1_024, 4_000, 8_000, 16_000, 16_000]);
    assert.deepEqual(thinking(llm("ADAPTIVE", 10_000)), [0, 1_024, 1_250, 2_500, 2_500]);
    assert.deepEqual(thinking(llm("ADAPTIVE", 500)), [0, 1_024, 1_024, 1_024, 1_024]);
    assert.equal(thinkingBudget(llm("ADAPTIVE", 64_015), "QUICK"), 4_000, "parts are whole tokens");
  });

  it("PR-08 rungs have their numbers, each at most the ceiling, which MAX is", () => {
    assert.deepEqual(output(EXTENDED), [1_024, 4_096, 16_384, 32_768, 64_000]);
    assert.deepEqual(output(llm("NONE", 10_000)), [1_024, 4_096, 10_000, 10_000, 10_000]);
    assert.deepEqual(output(llm("NONE", 900)), [900, 900, 900, 900, 900]);
  });

  it("PR-09 an entry's own tables replace those numbers", () => {
    const model = llm("REASONING_EFFORT", 10_000, {
      outputBudgets: { VERDICT: 1, COMPACT: 2, STANDARD: 3, EXTENDED: 20_000 },
      thinkingBudgets: { IMMEDIATE: 0, QUICK: 5, STANDARD: 6, THOROUGH: 7, ULTRA: 8 },
    });
    assert.deepEqual(output(model), [1, 2, 3, 10_000, 10_000]);
    assert.deepEqual(thinking(model), [0, 5, 6, 7, 8]);
    const extended = llm("EXTENDED", 10_000, {
      thinkingBudgets: { QUICK: 5, STANDARD: 6, THOROUGH: 7, ULTRA: 8 },
    });
    assert.deepEqual(thinking(extended), [0, 5, 6, 7, 8]);
    assert.equal(total(model, { input: 10, output: "COMPACT", depth: "QUICK" }), 10 + 2 + 5);
  });

  it("names that are none are refused, with those that would do", () => {
    assert.throws(() => outputBudget(EXTENDED, "SHORT" as OutputRung), {
      name: "TypeError",
      message: /rung is "SHORT", it should be one of VERDICT, COMPACT, STANDARD, EXTENDED, MAX/,
    });
    assert.throws(() => thinkingBudget(null, "DEEP" as ThinkingDepth), {
      name: "TypeError",
      message: /depth is "DEEP", it should be one of IMMEDIATE, QUICK, STANDARD, THOROUGH, ULTRA/,
    });
  });
});

describe("A call's reservation", () => {
  it("PR-05 PR-18 is the input and the output reserve, which can be read apart", () => {
    const binding = call(EXTENDED, { input: 1_200, output: "COMPACT", depth: "QUICK" });
    assert.deepEqual(binding.price(), { input: 1_200, output: 8_096, total: 9_296 });
    assert.equal(binding.reservation, binding.price(), "asked again it is the same");
    assert.ok(Object.isFrozen(binding.reservation));
    const capped = call(EXTENDED, { input: 0, output: 60_000, depth: "STANDARD" });
    assert.equal(capped.price().output, 64_000, "answer and reasoning together stay within the ceiling");
    assert.equal(call(EXTENDED, { output: 0 }).price().total, 100);
  });

  it("PR-10 adds the declared counts", () => {
    assert.equal(total(EXTENDED), 300);
    assert.equal(total(EXTENDED, { output: "COMPACT" }), 100 + 4_096);
    assert.equal(total(EXTENDED, { input: 64, output: 16 }), 80);
    assert.equal(total(EXTENDED, { depth: "STANDARD" }), 8_300);
    assert.equal(total(EXTENDED, { output: "MAX", depth: "THOROUGH" }), 64_100);
    assert.equal(total(llm("REASONING_EFFORT", 128_000)), 1_324);
  });

  it("PR-15 PR-18 of embeddings and decisions is their input alone", () => {
    const embeddings = new ModelBinding({ model: EMBEDDINGS, input: 500 });
    assert.equal(embeddings.kind, "EMBEDDINGS");
    assert.deepEqual(embeddings.price(), { input: 500, output: 0, total: 500 });
    const decision = new ModelBinding({ kind: "DECISION", input: 40 }).resolve(DECISION);
    assert.deepEqual(decision.price(), { input: 40, output: 0, total: 40 });
  });

  it("PR-16 may fill the context window and not exceed it", () => {
    const small = llm("NONE", 1_000, { maxContextTokens: 1_300 });
    assert.equal(total(small, { input: 300, output: "MAX" }), 1_300);
    const large = call(small, { input: 301, output: "MAX" });
    assert.throws(() => large.price(), {
      name: "CorrectableError",
      message:
        /"llm": its input of 301 tokens and its output of 1000 are 1301 together.*context window of 1300/,
    });
    assert.equal(large.isPriced, false);
    assert.throws(
      () => new ModelBinding({ model: EMBEDDINGS, input: 8_193 }).price(),
      /context window of 8192/,
    );
  });

  it("PR-16 is refused for a spec that does not say its ceilings, naming the one that is missing", () => {
    const bare = { id: "gpt", tpm: 60_000 };
    const refused = (model: ModelSpecFields, field: string) =>
      assert.throws(() => call(model).price(), {
        name: "TypeError",
        message: new RegExp(`"gpt": its spec has no ${field}`),
      });
    refused(bare, "maxOutputTokens");
    refused({ ...bare, maxContextTokens: 9 }, "maxOutputTokens");
    refused({ ...bare, maxOutputTokens: 9 }, "maxContextTokens");
    assert.equal(total({ ...bare, maxOutputTokens: 500, maxContextTokens: 900 }), 300);
  });
});
