// Names of accounts in headers and problems: they may come from anywhere, and must break neither.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import { fieldInteger, fieldString, plainName } from "../adapters/hono/structured_fields.ts";

const NAMES = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary" }),
  fc.array(fc.nat(0xffff)).map((units) => String.fromCharCode(...units)),
);

describe("Names in headers and problems", () => {
  it("stand as they are where they are printable ASCII without a percent sign", () => {
    for (const name of ["gpt", "db:orders", 'say "hi" \\ there', "a, b;c=d"]) {
      assert.equal(plainName(name), name);
    }
  });

  it("are percent-encoded otherwise, the percent sign too", () => {
    assert.equal(plainName("naïve"), "na%C3%AFve");
    assert.equal(plainName("100%"), "100%25");
    assert.equal(plainName("a\r\nSet-Cookie: x"), "a%0D%0ASet-Cookie: x");
    assert.equal(plainName("\ud800"), "%EF%BF%BD", "half a character is a replacement character");
  });

  it("are one line of printable ASCII of bounded length, whatever they were", () => {
    fc.assert(fc.property(NAMES, (name) => {
      const told = fieldString(plainName(name));
      assert.match(told, /^"(?:[ !#-[\]-~]|\\["\\])*"$/);
      assert.ok(told.length <= 2 + 100 * 9);
    }));
  });

  it("are told apart up to 100 code units", () => {
    const short = fc.string({ unit: "grapheme", maxLength: 10 }).filter((name) => name.length <= 100);
    fc.assert(fc.property(short, short, (one, two) => {
      assert.equal(plainName(one) === plainName(two), one === two);
    }));
  });
});

describe("Counts in headers", () => {
  it("are whole, from 0, and at most 15 digits", () => {
    const cases: [number, string][] = [[0, "0"], [-3, "0"], [1.9, "1"], [2 ** 53, "999999999999999"]];
    for (const [count, told] of cases) assert.equal(fieldInteger(count), told);
  });
});
