// How a call of a model is declared, resolved and priced, and which account its reservation goes to.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  Admission,
  Demand,
  ModelBinding,
  type ModelBindingOptions,
  ModelGate,
  type ModelSpecFields,
  RateLimiterFactory,
  RateLimiterRegistry,
} from "../mod.ts";
import { ManualClock } from "../testing/mod.ts";
import { DECISION, EMBEDDINGS, EXTENDED } from "./priced_models.ts";

/** Options where TypeScript would not let them through. */
function declare(options: unknown): ModelBinding {
  return new ModelBinding(options as ModelBindingOptions);
}

function call(
  model: ModelSpecFields,
  { input = 100, output = 200, depth = "IMMEDIATE" }: Partial<ModelBindingOptions> = {},
) {
  return new ModelBinding({ model, input, output, depth });
}

describe("A model binding", () => {
  it("PR-04 is resolved once; its model cannot be read before", () => {
    const binding = new ModelBinding({ grade: "fast", depth: "IMMEDIATE", input: 100, output: 200 });
    assert.deepEqual([binding.isResolved, binding.isPriced, binding.grade], [false, false, "fast"]);
    for (const early of [() => binding.model, () => binding.price()]) {
      assert.throws(early, { name: "InvalidStateError", message: /grade "fast": it is not resolved/ });
    }
    assert.equal(binding.resolve(EXTENDED), binding);
    assert.deepEqual([binding.isResolved, binding.model], [true, EXTENDED]);
    const again = {
      name: "InvalidStateError",
      message: /Cannot resolve a call of "llm": its model is known/,
    };
    assert.throws(() => binding.resolve(EXTENDED), again);
    assert.throws(() => call(EXTENDED).resolve(EXTENDED), again, "a pinned model is its resolution");
    assert.equal(binding.price().total, 300);
    assert.throws(() => binding.resolve(EXTENDED), again);
  });

  it("PR-04 BLD-04 has a reservation only when it is priced", () => {
    const binding = new ModelBinding({ kind: "DECISION", input: 40 });
    const unread = /Cannot read the (reservation|model) of a call of (kind DECISION|"judge")/;
    const early = () => {
      for (
        const read of [() => binding.reservation, () => binding.addTo(new Demand(), new RateLimiterFactory())]
      ) {
        assert.throws(read, { name: "InvalidStateError", message: unread });
      }
    };
    early();
    binding.resolve(DECISION);
    early();
    binding.price();
    assert.equal(binding.reservation.total, 40);
  });

  it("PR-04 keeps what it has when a model of another kind is offered", () => {
    const binding = new ModelBinding({ grade: "fast", depth: "QUICK", input: 1, output: 1 });
    assert.throws(() => binding.resolve(EMBEDDINGS), {
      name: "TypeError",
      message: /"embed" is of kind EMBEDDINGS .*"openai-embeddings", it should be of kind LLM/,
    });
    assert.throws(() => binding.resolve({ id: "" }), TypeError);
    assert.equal(binding.isResolved, false);
    assert.equal(binding.resolve(EXTENDED).model, EXTENDED);
  });

  it("PR-17 an LLM call declares a model or a grade, a depth and an output", () => {
    const whole = { grade: "fast", depth: "QUICK", input: 1, output: 2 };
    assert.ok(declare(whole));
    assert.ok(declare({ ...whole, kind: "LLM", grade: undefined, model: EXTENDED }));
    const missing = {
      grade: /no model and no grade/,
      depth: /no depth, .*IMMEDIATE/,
      output: /no output, .*VERDICT/,
    };
    for (const [field, message] of Object.entries(missing)) {
      for (const nothing of [undefined, null]) {
        assert.throws(() => declare({ ...whole, [field]: nothing }), { name: "TypeError", message });
      }
    }
    assert.throws(() => declare({ ...whole, model: EXTENDED }), {
      name: "TypeError",
      message: /a model and a grade/,
    });
  });

  it("PR-17 a pinned model of another kind is refused where it is declared", () => {
    const whole = { depth: "QUICK", input: 1, output: 2 };
    const kind = (of: string, message: RegExp) => ({ name: "TypeError", message, of });
    for (
      const [options, expected] of [
        [
          { ...whole, kind: "LLM", model: EMBEDDINGS },
          kind("embeddings", /of kind EMBEDDINGS.*should be of kind LLM/),
        ],
        [
          { ...whole, kind: "LLM", model: DECISION },
          kind("decision", /of kind DECISION.*should be of kind LLM/),
        ],
        [{ input: 1, kind: "EMBEDDINGS", model: DECISION }, kind("decision", /should be of kind EMBEDDINGS/)],
        [
          { input: 1, kind: "DECISION", model: EXTENDED },
          kind("llm", /of kind LLM.*should be of kind DECISION/),
        ],
      ] as const
    ) {
      assert.throws(() => declare(options), { name: expected.name, message: expected.message }, expected.of);
    }
    for (const more of [{ depth: "QUICK" }, { output: 5 }]) {
      assert.throws(() => declare({ model: EMBEDDINGS, input: 1, ...more }), {
        name: "TypeError",
        message: /kind is EMBEDDINGS, it should have input alone/,
      });
    }
  });

  it("refuses what is no count, no rung, no depth, no kind and no grade, by name", () => {
    const whole = { grade: "fast", depth: "QUICK", input: 1, output: 2 };
    for (const field of ["input", "output"]) {
      for (const value of [-1, 1.5, NaN, Infinity, 2 ** 31]) {
        assert.throws(() => declare({ ...whole, [field]: value }), {
          name: "RangeError",
          message: new RegExp(`${field} is ${value}`),
        });
      }
    }
    const wrong = { input: "1", output: "LONG", depth: "DEEP", kind: "IMAGE", grade: 5, model: "gpt" };
    for (const [field, value] of Object.entries(wrong)) {
      assert.throws(() => declare({ ...whole, [field]: value }), { name: "TypeError" }, field);
    }
    for (const options of [undefined, null, "gpt", 5]) assert.throws(() => declare(options), TypeError);
  });
});

describe("The account of a call", () => {
  const demandOf = (bindings: readonly ModelBinding[], factory = new RateLimiterFactory()) => {
    const demand = new Demand();
    for (const binding of bindings) {
      binding.price();
      assert.equal(binding.addTo(demand, factory), demand);
    }
    return demand.entries.map(({ key, amounts }) => [key.limiterName, key.limiterCategory, amounts]);
  };
  const decision = (model: ModelSpecFields) => new ModelBinding({ model, input: 40 });

  it("PR-22 BLD-03 is the model's gate where it has a maxConcurrent, else its bucket", () => {
    assert.deepEqual(demandOf([decision(DECISION)]), [["judge", "token_bucket", [40]]]);
    const { tpm: _, ...gated } = DECISION;
    const factory = new RateLimiterFactory();
    const entry = { ...gated, id: "kev-gated", maxConcurrent: 1 };
    assert.deepEqual(demandOf([decision(entry)], factory), [["kev-gated", "semaphore", [undefined]]]);
    const gate = factory.gate(entry);
    assert.ok(gate instanceof ModelGate);
    assert.deepEqual([gate.capacity, gate.replenishment], [1, "RELEASE"]);
    assert.throws(() => factory.gate(DECISION), TypeError);
    assert.deepEqual(demandOf([call(EXTENDED, { depth: "STANDARD" })]), [["llm", "token_bucket", [8_300]]]);
    assert.deepEqual(demandOf([new ModelBinding({ model: EMBEDDINGS, input: 500 })]), [[
      "embed",
      "token_bucket",
      [500],
    ]]);
  });

  it("PR-23 two calls of one model are one entry with two amounts", () => {
    const bindings = [decision(DECISION), call(EXTENDED), decision({ ...DECISION, wireModelId: "other" })];
    assert.deepEqual(demandOf(bindings), [["judge", "token_bucket", [40, 40]], ["llm", "token_bucket", [
      300,
    ]]]);
  });

  it("PR-28 is debited once, by admission", async () => {
    const clock = new ManualClock();
    const registry = new RateLimiterRegistry(new RateLimiterFactory({ clock }));
    const admission = new Admission({ clock, memory: null }).start();
    const bucket = registry.bucket(EXTENDED);
    const levels = () => [bucket.status.availableTokens, bucket.status.availableRequests];
    const demand = new Demand();
    for (const output of [200, 400]) {
      const binding = call(EXTENDED, { output });
      binding.price();
      binding.addTo(demand, registry);
    }
    assert.deepEqual(levels(), [1_000_000, 1_000], "pricing and adding take nothing");
    const grant = await admission.admit(demand);
    assert.deepEqual(levels(), [1_000_000 - 300 - 500, 998]);
    grant.release();
    assert.deepEqual(levels(), [1_000_000 - 300 - 500, 998], "and settling leaves it spent");
    admission.stop();
  });

  it("PR-22 needs somebody who makes accounts", () => {
    const binding = call(EXTENDED);
    binding.price();
    for (const accounts of [undefined, null, {}, new Map()]) {
      assert.throws(() => binding.addTo(new Demand(), accounts as unknown as RateLimiterFactory), {
        name: "TypeError",
        message: /"llm" to a demand: accounts is .*RateLimiterRegistry/,
      });
    }
  });
});
