// What messages say of a value that will not do: short, on one line, in the core, in adapters and in the suites.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { admit } from "../adapters/hono.ts";
import {
  Admission,
  CountingGate,
  ElasticWindowRateLimiter,
  KeyedRateLimiter,
  TokenBucketRateLimiter,
} from "../mod.ts";
import { rateLimiterContract } from "../testing/mod.ts";

class Named {
  static readonly isNamed: boolean = true;
}

class Renamed {
  static name(): void {}
}

describe("A value in a message", () => {
  it("is the name of a class, never its source", () => {
    const admission = new Admission({ memory: null });
    const asked = (value: unknown) => () => admission.tryAdmit(value as never);
    const says = (what: string) => ({
      name: "TypeError",
      message: new RegExp(`^Cannot admit: demand is ${what}, `),
    });
    assert.throws(asked(Named), says("the class Named"));
    assert.throws(asked(class {}), says("the class \\(anonymous\\)"));
    assert.throws(asked(Renamed), says("the class \\(anonymous\\)"));
    assert.throws(asked(function work() {}), says("function work"));
    assert.throws(asked(() => 1), says("function \\(anonymous\\)"));
    assert.throws(asked(async () => {}), says("function \\(anonymous\\)"));
    assert.throws(() => admit(Named as never), { message: /are the class Named, / });
    assert.throws(() => rateLimiterContract("a", () => ({}) as never, Named as never), {
      message: /^Cannot run rateLimiterContract: the runner is the class Named, /,
    });
  });

  it("is said to be no name where options come first", () => {
    const options = { tpm: 60, rpm: 60, maxRequests: 3, baseWindowMs: 1_000 } as never;
    const without: readonly [kind: string, make: () => unknown][] = [
      ["ElasticWindowRateLimiter", () => new ElasticWindowRateLimiter(options, undefined as never)],
      ["TokenBucketRateLimiter", () => new TokenBucketRateLimiter(options, undefined as never)],
      ["CountingGate", () => new CountingGate(options, undefined as never, undefined)],
      ["KeyedRateLimiter", () => new KeyedRateLimiter(options, () => null as never, undefined as never)],
    ];
    for (const [kind, make] of without) {
      assert.throws(make, {
        name: "TypeError",
        message:
          `Cannot make a ${kind}: name is an object of class Object, it should be a non-empty string, the first argument`,
      });
    }
  });
});
