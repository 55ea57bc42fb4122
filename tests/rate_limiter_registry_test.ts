// Where a program asks for its accounts.

import assert from "node:assert/strict";
import { afterEach, describe, it } from "@std/testing/bdd";
import { HttpConnectionGate, RateLimiterFactory, RateLimiterRegistry } from "../mod.ts";
import { ManualClock } from "../testing/mod.ts";

const SPEC = { id: "gpt", rpm: 10, tpm: 1000, maxConcurrent: 4 };

describe("The registry", () => {
  afterEach(() => new RateLimiterRegistry().clear());

  it("RF-11 is a face of its factory: the same accounts, limits, status and accounts, and clear", () => {
    const factory = new RateLimiterFactory();
    const registry = new RateLimiterRegistry(factory);
    assert.equal(registry.bucket(SPEC), factory.bucket(SPEC));
    assert.equal(registry.gate(SPEC), factory.gate(SPEC));
    assert.equal(registry.limiter(HttpConnectionGate), factory.limiter(HttpConnectionGate));
    registry.updateLimits("gpt", { rpm: 20, tpm: 2000 });
    assert.equal(factory.bucket(SPEC).capacity, 2000);
    assert.deepEqual(registry.accounts, factory.accounts);
    assert.equal(registry.accounts.length, 3);
    registry.clear();
    assert.deepEqual([factory.accounts, registry.accounts], [[], []]);
  });

  it("RF-11 status tells of the model's bucket, and makes it where there is none", () => {
    const registry = new RateLimiterRegistry(new RateLimiterFactory({ clock: new ManualClock() }));
    const { maxRequests, maxTokens, availableTokens } = registry.status(SPEC);
    assert.deepEqual([maxRequests, maxTokens, availableTokens], [10, 1000, 1000]);
    assert.equal(registry.accounts[0], registry.bucket(SPEC));
    registry.bucket(SPEC).tryTake([250], []);
    assert.equal(registry.status(SPEC).availableTokens, 750);
  });

  it("RF-01 RF-11 registries without a factory of their own share the process's", () => {
    const [here, there] = [new RateLimiterRegistry(), new RateLimiterRegistry()];
    assert.equal(here.limiter(HttpConnectionGate), there.limiter(HttpConnectionGate));
    assert.equal(here.bucket(SPEC), there.bucket(SPEC));
    assert.notEqual(new RateLimiterRegistry(new RateLimiterFactory()).bucket(SPEC), here.bucket(SPEC));
    const before = here.limiter(HttpConnectionGate);
    there.clear();
    assert.notEqual(here.limiter(HttpConnectionGate), before);
  });

  it("refuses what is no factory", () => {
    for (const none of [null, {}, "factory"]) {
      assert.throws(() => new RateLimiterRegistry(none as unknown as RateLimiterFactory), {
        name: "TypeError",
        message: /factory is /,
      });
    }
  });
});
