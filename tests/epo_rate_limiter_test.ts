// EPO's router: five windows behind one account.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import { EPORateLimiter, type EPOService, RateLimiterFactory, UncorrectableError } from "../mod.ts";
import { ManualClock, rateLimiterContract } from "../testing/mod.ts";
import { fail, inUse, routerOf, SERVICES, throttles, times, TOUCHY } from "./epo_readings.ts";
import { scenario } from "./scenario.ts";
import { FAILURE } from "./window_readings.ts";

describe("EPO's router", () => {
  it(
    "US-06 has no identity of its own: a service's window is the account",
    scenario((world) => {
      const epo = routerOf(world);
      assert.equal("limiterName" in epo, false);
      assert.deepEqual(SERVICES.map((service) => epo.accountFor(service)), epo.buckets);
      for (let i = 0; i < 6; i++) assert.equal(epo.tryTake(["SEARCH"], []), true);
      assert.equal(epo.fits(["SEARCH"], []), false);
      assert.equal(epo.fits(["RETRIEVAL"], []), true);
      assert.deepEqual(inUse(epo), [6, 0, 0, 0, 0]);
    }),
  );

  it(
    "US-07 counts amounts and what is set aside service by service",
    scenario((world) => {
      const epo = routerOf(world);
      epo.tryTake(times("SEARCH", 5), []);
      assert.equal(epo.fits(["SEARCH"], []), true);
      assert.equal(epo.fits(["SEARCH"], ["SEARCH"]), false);
      assert.equal(epo.tryTake(["SEARCH"], ["SEARCH"]), false);
      assert.equal(epo.fits(["RETRIEVAL"], ["SEARCH"]), true);
      assert.equal(epo.fits(["RETRIEVAL"], times("SEARCH", 6)), true, "one service never holds another");
      assert.equal(epo.earliestFit(["SEARCH"], times("SEARCH", 6)), null);
      assert.deepEqual(inUse(epo), [5, 0, 0, 0, 0], "nothing set aside was taken");
    }),
  );

  it(
    "US-07 a head that named the window itself has its slots set aside on the asker's service",
    scenario((world) => {
      const epo = routerOf(world);
      const ahead = [undefined, undefined] as unknown as EPOService[];
      assert.equal(epo.fits(times("SEARCH", 4), ahead), true);
      assert.equal(epo.fits(times("SEARCH", 5), ahead), false);
    }),
  );

  it(
    "US-08 asks in the services' order up to the first no, so a refusal behind it is not raised",
    scenario((world) => {
      const epo = routerOf(world, { RETRIEVAL: TOUCHY });
      fail(epo, "RETRIEVAL");
      assert.throws(() => epo.fits(["RETRIEVAL", "SEARCH"], []), { code: "circuit_blocked" });
      epo.tryTake(times("SEARCH", 6), []);
      assert.equal(epo.fits(["RETRIEVAL", "SEARCH"], []), false);
      assert.equal(epo.tryTake(["RETRIEVAL", "SEARCH"], []), false);
      assert.throws(() => epo.fits(["OTHER", "RETRIEVAL"], []), { account: "epo:retrieval" });
    }),
  );

  it(
    "US-09 takes all or nothing",
    scenario((world) => {
      const epo = routerOf(world);
      epo.tryTake(times("OTHER", 60), []);
      assert.equal(epo.tryTake(["OTHER", "RETRIEVAL", "RETRIEVAL", "SEARCH"], []), false);
      assert.deepEqual(inUse(epo), [0, 0, 0, 0, 60]);
      epo.tryTake(times("SEARCH", 6), []);
      assert.equal(epo.tryTake(["RETRIEVAL", "RETRIEVAL", "SEARCH"], []), false);
      assert.deepEqual(inUse(epo), [6, 0, 0, 0, 60]);
      assert.equal(epo.tryTake(["IMAGES", "RETRIEVAL", "RETRIEVAL"], []), true);
      assert.deepEqual(inUse(epo), [6, 2, 0, 1, 60]);
    }),
  );

  it(
    "US-10 a window that refuses leaves the earlier takes to the caller",
    scenario((world) => {
      const epo = routerOf(world, { RETRIEVAL: TOUCHY });
      fail(epo, "RETRIEVAL");
      assert.throws(() => epo.tryTake(["SEARCH", "RETRIEVAL", "OTHER"], []), UncorrectableError);
      assert.deepEqual(inUse(epo), [1, 0, 0, 0, 0]);
      epo.give(["SEARCH"]);
      assert.deepEqual(inUse(epo), [0, 0, 0, 0, 0]);
    }),
  );

  it(
    "US-11 the slots that go back take the probe with them that they had claimed",
    scenario(async (world) => {
      const epo = routerOf(world, { SEARCH: TOUCHY, RETRIEVAL: { maxRequests: 1 } });
      const search = epo.accountFor("SEARCH");
      fail(epo, "SEARCH");
      await world.clock.advance(100);
      epo.tryTake(["RETRIEVAL"], []);
      assert.equal(epo.tryTake(["SEARCH", "RETRIEVAL"], []), false);
      assert.deepEqual([search.circuitState, search.currentInUse], ["BLOCKED", 0]);
      assert.equal(epo.tryTake(["SEARCH"], []), true, "the probe is there for the next");
      assert.equal(search.circuitState, "PROBING");
    }),
  );

  it(
    "US-12 gives back per service",
    scenario((world) => {
      const epo = routerOf(world);
      epo.tryTake(["IMAGES", "IMAGES", "OTHER"], []);
      epo.give(["IMAGES", "OTHER"]);
      assert.deepEqual(inUse(epo), [0, 0, 0, 1, 0]);
      epo.give([]);
      assert.deepEqual(inUse(epo), [0, 0, 0, 1, 0]);
    }),
  );

  it(
    "US-13 names the latest of the windows' instants, null when one names none or nothing is asked",
    scenario(async (world) => {
      const epo = routerOf(world);
      const start = world.clock.now();
      epo.tryTake(times("SEARCH", 6), []);
      await world.clock.advance(5000);
      epo.tryTake(times("INPADOC", 20), []);
      assert.equal(epo.earliestFit(["OTHER"], []), start + 5000, "now");
      assert.equal(epo.earliestFit(["SEARCH"], []), start + 60_000);
      assert.equal(epo.earliestFit(["INPADOC", "SEARCH", "OTHER"], []), start + 65_000);
      assert.equal(epo.earliestFit(["INPADOC", ...times("SEARCH", 7)], []), null);
      assert.equal(epo.earliestFit([...times("INPADOC", 21), "SEARCH"], []), null);
      assert.equal(epo.earliestFit([], []), null);
      assert.equal(epo.earliestFit([], ["SEARCH"]), null);
    }),
  );

  it(
    "US-14 refuses what one service can never fit, and takes nothing",
    scenario((world) => {
      const epo = routerOf(world);
      for (const verb of ["fits", "tryTake"] as const) {
        assert.throws(() => epo[verb](times("SEARCH", 7), []), {
          name: "UncorrectableError",
          code: "uncorrectable",
          account: "epo:search",
          message: /7 requests can never fit "epo:search": it allows 6 requests \/ 1min/,
        });
      }
      assert.deepEqual(inUse(epo), [0, 0, 0, 0, 0]);
    }),
  );

  it(
    "US-15 installs its wake on every window: a failure and three successes of INPADOC make one",
    scenario((world) => {
      const epo = routerOf(world);
      let wakes = 0;
      epo.onCapacityChange(() => void wakes++);
      fail(epo, "INPADOC");
      assert.equal(wakes, 0);
      for (let i = 0; i < 3; i++) epo.onSuccess("INPADOC");
      assert.equal(wakes, 1);
      for (const service of SERVICES) {
        epo.tryTake([service], []);
        epo.give([service]);
      }
      assert.equal(wakes, 6);
      epo.onCapacityChange(null);
      epo.give(["OTHER"]);
      assert.equal(wakes, 6);
      assert.throws(() => epo.onCapacityChange(7 as unknown as null), TypeError);
    }),
  );

  it(
    "US-16 only feedback that names a service reaches a window",
    scenario((world) => {
      const epo = routerOf(world);
      assert.deepEqual([epo.replenishment, epo.requiresHttpConnection], ["TIME", true]);
      epo.onRateLimitError(FAILURE);
      assert.deepEqual(throttles(epo), [0, 0, 0, 0, 0]);
      epo.onRateLimitError(FAILURE, "IMAGES");
      assert.deepEqual(throttles(epo), [0, 0, 0, 1, 0]);
      for (let i = 0; i < 3; i++) epo.onSuccess();
      assert.deepEqual(throttles(epo), [0, 0, 0, 1, 0]);
      for (let i = 0; i < 3; i++) epo.onSuccess("IMAGES");
      assert.deepEqual(throttles(epo), [0, 0, 0, 0.8, 0]);
    }),
  );

  it(
    "refuses amounts that are no services by value, before anything changed",
    scenario((world) => {
      const epo = routerOf(world);
      epo.tryTake(["SEARCH"], []);
      const wrong: [unknown, string, RegExp][] = [
        ["search", "RangeError", /"search", it should be one of SEARCH, RETRIEVAL, INPADOC, IMAGES, OTHER/],
        ["toString", "RangeError", /"toString"/],
        [undefined, "TypeError", /undefined/],
        [1, "TypeError", /1, it should be/],
      ];
      for (const [amount, name, message] of wrong) {
        const amounts = ["SEARCH", amount] as EPOService[];
        const asks = [
          () => epo.fits(amounts, []),
          () => epo.tryTake(amounts, []),
          () => epo.give(amounts),
          () => epo.earliestFit(amounts, []),
          () => epo.accountFor(amount as EPOService),
        ];
        for (const ask of asks) assert.throws(ask, { name, message });
      }
      assert.throws(() => epo.onSuccess("search" as EPOService), RangeError);
      assert.throws(() => epo.onRateLimitError(FAILURE, null as unknown as EPOService), TypeError);
      assert.deepEqual(inUse(epo), [1, 0, 0, 0, 0]);
    }),
  );

  it("RF-01 is made by the factory without arguments, once, and left out of its accounts", () => {
    const factory = new RateLimiterFactory();
    const epo = factory.limiter(EPORateLimiter);
    assert.ok(epo instanceof EPORateLimiter);
    assert.equal(factory.limiter(EPORateLimiter), epo);
    assert.deepEqual(factory.accounts, []);
  });

  it("US-07 US-09 US-12 moves as five counters would, whatever is taken, set aside and given", () => {
    const amounts = fc.array(fc.constantFrom(...SERVICES), { maxLength: 9 });
    const move = fc.record({ isTake: fc.boolean(), mine: amounts, ahead: amounts });
    const caps = [6, 7, 8, 9, 10];
    const count = (list: readonly EPOService[]) =>
      SERVICES.map((service) => list.filter((each) => each === service).length);
    fc.assert(fc.property(fc.array(move, { maxLength: 40 }), (moves) => {
      const windows = Object.fromEntries(
        SERVICES.map((service, at) => [service, { maxRequests: caps[at]! }]),
      );
      const epo = new EPORateLimiter({ windows, clock: new ManualClock() });
      const used = [0, 0, 0, 0, 0];
      for (const { isTake, mine, ahead } of moves) {
        const [own, reserved] = [count(mine), count(ahead)];
        if (own.some((each, at) => each > caps[at]!)) continue;
        const fits = own.every((each, at) => each === 0 || used[at]! + each + reserved[at]! <= caps[at]!);
        if (isTake) {
          assert.equal(epo.fits(mine, ahead), fits);
          assert.equal(epo.tryTake(mine, ahead), fits);
          if (fits) own.forEach((each, at) => used[at]! += each);
        } else {
          epo.give(mine);
          own.forEach((each, at) => used[at] = Math.max(0, used[at]! - each));
        }
        assert.deepEqual(inUse(epo), used);
      }
    }));
  });
});

rateLimiterContract("EPORateLimiter", () => {
  const clock = new ManualClock();
  const account = new EPORateLimiter({ clock });
  return { account, clock, amount: "SEARCH", room: 6, impossible: times("SEARCH", 7) };
}, { describe, it });
