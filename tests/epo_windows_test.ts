// EPO's five windows: their numbers, and what they may be given.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { EPORateLimiter, type EPORateLimiterOptions } from "../mod.ts";
import { ManualClock } from "../testing/mod.ts";
import { fail, routerOf, SERVICES, throttles } from "./epo_readings.ts";
import { scenario } from "./scenario.ts";
import { FAILURE } from "./window_readings.ts";

describe("EPO's windows", () => {
  it("US-04 are five of 60,000 ms, named after their services, in a fixed order", () => {
    const facts = new EPORateLimiter().buckets.map(({ limiterName, capacity, effectiveWindowMs }) => [
      limiterName,
      capacity,
      effectiveWindowMs,
    ]);
    assert.deepEqual(facts, [
      ["epo:search", 6, 60_000],
      ["epo:retrieval", 30, 60_000],
      ["epo:inpadoc", 20, 60_000],
      ["epo:images", 30, 60_000],
      ["epo:other", 60, 60_000],
    ]);
  });

  it(
    "US-05 search alone gives way by 2.0 and opens on the seventh failure in a row",
    scenario((world) => {
      const epo = routerOf(world);
      const search = epo.accountFor("SEARCH");
      const seen = Array.from({ length: 7 }, () => {
        fail(epo, "SEARCH");
        return `${search.throttle} ${search.circuitState}`;
      });
      assert.deepEqual(seen, [
        "2 HEALTHY",
        "4 HEALTHY",
        "6 HEALTHY",
        "8 HEALTHY",
        "9 HEALTHY",
        "9 HEALTHY",
        "9 BLOCKED",
      ]);
      assert.equal(search.cooldownRemainingMs, 60_000);
      for (const service of SERVICES.slice(1)) fail(epo, service);
      assert.deepEqual(throttles(epo), [9, 1, 1, 1, 1]);
    }),
  );

  it(
    "US-05 search's cooldown doubles from 60 s to 600 s, and a probe without an answer is given up after 600 s",
    scenario(async (world) => {
      const epo = routerOf(world);
      const search = epo.accountFor("SEARCH");
      fail(epo, "SEARCH", 7);
      const ladder: number[] = [];
      for (let i = 0; i < 6; i++) {
        ladder.push(search.cooldownRemainingMs / 1000);
        await world.clock.advance(search.cooldownRemainingMs);
        assert.equal(epo.tryTake(["SEARCH"], []), true, "the probe");
        fail(epo, "SEARCH");
      }
      assert.deepEqual(ladder, [60, 120, 240, 480, 600, 600]);
      await world.clock.advance(600_000);
      assert.equal(epo.tryTake(["SEARCH"], []), true);
      await world.clock.advance(599_999);
      assert.throws(() => epo.fits(["SEARCH"], []), /single probe/);
      await world.clock.advance(1);
      assert.equal(epo.fits(["SEARCH"], []), true);
    }),
  );

  it("may each be given options of a window, and all of them a clock and a logger", () => {
    const clock = new ManualClock();
    const heard: string[] = [];
    const hear = (message: string) => heard.push(message);
    const epo = new EPORateLimiter({
      windows: { SEARCH: { maxRequests: 15 }, IMAGES: { baseWindowMs: 1000 } },
      clock,
      logger: { info: hear, warn: hear, error: hear },
    });
    assert.deepEqual(epo.buckets.map(({ capacity }) => capacity), [15, 30, 20, 30, 60]);
    fail(epo, "SEARCH");
    assert.equal(epo.accountFor("SEARCH").throttle, 2, "what is not given stays");
    assert.deepEqual(heard, [`epo:search: ${FAILURE.summary()}`]);
    assert.equal(epo.accountFor("IMAGES").effectiveWindowMs, 1000);
  });

  it("refuse wrong options by name, before a window is made", () => {
    const wrong: [unknown, string, RegExp][] = [
      [null, "TypeError", /options are null/],
      [{ windows: 5 }, "TypeError", /windows is 5/],
      [{ windows: null }, "TypeError", /windows is null/],
      [{ windows: { search: {} } }, "RangeError", /windows has "search".*one of SEARCH, RETRIEVAL/],
      [{ windows: { OTHER: null } }, "TypeError", /"epo:other": options are null/],
      [{ windows: { OTHER: { maxRequests: -1 } } }, "RangeError", /"epo:other": maxRequests is -1/],
      [{ clock: {} }, "TypeError", /clock is/],
      [{ logger: {} }, "TypeError", /logger/],
    ];
    for (const [options, name, message] of wrong) {
      assert.throws(() => new EPORateLimiter(options as EPORateLimiterOptions), { name, message });
    }
    const absent = { windows: undefined, clock: undefined, logger: undefined };
    assert.equal(new EPORateLimiter(absent as unknown as EPORateLimiterOptions).buckets.length, 5);
  });
});
