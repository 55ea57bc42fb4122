// What a provider said about its limits, as a record, and how its whole numbers are read.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import { RateLimitInfo, type RateLimitInfoFields, type RateLimitType } from "../mod.ts";

const FULL: RateLimitInfoFields = {
  model: "gpt",
  tokensLimit: 9000,
  tokensRemaining: 100,
  requestsLimit: 50,
  requestsRemaining: 10,
  retryAfterMs: 3000,
};

function parse(value: unknown): number | null {
  return RateLimitInfo.parseIntOrNull(value as string);
}

describe("RateLimitInfo", () => {
  it("RI-01 has ten fields, and its per-minute readings mirror the limits", () => {
    const info = new RateLimitInfo({ ...FULL, capturedAt: 1_700_000_000_000, wasRateLimited: true });
    assert.deepEqual({ ...info }, {
      model: "gpt",
      tokensLimit: 9000,
      tokensRemaining: 100,
      tokensResetMs: null,
      requestsLimit: 50,
      requestsRemaining: 10,
      retryAfterMs: 3000,
      wasRateLimited: true,
      capturedAt: 1_700_000_000_000,
      type: "UNKNOWN",
    });
    assert.deepEqual([info.tokensPerMinute, info.requestsPerMinute], [9000, 50]);
  });

  it("RI-01 knows nothing but its model and the time when nothing else is said, and reads 0 per minute", () => {
    const before = Date.now();
    const info = new RateLimitInfo({ model: "gpt", tokensLimit: null });
    assert.deepEqual([info.tokensPerMinute, info.requestsPerMinute], [0, 0]);
    assert.deepEqual([info.tokensLimit, info.tokensResetMs, info.retryAfterMs, info.wasRateLimited], [
      null,
      null,
      null,
      false,
    ]);
    assert.ok(before <= info.capturedAt && info.capturedAt <= Date.now(), `captured at ${info.capturedAt}`);
    assert.throws(() => Object.assign(info, { tokensLimit: 1 }), TypeError);
  });

  it("RI-01 refuses fields that are none, naming them", () => {
    const counts = ["tokensLimit", "tokensRemaining", "requestsLimit", "requestsRemaining"];
    for (const field of [...counts, "tokensResetMs", "retryAfterMs"]) {
      for (const value of [-1, NaN, Infinity]) {
        const make = () => new RateLimitInfo({ ...FULL, [field]: value });
        assert.throws(make, { name: "RangeError", message: new RegExp(`${field} is ${value}`) });
      }
      assert.throws(() => new RateLimitInfo({ ...FULL, [field]: "7" }), TypeError);
    }
    for (const field of counts) {
      assert.throws(() => new RateLimitInfo({ ...FULL, [field]: 1.5 }), RangeError);
    }
    const junk = [{ model: "" }, { model: 7 }, { type: "capacity" }, { wasRateLimited: 1 }, {
      capturedAt: "now",
    }];
    for (const fields of junk) {
      assert.throws(() => new RateLimitInfo({ ...FULL, ...fields } as RateLimitInfoFields), {
        name: "TypeError",
        message: new RegExp(`${Object.keys(fields)[0]} is`),
      });
    }
    assert.throws(() => new RateLimitInfo(null as unknown as RateLimitInfoFields), TypeError);
  });

  it("RI-02 has one of three types, and null or an omitted one reads UNKNOWN", () => {
    const types: (RateLimitType | null)[] = ["CAPACITY", "ACCELERATION", "UNKNOWN", null];
    assert.deepEqual(
      types.map((type) => new RateLimitInfo({ ...FULL, type }).type),
      ["CAPACITY", "ACCELERATION", "UNKNOWN", "UNKNOWN"],
    );
    assert.equal(new RateLimitInfo(FULL).type, "UNKNOWN");
  });

  it("RI-03 rateLimited knows of a limit that was hit and nothing more", () => {
    const info = RateLimitInfo.rateLimited("gpt", 5);
    assert.deepEqual({ ...info }, {
      model: "gpt",
      tokensLimit: null,
      tokensRemaining: 0,
      tokensResetMs: null,
      requestsLimit: null,
      requestsRemaining: 0,
      retryAfterMs: 60_000,
      wasRateLimited: true,
      capturedAt: 5,
      type: "UNKNOWN",
    });
    assert.deepEqual([info.tokensPerMinute, info.requestsPerMinute], [0, 0]);
    assert.ok(RateLimitInfo.rateLimited("gpt").capturedAt > 5, "now, when it is not said");
  });

  it("RI-04 fromHeaders is a CAPACITY reading of tokens, not limited and nothing to wait for", () => {
    const tokens = { tokensLimit: 1000, tokensRemaining: 400, tokensResetMs: 1500, capturedAt: 5 };
    for (const other of [{ requestsLimit: 7 }, { retryAfterMs: 7 }]) {
      assert.throws(() => RateLimitInfo.fromHeaders("gpt", { ...tokens, ...other } as never), {
        name: "TypeError",
        message: /there is no option/,
      });
    }
    const info = RateLimitInfo.fromHeaders("gpt", tokens);
    assert.deepEqual({ ...info }, {
      model: "gpt",
      ...tokens,
      requestsLimit: null,
      requestsRemaining: null,
      retryAfterMs: null,
      wasRateLimited: false,
      type: "CAPACITY",
    });
    assert.deepEqual([info.tokensPerMinute, info.requestsPerMinute], [1000, 0]);
    assert.equal(RateLimitInfo.fromHeaders("gpt", {}).tokensPerMinute, 0);
  });
});

describe("parseIntOrNull", () => {
  it("RI-05 trims, and reads what is missing, empty or not numeric as null", () => {
    assert.equal(parse(" 42 "), 42);
    for (const none of ["n/a", "", "  ", null, undefined]) assert.equal(parse(none), null);
  });

  it("RI-05 reads 32-bit signed whole numbers and nothing larger, decimal or in exponent form", () => {
    assert.deepEqual(["0", "-7", "+7", "007", "2147483647", "-2147483648"].map(parse), [
      0,
      -7,
      7,
      7,
      2147483647,
      -2147483648,
    ]);
    assert.ok(Object.is(parse("-0"), 0), "there is no negative zero among whole numbers");
    const junk = [
      "2147483648",
      "-2147483649",
      "1.0",
      "1e3",
      "0x10",
      "1_000",
      "1,000",
      "4 2",
      "--1",
      "+",
      "٤٢",
      "NaN",
    ];
    for (const text of [...junk, "Infinity", "1e400", "1\0", "9".repeat(1_000_000), 42, ["42"], {}]) {
      assert.equal(parse(text), null, `${text}`.slice(0, 20));
    }
  });

  it("RI-05 reads back every 32-bit number, and of any text only such numbers", () => {
    const blanks = fc.stringMatching(/^[ \t]{0,3}$/);
    fc.assert(fc.property(fc.integer(), blanks, (number, blank) => {
      assert.equal(parse(`${blank}${number}${blank}`), number);
    }));
    fc.assert(fc.property(fc.oneof(fc.string(), fc.double().map(String), fc.bigInt().map(String)), (text) => {
      const number = parse(text);
      if (number === null) return;
      assert.equal(BigInt(text.trim().replace("+", "")), BigInt(number));
      assert.equal(number | 0, number);
    }));
  });
});
