import { checkedNumber } from "../checked_number.ts";
import { show } from "../invariant.ts";
import { checkedCurrency } from "../money.ts";
import { checkOptionNames, type OptionNames } from "../option_names.ts";
import type { ModelKind } from "./model_kind.ts";

/** What a model's tokens cost. Prices are for a million tokens, in the currency's unit; all are rounded to a billionth. */
export interface ModelPrices {
  /** Three upper-case letters (ISO 4217). */
  readonly currency: string;
  /** A million tokens of input: a number from 0. */
  readonly inputPerMillion: number;
  /** A million tokens of output, reasoning included: a number from 0. An LLM needs one; of other kinds it is not read. */
  readonly outputPerMillion?: number;
  /** A token written to the provider's cache, as a multiple of the input price: a number from 0; 1 when left out. */
  readonly cacheWriteFactor?: number;
  /** A token read from the provider's cache, as a multiple of the input price: a number from 0; 1 when left out. */
  readonly cacheReadFactor?: number;
}

const PRICES: OptionNames<ModelPrices> = {
  currency: true,
  inputPerMillion: true,
  outputPerMillion: true,
  cacheWriteFactor: true,
  cacheReadFactor: true,
};

const PRICE = { least: 0, most: Number.MAX_SAFE_INTEGER, isWhole: false };

/** The prices, whole and frozen. `what` begins a message. @throws TypeError or RangeError naming the field. */
export function checkedPrices(what: string, kind: ModelKind, prices: ModelPrices): Required<ModelPrices> {
  if (typeof prices !== "object" || prices === null) {
    throw new TypeError(
      `${what} is ${show(prices)}, it should be an object such as { currency: "USD", inputPerMillion: 2 }`,
    );
  }
  checkOptionNames(`${what}:`, prices, PRICES);
  const { inputPerMillion, cacheWriteFactor = 1, cacheReadFactor = 1 } = prices;
  const outputPerMillion = kind === "LLM" ? prices.outputPerMillion : prices.outputPerMillion ?? 0;
  return Object.freeze({
    currency: checkedCurrency(`${what}.currency`, prices.currency),
    inputPerMillion: checkedNumber(`${what}.inputPerMillion`, inputPerMillion, PRICE),
    outputPerMillion: checkedNumber(`${what}.outputPerMillion`, outputPerMillion as number, PRICE),
    cacheWriteFactor: checkedNumber(`${what}.cacheWriteFactor`, cacheWriteFactor, PRICE),
    cacheReadFactor: checkedNumber(`${what}.cacheReadFactor`, cacheReadFactor, PRICE),
  });
}
