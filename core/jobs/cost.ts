import { checkedNumber } from "../checked_number.ts";
import { show } from "../invariant.ts";
import type { ModelBinding } from "../models/model_binding.ts";
import { ModelSpec, type ModelSpecFields } from "../models/model_spec.ts";
import { checkedCurrency, decimalText, nanosOf, roundedQuotient } from "../money.ts";

/** Prices are for a million tokens. */
const PRICED_TOKENS = 1_000_000n;
/** One, in nano-units: what a factor of 1 is. */
const ONE = 1_000_000_000n;
/** The decimals of a cost in a text. */
const TEXT_DECIMALS = 6;
const TOKENS = { least: 0, most: Number.MAX_SAFE_INTEGER };

/**
 * An amount of money in one currency, never negative. It is held in whole nano-units (billionths of the currency's unit), so
 * sums are exact in any order. Immutable.
 */
export class Cost {
  /** Billionths of the currency's unit. */
  readonly nanos: bigint;
  /** Three upper-case letters (ISO 4217). */
  readonly currency: string;

  /**
   * An amount of a currency.
   *
   * @param amount in the currency's unit, from 0 to 2^53 - 1, or a decimal number as text ("0.025600"), as a database's numeric
   * column gives it. It is rounded half up to a billionth.
   * @throws TypeError for a currency that is not three upper-case letters; TypeError or RangeError for an amount that is none.
   */
  constructor(amount: number | string, currency: string) {
    this.nanos = nanosOf("Cannot make a Cost: amount", amount);
    this.currency = checkedCurrency("Cannot make a Cost: currency", currency);
    Object.freeze(this);
  }

  /**
   * A cost of so many nano-units.
   *
   * @throws TypeError when it is no bigint or the currency is none; RangeError when it is negative.
   */
  static fromNanos(nanos: bigint, currency: string): Cost {
    if (typeof nanos !== "bigint") {
      throw new TypeError(`Cannot make a Cost: nanos is ${show(nanos)}, it should be a bigint`);
    }
    if (nanos < 0n) {
      throw new RangeError(`Cannot make a Cost: nanos is ${show(nanos)}, it should be 0n or more`);
    }
    return new Cost(decimalText(nanos), currency);
  }

  /** In the currency's unit: the number that is nearest, for display. Sums and comparisons are made on the exact amount. */
  get amount(): number {
    return Number(decimalText(this.nanos));
  }

  /** The sum. @throws TypeError when the other is no Cost, or of another currency. */
  plus(other: Cost): Cost {
    return Cost.fromNanos(this.nanos + this.#sameCurrency("add to", other).nanos, this.currency);
  }

  /** Whether this is more than the other; an equal cost does not exceed. @throws as `plus`. */
  exceeds(other: Cost): boolean {
    return this.nanos > this.#sameCurrency("compare with", other).nanos;
  }

  /** Six decimals, rounded half up, and the currency: `0.025600 USD`. */
  toString(): string {
    return `${decimalText(this.nanos, TEXT_DECIMALS)} ${this.currency}`;
  }

  /** The exact amount as text, with nine decimals, and the currency: what the constructor takes. */
  toJSON(): { amount: string; currency: string } {
    return { amount: decimalText(this.nanos), currency: this.currency };
  }

  #sameCurrency(deed: string, other: Cost): Cost {
    const what = `Cannot ${deed} a Cost in ${this.currency}`;
    if (!(other instanceof Cost)) {
      throw new TypeError(`${what}: the other is ${show(other)}, it should be a Cost`);
    }
    if (other.currency === this.currency) return other;
    throw new TypeError(`${what}: the other is in ${other.currency}, it should be in ${this.currency}`);
  }
}

/**
 * What a provider says a call used, in tokens. Cached tokens are part of the input, as OpenAI counts them; Anthropic counts them
 * beside it, so there the three numbers are added up first (github.com/crewAIInc/crewAI/pull/6770).
 */
export interface CallUsage {
  /** All input, the cached included. */
  readonly inputTokens: number;
  /** All output, the reasoning included. */
  readonly outputTokens: number;
  /** Input that was written to the provider's cache; 0 when left out. */
  readonly cacheWriteTokens?: number;
  /** Input that was read from the provider's cache; 0 when left out. */
  readonly cacheReadTokens?: number;
}

/**
 * What a call cost: uncached input at the input price, cached at that price times its factor, output at the output price, which
 * only LLMs have. Exact, then rounded once, half up, to a billionth. Null when the model has no prices.
 *
 * @throws TypeError when either is missing or in the other's place; TypeError or RangeError for a number that is no count of tokens,
 * or more cached tokens than input.
 */
export function callCost(model: ModelSpecFields, usage: CallUsage): Cost | null {
  checkCall(model, usage);
  const spec = ModelSpec.from(model);
  const input = tokens("inputTokens", usage.inputTokens);
  const output = tokens("outputTokens", usage.outputTokens);
  const written = tokens("cacheWriteTokens", usage.cacheWriteTokens ?? 0);
  const read = tokens("cacheReadTokens", usage.cacheReadTokens ?? 0);
  if (written + read > input) {
    throw new RangeError(
      `Cannot price a call: cacheWriteTokens and cacheReadTokens are ${
        written + read
      } together, they should be at most the inputTokens, ${input}, of which they are part`,
    );
  }
  if (spec.prices === null) return null;
  const { cacheWriteFactor, cacheReadFactor } = spec.prices;
  const weighed = (input - written - read) * ONE + written * nanosOf("cacheWriteFactor", cacheWriteFactor) +
    read * nanosOf("cacheReadFactor", cacheReadFactor);
  return priced(spec, weighed, output);
}

/**
 * What a call may cost at most, by its reservation: input and output at their own prices, nothing cached. Null when the model has
 * no prices.
 *
 * @throws InvalidStateError when the binding is not priced.
 */
export function reservationCost(binding: ModelBinding): Cost | null {
  const { input, output } = binding.reservation;
  return priced(binding.model, BigInt(input) * ONE, BigInt(output));
}

/** Of so many nano-tokens of input and tokens of output. Everything is multiplied as integers; the one division rounds. */
function priced({ kind, prices }: ModelSpec, inputNanos: bigint, output: bigint): Cost | null {
  if (prices === null) return null;
  const inputPrice = nanosOf("inputPerMillion", prices.inputPerMillion);
  const outputPrice = kind === "LLM" ? nanosOf("outputPerMillion", prices.outputPerMillion) : 0n;
  const product = inputNanos * inputPrice + output * ONE * outputPrice;
  return Cost.fromNanos(roundedQuotient(product, ONE * PRICED_TOKENS), prices.currency);
}

/** @throws TypeError when one is missing, or stands in the other's place. */
function checkCall(model: ModelSpecFields, usage: CallUsage): void {
  if (typeof model?.id !== "string") {
    throw new TypeError(
      `Cannot price a call: model is ${
        show(model)
      }, it should be a ModelSpec or the members of one, and come first`,
    );
  }
  if (typeof usage === "object" && usage !== null) return;
  throw new TypeError(
    `Cannot price a call: usage is ${
      show(usage)
    }, it should be a CallUsage. Where it is not known, reservationCost() is the most that it can be`,
  );
}

function tokens(field: string, value: number): bigint {
  return BigInt(checkedNumber(`Cannot price a call: ${field}`, value, TOKENS));
}
