import { checkedNumber } from "../checked_number.ts";
import { show } from "../invariant.ts";

const PER_MINUTE = { least: 0, most: Number.MAX_SAFE_INTEGER };
const IN_FLIGHT = { least: 1, most: 2 ** 31 - 1 };

/** What a model's entry says, as far as accounts need it. */
export interface ModelSpecFields {
  /** Names the entry, and its bucket and gate: any non-empty string. The only thing by which two specs are the same. */
  readonly id: string;
  /** The model's name on the wire, which variants with other limits may share; the id when left out. */
  readonly wireModelId?: string;
  /** Tokens per minute, a whole number; 0, or left out, for a model that publishes none. */
  readonly tpm?: number;
  /** Requests per minute, a whole number; 0, or left out, for a model that publishes none. */
  readonly rpm?: number;
  /** Requests in flight at a time, a whole number from 1 to 2^31 - 1; null, or left out, for a model that has no such limit. */
  readonly maxConcurrent?: number | null;
}

/** One model's entry, validated once. Immutable. */
export class ModelSpec implements Required<ModelSpecFields> {
  readonly id: string;
  readonly wireModelId: string;
  readonly tpm: number;
  readonly rpm: number;
  readonly maxConcurrent: number | null;

  /** @throws TypeError or RangeError naming the field, its value and what would do. */
  constructor(fields: ModelSpecFields) {
    if (typeof fields !== "object" || fields === null) {
      throw new TypeError(
        `Cannot make a ModelSpec: it is ${
          show(fields)
        }, it should be an object such as { id: "gpt", tpm: 60000 }`,
      );
    }
    const { id, wireModelId = id, tpm = 0, rpm = 0, maxConcurrent = null } = fields;
    this.id = checkedName("id", id, "a ModelSpec");
    const what = `the ModelSpec ${show(id)}`;
    this.wireModelId = checkedName("wireModelId", wireModelId, what);
    this.tpm = checkedNumber(`Cannot make ${what}: tpm`, tpm, PER_MINUTE);
    this.rpm = checkedNumber(`Cannot make ${what}: rpm`, rpm, PER_MINUTE);
    this.maxConcurrent = maxConcurrent === null
      ? null
      : checkedNumber(`Cannot make ${what}: maxConcurrent`, maxConcurrent, IN_FLIGHT);
    Object.freeze(this);
  }

  /** The spec itself, or one made of its fields. @throws as the constructor. */
  static from(fields: ModelSpecFields): ModelSpec {
    return fields instanceof ModelSpec ? fields : new ModelSpec(fields);
  }

  /** Requests per minute that its bucket starts with: as published, else a thousandth of the tokens, at least 1. */
  get bucketRpm(): number {
    return this.rpm > 0 ? this.rpm : Math.max(1, Math.trunc(this.tpm / 1000));
  }
}

function checkedName(field: string, value: string, what: string): string {
  if (typeof value === "string" && value !== "") return value;
  throw new TypeError(`Cannot make ${what}: ${field} is ${show(value)}, it should be a non-empty string`);
}
