/** Looks at the heap: what they move, and that watching moves nothing (monitor.md 12.2; BEY-11, BEY-14). */
import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Demand, MemoryPressureGate } from "../mod.ts";
import { logInto, LoneGate } from "./memory_worlds.ts";
import { scenario } from "./scenario.ts";
import { assertParked, grantOf } from "./watched.ts";

describe("A look", () => {
  it(
    "MEM-05 the first reading, and each that is lower than the one before it, becomes the floor",
    scenario((world) => {
      const lone = new LoneGate(world);
      const floors = [0.5, 0.7, 0.6, 0.65, 0.65, 0.64].map((ratio) => {
        lone.look(ratio);
        return lone.gate.status.floorRatio;
      });
      assert.deepEqual(floors, [0.5, 0.5, 0.6, 0.6, 0.6, 0.64]);
    }),
  );

  it(
    "MEM-06 fits, tryTake and earliestFit take one; only the first two move the latch",
    scenario((world) => {
      const looks: ((lone: LoneGate) => unknown)[] = [
        ({ gate }) => gate.fits([], []),
        ({ gate }) => gate.tryTake([], []),
        ({ gate }) => gate.earliestFit([], []),
      ];
      for (const [index, look] of looks.entries()) {
        const lone = new LoneGate(world);
        for (const ratio of [0.7, 0.6]) {
          lone.ratio = ratio;
          look(lone);
        }
        lone.ratio = 0.65;
        assert.equal(lone.gate.status.floorRatio, 0.6);
        lone.ratio = 0.97;
        look(lone);
        assert.equal(lone.gate.status.zone, index < 2 ? "CRITICAL" : "GREEN");
      }
    }),
  );

  it(
    "MEM-06 BEY-11 while latched the named instant takes no look",
    scenario((world) => {
      const lone = new LoneGate(world);
      lone.look(0.97);
      lone.ratio = 0.2;
      lone.gate.earliestFit([], []);
      lone.ratio = 0.3;
      assert.equal(lone.gate.status.floorRatio, 0.3, "lower than 0.97, which was the last look");
    }),
  );
});

describe("Watching a memory gate", () => {
  it(
    "BEY-11 MEM-06 status, indicator and use move no floor, no previous reading and no latch",
    scenario((world) => {
      const [watched, left] = [new LoneGate(world), new LoneGate(world)];
      for (const ratio of [0.7, 0.65, 0.8, 0.78, 0.94, 0.96, 0.93, 0.89, 0.91]) {
        for (const strange of [0.99, 0.1, ratio + 0.01]) {
          watched.ratio = strange;
          const { gate } = watched;
          void [gate.status.summary(), gate.statusIndicator, gate.currentInUse, gate.capacity];
        }
        for (const lone of [watched, left]) lone.held = 3;
        assert.equal(watched.take(ratio), left.take(ratio), `at ${ratio}`);
        assert.deepEqual(watched.gate.status, left.gate.status);
      }
    }),
  );

  it(
    "BEY-11 nor do explain and waiters",
    scenario(async (world) => {
      let ratio = 0.97;
      const gate = new MemoryPressureGate({ reader: () => ratio, clock: world.clock });
      const slot = world.gate("slot", 9);
      const admission = world.admission({ memory: gate });
      const demand = new Demand().add(slot);
      const job = world.follow(admission.admit(demand));
      await world.settle();
      assertParked(job);

      ratio = 0.1;
      const [memory] = admission.explain(demand).accounts;
      assert.deepEqual([memory!.account, memory!.isShort, memory!.missing], ["memory", false, 0]);
      assert.equal(admission.waiters()[0]!.accounts[0]!.isShort, false);
      assert.equal(gate.status.zone, "CRITICAL", "the latch is set until the line looks");
      ratio = 0.96;
      const now = world.clock.now();
      const { fits, earliestMs, accounts } = admission.explain(demand);
      assert.deepEqual([fits, earliestMs], [false, now + 2_000]);
      assert.deepEqual(accounts.map(({ account, isShort }) => [account, isShort]), [
        ["memory", true],
        ["slot", false],
      ]);
      assert.equal(gate.status.floorRatio, 0.96);
      await world.clock.advance(2_000);
      assertParked(job);
    }),
  );

  it(
    "BEY-11 an empty demand's explanation leaves memory out",
    scenario((world) => {
      const gate = new MemoryPressureGate({ reader: () => 0.97, clock: world.clock });
      const admission = world.admission({ memory: gate });
      assert.deepEqual(admission.explain(new Demand()).accounts, []);
    }),
  );
});

describe("A heap reader", () => {
  it(
    "BEY-14 what it throws or answers wrongly counts as no reading, and is logged once",
    scenario(async (world) => {
      const answers: (() => number)[] = [
        () => {
          throw new Error("no heap here");
        },
        () => NaN,
        () => -0.5,
        () => Infinity,
        () => "0.99" as never,
        () => Promise.resolve(0.99) as never,
        () => {
          throw undefined;
        },
      ];
      for (const reader of answers) {
        const logs: string[] = [];
        const gate = new MemoryPressureGate({ reader, clock: world.clock, logger: logInto(logs) });
        const admission = world.admission({ memory: gate });
        for (let i = 0; i < 3; i++) await admission.admit(new Demand().add(world.gate("slot", 1)));
        assert.equal(gate.fits([], []), true);
        assert.deepEqual([gate.status.usageRatio, gate.status.zone], [0, "GREEN"]);
        assert.equal(logs.length, 1);
        assert.match(logs[0]!, /^error The heap cannot be read/);
      }
      assert.deepEqual(world.logs, []);
    }),
  );

  it(
    "BEY-14 without a reading of its own logger, the Admission's hears of it",
    scenario(async (world) => {
      const reader = () => {
        throw new Error("no heap here");
      };
      const gate = new MemoryPressureGate({ reader, clock: world.clock });
      const admission = world.admission({ memory: gate });
      for (let i = 0; i < 3; i++) await admission.admit(new Demand().add(world.gate("slot", 1)));
      assert.equal(world.logs.length, 1);
      assert.match(world.logs[0]!, /no heap here/);
    }),
  );

  it(
    "BEY-14 without a reading the floor stays, the latch lets go, and a line drains by the last reading",
    scenario(async (world) => {
      let ratio: number | null = 0.8;
      const reader = () => {
        if (ratio === null) throw new Error("no heap here");
        return ratio;
      };
      const gate = new MemoryPressureGate({ reader, clock: world.clock });
      const slot = world.gate("slot", 9);
      const admission = world.admission({ memory: gate });
      await admission.admit(new Demand().add(slot));
      ratio = 0.96;
      const jobs = [1, 2].map(() => world.follow(admission.admit(new Demand().add(slot))));
      await world.clock.advance(1_000);
      assertParked(...jobs);

      ratio = null;
      await world.clock.advance(28_999);
      assertParked(...jobs);
      assert.deepEqual([gate.status.zone, gate.status.floorRatio], ["DRAINING", 0.8]);
      await world.clock.advance(1);
      grantOf(jobs[0]!);
      assertParked(jobs[1]!);
      await world.clock.advance(30_000);
      grantOf(jobs[1]!);
    }),
  );
});

describe("How often the heap is read", () => {
  it(
    "MEM-06 a reading serves for sampleMs; at 0, which an injected reader has, once a step",
    scenario(async (world) => {
      let readings = 0;
      const reader = () => {
        readings++;
        return 0.5;
      };
      const slot = world.gate("slot", 1_000);
      const demand = new Demand().add(slot);
      const admit = async (memory: MemoryPressureGate) => {
        const admission = world.admission({ memory, events: () => {} });
        readings = 0;
        for (let i = 0; i < 10; i++) (await admission.admit(demand)).release();
        return readings;
      };
      assert.equal(await admit(new MemoryPressureGate({ reader, clock: world.clock })), 10);
      const sampled = new MemoryPressureGate({ reader, sampleMs: 5, clock: world.clock });
      assert.equal(await admit(sampled), 1);
      await world.clock.advance(4.999);
      assert.equal(await admit(sampled), 0);
      await world.clock.advance(0.001);
      assert.equal(await admit(sampled), 1);
    }),
  );

  it(
    "BEY-11 what an observer reads in between is no sample for a decision",
    scenario(async (world) => {
      let ratio = 0.5;
      const gate = new MemoryPressureGate({ reader: () => ratio, sampleMs: 100, clock: world.clock });
      assert.equal(gate.fits([], []), true);
      await world.clock.advance(100);
      ratio = 0.2;
      assert.equal(gate.status.usageRatio, 0.2);
      await world.clock.advance(50);
      ratio = 0.99;
      assert.equal(gate.status.usageRatio, 0.2, "observers share a reading as well");
      assert.equal(gate.fits([], []), false);
    }),
  );
});
