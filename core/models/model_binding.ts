import type { ModelGate } from "../accounts/model_gate.ts";
import type { TokenBucketRateLimiter } from "../accounts/token_bucket.ts";
import { checkedNumber } from "../checked_number.ts";
import type { Demand } from "../demand.ts";
import { CorrectableError, InvalidStateError } from "../errors.ts";
import { show } from "../invariant.ts";
import { checkOptionNames, type OptionNames } from "../option_names.ts";
import type { ModelKind } from "./model_kind.ts";
import { ModelSpec, type ModelSpecFields } from "./model_spec.ts";
import {
  oneOf,
  OUTPUT_RUNGS,
  outputBudget,
  type OutputRung,
  saidTokens,
  THINKING_DEPTHS,
  thinkingBudget,
  type ThinkingDepth,
} from "./token_budgets.ts";

/** What a call of a model is declared to need, before it is made. */
export interface ModelBindingOptions {
  /** The model itself. An LLM call names either this or a `grade`. */
  readonly model?: ModelSpecFields;
  /** What kind of model would do, in words of your own: whoever resolves the binding chooses one by it. */
  readonly grade?: string;
  /** That of the `model`; where that is left out too, `LLM`. */
  readonly kind?: ModelKind;
  /** How long the model should reason. An LLM call names one; other kinds have none. */
  readonly depth?: ThinkingDepth;
  /** Tokens of input: a whole number from 0 to 2^31 - 1. */
  readonly input: number;
  /** The answer's length, without reasoning: tokens as `input`, or a rung. An LLM call names one; other kinds have none. */
  readonly output?: number | OutputRung;
}

/** Tokens that a call is admitted with. Frozen. */
export interface Reservation {
  /** What was declared. */
  readonly input: number;
  /** The answer and its reasoning, at most the model's ceiling: also what the request should name as its own limit. */
  readonly output: number;
  /** Both together. */
  readonly total: number;
}

/** Where the accounts of models come from: a `RateLimiterFactory` or `RateLimiterRegistry`. */
export interface ModelAccounts {
  /** The one bucket of the model. */
  bucket(spec: ModelSpecFields): TokenBucketRateLimiter;
  /** The one gate of the model. */
  gate(spec: ModelSpecFields): ModelGate;
}

const OPTIONS: OptionNames<ModelBindingOptions> = {
  model: true,
  grade: true,
  kind: true,
  depth: true,
  input: true,
  output: true,
};

const KINDS: readonly ModelKind[] = ["LLM", "EMBEDDINGS", "DECISION"];
const TOKENS = { least: 0, most: 2 ** 31 - 1 };

/**
 * One call of a model that a job will make: declared, then resolved to a model, then priced in tokens. What was declared never
 * changes; each of the other two is filled in once.
 */
export class ModelBinding {
  /** That of the model which is called. */
  readonly kind: ModelKind;
  /** Null when a model was pinned, or none was named. */
  readonly grade: string | null;
  /** Null unless an LLM is called. */
  readonly depth: ThinkingDepth | null;
  /** Tokens. */
  readonly input: number;
  /** Tokens or a rung; null unless an LLM is called. */
  readonly output: number | OutputRung | null;
  #model: ModelSpec | null;
  #reservation: Reservation | null = null;

  /**
   * A binding with a `model` is resolved from the start.
   *
   * @throws TypeError naming what an LLM call leaves out, what another kind must not have, or a pinned model of another kind;
   * RangeError for a number out of range; and as ModelSpec does.
   */
  constructor(options: ModelBindingOptions) {
    if (typeof options !== "object" || options === null) {
      throw declarationError(
        `it is ${show(options)}`,
        'an object such as { model, depth: "QUICK", input: 1200, output: "COMPACT" }',
      );
    }
    checkOptionNames("Cannot declare a model call:", options, OPTIONS);
    const { model, grade = null, depth = null, output = null } = options;
    this.#model = model === undefined || model === null ? null : ModelSpec.from(model);
    this.kind = oneOf("Cannot declare a model call: kind", options.kind ?? this.#model?.kind ?? "LLM", KINDS);
    if (this.#model !== null) checkKind("Cannot declare a model call", this.kind, this.#model);
    this.grade = grade === null ? null : checkedGrade(grade);
    this.input = checkedNumber("Cannot declare a model call: input", options.input, TOKENS);
    this.depth = depth === null ? null : oneOf("Cannot declare a model call: depth", depth, THINKING_DEPTHS);
    this.output = output === null ? null : checkedOutput(output);
    this.#checkDeclared();
  }

  /** Whether it is known which model is called. */
  get isResolved(): boolean {
    return this.#model !== null;
  }

  /** Whether the reservation can be read. */
  get isPriced(): boolean {
    return this.#reservation !== null;
  }

  /** The model that is called. @throws InvalidStateError before it is resolved. */
  get model(): ModelSpec {
    if (this.#model !== null) return this.#model;
    throw new InvalidStateError(
      `Cannot read the model of ${this.#called()}: it is not resolved, call resolve() first`,
    );
  }

  /** The tokens to admit the call with. @throws InvalidStateError before `price`. */
  get reservation(): Reservation {
    if (this.#reservation !== null) return this.#reservation;
    throw new InvalidStateError(
      `Cannot read the reservation of ${this.#called()}: it is not priced, call price() first`,
    );
  }

  /**
   * Fills in the model, once. Answers this binding.
   *
   * @throws InvalidStateError when it has one; TypeError for a model of another kind; and as ModelSpec does. Nothing changed then.
   */
  resolve(model: ModelSpecFields): this {
    if (this.#model !== null) {
      throw new InvalidStateError(
        `Cannot resolve ${this.#called()}: its model is known already, declare another call for another model`,
      );
    }
    const spec = ModelSpec.from(model);
    checkKind("Cannot resolve a model call", this.kind, spec);
    this.#model = spec;
    return this;
  }

  /**
   * Works out the reservation: the declared input, and as output the declared answer with the reasoning that its depth books, at
   * most the model's ceiling. Kinds other than LLM reserve input only. Asked again, it answers the same.
   *
   * @throws InvalidStateError before it is resolved; TypeError naming a ceiling that the model's spec leaves out; CorrectableError
   * when input and output together are more than the model's context window. No account was asked then.
   */
  price(): Reservation {
    if (this.#reservation !== null) return this.#reservation;
    const { model, input } = this;
    const output = this.#reservedOutput(model);
    const total = input + output;
    const window = saidTokens(model, "maxContextTokens");
    if (total > window) {
      throw new CorrectableError(
        `Cannot price ${this.#called()}: its input of ${input} tokens and its output of ${output} are ${total} together, ` +
          `they should be at most the model's context window of ${window}`,
      );
    }
    return this.#reservation = Object.freeze({ input, output, total });
  }

  /**
   * Adds what the call takes to a demand, and answers the demand: one permit on the model's gate when the model has a
   * `maxConcurrent`, else the whole reservation, as one request, on its bucket. Admission debits it; nobody else should.
   *
   * @throws InvalidStateError before it is priced; TypeError when `accounts` makes none; and as `Demand.add` and the accounts do.
   */
  addTo(demand: Demand, accounts: ModelAccounts): Demand {
    const { model, reservation } = this;
    if (typeof accounts?.bucket !== "function" || typeof accounts.gate !== "function") {
      throw new TypeError(
        `Cannot add ${this.#called()} to a demand: accounts is ${
          show(accounts)
        }, it should be a RateLimiterRegistry`,
      );
    }
    return model.maxConcurrent === null
      ? demand.add(accounts.bucket(model), reservation.total)
      : demand.add(accounts.gate(model));
  }

  #reservedOutput(model: ModelSpec): number {
    const { output, depth } = this;
    if (output === null || depth === null) return 0;
    const answer = typeof output === "number" ? output : outputBudget(model, output);
    return Math.min(answer + thinkingBudget(model, depth), saidTokens(model, "maxOutputTokens"));
  }

  #checkDeclared(): void {
    const { kind, grade, depth, output } = this;
    if (this.#model !== null && grade !== null) {
      throw declarationError("it has a model and a grade", "one of them");
    }
    if (kind !== "LLM") {
      if (depth === null && output === null) return;
      throw declarationError(`it has a depth or an output, and its kind is ${kind}`, "input alone");
    }
    if (this.#model === null && grade === null) {
      throw declarationError("it has no model and no grade", "one of them");
    }
    if (depth === null) throw declarationError("it has no depth", `one of ${THINKING_DEPTHS.join(", ")}`);
    if (output === null) {
      throw declarationError("it has no output", `a number of tokens, or one of ${OUTPUT_RUNGS.join(", ")}`);
    }
  }

  #called(): string {
    if (this.#model !== null) return `a call of ${show(this.#model.id)}`;
    return this.grade === null
      ? `a call of kind ${this.kind}`
      : `a call of a model of grade ${show(this.grade)}`;
  }
}

function checkKind(deed: string, kind: ModelKind, model: ModelSpec): void {
  if (model.kind === kind) return;
  throw new TypeError(
    `${deed}: the model ${show(model.id)} is of kind ${model.kind} by its providerKey ${
      show(model.providerKey)
    }, it should be of kind ${kind}`,
  );
}

function checkedGrade(grade: string): string {
  if (typeof grade === "string" && grade !== "") return grade;
  throw declarationError(`its grade is ${show(grade)}`, "a non-empty string");
}

function checkedOutput(output: number | OutputRung): number | OutputRung {
  return typeof output === "number"
    ? checkedNumber("Cannot declare a model call: output", output, TOKENS)
    : oneOf("Cannot declare a model call: output", output, OUTPUT_RUNGS);
}

function declarationError(fault: string, remedy: string): TypeError {
  return new TypeError(`Cannot declare a model call: ${fault}, it should have ${remedy}`);
}
