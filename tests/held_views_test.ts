// The view of its own line that each account is given.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { type CountingGate, Demand, type LimiterIdentity } from "../mod.ts";
import { SwitchMemory } from "../testing/mod.ts";
import { Slots } from "./custom_accounts.ts";
import { scenario } from "./scenario.ts";
import { assertParked, grantOf } from "./watched.ts";
import { gatesOf, WatchedGate, WatchedRouter } from "./watched_routers.ts";

describe("Held views", () => {
  it(
    "BEY-13 each account that looks is given the view of its own line once, when it is first wired",
    scenario(async (world) => {
      const [gate, slots] = [new WatchedGate("gate", 1), new Slots("slots", 1)];
      const memory = Object.assign(new SwitchMemory(), { view: () => NaN });
      memory.observeHeld = (held) => void (memory.view = held);
      const admission = world.admission({ memory });
      assert.equal(memory.view(), 0);
      const holder = await admission.admit(new Demand().add(gate).add(slots));
      const calls = [new Demand().add(gate), new Demand().add(gate).add(slots), new Demand().add(slots)].map(
        (demand) => world.follow(admission.admit(demand)),
      );
      await world.settle();
      assert.deepEqual([gate.held(), slots.held(), memory.view(), gate.wirings], [2, 2, 0, 1]);
      memory.isOpen = false;
      holder.release();
      await world.settle();
      assert.deepEqual([gate.held(), slots.held(), memory.view()], [2, 2, 3]);
      memory.isOpen = true;
      memory.wake();
      await world.settle();
      for (const call of calls) {
        grantOf(call).release();
        await world.settle();
      }
      assert.deepEqual([gate.held(), slots.held(), memory.view(), gate.wirings], [0, 0, 0, 1]);
    }),
  );

  it(
    "BEY-13 a router gets the sum over the buckets it leads to, and each bucket's own count stays its own",
    scenario(async (world) => {
      const gates: Record<string, WatchedGate> = {
        eu: new WatchedGate("eu", 1),
        us: new WatchedGate("us", 1),
      };
      const router = new WatchedRouter(gates);
      const admission = world.admission();
      const demand = (...keys: string[]) => keys.reduce((all, key) => all.add(router, key), new Demand());
      const holder = await admission.admit(demand("eu", "us"));
      assert.equal(router.held(), 0);
      const leaving = new AbortController();
      const calls = [demand("eu"), demand("us"), demand("eu", "us")].map((each) =>
        world.follow(admission.admit(each, { signal: leaving.signal }))
      );
      await world.settle();
      assert.equal(router.held(), 4);
      const direct = world.follow(admission.admit(new Demand().add(gates["eu"]!)));
      await world.settle();
      // One line for each bucket, whoever leads there.
      assert.deepEqual([router.held(), gates["eu"]!.held(), router.wirings], [5, 3, 1]);
      holder.release();
      await world.settle();
      assert.deepEqual([router.held(), gates["eu"]!.held()], [3, 2]);
      leaving.abort();
      await world.settle();
      assert.deepEqual([router.held(), gates["eu"]!.held()], [1, 1]);
      grantOf(calls[0]!).release();
      await world.settle();
      grantOf(direct);
      assert.deepEqual([router.held(), admission.queueSize], [0, 0]);
    }),
  );

  it(
    "BEY-13 stays right over thousands of buckets that come and go",
    scenario(async (world) => {
      const made = new Map<string, CountingGate>();
      const lead = (key: string): CountingGate => {
        if (!made.has(key)) made.set(key, world.gate(key, 1));
        return made.get(key)!;
      };
      class Tenants extends WatchedRouter {
        override accountFor(key: string): LimiterIdentity {
          return lead(key);
        }

        override fits(mine: readonly string[]): boolean {
          return lead(mine[0]!).currentInUse === 0;
        }

        override tryTake(mine: readonly string[]): boolean {
          return lead(mine[0]!).tryTake([undefined], []);
        }

        override give(mine: readonly string[]): void {
          lead(mine[0]!).give([undefined]);
        }
      }
      const router = new Tenants({});
      const admission = world.admission({ events: () => {} });
      const held: number[] = [];
      const grants = [];
      for (let tenant = 0; tenant < 2000; tenant++) {
        grants.push(await admission.admit(new Demand().add(router, `tenant ${tenant}`)));
        if (tenant % 20 > 0) continue;
        world.follow(admission.admit(new Demand().add(router, `tenant ${tenant}`)));
        await world.settle();
        held.push(router.held());
        // Half of those who wait stay in line for good.
        if (tenant % 40 === 0) grants.at(-1)!.release();
        await world.settle();
      }
      assert.deepEqual(held, Array.from({ length: 100 }, (_, index) => Math.floor(index / 2) + 1));
      admission.stop();
      assert.equal(router.held(), 0);
    }),
  );

  it(
    "BEY-13 a router whose buckets wake it is asked again when one is given back to by others",
    scenario(async (world) => {
      const gates = gatesOf(world, { eu: 1, us: 1 });
      const router = new WatchedRouter(gates);
      const admission = world.admission();
      gates["eu"]!.tryTake([undefined], []);
      const parked = world.follow(admission.admit(new Demand().add(router, "eu")));
      await world.settle();
      assertParked(parked);
      gates["eu"]!.give([undefined]);
      await world.settle();
      grantOf(parked);
    }),
  );
});
