// Who is asked before a job may spend, and who hears of its end.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  Cost,
  createJobContext,
  type JobContext,
  type Logger,
  ModelBinding,
  SpendCapError,
  type SpendGate,
  SpendGates,
} from "../mod.ts";

const usd = (amount: number) => new Cost(amount, "USD");

const MODEL = { id: "llm", tpm: 1_000, maxContextTokens: 1_000, maxOutputTokens: 1_000 };

const PRICED = new ModelBinding({ model: MODEL, depth: "QUICK", input: 1, output: 1 });
PRICED.price();

/** A gate that writes down what it is asked and told. */
function written(name: string, story: string[], check: () => void | Promise<void> = () => {}): SpendGate {
  return {
    check(context, bindings) {
      story.push(`${name} asked of ${context.id}: ${bindings.length}`);
      return check();
    },
    onFinished: (context, spent) =>
      story.push(`${name} told of ${context.id}: ${spent.join(", ") || "nothing"}`),
  };
}

describe("The spend gates", () => {
  const context = createJobContext({ id: "j" });

  it("SG-01 BLD-12 are asked once for an attempt, when all its bindings are priced", async () => {
    const story: string[] = [];
    const spend = new SpendGates().register(written("a", story)).open(context);
    const unpriced = new ModelBinding({ model: MODEL, depth: "QUICK", input: 1, output: 1 });
    await assert.rejects(spend.consult([PRICED, unpriced]), {
      name: "InvalidStateError",
      message: /not priced/,
    });
    await assert.rejects(spend.consult([null as unknown as ModelBinding]), { name: "TypeError" });
    assert.deepEqual(story, [], "not before");
    unpriced.price();
    await spend.consult([PRICED, unpriced]);
    assert.deepEqual(story, ["a asked of j: 2"]);
  });

  it("SG-01 BLD-12 are objects with a check: nothing else is registered", () => {
    const gates = new SpendGates();
    for (const gate of [null, undefined, {}, () => {}, "gate"]) {
      assert.throws(() => gates.register(gate as unknown as SpendGate), {
        name: "TypeError",
        message: /Cannot register a spend gate: it is .*should be an object with check/,
      });
    }
    for (const nobody of [null, undefined, {}, "job"]) {
      assert.throws(() => gates.open(nobody as unknown as JobContext), {
        name: "TypeError",
        message: /context is /,
      });
    }
  });

  it("SG-02 are asked in the order registered, one after another, as often as registered, again at a retry", async () => {
    const story: string[] = [];
    const slow = written("slow", story, async () => {
      await Promise.resolve();
      story.push("slow answers");
    });
    const fast = written("fast", story);
    const gates = new SpendGates().register(slow).register(fast).register(slow);
    const spend = gates.open(context);
    await spend.consult([PRICED]);
    const attempt = ["slow asked of j: 1", "slow answers", "fast asked of j: 1"];
    assert.deepEqual(story, [...attempt, ...attempt.slice(0, 2)]);
    await spend.consult([PRICED]);
    assert.equal(story.length, 10);
    gates.register(written("late", story));
    await spend.consult([PRICED]);
    assert.equal(story.at(-1), "late asked of j: 1", "also for jobs that are open");
  });

  it("SG-02 are not asked of a job without bindings", async () => {
    const story: string[] = [];
    await new SpendGates().register(written("a", story)).open(context).consult([]);
    assert.deepEqual(story, []);
  });

  it("SG-03 a refusal fails that job as it is, and no later gate is asked", async () => {
    const story: string[] = [];
    const error = new SpendCapError("enough");
    const gates = new SpendGates()
      .register(written("no", story, () => story.length === 1 ? Promise.reject(error) : undefined))
      .register(written("next", story));
    await assert.rejects(gates.open(context).consult([PRICED]), (thrown) => thrown === error);
    assert.deepEqual(story, ["no asked of j: 1"]);
    await gates.open(createJobContext({ id: "k" })).consult([PRICED]);
    assert.deepEqual(story.slice(1), ["no asked of k: 1", "next asked of k: 1"]);
    assert.deepEqual([error.code, error.name, error.isCorrectable], ["spend_cap", "SpendCapError", false]);
    assert.deepEqual([error.cap, error.spent, error.committed, error.asked], [null, null, null, null]);
  });

  it("SG-11 hear once of a job's end, with what it spent in each currency", () => {
    const story: string[] = [];
    const twice = written("a", story);
    const gates = new SpendGates().register(twice).register({ check: () => {} }).register(twice);
    const spend = gates.open(context);
    for (const cost of [usd(0.1), new Cost(7, "EUR"), usd(0.2), null]) spend.record(cost);
    spend.finish();
    spend.finish();
    assert.deepEqual(story, ["a told of j: 0.300000 USD, 7.000000 EUR"]);
    gates.open(context).finish();
    assert.deepEqual(story.slice(1), ["a told of j: nothing"]);
  });

  it("SG-11 hear nothing more of a job after its end, also when it ends while a gate takes its time", async () => {
    const story: string[] = [];
    const gates = new SpendGates();
    const spend = gates.open(context);
    gates.register(written("slow", story, () => Promise.resolve().then(() => spend.finish())));
    gates.register(written("next", story));
    const ended = { name: "InvalidStateError", message: /job "j": it has ended/ };
    await assert.rejects(spend.consult([PRICED]), ended);
    assert.deepEqual(story, ["slow asked of j: 1", "slow told of j: nothing", "next told of j: nothing"]);
    await assert.rejects(spend.consult([PRICED]), ended);
    assert.throws(() => spend.record(usd(1)), ended);
    for (const junk of [undefined, 5, { nanos: 5n, currency: "USD" }]) {
      assert.throws(() => gates.open(context).record(junk as Cost), {
        name: "TypeError",
        message: /a Cost or null/,
      });
    }
  });

  it("SG-11 one that fails at a job's end is logged, and the others hear of it", async () => {
    const story: string[] = [];
    const errors: string[] = [];
    const logger: Logger = { info: () => {}, warn: () => {}, error: (message) => errors.push(message) };
    const failing = (onFinished: () => unknown): SpendGate => ({ check: () => {}, onFinished });
    const gates = new SpendGates({ logger })
      .register(failing(() => {
        throw new Error("first");
      }))
      .register(failing(() => Promise.reject("second")))
      .register(written("a", story));
    gates.open(context).finish();
    assert.deepEqual(story, ["a told of j: nothing"]);
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
    assert.equal(errors.length, 2);
    assert.match(errors[0]!, /the end of job "j": first/);
    assert.match(errors[1]!, /the end of job "j": "second"/);
  });

  it("SG-11 know one running job by an id: another is not asked about, and what it spent is logged", async () => {
    const story: string[] = [];
    const errors: string[] = [];
    const logger: Logger = { info: () => {}, warn: () => {}, error: (message) => errors.push(message) };
    const gates = new SpendGates({ logger }).register(written("a", story));
    const [first, second] = [gates.open(context), gates.open(context)];
    await first.consult([PRICED]);
    await assert.rejects(second.consult([PRICED]), {
      name: "InvalidStateError",
      message:
        'Cannot start job "j": another job with this id is running, give each job a context of its own',
    });
    second.record(usd(0.5));
    second.finish();
    assert.deepEqual(story, ["a asked of j: 1"], "or the first would be taken for ended");
    assert.match(
      errors.join(),
      /not told that a job spent 0\.500000 USD: another job with its id, "j", is running/,
    );
    first.finish();
    const third = gates.open(context);
    await third.consult([PRICED]);
    third.finish();
    const nothing = "a told of j: nothing";
    assert.deepEqual(story, ["a asked of j: 1", nothing, "a asked of j: 1", nothing]);
    assert.equal(errors.length, 1);
  });
});
