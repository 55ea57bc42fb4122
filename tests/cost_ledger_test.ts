// How a ledger keeps workflows within their caps.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Cost, CostLedger, createJobContext, ModelBinding } from "../mod.ts";
import {
  call,
  cappedLedger,
  EUROS,
  job,
  refusal,
  reserving,
  spec,
  sums,
  THREE,
  UNPRICED,
  usd,
} from "./spending.ts";

describe("The cost ledger", () => {
  it("SG-07 lets a workflow without a cap through and records nothing", () => {
    const ledger = new CostLedger();
    ledger.cap("day", usd(1));
    for (const workflow of ["night", null, undefined]) {
      const context = job(workflow);
      ledger.check(context, [THREE, call(5, 5, UNPRICED)]);
      ledger.onFinished(context, [usd(3)]);
    }
    ledger.cap("night", usd(5));
    assert.deepEqual(sums(ledger), [0, 0]);
    assert.equal(ledger.spent("day", "USD").amount, 0);
  });

  it("SG-08 with caps it refuses a model without prices, and one priced in a currency without a cap", () => {
    const ledger = cappedLedger(usd(5), new Cost(5, "JPY"));
    const unpriced = refusal(() => ledger.check(job(), [THREE, call(5, 5, UNPRICED)]));
    assert.match(unpriced.message, /workflow "night" has a spend cap, and the model "local" has no prices/);
    assert.deepEqual([unpriced.cap, unpriced.asked], [null, null]);
    const foreign = refusal(() => ledger.check(job(), [THREE, call(1_000_000, 0, EUROS)]));
    assert.match(foreign.message, /the model "euro" is priced in EUR, in which there is none/);
    assert.deepEqual([foreign.cap, String(foreign.asked)], [null, "1.000000 EUR"]);
    assert.deepEqual([sums(ledger), sums(ledger, "EUR")], [[0, 0], [0, 0]]);
    ledger.cap("night", new Cost(1, "EUR"));
    ledger.check(job(), [THREE, call(1_000_000, 0, EUROS)]);
    assert.deepEqual([sums(ledger), sums(ledger, "EUR")], [[0, 3], [0, 1]]);
  });

  it("SG-09 refuses when spent, committed and reserved together exceed the cap, and says all four", () => {
    const ledger = cappedLedger(usd(5));
    const first = job();
    ledger.check(first, [THREE]);
    assert.deepEqual(sums(ledger), [0, 3]);
    ledger.onFinished(first, [usd(3)]);
    assert.deepEqual(sums(ledger), [3, 0]);
    const refused = refusal(() => ledger.check(job(), [THREE]));
    assert.match(
      refused.message,
      /spent 3\.000000 USD and committed 0\.000000 USD.*of 3\.000000 USD would exceed its cap of 5\.000000 USD/,
    );
    const { cap, spent, committed, asked } = refused;
    assert.deepEqual([cap, spent, committed, asked].map(String), [
      "5.000000 USD",
      "3.000000 USD",
      "0.000000 USD",
      "3.000000 USD",
    ]);
    ledger.check(job(), [reserving(210_000)]);
    assert.deepEqual(sums(ledger), [3, 0.21]);
    ledger.check(job(), [reserving(1_790_000)]);
    assert.deepEqual(sums(ledger), [3, 2], "up to the cap itself");
    refusal(() => ledger.check(job(), [reserving(1)]));
  });

  it("SG-09 adds up all bindings of a job", () => {
    const ledger = cappedLedger(usd(5));
    refusal(() => ledger.check(job(), [THREE, THREE]));
    ledger.check(job(), [reserving(2_000_000), THREE]);
    assert.deepEqual(sums(ledger), [0, 5]);
  });

  it("SG-10 counts what unfinished siblings may spend", () => {
    const ledger = cappedLedger(usd(5));
    const siblings = [job(), job(), job()] as const;
    const asked = [reserving(2_000_010)];
    ledger.check(siblings[0], asked);
    ledger.check(siblings[1], asked);
    refusal(() => ledger.check(siblings[2], asked));
    ledger.onFinished(siblings[0], [usd(0.4)]);
    ledger.check(siblings[2], asked);
    assert.deepEqual(sums(ledger), [0.4, 4.00002]);
  });

  it("SG-13 a refusal in one currency commits nothing in another", () => {
    const ledger = cappedLedger(usd(5), new Cost(0.5, "EUR"));
    refusal(() => ledger.check(job(), [THREE, call(1_000_000, 0, EUROS)]));
    refusal(() => ledger.check(job(), [call(1_000_000, 0, EUROS), THREE]));
    assert.deepEqual([sums(ledger), sums(ledger, "EUR")], [[0, 0], [0, 0]]);
  });

  it("SG-13 uncap removes all caps, and what was spent under them", () => {
    const ledger = cappedLedger(usd(5), new Cost(5, "EUR"));
    const [running, unknown] = [job(), job()];
    ledger.check(running, [THREE]);
    ledger.onFinished(job(), [usd(2)]);
    ledger.uncap("night");
    ledger.uncap("never capped");
    ledger.check(unknown, [call(5, 5, UNPRICED), THREE, THREE]);
    assert.deepEqual(sums(ledger), [0, 0]);
    ledger.cap("night", usd(5));
    ledger.onFinished(running, [usd(1)]);
    assert.deepEqual(
      sums(ledger),
      [1, 0],
      "what was committed before is forgotten, what is spent from now on counts",
    );
  });

  it("SG-09 a new cap keeps what was spent, and may be below it", () => {
    const ledger = cappedLedger(usd(5));
    const context = job();
    ledger.check(context, [THREE]);
    ledger.onFinished(context, [usd(3), usd(1), new Cost(9, "EUR")]);
    ledger.cap("night", usd(1));
    assert.deepEqual(
      sums(ledger),
      [4, 0],
      "two costs of one currency add up, one without a cap is not recorded",
    );
    refusal(() => ledger.check(job(), [reserving(0)]));
    ledger.cap("night", usd(4.5));
    ledger.check(job(), [reserving(500_000)]);
  });

  it("SG-07 a workflow is what workflowOf says, or the context's metadata, and a job stays with it", () => {
    const ledger = new CostLedger({ workflowOf: ({ metadata }) => metadata["tenant"] as string });
    ledger.cap("acme", usd(5));
    const context = createJobContext({ metadata: { tenant: "acme", workflow: "night" } });
    ledger.check(context, [THREE]);
    context.metadata["tenant"] = "other";
    assert.equal(ledger.committed("acme", "USD").amount, 3);
    ledger.onFinished(context, [usd(1)]);
    assert.deepEqual([ledger.committed("acme", "USD").amount, ledger.spent("acme", "USD").amount], [0, 1]);
    context.metadata["tenant"] = 7;
    assert.throws(() => ledger.check(context, [THREE]), {
      name: "TypeError",
      message: /workflow of job .*: it is 7, it should be a string or null/,
    });
    assert.throws(() => new CostLedger({ workflowOf: "tenant" as never }), { name: "TypeError" });
  });

  it("SG-07 a misspelt workflow has no cap; a workflowOf that throws for it refuses the job with its own error", () => {
    const misspelt = createJobContext({ metadata: { workfow: "night" } });
    const lenient = cappedLedger(usd(0));
    lenient.check(misspelt, [THREE]);
    assert.deepEqual(sums(lenient), [0, 0]);
    const strict = new CostLedger({
      workflowOf: ({ id, metadata }) => {
        if (typeof metadata["workflow"] === "string") return metadata["workflow"];
        throw new Error(`job ${id} names no workflow`);
      },
    });
    strict.cap("night", usd(5));
    assert.throws(() => strict.check(misspelt, [THREE]), { message: `job ${misspelt.id} names no workflow` });
    strict.check(job(), [THREE]);
    assert.deepEqual(sums(strict), [0, 3]);
  });

  it("refuses what is no workflow, no cap, no currency and no priced binding, and changes nothing", () => {
    const ledger = cappedLedger(usd(5));
    for (const workflow of ["", null, undefined, 5]) {
      assert.throws(() => ledger.cap(workflow as string, usd(1)), {
        name: "TypeError",
        message: /workflow is /,
      });
    }
    for (const cap of [5, null, undefined, { nanos: 5n, currency: "USD" }]) {
      assert.throws(() => ledger.cap("night", cap as Cost), {
        name: "TypeError",
        message: /should be a Cost/,
      });
    }
    assert.throws(() => ledger.spent("night", "dollars"), {
      name: "TypeError",
      message: /currency is "dollars"/,
    });
    const unpriced = new ModelBinding({ model: spec(), depth: "QUICK", input: 1, output: 1 });
    assert.throws(() => ledger.check(job(), [THREE, unpriced]), { name: "InvalidStateError" });
    assert.deepEqual(sums(ledger), [0, 0]);
  });
});
