// Two specs of one id whose limits differ: the first one's stand, and an operator hears of it.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { RateLimiterFactory } from "../mod.ts";

describe("The limits of a model that has an account", () => {
  it("RF-04 a second spec with other limits warns the logger once, and one with the same or none never does", () => {
    const warnings: string[] = [];
    const logger = { info: () => {}, warn: (message: string) => warnings.push(message), error: () => {} };
    const factory = new RateLimiterFactory({ logger });
    factory.bucket({ id: "same-id", rpm: 10, tpm: 1000 });
    factory.bucket({ id: "same-id", rpm: 10, tpm: 1000 });
    factory.bucket({ id: "same-id" });
    factory.gate({ id: "judge", maxConcurrent: 2 });
    factory.gate({ id: "judge", maxConcurrent: 2 });
    factory.updateLimits("learned", { tpm: 500, rpm: 5 });
    factory.bucket({ id: "learned", tpm: 1000 });
    assert.deepEqual(warnings, []);
    for (let times = 0; times < 2; times++) {
      factory.bucket({ id: "same-id", rpm: 99, tpm: 9999 });
      factory.gate({ id: "judge", maxConcurrent: 3 });
    }
    assert.deepEqual(warnings, [
      'The limits of "same-id" stay tpm 1000, rpm 10: its account was made before, tpm 9999, rpm 99 is not read',
      'The limits of "judge" stay maxConcurrent 2: its account was made before, maxConcurrent 3 is not read',
    ]);
    factory.clear();
    factory.bucket({ id: "same-id", rpm: 99, tpm: 9999 });
    assert.equal(warnings.length, 2, "clear forgets the numbers as well");
  });
});
