// By whom an account is named, as the kernel tells it to who keeps many: a waiter, an open grant.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { NAMED_BY_GRANT, NAMED_BY_WAITER, YES } from "../assembly/layout.ts";
import { KERNELS } from "./scenario.ts";

describe("An account is named", () => {
  for (const [name, makeKernel] of Object.entries(KERNELS)) {
    it(`by the grants that took from it until each is settled (${name})`, () => {
      const kernel = makeKernel();
      const line = kernel.openLine(0);
      const [gate, bucket] = [kernel.openGate(5), kernel.openBucket(100, 60, 0)];
      assert.deepEqual([kernel.namedBy(gate), kernel.namedBy(bucket)], [0, 0]);
      assert.equal(kernel.attemptOne(line, gate, 1, 0, 0, NaN), YES);
      kernel.stage(0, gate, gate, 1, 0);
      kernel.stage(1, bucket, bucket, 1, 10);
      assert.equal(kernel.attempt(line, 2, 0, NaN), YES);
      assert.deepEqual([kernel.namedBy(gate), kernel.namedBy(bucket)], [NAMED_BY_GRANT, NAMED_BY_GRANT]);
      kernel.settle(2, 0, 0);
      assert.deepEqual([kernel.namedBy(gate), kernel.namedBy(bucket)], [NAMED_BY_GRANT, 0]);
      kernel.settleOne(gate, 1, 0, 1, 0);
      assert.equal(kernel.namedBy(gate), 0);
    });

    it(`by whoever waits with it in their demand, held there or not (${name})`, () => {
      const kernel = makeKernel();
      const line = kernel.openLine(0);
      const [full, free] = [kernel.openGate(1), kernel.openGate(1)];
      assert.equal(kernel.attemptOne(line, full, 1, 0, 0, NaN), YES);
      kernel.stage(0, full, full, 1, 0);
      kernel.stage(1, free, free, 1, 0);
      const slot = kernel.park(line, 2);
      assert.deepEqual(
        [kernel.namedBy(full), kernel.namedBy(free)],
        [NAMED_BY_GRANT | NAMED_BY_WAITER, NAMED_BY_WAITER],
      );
      assert.equal(kernel.withdraw(slot, kernel.generationOf(slot)), 1);
      kernel.recycle(slot);
      assert.deepEqual([kernel.namedBy(full), kernel.namedBy(free)], [NAMED_BY_GRANT, 0]);
    });
  }
});
