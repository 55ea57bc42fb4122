// What run tells the limiters of a job when its work is over, and whom it tells nothing.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  CancellationError,
  classifyUpstreamFailure,
  CountingGate,
  Demand,
  ModelGate,
  QueueFullError,
  QuotaExhaustedError,
  RetrySignal,
  TimeoutError,
  UncorrectableError,
  upstreamError,
  UpstreamFailure,
} from "../mod.ts";
import { Router, Slots } from "./custom_accounts.ts";
import { scenario } from "./scenario.ts";

/** Slots that write down what they take, give and hear, with what is in use at that moment. */
function listener(name: string, log: string[], fault?: () => unknown): Slots {
  const slots = new Slots(name, 5, (line) => void log.push(line));
  const hear = (what: string) => {
    log.push(`${name} hears ${what} at ${slots.currentInUse}`);
    return fault?.();
  };
  slots.onSuccess = (input) => hear(`success ${input}`) as void;
  slots.onRateLimitError = ({ statusCode, service }, input) =>
    hear(`${statusCode} of ${service}, ${input}`) as void;
  return slots;
}

const rejecting = (error: unknown) => () => Promise.reject(error);

describe("What limiters hear of a job", () => {
  it(
    "UF-23 each that was declared hears once of the failure, with its own amount",
    scenario(async (world) => {
      const log: string[] = [];
      const [a, b] = [listener("a", log), listener("b", log)];
      const demand = new Demand().add(a, "x").add(b, 7).add(a, "y");
      const error = upstreamError({ status: 503, service: "search" });
      await assert.rejects(world.admission().run(demand, rejecting(error)), error);
      assert.deepEqual(log, [
        "a takes 2",
        "b takes 1",
        "a hears 503 of search, x at 2",
        "b hears 503 of search, 7 at 1",
        "a gives 2",
        "b gives 1",
      ]);
    }),
  );

  it(
    "UF-23 a job that returns sends one success to each, whatever it returns",
    scenario(async (world) => {
      const log: string[] = [];
      const demand = new Demand().add(listener("a", log), "x").add(listener("b", log), 7);
      const answer = upstreamError({ status: 503 });
      assert.equal(await world.admission().run(demand, () => answer), answer);
      assert.deepEqual(log.filter((line) => line.includes("hears")), [
        "a hears success x at 1",
        "b hears success 7 at 1",
      ]);
    }),
  );

  it(
    "UF-23 a router hears once for each account that its amounts were led to",
    scenario(async (world) => {
      const heard: unknown[] = [];
      const router = new Router({ left: new CountingGate("left", 5), right: new CountingGate("right", 5) });
      Object.assign(router, { onRateLimitError: (_: UpstreamFailure, input: string) => heard.push(input) });
      const demand = new Demand().add(router, "left").add(router, "right").add(router, "left");
      const error = upstreamError({ status: 500 });
      await assert.rejects(world.admission().run(demand, rejecting(error)), error);
      assert.deepEqual(heard, ["left", "right"]);
    }),
  );

  it(
    "UF-24 a success is told while the permit is held, so that a probe is settled before it comes back",
    scenario(async (world) => {
      const log: string[] = [];
      await world.admission().run(new Demand().add(listener("a", log), "x"), () => void log.push("works"));
      assert.deepEqual(log, ["a takes 1", "works", "a hears success x at 1", "a gives 1"]);

      const window = world.window("window", {
        maxRequests: 5,
        baseWindowMs: 1000,
        failuresAtMaxToBlock: 1,
        initialCooldownMs: 100,
        maxThrottle: 1,
      });
      const admission = world.admission();
      const down = upstreamError({ status: 503 });
      await assert.rejects(admission.run(new Demand().add(window), rejecting(down)), down);
      assert.equal(window.circuitState, "BLOCKED");
      await world.clock.advance(100);
      await admission.run(new Demand().add(window), () => assert.equal(window.circuitState, "PROBING"));
      assert.equal(window.circuitState, "HEALTHY", "the probe had its verdict before its slot was settled");
    }),
  );

  it(
    "UF-25 nobody hears of retry signals, exhausted quota, cancellations, timeouts and other errors",
    scenario(async (world) => {
      const failure = new UpstreamFailure({ statusCode: 429 });
      const cause = upstreamError({ status: 429 });
      const quiet = [
        new RetrySignal("RATE_LIMIT", failure, { cause }),
        new RetrySignal("OVERLOAD", failure),
        new RetrySignal("TRANSIENT", failure),
        classifyUpstreamFailure(cause),
        new QuotaExhaustedError(failure),
        Object.assign(new Error("no money"), { status: 429, code: "insufficient_quota" }),
        new CancellationError("cancelled", "cancelled", { cause }),
        new TimeoutError("too late", { waitedMs: 1, waitingOn: ["a"], retryAfterMs: null }),
        new QueueFullError("full", { queueSize: 1, retryAfterMs: null }),
        new DOMException("too late", "TimeoutError"),
        new DOMException("left", "AbortError"),
        new UncorrectableError("mid-stream", { cause }),
        Object.assign(new UncorrectableError("with a number"), { status: 503 }),
        new Error("wrapped", { cause }),
        new TypeError("fetch failed", { cause: Object.assign(new Error("x"), { code: "ECONNREFUSED" }) }),
        "a string",
      ];
      for (const error of quiet) {
        const log: string[] = [];
        const run = world.admission().run(new Demand().add(listener("a", log), 1), rejecting(error));
        await assert.rejects(run, (seen) => seen === error);
        assert.deepEqual(log, ["a takes 1", "a gives 1"], String(error));
      }
    }),
  );

  it(
    "UF-25 a limiter that throws or rejects while it is told is logged, and the others are told",
    scenario(async (world) => {
      const log: string[] = [];
      const throwing = listener("throwing", log, () => {
        throw new Error("deaf");
      });
      const rejects = listener("rejects", log, () => Promise.reject(new Error("later")));
      const last = listener("last", log);
      const demand = new Demand().add(throwing, 1).add(rejects, 2).add(last, 3);
      const error = upstreamError({ status: 500 });
      await assert.rejects(world.admission().run(demand, rejecting(error)), error);
      await world.admission().run(demand, () => {});
      await world.settle();
      assert.deepEqual(log.filter((line) => line.startsWith("last hears")), [
        "last hears 500 of null, 3 at 1",
        "last hears success 3 at 1",
      ]);
      assert.deepEqual([throwing, rejects, last].map(({ currentInUse }) => currentInUse), [0, 0, 0]);
      const told = 'error Account "NAME" failed while it was told of an outcome: ';
      assert.deepEqual(
        world.logs.toSorted(),
        ["rejects", "rejects", "throwing", "throwing"].map((name) =>
          told.replace("NAME", name) + (name === "throwing" ? "deaf" : "later")
        ),
      );
    }),
  );

  it(
    "UF-26 buckets and gates of models are told nothing, whatever happens",
    scenario(async (world) => {
      const heard: string[] = [];
      const spies = { onSuccess: () => heard.push("yes"), onRateLimitError: () => heard.push("no") };
      const bucket = Object.assign(world.bucket("bucket", { tpm: 1000, rpm: 10 }), spies);
      const gate = Object.assign(
        new ModelGate({ id: "judge", maxConcurrent: 1 }, { clock: world.clock }),
        spies,
      );
      const other = Object.assign(world.gate("other", 1), spies);
      const admission = world.admission();
      const error = upstreamError({ status: 429 });
      const demand = new Demand().add(bucket, 1).add(gate);
      await admission.run(demand, () => {});
      await assert.rejects(admission.run(demand, rejecting(error)), error);
      assert.deepEqual(heard, []);
      await admission.run(new Demand().add(other), () => {});
      await assert.rejects(admission.run(new Demand().add(other), rejecting(error)), error);
      assert.deepEqual(heard, ["yes", "no"], "a gate that is none of a model's");
    }),
  );
});
