// Money: exact amounts, what a call cost, and what its reservation may cost.

import assert from "node:assert/strict";
import process from "node:process";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import {
  callCost,
  type CallUsage,
  Cost,
  ModelBinding,
  type ModelPrices,
  ModelSpec,
  reservationCost,
} from "../mod.ts";

const SEED = Number(process.env.SEED ?? 20_261_130);
const RUNS = process.env.SOAK === "1" ? 5_000 : 500;

/** Checks a law for many random cases; a failure prints the seed and the smallest case. */
function law<T>(cases: fc.Arbitrary<T>, holds: (value: T) => void): void {
  fc.assert(fc.property(cases, holds), { seed: SEED, numRuns: RUNS });
}

const usd = (amount: number | string) => new Cost(amount, "USD");

const nanos = fc.bigInt({ min: 0n, max: 10n ** 20n });
const money = nanos.map((amount) => Cost.fromNanos(amount, "USD"));

function model(prices: ModelPrices | null, providerKey = "anthropic"): ModelSpec {
  const limits = { tpm: 10_000_000, maxContextTokens: 10_000_000, maxOutputTokens: 1_000_000 };
  return new ModelSpec({ id: "llm", providerKey, ...limits, prices });
}

const PRICES = {
  currency: "USD",
  inputPerMillion: 2,
  outputPerMillion: 10,
  cacheWriteFactor: 1.25,
  cacheReadFactor: 0.1,
} as const;

const USAGE = { inputTokens: 10_000, cacheWriteTokens: 2_000, cacheReadTokens: 3_000, outputTokens: 1_000 };

describe("A cost", () => {
  it("SG-04 sums without drift: a thousand times a thousandth is one, 100,000 times a tenth 10,000", () => {
    const sum = (amount: number, times: number) => {
      let total = usd(0);
      for (let nth = 0; nth < times; nth++) total = total.plus(usd(amount));
      return total;
    };
    assert.equal(sum(0.001, 1_000).nanos, 1_000_000_000n);
    assert.equal(sum(0.001, 1_000).amount, 1);
    assert.equal(sum(0.1, 100_000).nanos, 10_000n * 1_000_000_000n);
  });

  it("SG-04 exceeds what is less, and not what is equal", () => {
    assert.equal(usd(5).exceeds(usd(5.0)), false);
    assert.equal(usd("5.000000001").exceeds(usd(5)), true);
    assert.equal(usd(5).exceeds(usd("5.000000001")), false);
    assert.equal(usd(0.1).plus(usd(0.2)).exceeds(usd(0.3)), false);
  });

  it("SG-04 is rounded to a billionth, halves up", () => {
    const cases: [number | string, bigint][] = [
      [0.1, 100_000_000n],
      [1e-9, 1n],
      [4.9e-10, 0n],
      [5e-10, 1n],
      ["0.0000000014999", 1n],
      ["0.0000000015", 2n],
      [5e-324, 0n],
      [123_456_789.1, 123_456_789_100_000_000n],
      [Number.MAX_SAFE_INTEGER, 9_007_199_254_740_991_000_000_000n],
      ["007.50", 7_500_000_000n],
      [-0, 0n],
    ];
    for (const [amount, expected] of cases) assert.equal(usd(amount).nanos, expected, String(amount));
  });

  it("SG-04 reads as six decimals and the currency", () => {
    assert.equal(String(usd(0.0256)), "0.025600 USD");
    assert.equal(`${new Cost(3, "EUR")}`, "3.000000 EUR");
    assert.equal(String(usd(1234.5678915)), "1234.567892 USD");
    assert.equal(String(usd("0.9999995")), "1.000000 USD");
    assert.equal(String(usd(1e-9)), "0.000000 USD");
  });

  it("SG-04 has three upper-case letters as its currency, and never mixes two", () => {
    for (const currency of ["usd", "US", "USDT", "", "U5D", " USD", "USD\n", undefined, null, 5]) {
      assert.throws(() => new Cost(1, currency as string), {
        name: "TypeError",
        message: /currency is .*three upper-case letters/,
      });
    }
    const mixed = { name: "TypeError", message: /in USD: the other is in EUR, it should be in USD/ };
    assert.throws(() => usd(1).plus(new Cost(1, "EUR")), mixed);
    assert.throws(() => usd(1).exceeds(new Cost(0, "EUR")), mixed);
    for (const other of [null, undefined, 5, { nanos: 5n, currency: "USD" }]) {
      assert.throws(() => usd(1).plus(other as Cost), { name: "TypeError", message: /should be a Cost/ });
    }
  });

  it("SG-04 refuses what is no amount: negative, endless, no number, no decimal text, too long", () => {
    const texts = [
      "-1",
      "1,5",
      "1.",
      ".5",
      "",
      " 1",
      "0x10",
      "NaN",
      "1e",
      "9".repeat(31),
      "1".repeat(10_000),
    ];
    for (const amount of [-1, -1e-9, NaN, Infinity, -Infinity, 2 ** 53, 1e21, ...texts]) {
      assert.throws(() => usd(amount), {
        name: "RangeError",
        message: /amount is .*a decimal number from 0/,
      });
    }
    for (const amount of [undefined, null, 5n, {}, [], true]) {
      assert.throws(() => usd(amount as number), { name: "TypeError", message: /amount is / });
    }
    assert.throws(() => Cost.fromNanos(-1n, "USD"), { name: "RangeError", message: /nanos is -1n/ });
    assert.throws(() => Cost.fromNanos(1 as unknown as bigint, "USD"), {
      name: "TypeError",
      message: /nanos is 1/,
    });
  });

  it("SG-04 does not change, and goes through JSON whole", () => {
    const cost = usd("1234567890123.123456789");
    assert.throws(() => Object.assign(cost, { nanos: 5n }), TypeError);
    assert.equal(JSON.stringify(cost), '{"amount":"1234567890123.123456789","currency":"USD"}');
    const { amount, currency } = JSON.parse(JSON.stringify(cost));
    assert.deepEqual(new Cost(amount, currency), cost);
  });

  it("SG-04 sums in any order and any grouping are one sum", () => {
    law(fc.tuple(money, money, money), ([one, two, three]) => {
      assert.deepEqual(one.plus(two).plus(three), one.plus(two.plus(three)));
      assert.deepEqual(one.plus(two), two.plus(one));
      assert.deepEqual(one.plus(usd(0)), one);
      assert.equal(one.plus(two).nanos, one.nanos + two.nanos);
      assert.equal(one.exceeds(two), !two.exceeds(one) && one.nanos !== two.nanos);
      assert.equal(one.plus(three).exceeds(two.plus(three)), one.exceeds(two));
    });
  });

  it("SG-04 amounts survive as number up to a hundred thousand units, and as text always", () => {
    law(fc.bigInt({ min: 0n, max: 10n ** 14n }), (amount) => {
      const cost = Cost.fromNanos(amount, "USD");
      assert.equal(usd(cost.amount).nanos, amount);
    });
    law(money, (cost) => assert.deepEqual(usd(cost.toJSON().amount), cost));
  });
});

describe("The cost of a call", () => {
  it("SG-05 weighs what was written to and read from a cache by its factors", () => {
    const cost = callCost(model(PRICES), USAGE);
    assert.equal(cost?.nanos, 25_600_000n);
    assert.equal(String(cost), "0.025600 USD");
    const { cacheWriteTokens: _written, cacheReadTokens: _read, ...plain } = USAGE;
    assert.equal(callCost(model(PRICES), plain)?.amount, 0.03);
    const { currency, inputPerMillion, outputPerMillion } = PRICES;
    const unweighed = model({ currency, inputPerMillion, outputPerMillion });
    assert.equal(callCost(unweighed, USAGE)?.amount, 0.03, "a factor left out is 1");
  });

  it("SG-05 is null for a model without prices, and nothing where it costs nothing", () => {
    assert.equal(callCost(model(null), USAGE), null);
    assert.equal(callCost({ id: "bare" }, USAGE), null);
    const free = model({ currency: "EUR", inputPerMillion: 0, outputPerMillion: 0 });
    assert.equal(String(callCost(free, USAGE)), "0.000000 EUR");
  });

  it("SG-05 rounds once, at the end", () => {
    const prices = { ...PRICES, inputPerMillion: 0.0003, outputPerMillion: 0.0002 };
    const cost = (inputTokens: number, outputTokens: number) =>
      callCost(model(prices), { inputTokens, outputTokens })?.nanos;
    // 0.3 and 0.2 nano-units: each alone is nothing, together they are one.
    assert.deepEqual([cost(1, 0), cost(0, 1), cost(1, 1)], [0n, 0n, 1n]);
  });

  it("SG-05 refuses counts that are none, and more cached tokens than input", () => {
    for (const field of Object.keys(USAGE)) {
      for (const value of [-1, 1.5, NaN, Infinity]) {
        assert.throws(() => callCost(model(PRICES), { ...USAGE, [field]: value }), {
          name: "RangeError",
          message: new RegExp(`${field} is ${value}`),
        });
      }
      assert.throws(
        () => callCost(model(null), { ...USAGE, [field]: "5" } as unknown as CallUsage),
        TypeError,
      );
    }
    assert.throws(() => callCost(model(PRICES), { ...USAGE, inputTokens: 4_999 }), {
      name: "RangeError",
      message: /are 5000 together, they should be at most the inputTokens, 4999/,
    });
    assert.equal(callCost(model(PRICES), { ...USAGE, inputTokens: 5_000 })?.amount, 0.0156);
  });

  it("SG-05 refuses a model and a usage in each other's place, and a usage that is not known, by name", () => {
    const wrong: [unknown, unknown, RegExp][] = [
      [USAGE, model(PRICES), /^Cannot price a call: model is .*and come first/],
      [null, USAGE, /model is null/],
      [model(PRICES), null, /usage is null, .*reservationCost\(\)/],
      [model(null), undefined, /usage is undefined/],
    ];
    for (const [first, second, message] of wrong) {
      assert.throws(() => callCost(first as ModelSpec, second as CallUsage), { name: "TypeError", message });
    }
  });

  it("SG-05 of calls priced in thousandths of a unit is exact, and so is their sum", () => {
    const tokens = fc.integer({ min: 0, max: 200_000 });
    const price = fc.integer({ min: 0, max: 100_000 });
    law(
      fc.tuple(fc.array(fc.tuple(tokens, tokens), { minLength: 1 }), price, price),
      ([calls, inPrice, outPrice]) => {
        const spec = model({
          currency: "USD",
          inputPerMillion: inPrice / 1000,
          outputPerMillion: outPrice / 1000,
        });
        let exact = 0n;
        let sum = 0n;
        for (const [inputTokens, outputTokens] of calls) {
          // A price of n thousandths is n million nano-units for a million tokens: n nano-units for each.
          exact += BigInt(inputTokens) * BigInt(inPrice) + BigInt(outputTokens) * BigInt(outPrice);
          sum += callCost(spec, { inputTokens, outputTokens })!.nanos;
        }
        assert.equal(sum, exact);
      },
    );
  });
});

describe("The cost of a reservation", () => {
  const reserved = (prices: ModelPrices | null, input: number, output: number) => {
    const binding = new ModelBinding({ model: model(prices), depth: "IMMEDIATE", input, output });
    binding.price();
    return reservationCost(binding);
  };

  it("SG-06 prices input and output apart, with nothing cached", () => {
    assert.equal(reserved(PRICES, 1_000_000, 100_000)?.nanos, 3_000_000_000n);
    assert.equal(reserved({ ...PRICES, currency: "EUR" }, 500_000, 0)?.toString(), "1.000000 EUR");
    assert.equal(reserved(null, 5, 5), null);
  });

  it("SG-06 of embeddings and decisions is that of their input, whatever the entry says of output", () => {
    for (const providerKey of ["x-embeddings", "x-decision"]) {
      const binding = new ModelBinding({ model: model(PRICES, providerKey), input: 500_000 });
      binding.price();
      assert.equal(reservationCost(binding)?.amount, 1);
      const usage = { inputTokens: 500_000, outputTokens: 7 };
      assert.equal(callCost(binding.model, usage)?.amount, 1, "and so is that of the call");
    }
  });

  it("SG-06 can be told only when the binding is priced", () => {
    const binding = new ModelBinding({ model: model(null), depth: "QUICK", input: 1, output: 1 });
    assert.throws(() => reservationCost(binding), { name: "InvalidStateError" });
  });
});
