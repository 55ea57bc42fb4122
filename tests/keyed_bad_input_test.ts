// What a keyed limiter refuses, by name, before anything has changed.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  AbstractRateLimiter,
  CountingGate,
  Demand,
  KeyedRateLimiter,
  MemoryPressureGate,
  STDIOEndpoint,
  STDIOEndpointRateLimiter,
  TokenBucketRateLimiter,
} from "../mod.ts";

describe("A keyed limiter", () => {
  it("refuses wrong arguments by name", () => {
    const make = (key: string) => new CountingGate(key, 1);
    const wrong: [unknown[], RegExp][] = [
      [["", make, { maxKeys: 1 }], /name is ""/],
      [["k", null, { maxKeys: 1 }], /make is null/],
      [["k", make, null], /options are null/],
      [["k", make, {}], /maxKeys is undefined/],
      [["k", make, { maxKeys: 0 }], /maxKeys is 0.*1 to 1048576/],
      [["k", make, { maxKeys: 1.5 }], /maxKeys is 1.5/],
      [["k", make, { maxKeys: Infinity }], /maxKeys is Infinity/],
      [["k", make, { maxKeys: 1, beyond: "drop" }], /beyond is "drop"/],
      [["k", make, { maxKeys: 1, beyond: "share", overflow: {} }], /overflow is an object/],
      [["k", make, { maxKeys: 1, overflow: new CountingGate("o", 1) }], /beyond should be "share"/],
    ];
    const construct = KeyedRateLimiter as unknown as new (...args: unknown[]) => unknown;
    for (const [args, message] of wrong) assert.throws(() => new construct(...args), message);
  });

  it("refuses what is no account of a kind that it can put to rest", () => {
    class Own extends AbstractRateLimiter<void> {
      readonly [name: string]: unknown;
      readonly limiterName = "own";
      readonly limiterCategory = "semaphore";
      readonly capacity = 1;
      readonly currentInUse = 0;
      get status(): never {
        throw new Error("unused");
      }
      fits = () => true;
      tryTake = () => true;
      give = () => {};
      earliestFit = () => null;
    }
    const endpoint = new STDIOEndpoint({ command: "x", name: "x" });
    const answers = [
      null,
      "gate",
      new Own(),
      new MemoryPressureGate(),
      new STDIOEndpointRateLimiter(endpoint),
    ];
    for (const answer of answers) {
      const keyed = new KeyedRateLimiter("odd", (_key: string) => answer as never, { maxKeys: 1 });
      assert.throws(() => keyed.accountFor("a"), /Cannot limit key "a" of "odd": make answered/);
      assert.equal(keyed.size, 0);
    }
  });

  it("refuses one account for two keys, in one limiter or in two", () => {
    const gate = new CountingGate("same", 1);
    const first = new KeyedRateLimiter("first", (_key: string) => gate, { maxKeys: 5 });
    const second = new KeyedRateLimiter("second", (_key: string) => gate, { maxKeys: 5 });
    first.accountFor("a");
    for (const keyed of [first, second]) assert.throws(() => keyed.accountFor("b"), /account of another key/);
    first.accountFor("a");
  });

  it("passes on what making an account throws, and keeps nothing", () => {
    let isBroken = true;
    const make = (key: string) => {
      if (isBroken) throw new Error("no such tenant");
      return new CountingGate(key, 1);
    };
    const keyed = new KeyedRateLimiter("tenants", make, { maxKeys: 1 });
    assert.throws(() => keyed.accountFor("a"), /no such tenant/);
    isBroken = false;
    assert.equal(keyed.accountFor("b").limiterName, "b");
  });

  it("may be asked while it makes an account, for the same key too", () => {
    const keyed: KeyedRateLimiter<string, CountingGate> = new KeyedRateLimiter("nested", (key: string) => {
      depth++;
      if (depth < 3) inner = keyed.accountFor(key);
      return new CountingGate(key, 1);
    }, { maxKeys: 2 });
    let depth = 0;
    let inner: CountingGate | null = null;
    const outer = keyed.accountFor("a");
    assert.equal(outer, inner);
    assert.equal(keyed.accountFor("a"), outer);
    assert.deepEqual([depth, keyed.size], [3, 1]);
  });

  it("checks an amount as the key's account does", () => {
    const keyed = new KeyedRateLimiter("users", (key: string) => new CountingGate(`user ${key}`, 2), {
      maxKeys: 5,
    });
    const buckets = new KeyedRateLimiter(
      "tenants",
      (key: string) => new TokenBucketRateLimiter(key, { tpm: 100, rpm: 10 }),
      { maxKeys: 5 },
    );
    const demand = new Demand();
    assert.throws(() => demand.add(keyed, "a", 0), /"user a".*count is 0/);
    assert.throws(() => demand.add(keyed, "a", 1.5), RangeError);
    assert.throws(() => demand.add(buckets, "a", -1), /"a".*amount is -1/);
    assert.throws(() => demand.add(buckets, "a", "3" as never), TypeError);
    assert.equal(demand.isEmpty, true);
    demand.add(buckets, "a").add(buckets, "a", 0).add(buckets, "b", 30).add(keyed, "a").add(keyed, "a", 2);
    assert.deepEqual(
      demand.entries.map(({ key, amounts }) => [key.limiterName, amounts.length, amounts[0]]),
      [
        ["a", 2, 1],
        ["b", 1, 30],
        ["user a", 3, undefined],
      ],
    );
    // The types: a key of another type, or none, does not pass.
    // @ts-expect-error: the keys are strings
    assert.throws(() => demand.add(buckets, undefined), TypeError);
    // @ts-expect-error: the key is missing
    assert.throws(() => demand.add(buckets), TypeError);
  });
});
