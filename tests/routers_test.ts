// Routers in the line: one limiter that leads each amount to an account of its own.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Demand } from "../mod.ts";
import { BySize, Router } from "./custom_accounts.ts";
import { scenario } from "./scenario.ts";
import { assertParked, grantOf } from "./watched.ts";
import { gatesOf, WatchedRouter } from "./watched_routers.ts";

describe("A router in the line", () => {
  it(
    "DEM-05 takes, holds and gives back bucket by bucket, each with its amounts together",
    scenario(async (world) => {
      const gates = gatesOf(world, { eu: 2, us: 1 });
      const router = new Router(gates);
      const admission = world.admission();
      const demand = new Demand().add(router, "eu").add(router, "us").add(router, "eu");
      const holder = await admission.admit(demand);
      assert.deepEqual([gates["eu"]!.currentInUse, gates["us"]!.currentInUse], [2, 1]);
      const parked = world.follow(admission.admit(new Demand().add(router, "us")));
      await world.clock.advance(40);
      assertParked(parked);
      holder.release();
      await world.settle();
      assert.deepEqual([...grantOf(parked).waitTimesMs], [["us", 40]]);
      assert.deepEqual([gates["eu"]!.currentInUse, gates["us"]!.currentInUse], [0, 1]);
      assert.deepEqual(world.transitions, [
        "eu GRANTED_IMMEDIATE",
        "us GRANTED_IMMEDIATE",
        "us HELD",
        "eu RELEASED",
        "us RELEASED",
        "us GRANTED_FROM_HOLD",
      ]);
      assert.equal(world.events[0]!.amount, 2);
    }),
  );

  it(
    "DEM-05 takes all buckets or none: what the others took goes back when one declines",
    scenario(async (world) => {
      const gates = gatesOf(world, { eu: 2, us: 1 });
      const router = new Router(gates);
      const admission = world.admission();
      await admission.admit(new Demand().add(gates["us"]!));
      assert.equal(admission.tryAdmit(new Demand().add(router, "eu").add(router, "us")), null);
      assert.equal(gates["eu"]!.currentInUse, 0);
      const refused = world.follow(
        admission.admit(new Demand().add(router, "eu").add(router, "us").add(router, "us")),
      );
      await world.settle();
      assert.match(String(refused.error), /never fit "us"/);
      assert.equal(gates["eu"]!.currentInUse, 0);
    }),
  );

  it(
    "DEM-07 sets the head's amounts aside per bucket, whichever router or gate the follower names",
    scenario(async (world) => {
      const gates = gatesOf(world, { eu: 2, us: 2 });
      const [router, twin] = [new WatchedRouter(gates), new WatchedRouter(gates)];
      const admission = world.admission();
      const holder = await admission.admit(new Demand().add(gates["us"]!, 2).add(gates["eu"]!));
      const head = world.follow(admission.admit(new Demand().add(router, "eu").add(router, "us")));
      const followers = [
        new Demand().add(router, "eu"),
        new Demand().add(twin, "eu"),
        new Demand().add(gates["eu"]!),
      ].map((demand) => world.follow(admission.admit(demand)));
      await world.settle();
      // One permit of eu is free, and the head keeps it although it waits for us.
      assertParked(head, ...followers);
      assert.equal(twin.asked.at(-1), "eu behind eu");
      const roomy = world.follow(admission.admit(new Demand()));
      await world.settle();
      grantOf(roomy);

      holder.release();
      await world.settle();
      grantOf(head).release();
      await world.settle();
      assert.equal(followers.filter((call) => call.grant !== null).length, 2);
      assertParked(followers[2]!);
    }),
  );

  it(
    "DEM-08 two routers that lead to one gate are asked apart, so the take of the second may decline",
    scenario(async (world) => {
      const gates = gatesOf(world, { eu: 2 });
      const [first, second] = [new WatchedRouter(gates), new WatchedRouter(gates)];
      const admission = world.admission();
      const other = await admission.admit(new Demand().add(gates["eu"]!));
      const demand = new Demand().add(first, "eu").add(second, "eu");
      assert.equal(demand.entries.length, 2);
      const parked = world.follow(admission.admit(demand));
      await world.settle();
      // Each fits the one permit that is left; the second take declines, and the first goes back.
      assertParked(parked);
      assert.equal(gates["eu"]!.currentInUse, 1);
      other.release();
      await world.settle();
      assert.equal(gates["eu"]!.currentInUse, 2);
      grantOf(parked).release();
      assert.equal(gates["eu"]!.currentInUse, 0);
    }),
  );

  it(
    "DEM-07 a router's metered amounts wait for the instant their own and the head's are both there",
    scenario(async (world) => {
      const caps = { tpm: 60_000, rpm: 60_000 };
      const [small, large] = [world.bucket("small", caps), world.bucket("large", caps)];
      const router = new BySize(small, large);
      const admission = world.admission();
      small.tryTake([60_000], []);
      large.tryTake([60_000], []);
      const head = world.follow(admission.admit(new Demand().add(router, 200)));
      const follower = world.follow(admission.admit(new Demand().add(router, 100)));
      const beside = world.follow(admission.admit(new Demand().add(router, 1100)));
      await world.clock.advance(2000);
      assert.deepEqual([head, follower, beside].map((call) => grantOf(call).wallWaitMs), [200, 300, 1100]);
    }),
  );

  it(
    "BEY-40 DEM-07 is explained by the buckets' names, with what the head has set aside on each",
    scenario(async (world) => {
      const gates = gatesOf(world, { eu: 2, us: 1 });
      const router = new Router(gates);
      const admission = world.admission();
      await admission.admit(new Demand().add(gates["us"]!));
      const waiting = world.follow(admission.admit(new Demand().add(router, "eu").add(router, "us")));
      await world.settle();
      const { accounts } = admission.explain(new Demand().add(router, "eu").add(router, "eu"));
      assert.deepEqual(
        accounts.map(({ account, amount, ahead, isShort }) => [account, amount, ahead, isShort]),
        [
          ["eu", 2, 1, true],
        ],
      );
      const names = admission.waiters()[0]!.accounts.map(({ account, isShort }) => `${account} ${isShort}`);
      assert.deepEqual(names, ["eu false", "us true"]);
      assertParked(waiting);
      admission.stop();
    }),
  );
});
