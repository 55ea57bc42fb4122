/** The memory gate on its own: identity, latch, curve and logs (monitor.md 12.1 to 12.3 and 12.7). */
import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  Admission,
  Demand,
  MemoryPressureGate,
  type MemoryPressureGateOptions,
  MemoryPressureStatus,
} from "../mod.ts";
import * as layout from "../assembly/layout.ts";
import { LoneGate } from "./memory_worlds.ts";
import { scenario } from "./scenario.ts";

/** Readings and the milliseconds between two releases there. */
const CURVE: readonly [ratio: number, ms: number][] = [
  [0.5, 50],
  [0.79, 50],
  [0.8, 50],
  [0.81, 50],
  [0.817, 50],
  [0.818, 51],
  [0.82, 71],
  [0.83, 239],
  [0.84, 568],
  [0.85, 1_111],
  [0.86, 1_919],
  [0.87, 3_048],
  [0.88, 4_551],
  [0.89, 6_480],
  [0.9, 8_888],
  [0.91, 11_831],
  [0.92, 15_360],
  [0.93, 19_528],
  [0.94, 24_391],
  [0.948, 28_815],
  [0.949, 29_403],
  [0.95, 30_000],
  [0.99, 30_000],
];

describe("Who the memory gate is", () => {
  it(
    "MEM-01 it is named memory, is of kind RELEASE, and its amounts mean nothing",
    scenario((world) => {
      const { gate } = new LoneGate(world);
      assert.equal(gate.limiterName, "memory");
      assert.equal(gate.limiterCategory, "memory");
      assert.equal(gate.replenishment, "RELEASE");
      assert.equal(gate.accountFor(undefined), gate);
      assert.equal(gate.requiresHttpConnection, false);
      const many = new Array<void>(1000).fill(undefined);
      assert.equal(gate.fits(many, many), true);
      gate.onSuccess();
      assert.equal(gate.tryTake(many, many), true);
    }),
  );

  it(
    "MEM-01 MON-39 no demand lists it",
    scenario((world) => {
      const { gate } = new LoneGate(world);
      const demand = new Demand();
      assert.throws(() => demand.add(gate), {
        name: "TypeError",
        message: /"memory".*give it to the Admission/,
      });
      assert.equal(demand.isEmpty, true);
    }),
  );

  it("MEM-02 its capacity is the heap's limit, its use the heap in use, its ratio one over the other", () => {
    const gate = new MemoryPressureGate({ reader: () => 0.25, limitBytes: 400 });
    assert.deepEqual([gate.capacity, gate.currentInUse, gate.status.usageRatio], [400, 100, 0.25]);
    assert.deepEqual([gate.status.heapUsedBytes, gate.status.heapMaxBytes], [100, 400]);
    const bare = new MemoryPressureGate({ reader: () => 0.25 });
    assert.deepEqual([bare.capacity, bare.currentInUse], [1, 0.25]);
  });

  it("MEM-03 its thresholds and delays", () => {
    assert.deepEqual(
      [layout.MEMORY_THROTTLE_START, layout.MEMORY_CRITICAL, layout.MEMORY_RECOVERY],
      [0.8, 0.95, 0.9],
    );
    assert.deepEqual([layout.MEMORY_MIN_DELAY_MS, layout.MEMORY_MAX_DELAY_MS], [50, 30_000]);
    assert.equal(layout.MEMORY_MAX_WAIT_MS, 3_600_000);
    assert.equal(layout.MEMORY_MAX_PENALTY, layout.MEMORY_MAX_WAIT_MS / layout.MEMORY_MIN_DELAY_MS);
    assert.equal(layout.MEMORY_CHECK_TICKS, 2_000 * 1_000);
  });

  it(
    "MEM-04 it starts without latch, release, reading or floor, at a penalty of 1",
    scenario((world) => {
      const lone = new LoneGate(world);
      lone.held = 3;
      assert.equal(lone.penalty, 1);
      assert.equal(lone.pacingMs, 0, "nothing was released yet");
      assert.equal(lone.gate.earliestFit([], []), null);
      assert.equal(lone.gate.statusIndicator, null);
      assert.equal(lone.take(0.9), true, "so nothing paces the first");
    }),
  );

  it("BEY-60 BEY-63 wrong options are refused, naming the option and its value", () => {
    const wrong: [MemoryPressureGateOptions | number | null, string, RegExp][] = [
      [null, "TypeError", /options are null/],
      [5, "TypeError", /options are 5/],
      [{ reader: 0.5 as never }, "TypeError", /reader is 0\.5/],
      ...["limitBytes", "sampleMs"].flatMap((name): [MemoryPressureGateOptions, string, RegExp][] => [
        [{ [name]: "3" }, "TypeError", new RegExp(`${name} is "3"`)],
        [{ [name]: NaN }, "RangeError", new RegExp(`${name} is NaN`)],
        [{ [name]: Infinity }, "RangeError", new RegExp(`${name} is Infinity`)],
        [{ [name]: -1 }, "RangeError", new RegExp(`${name} is -1`)],
      ]),
      [{ limitBytes: 0 }, "RangeError", /limitBytes is 0/],
      [{ clock: {} as never }, "TypeError", /clock is/],
      [{ logger: {} as never }, "TypeError", /logger/],
    ];
    for (const [options, name, message] of wrong) {
      assert.throws(() => new MemoryPressureGate(options as MemoryPressureGateOptions), { name, message });
    }
    const gate = new MemoryPressureGate({ reader: () => 0 });
    assert.throws(() => gate.observeHeld(3 as never), { name: "TypeError", message: /view is 3/ });
    assert.throws(() => new Admission({ memory: {} as never }), { name: "TypeError", message: /memory is/ });
  });
});

describe("The latch", () => {
  it(
    "MEM-07 it sets at 0.95, clears below 0.90, and keeps its state in between",
    scenario((world) => {
      const lone = new LoneGate(world);
      assert.deepEqual([0.93, 0.96, 0.93, 0.89, 0.93].map((ratio) => lone.look(ratio)), [
        true,
        false,
        false,
        true,
        true,
      ]);
    }),
  );

  it(
    "MEM-08 while it is set nobody goes, whatever else is true",
    scenario(async (world) => {
      const lone = new LoneGate(world);
      lone.take(0.5);
      lone.look(0.96);
      lone.gate.give([]);
      await world.clock.advance(86_400_000);
      for (const held of [0, 5]) {
        lone.held = held;
        assert.deepEqual([lone.look(0.93), lone.take(0.93), lone.look(0.9)], [false, false, false]);
      }
    }),
  );

  it(
    "MEM-09 the look that clears it may answer yes in the same call",
    scenario((world) => {
      const lone = new LoneGate(world);
      assert.equal(lone.take(0.96), false);
      assert.equal(lone.take(0.89), true);
      lone.held = 1;
      assert.equal(lone.look(0.97), false);
      assert.equal(lone.take(0.89), false, "cleared, and paced by the release before");
    }),
  );

  it(
    "MEM-10 exactly 0.95 sets it and exactly 0.90 does not clear it",
    scenario((world) => {
      const lone = new LoneGate(world);
      assert.equal(lone.look(0.949999), true);
      assert.equal(lone.look(0.95), false);
      assert.equal(lone.look(0.9), false);
      assert.equal(lone.look(0.899999), true);
    }),
  );

  it(
    "MEM-45 setting and clearing it log one line each, and nothing while it stays",
    scenario((world) => {
      const lone = new LoneGate(world);
      for (const ratio of [0.5, 0.96, 0.97, 0.93, 0.89, 0.94]) lone.look(ratio);
      const shown = lone.logs.map((line) => line.split(", ")[0]);
      assert.deepEqual(shown, [
        "warn Memory latch set: heap 96.0% (0.0G of 0.0G)",
        "info Memory latch cleared: heap 89.0% (0.0G of 0.0G)",
      ]);
      assert.match(lone.logs[0]!, /zone CRITICAL/);
      assert.match(lone.logs[1]!, /zone GREEN/);
    }),
  );
});

describe("The curve", () => {
  it(
    "MEM-11 MEM-12 the spacing is the cube of the position between 0.80 and 0.95, to the millisecond",
    scenario(async (world) => {
      for (const [ratio, ms] of CURVE) {
        const lone = new LoneGate(world);
        lone.held = 1;
        // At and above 0.95 the latch would keep the next one anyway; the status tells the delay all the same.
        lone.take(Math.min(ratio, 0.94));
        lone.ratio = ratio;
        assert.equal(lone.pacingMs, ms, `at ${ratio}`);
        if (ratio >= 0.95) continue;
        await world.clock.advance(ms - 0.001);
        assert.equal(lone.look(), false, `a tick before ${ms} at ${ratio}`);
        await world.clock.advance(0.001);
        assert.equal(lone.look(), true, `at ${ms} at ${ratio}`);
      }
    }),
  );

  it(
    "MEM-11 it rises from 50 ms to 30 s and stays there",
    scenario((world) => {
      const lone = new LoneGate(world);
      lone.held = 1;
      lone.take(0.5);
      const at = (ratio: number) => {
        lone.ratio = ratio;
        return lone.pacingMs;
      };
      assert.ok(at(0.85) >= 1000 && at(0.85) <= 1300 && at(0.9) >= 8500 && at(0.9) <= 9200);
      for (let points = 81; points < 95; points++) assert.ok(at(points / 100) >= at((points - 1) / 100));
      assert.deepEqual([at(0), at(0.95), at(1), at(1.5)], [50, 30_000, 30_000, 30_000]);
    }),
  );
});

describe("What it says of itself", () => {
  it(
    "MEM-43 its indicator is blocked, the pace that is left, or null",
    scenario(async (world) => {
      const lone = new LoneGate(world);
      assert.equal(lone.gate.statusIndicator, null);
      lone.held = 3;
      lone.take(0.9);
      assert.equal(lone.gate.statusIndicator, "pace:8888ms");
      await world.clock.advance(8_886.5);
      assert.equal(lone.gate.statusIndicator, "pace:1ms", "rounded down");
      await world.clock.advance(1.5);
      assert.equal(lone.gate.statusIndicator, null, "due");
      lone.take();
      lone.gate.give([]);
      assert.equal(lone.gate.statusIndicator, null, "a job finished");
      lone.look(0.97);
      assert.equal(lone.gate.statusIndicator, "blocked");
    }),
  );

  it(
    "MEM-44 its zone is CRITICAL, DRAINING or GREEN, with the delay that is left",
    scenario((world) => {
      const lone = new LoneGate(world);
      assert.equal(lone.gate.status.zone, "GREEN");
      lone.held = 3;
      lone.take(0.9);
      const { zone, heldOnMemory, pacingDelayMillis } = lone.gate.status;
      assert.deepEqual([zone, heldOnMemory, pacingDelayMillis], ["DRAINING", 3, 8_888]);
      lone.gate.give([]);
      assert.equal(lone.pacingMs, 0);
      lone.look(0.97);
      assert.equal(lone.gate.status.zone, "CRITICAL");
    }),
  );

  it("STA-02 STA-01 its status sums itself up in one line", () => {
    const status = new MemoryPressureStatus(0, 1, 0.5, 0.4, "DRAINING", 3, 120, 8);
    assert.equal(
      status.summary(),
      "heap 50.0% (0.0G of 0.0G), floor 40.0%, zone DRAINING, 3 in memory's line, pacing 120ms, growth penalty x8",
    );
    assert.throws(() => Object.assign(status, { zone: "GREEN" }), TypeError);
    const big = new MemoryPressureStatus(1.5 * 2 ** 30, 4 * 2 ** 30, 0.375, 0.3, "GREEN", 0, 0, 1);
    assert.match(big.summary(), /^heap 37\.5% \(1\.5G of 4\.0G\), floor 30\.0%/);
  });
});
