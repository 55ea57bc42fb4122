// The windows of PubMed and of the USPTO's Open Data Portal.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  Demand,
  ElasticWindowRateLimiter,
  PubMedRateLimiter,
  RateLimiterFactory,
  type ServiceWindowOptions,
  UncorrectableError,
  UsptoOdpRateLimiter,
} from "../mod.ts";
import { ManualClock, rateLimiterContract } from "../testing/mod.ts";
import { scenario } from "./scenario.ts";
import { assertParked, grantOf } from "./watched.ts";
import { FAILURE, slots } from "./window_readings.ts";

describe("PubMed's window", () => {
  it(
    "US-01 EW-45 has 10 slots in any 1,000 ms and the name of its class",
    scenario(async (world) => {
      const pubmed = new PubMedRateLimiter({ clock: world.clock });
      assert.equal(pubmed.limiterName, "PubMed");
      assert.equal(pubmed.limiterName, ElasticWindowRateLimiter.defaultName(PubMedRateLimiter));
      assert.deepEqual([pubmed.capacity, pubmed.effectiveWindowMs], [10, 1000]);
      assert.equal(pubmed.tryTake(slots(10), []), true);
      assert.equal(pubmed.tryTake(slots(1), []), false);
      assert.equal(pubmed.earliestFit(slots(1), []), world.clock.now() + 1000);
      await world.clock.advance(1000);
      for (let i = 0; i < 5; i++) assert.equal(pubmed.tryTake(slots(2), []), true, `take ${i}`);
      assert.equal(pubmed.fits(slots(1), []), false);
      assert.throws(() => pubmed.fits(slots(11), []), UncorrectableError);
      assert.throws(
        () => pubmed.tryTake(slots(11), []),
        /11 requests can never fit "PubMed".*10 requests \/ 1s/,
      );
    }),
  );

  it(
    "US-02 a job holds one slot whatever its calls: the two calls of a search ride on one",
    scenario(async (world) => {
      const pubmed = new PubMedRateLimiter({ clock: world.clock });
      const admission = world.admission();
      const search = () =>
        admission.run(new Demand().add(pubmed), async () => {
          for (const call of ["esearch", "efetch"]) world.tell(`${call} with ${pubmed.currentInUse} in use`);
          await Promise.resolve();
        });
      await search();
      await search();
      assert.deepEqual(world.story.filter((line) => line.includes("in use")), [
        "esearch with 1 in use",
        "efetch with 1 in use",
        "esearch with 2 in use",
        "efetch with 2 in use",
      ]);
    }),
  );

  it(
    "US-01 lets the eleventh job of a second go when the first slot comes back, not when work ends",
    scenario(async (world) => {
      const pubmed = new PubMedRateLimiter({ clock: world.clock });
      const admission = world.admission();
      const first = await admission.admit(new Demand().add(pubmed));
      await world.clock.advance(300);
      await admission.admit(new Demand().add(pubmed, 9));
      const eleventh = world.follow(admission.admit(new Demand().add(pubmed)));
      first.release();
      await world.clock.advance(699.999);
      assertParked(eleventh);
      await world.clock.advance(0.001);
      assert.equal(grantOf(eleventh).wallWaitMs, 700);
    }),
  );
});

describe("The window of the USPTO's Open Data Portal", () => {
  it(
    "US-03 has 1 slot in any 250 ms; two are refused, and what is set aside is only a no",
    scenario(async (world) => {
      const odp = new UsptoOdpRateLimiter({ clock: world.clock });
      assert.equal(odp.limiterName, "uspto-odp");
      assert.equal(odp.fits(slots(1), slots(1)), false);
      assert.equal(odp.earliestFit(slots(1), slots(1)), null);
      assert.equal(odp.tryTake(slots(1), []), true);
      assert.equal(odp.tryTake(slots(1), []), false);
      assert.equal(odp.earliestFit(slots(1), []), world.clock.now() + 250);
      for (const verb of ["fits", "tryTake"] as const) {
        assert.throws(() => odp[verb](slots(2), []), { code: "uncorrectable", account: "uspto-odp" });
      }
      await world.clock.advance(249.999);
      assert.equal(odp.fits(slots(1), []), false);
      await world.clock.advance(0.001);
      assert.equal(odp.fits(slots(1), []), true);
    }),
  );
});

describe("The windows of services", () => {
  const classes = [PubMedRateLimiter, UsptoOdpRateLimiter];

  it("RF-01 are made by the factory without arguments, once for each class", () => {
    const factory = new RateLimiterFactory();
    for (const type of classes) {
      const account = factory.limiter<ElasticWindowRateLimiter>(type);
      assert.equal(factory.limiter<ElasticWindowRateLimiter>(type), account);
      assert.deepEqual([account.replenishment, account.requiresHttpConnection], ["TIME", true]);
    }
    assert.deepEqual(factory.accounts.map(({ limiterName }) => limiterName), ["PubMed", "uspto-odp"]);
  });

  it(
    "take any option of a window in place of their own, clock and logger included",
    scenario((world) => {
      const heard: string[] = [];
      const hear = (message: string) => heard.push(message);
      const logger = { info: hear, warn: hear, error: hear };
      const pubmed = new PubMedRateLimiter({ maxRequests: 3, clock: world.clock, logger });
      assert.deepEqual([pubmed.capacity, pubmed.effectiveWindowMs], [3, 1000]);
      pubmed.onRateLimitError(FAILURE);
      assert.deepEqual(heard, [`PubMed: ${FAILURE.summary()}`]);
      const odp = new UsptoOdpRateLimiter({ baseWindowMs: 67, maxThrottle: 0, clock: world.clock });
      odp.onRateLimitError(FAILURE);
      assert.deepEqual([odp.capacity, odp.effectiveWindowMs, odp.throttle], [1, 67, 0]);
    }),
  );

  it("count an undefined option as left out and refuse wrong ones by name", () => {
    const given = { maxRequests: undefined, clock: undefined } as unknown as ServiceWindowOptions;
    assert.equal(new PubMedRateLimiter(given).capacity, 10);
    assert.throws(() => new PubMedRateLimiter({ maxRequests: 0 }), /"PubMed": maxRequests is 0/);
    assert.throws(() => new UsptoOdpRateLimiter({ baseWindowMs: 0.5 }), /"uspto-odp": baseWindowMs is 0.5/);
    for (const type of classes) {
      for (const options of [null, 3, "fast"]) {
        assert.throws(() => new type(options as unknown as ServiceWindowOptions), {
          name: "TypeError",
          message: /options are .*, they should be an object of options: maxRequests/,
        });
      }
    }
  });
});

rateLimiterContract("PubMedRateLimiter", () => {
  const clock = new ManualClock();
  const account = new PubMedRateLimiter({ clock });
  return { account, clock, amount: undefined, room: 10, impossible: slots(11) };
}, { describe, it });

rateLimiterContract("UsptoOdpRateLimiter", () => {
  const clock = new ManualClock();
  const account = new UsptoOdpRateLimiter({ clock });
  return { account, clock, amount: undefined, room: 1, impossible: slots(2) };
}, { describe, it });
