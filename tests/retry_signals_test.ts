// The three retry signals: what each weighs, and how long the pause before a re-run is.

import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "@std/testing/bdd";
import { AdmissionError, retryDelayMs, type RetryKind, RetrySignal, UpstreamFailure } from "../mod.ts";

const KINDS: readonly RetryKind[] = ["RATE_LIMIT", "OVERLOAD", "TRANSIENT"];

function signalOf(kind: RetryKind, retryAfterSeconds = 0): RetrySignal {
  return new RetrySignal(kind, new UpstreamFailure({ statusCode: 429, detail: "later", retryAfterSeconds }));
}

/** The shortest and the longest pause. */
function ends(signal: RetrySignal, reruns: number): number[] {
  return [0, 1 - 2 ** -53].map((chance) => retryDelayMs(signal, { reruns, random: () => chance }));
}

describe("Retry signals", () => {
  it("UF-07 there are three: a rate limit weighs 1, overload 3, a transient fault 0", () => {
    assert.deepEqual(KINDS.map((kind) => signalOf(kind).weight), [1, 3, 0]);
    for (const kind of ["SERVER", "", "toString", undefined, 1]) {
      assert.throws(() => signalOf(kind as never), { name: "TypeError", message: /kind is/ });
    }
    assert.throws(() => new RetrySignal("OVERLOAD", {} as never), {
      name: "TypeError",
      message: /failure is/,
    });
  });

  it("UF-07 a signal carries what the upstream said and the error behind it", () => {
    const cause = new Error("429");
    const failure = new UpstreamFailure({ statusCode: 429, service: "gpt", retryAfterSeconds: 1.2345 });
    const signal = new RetrySignal("RATE_LIMIT", failure, { cause });
    assert.ok(signal instanceof AdmissionError);
    assert.deepEqual([signal.code, signal.name, signal.kind], ["retry_signal", "RetrySignal", "RATE_LIMIT"]);
    assert.deepEqual([signal.failure, signal.cause], [failure, cause]);
    assert.equal(signal.retryAfterMs, 1235, "rounded up");
    assert.equal(signalOf("OVERLOAD").retryAfterMs, null);
    assert.match(signal.message, /HTTP 429 from gpt/);
  });

  it("UF-08 the first pause lies in 5 to 30 s, for overload in 15 to 90 s", () => {
    assert.deepEqual(KINDS.map((kind) => signalOf(kind).window), [
      { minMs: 5_000, maxMs: 30_000 },
      { minMs: 15_000, maxMs: 90_000 },
      { minMs: 5_000, maxMs: 30_000 },
    ]);
    assert.deepEqual(KINDS.map((kind) => ends(signalOf(kind), 0)), [
      [5_000, 29_999],
      [15_000, 89_999],
      [5_000, 29_999],
    ]);
    assert.throws(() => Object.assign(signalOf("OVERLOAD").window, { minMs: 0 }), TypeError);
  });
});

describe("The pause before a re-run", () => {
  it("BEY-71 grows with the re-runs to ten times the window, and that ends at 300 s", () => {
    const [limit, overload] = [signalOf("RATE_LIMIT"), signalOf("OVERLOAD")];
    assert.deepEqual(ends(limit, 1), [10_000, 59_999]);
    assert.deepEqual(ends(limit, 2), [15_000, 89_999]);
    assert.deepEqual(ends(limit, 9), [50_000, 299_999]);
    assert.deepEqual(ends(limit, 10), [50_000, 299_999]);
    assert.deepEqual(ends(limit, Number.MAX_SAFE_INTEGER), [50_000, 299_999]);
    assert.deepEqual(ends(overload, 2), [45_000, 269_999]);
    assert.deepEqual(ends(overload, 3), [60_000, 299_999], "4 times 90 s is cut to 300 s");
    assert.deepEqual(ends(overload, 9), [150_000, 299_999]);
    assert.equal(retryDelayMs(limit, { reruns: 0, random: () => 0.5 }), 17_500);
  });

  it("BEY-71 is at least what the provider asked for, with the whole width of chance on top", () => {
    assert.deepEqual(ends(signalOf("RATE_LIMIT", 3), 0), [5_000, 29_999], "shorter than the window's begin");
    assert.deepEqual(ends(signalOf("RATE_LIMIT", 20), 0), [20_000, 44_999]);
    assert.deepEqual(ends(signalOf("RATE_LIMIT", 29.9999), 0), [30_000, 54_999]);
    assert.deepEqual(ends(signalOf("TRANSIENT", 3600), 0), [3_600_000, 3_624_999]);
    assert.deepEqual(ends(signalOf("OVERLOAD", 400), 9), [400_000, 549_999]);
  });

  it("BEY-71 whatever is said and drawn: whole, finite, not too early, not narrower than the window", () => {
    const seconds = fc.double({ min: 0, max: 1e300, noNaN: true });
    const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(fc.constantFrom(...KINDS), seconds, chance, fc.nat(30), (kind, wait, drawn, reruns) => {
        const signal = signalOf(kind, wait);
        const delay = retryDelayMs(signal, { reruns, random: () => drawn });
        assert.ok(Number.isSafeInteger(delay));
        assert.ok(delay >= Math.min(wait * 1000, 1e15) && delay >= signal.window.minMs);
        const [least, most] = ends(signal, reruns);
        assert.ok(least! <= delay && delay <= most!);
        assert.ok(most! - least! >= signal.window.maxMs - signal.window.minMs - 1);
      }),
    );
  });

  it("BEY-71 draws once, from Math.random when no other source is given", () => {
    let draws = 0;
    const random = () => (draws++, 0.25);
    assert.equal(retryDelayMs(signalOf("OVERLOAD"), { reruns: 0, random }), 33_750);
    assert.equal(draws, 1);
    const seen = new Set<number>();
    for (let i = 0; i < 50; i++) {
      const delay = retryDelayMs(signalOf("RATE_LIMIT", 60), { reruns: 0 });
      assert.ok(delay >= 60_000 && delay < 85_000);
      seen.add(delay);
    }
    assert.ok(seen.size > 1, "fifty jobs that were told the same would come back together");
  });

  it("BEY-71 refuses a count or a chance that is none", () => {
    const signal = signalOf("RATE_LIMIT");
    for (const reruns of [-1, 1.5, NaN, Infinity]) {
      assert.throws(() => retryDelayMs(signal, { reruns }), { name: "RangeError", message: /reruns is/ });
    }
    assert.throws(() => retryDelayMs(signal, { reruns: "1" as never }), {
      name: "TypeError",
      message: /reruns is/,
    });
    for (const chance of [-0.1, 1, NaN, Infinity, "0.5"]) {
      assert.throws(() => retryDelayMs(signal, { reruns: 0, random: () => chance as never }), {
        name: "RangeError",
        message: /random\(\) answered/,
      });
    }
    assert.throws(() => retryDelayMs(new Error("x") as never, { reruns: 0 }), {
      name: "TypeError",
      message: /signal is/,
    });
  });
});
