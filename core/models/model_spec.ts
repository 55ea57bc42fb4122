import { checkedNumber } from "../checked_number.ts";
import { show } from "../invariant.ts";
import { checkOptionNames, type OptionNames } from "../option_names.ts";
import { checkCatalogEntry, kindOf, type ModelKind } from "./model_kind.ts";
import { checkedPrices, type ModelPrices } from "./model_prices.ts";
import {
  checkedOutputBudgets,
  checkedThinkingBudgets,
  oneOf,
  type OutputBudgets,
  THINKING_MODES,
  type ThinkingBudgets,
  type ThinkingMode,
} from "./token_budgets.ts";

const PER_MINUTE = { least: 0, most: Number.MAX_SAFE_INTEGER };
const FROM_ONE = { least: 1, most: 2 ** 31 - 1 };

/** What a model's entry says: its names, its limits, and what its calls take and cost. Only the id must be said. */
export interface ModelSpecFields {
  /** Names the entry, and its bucket and gate: any non-empty string. The only thing by which two specs are the same. */
  readonly id: string;
  /** What variants of one model share; the id when left out. */
  readonly identity?: string;
  /**
   * Who serves the model, and of what kind it is: one whose key ends in `-embeddings` or `-decision` is that, any other an LLM. An
   * entry that has a key must have the limits of its kind; without one, or null, it is an LLM of which nothing need be said.
   */
  readonly providerKey?: string | null;
  /** The model's name on the wire, which variants with other limits may share; the id when left out. */
  readonly wireModelId?: string;
  /** Tokens of input and output together, a whole number from 1 to 2^31 - 1; null, or left out, when not known. */
  readonly maxContextTokens?: number | null;
  /** Tokens of output, reasoning included, a whole number from 1 to 2^31 - 1; null, or left out, when not known. */
  readonly maxOutputTokens?: number | null;
  /** How the model reasons; `NONE` when left out. */
  readonly thinkingMode?: ThinkingMode;
  /** Tokens per minute, a whole number; 0, or left out, for a model that publishes none. */
  readonly tpm?: number;
  /** Requests per minute, a whole number; 0, or left out, for a model that publishes none. */
  readonly rpm?: number;
  /** Requests in flight at a time, a whole number from 1 to 2^31 - 1; null, or left out, for a model that has no such limit. */
  readonly maxConcurrent?: number | null;
  /** Tokens of every output rung but MAX; null, or left out, for those of `outputBudget`. */
  readonly outputBudgets?: OutputBudgets | null;
  /** Tokens of reasoning at every depth at which the mode books any; null, or left out, for those of `thinkingBudget`. */
  readonly thinkingBudgets?: ThinkingBudgets | null;
  /** What its tokens cost; null, or left out, for a model without prices, which a spend cap refuses. */
  readonly prices?: ModelPrices | null;
}

const FIELDS: OptionNames<ModelSpecFields> = {
  id: true,
  identity: true,
  providerKey: true,
  wireModelId: true,
  maxContextTokens: true,
  maxOutputTokens: true,
  thinkingMode: true,
  tpm: true,
  rpm: true,
  maxConcurrent: true,
  outputBudgets: true,
  thinkingBudgets: true,
  prices: true,
};

/** One model's entry, validated once. Immutable. */
export class ModelSpec implements Required<ModelSpecFields> {
  /** Names the entry, and its bucket and gate. */
  readonly id: string;
  /** What variants of one model share. */
  readonly identity: string;
  /** Who serves the model; null when not said. */
  readonly providerKey: string | null;
  /** The model's name on the wire. */
  readonly wireModelId: string;
  /** Tokens of input and output together; null when not known. */
  readonly maxContextTokens: number | null;
  /** Tokens of output, reasoning included; null when not known. */
  readonly maxOutputTokens: number | null;
  /** How the model reasons. */
  readonly thinkingMode: ThinkingMode;
  /** Tokens per minute; 0 when it publishes none. */
  readonly tpm: number;
  /** Requests per minute; 0 when it publishes none. */
  readonly rpm: number;
  /** Requests in flight at a time; null when it has no such limit. */
  readonly maxConcurrent: number | null;
  /** Tokens of the output rungs, frozen; null for those of `outputBudget`. */
  readonly outputBudgets: OutputBudgets | null;
  /** Tokens of reasoning, frozen; null for those of `thinkingBudget`. */
  readonly thinkingBudgets: ThinkingBudgets | null;
  /** What its tokens cost, frozen; null when it has no prices. */
  readonly prices: Required<ModelPrices> | null;

  /**
   * A spec of these fields.
   *
   * @throws TypeError or RangeError naming the field, its value and what would do. With a `providerKey`: an LLM and an embeddings
   * model need `tpm`, `maxContextTokens` and `maxOutputTokens`, a decision model `maxContextTokens` and exactly one of `tpm` and
   * `maxConcurrent`, which no other kind has.
   */
  constructor(fields: ModelSpecFields) {
    if (typeof fields !== "object" || fields === null) {
      throw new TypeError(
        `Cannot make a ModelSpec: it is ${
          show(fields)
        }, it should be an object such as { id: "gpt", tpm: 60000 }`,
      );
    }
    const { id, identity = id, wireModelId = id, providerKey = null, tpm = 0, rpm = 0 } = fields;
    this.id = checkedName("Cannot make a ModelSpec: id", id);
    const what = `Cannot make the ModelSpec ${show(id)}:`;
    checkOptionNames(what, fields, FIELDS);
    this.identity = checkedName(`${what} identity`, identity);
    this.wireModelId = checkedName(`${what} wireModelId`, wireModelId);
    this.providerKey = providerKey === null ? null : checkedName(`${what} providerKey`, providerKey);
    this.maxContextTokens = checkedOrNull(`${what} maxContextTokens`, fields.maxContextTokens);
    this.maxOutputTokens = checkedOrNull(`${what} maxOutputTokens`, fields.maxOutputTokens);
    this.tpm = checkedNumber(`${what} tpm`, tpm, PER_MINUTE);
    this.rpm = checkedNumber(`${what} rpm`, rpm, PER_MINUTE);
    this.maxConcurrent = checkedOrNull(`${what} maxConcurrent`, fields.maxConcurrent);
    const { thinkingMode = "NONE", outputBudgets = null, thinkingBudgets = null, prices = null } = fields;
    this.thinkingMode = oneOf(`${what} thinkingMode`, thinkingMode, THINKING_MODES);
    this.outputBudgets = checkedOutputBudgets(`${what} outputBudgets`, outputBudgets);
    this.thinkingBudgets = checkedThinkingBudgets(`${what} thinkingBudgets`, thinkingMode, thinkingBudgets);
    this.prices = prices === null ? null : checkedPrices(`${what} prices`, this.kind, prices);
    checkCatalogEntry(this);
    Object.freeze(this);
  }

  /** The spec itself, or one made of its fields. @throws as the constructor. */
  static from(fields: ModelSpecFields): ModelSpec {
    return fields instanceof ModelSpec ? fields : new ModelSpec(fields);
  }

  /** What the model answers, as its `providerKey` tells. */
  get kind(): ModelKind {
    return kindOf(this.providerKey);
  }

  /** Requests per minute that its bucket starts with: as published, else a thousandth of the tokens, at least 1. */
  get bucketRpm(): number {
    return this.rpm > 0 ? this.rpm : Math.max(1, Math.trunc(this.tpm / 1000));
  }
}

function checkedName(what: string, value: string): string {
  if (typeof value === "string" && value !== "") return value;
  throw new TypeError(`${what} is ${show(value)}, it should be a non-empty string`);
}

function checkedOrNull(what: string, value: number | null | undefined): number | null {
  return value === undefined || value === null ? null : checkedNumber(what, value, FROM_ONE);
}
