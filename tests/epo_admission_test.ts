// EPO's router in the line of an Admission.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  Demand,
  epoFailure,
  type EPORateLimiter,
  type EPOService,
  health,
  UncorrectableError,
} from "../mod.ts";
import { fail, inUse, routerOf, throttles, times, TOUCHY } from "./epo_readings.ts";
import { scenario } from "./scenario.ts";
import { assertParked, grantOf } from "./watched.ts";

/** A demand of so many services, in order. */
function demandOf(epo: EPORateLimiter, ...services: EPOService[]): Demand {
  return services.reduce((demand, service) => demand.add(epo, service), new Demand());
}

describe("EPO's router in the line", () => {
  it(
    "US-06 US-07 gets all its slots at once or waits holding none, until the instant its window has room",
    scenario(async (world) => {
      const epo = routerOf(world);
      const http = world.gate("http", 1);
      const admission = world.admission();
      await admission.admit(demandOf(epo, ...times("SEARCH", 6)));
      await world.clock.advance(1000);
      const both = world.follow(admission.admit(demandOf(epo, "RETRIEVAL", "SEARCH").add(http)));
      await world.settle();
      assertParked(both);
      assert.deepEqual([inUse(epo), http.currentInUse], [[6, 0, 0, 0, 0], 0]);
      const beside = world.follow(admission.admit(demandOf(epo, "RETRIEVAL", "OTHER")));
      const behind = world.follow(admission.admit(demandOf(epo, ...times("SEARCH", 6))));
      await world.settle();
      grantOf(beside).release();
      assert.deepEqual(inUse(epo), [6, 1, 0, 0, 1], "the clock alone brings slots back");

      await world.clock.advance(58_999.999);
      assertParked(both, behind);
      await world.clock.advance(0.001);
      assert.deepEqual([...grantOf(both).waitTimesMs], [["epo:search", 59_000]]);
      assertParked(behind);
      assert.deepEqual([inUse(epo)[0], http.currentInUse], [1, 1]);
      grantOf(both).rollback();
      await world.settle();
      assert.equal(grantOf(behind).wallWaitMs, 59_000, "what is rolled back goes to the next at once");
    }),
  );

  it(
    "US-07 sets the head's slots aside per service, whether it named the router or the window",
    scenario(async (world) => {
      const epo = routerOf(world);
      const admission = world.admission();
      for (const isRouted of [true, false]) {
        await admission.admit(demandOf(epo, "SEARCH"));
        const head = world.follow(admission.admit(
          isRouted ? demandOf(epo, ...times("SEARCH", 6)) : new Demand().add(epo.accountFor("SEARCH"), 6),
        ));
        const calls = [
          world.follow(admission.admit(demandOf(epo, "SEARCH"))),
          world.follow(admission.admit(new Demand().add(epo.accountFor("SEARCH")))),
        ];
        const other = world.follow(admission.admit(demandOf(epo, "INPADOC")));
        await world.settle();
        assertParked(head, ...calls);
        grantOf(other);
        await world.clock.advance(60_000);
        assert.equal(grantOf(head).wallWaitMs, 60_000);
        assertParked(...calls);
        await world.clock.advance(60_000);
        for (const call of calls) assert.equal(grantOf(call).wallWaitMs, 120_000);
        await world.clock.advance(60_000);
      }
    }),
  );

  it(
    "US-15 US-17 a window that relaxes wakes the line at once; pressure wakes nobody",
    scenario(async (world) => {
      const epo = routerOf(world);
      const admission = world.admission();
      epo.readThrottling({ "x-throttling-control": "busy (search=yellow:15)" });
      await admission.admit(demandOf(epo, ...times("SEARCH", 6)));
      const call = world.follow(admission.admit(demandOf(epo, "SEARCH")));
      await world.clock.advance(175_000);
      for (let i = 0; i < 2; i++) epo.readThrottling({ "x-throttling-control": "idle (search=green:30)" });
      await world.settle();
      assertParked(call);
      epo.onSuccess("SEARCH");
      await world.settle();
      assert.equal(epo.accountFor("SEARCH").effectiveWindowMs, 168_000);
      assert.equal(grantOf(call).wallWaitMs, 175_000);
    }),
  );

  it(
    "US-14 EW-43 a refusal rejects the whole demand, names the window, and leaves nothing taken anywhere",
    scenario(async (world) => {
      const epo = routerOf(world, { RETRIEVAL: TOUCHY });
      const admission = world.admission();
      await assert.rejects(admission.admit(demandOf(epo, "OTHER", ...times("SEARCH", 7))), {
        code: "uncorrectable",
        account: "epo:search",
      });
      fail(epo, "RETRIEVAL");
      await assert.rejects(
        admission.admit(demandOf(epo, "SEARCH", "RETRIEVAL")),
        (error: UncorrectableError) => {
          assert.deepEqual([error.code, error.account, error.retryAfterMs], [
            "circuit_blocked",
            "epo:retrieval",
            100,
          ]);
          return true;
        },
      );
      assert.deepEqual(inUse(epo), [0, 0, 0, 0, 0]);
      assert.deepEqual(world.transitions, ["epo:search REJECTED", "epo:retrieval REJECTED"]);
      assert.equal(world.events[1]!.rejectReason, "circuit_blocked");
    }),
  );

  it(
    "EW-29 EW-43 after a cooldown the probe of a service is the head's, also while it waits for another service",
    scenario(async (world) => {
      const epo = routerOf(world, { RETRIEVAL: TOUCHY, SEARCH: { maxRequests: 1 } });
      const admission = world.admission();
      fail(epo, "RETRIEVAL");
      await world.clock.advance(100);
      await admission.admit(demandOf(epo, "SEARCH"));
      const head = world.follow(admission.admit(demandOf(epo, "RETRIEVAL", "SEARCH")));
      await world.settle();
      const followers = [demandOf(epo, "RETRIEVAL"), new Demand().add(epo.accountFor("RETRIEVAL"))].map((
        demand,
      ) => world.follow(admission.admit(demand)));
      await world.settle();
      for (const { error } of followers) assert.match(String(error), /epo:retrieval .*single probe/);
      assertParked(head);
      await world.clock.advance(60_000);
      grantOf(head);
      assert.equal(epo.accountFor("RETRIEVAL").circuitState, "PROBING");
    }),
  );

  it(
    "US-16 US-19 a job's success reaches the windows it asked, and a green header counts besides",
    scenario(async (world) => {
      const epo = routerOf(world);
      const admission = world.admission();
      for (const service of ["SEARCH", "IMAGES", "OTHER"] as const) fail(epo, service);
      await admission.run(demandOf(epo, "SEARCH", "IMAGES"), () => {});
      assert.deepEqual(throttles(epo), [2, 0, 0, 1, 1], "a success each");
      await admission.run(demandOf(epo, "SEARCH"), () => {
        epo.readThrottling({ "x-throttling-control": "idle (search=green:30)" });
      });
      assert.deepEqual(throttles(epo), [1.8, 0, 0, 1, 1], "two of one call, three in all");
    }),
  );

  it(
    "US-18 UF-23 a robot refusal reaches the window that was asked as a 429; a plain 403 does not",
    scenario(async (world) => {
      const epo = routerOf(world);
      const admission = world.admission();
      const call = (body: string) =>
        admission.run(demandOf(epo, "SEARCH"), () => {
          const failure = epoFailure({ statusCode: 403, body, service: "SEARCH", retryAfterSeconds: 9 });
          throw Object.assign(new Error(failure.summary()), failure);
        });
      await assert.rejects(call("no such key"), /HTTP 403 from epo:search: no such key/);
      assert.deepEqual(throttles(epo), [0, 0, 0, 0, 0]);
      await assert.rejects(call("<code>CLIENT.RobotDetected</code>"), /HTTP 429 from epo:search/);
      assert.deepEqual(throttles(epo), [2, 0, 0, 0, 0]);
      fail(epo, "SEARCH", 5);
      await assert.rejects(call("RobotDetected"), /429/);
      const refusal =
        /epo:search .*Cooldown is active: 60 .*Last failure: HTTP 429 from epo:search: RobotDetected$/;
      await assert.rejects(admission.admit(demandOf(epo, "SEARCH")), refusal);
    }),
  );

  it(
    "BEY-13 tells how many wait on all its windows, and health tells it of each",
    scenario(async (world) => {
      const epo = routerOf(world, { IMAGES: { maxRequests: 1 } });
      const admission = world.admission();
      assert.equal(epo.waiters, 0);
      await admission.admit(demandOf(epo, ...times("SEARCH", 6), "IMAGES"));
      assert.equal(epo.waiters, 0);
      const leaving = new AbortController();
      for (const services of [["SEARCH"], ["SEARCH", "IMAGES"], ["IMAGES"]] as const) {
        world.follow(admission.admit(demandOf(epo, ...services), { signal: leaving.signal }));
      }
      await world.settle();
      assert.equal(epo.waiters, 4);
      fail(epo, "IMAGES");
      assert.deepEqual(
        health(epo.buckets).map(({ name, inUse, waiters, indicator }) =>
          `${name} ${inUse} ${waiters} ${indicator}`
        ),
        [
          "epo:search 6 2 null",
          "epo:retrieval 0 0 null",
          "epo:inpadoc 0 0 null",
          "epo:images 1 2 throttle:2.0x",
          "epo:other 0 0 null",
        ],
      );
      leaving.abort();
      await world.settle();
      assert.equal(epo.waiters, 0);
    }),
  );

  it(
    "BEY-60 an amount that is no service is refused by the demand, which stays as it was",
    scenario((world) => {
      const epo = routerOf(world);
      const demand = demandOf(epo, "SEARCH");
      assert.throws(() => demand.add(epo, "Search" as EPOService), {
        name: "RangeError",
        message: /it is "Search"/,
      });
      assert.throws(() => demand.add(epo, undefined as unknown as EPOService), TypeError);
      assert.deepEqual(demand.entries.map(({ key, amounts }) => [key.limiterName, amounts]), [
        ["epo:search", ["SEARCH"]],
      ]);
    }),
  );

  it(
    "BEY-53 is refused by an Admission on another clock",
    scenario(async (world) => {
      const epo = routerOf(world);
      const admission = world.admission({ clock: undefined as never });
      await assert.rejects(admission.admit(demandOf(epo, "SEARCH")), { name: "InvalidStateError" });
      admission.stop();
    }),
  );
});
