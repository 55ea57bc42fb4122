import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Demand, InvalidStateError, systemClock, TokenBucketRateLimiter } from "../mod.ts";
import { ManualClock, MeterLimiter, ScriptedLimiter } from "../testing/mod.ts";
import { MAX_TIMER_MS } from "../core/clock.ts";
import { runChild } from "./children.ts";
import { levels } from "./bucket_readings.ts";
import { BentClock } from "./odd_clocks.ts";
import { scenario, type World } from "./scenario.ts";

const CAPS = { rpm: 600, tpm: 6000 };
const HOUR_MS = 3_600_000;

/** A bucket on a clock that can be bent, drained. */
function drained(clock: BentClock): TokenBucketRateLimiter {
  const bucket = new TokenBucketRateLimiter("gpt", { ...CAPS, clock });
  bucket.tryTake([6000], []);
  return bucket;
}

describe("Steps of a clock", () => {
  for (const stepMs of [HOUR_MS, -HOUR_MS]) {
    it(
      `BEY-50 a step of the wall clock by ${stepMs} ms changes no grant time`,
      scenario(async (world) => {
        const bucket = world.bucket("gpt", CAPS);
        bucket.tryTake([6000], []);
        const call = world.follow(world.admission().admit(new Demand().add(bucket, 100)));
        await world.clock.advance(400);
        world.clock.stepWall(stepMs);
        assert.deepEqual(levels(bucket), { tokens: 40, requests: 600 });
        assert.equal(bucket.earliestFit([100], []), 2000);
        await world.clock.advance(599.999);
        assert.equal(call.grant, null);
        await world.clock.advance(0.001);
        assert.equal(call.settledAtMs, 2000);
        assert.equal(call.grant!.wallWaitMs, 1000);
        assert.equal(world.events.at(-1)!.waitMs, 1000);
      }),
    );
  }

  it(
    "BEY-50 after a machine slept, levels are full, nothing overflows, and one pass settles it",
    scenario(async (world) => {
      const clock = new BentClock(world.clock);
      const bucket = drained(clock);
      const admission = world.admission({ clock });
      const calls = [100, 250, 400].map((tokens) =>
        world.follow(admission.admit(new Demand().add(bucket, tokens)))
      );
      await world.settle();
      const armed = clock.delays.length;
      clock.sleptMs = 5e11; // Sixteen years.
      await world.clock.advance(1000);
      assert.deepEqual(calls.map((call) => call.settledAtMs), [2000, 2000, 2000]);
      assert.deepEqual([admission.queueSize, clock.delays.length, world.clock.pendingTimers], [0, armed, 0]);
      assert.deepEqual(levels(bucket), { tokens: 6000 - 750, requests: 597 });
      assert.equal(calls[0]!.grant!.wallWaitMs, 5e11 + 1000);
      await world.clock.advance(60_000);
      assert.deepEqual(levels(bucket), { tokens: 6000, requests: 600 });
    }),
  );

  it(
    "BEY-50 sleep counts as time without a slow-down",
    scenario((world) => {
      const clock = new BentClock(world.clock);
      const bucket = drained(clock);
      bucket.recordBackpressure(20);
      clock.sleptMs = 5e11;
      bucket.recordSuccess();
      assert.equal(bucket.throttle, 8.5);
      assert.deepEqual(levels(bucket), { tokens: 6000, requests: 600 });
    }),
  );
});

describe("Long waits and early timers", () => {
  it(
    "BEY-51 a wait beyond 2^31 ms neither fires early nor spins",
    scenario(async (world) => {
      const clock = new BentClock(world.clock);
      const meter = new MeterLimiter("yearly", 100, 1e-5, clock);
      meter.drain();
      const call = world.follow(world.admission({ clock }).admit(new Demand().add(meter, 100)));
      await world.clock.advanceTo(1000 + 1e10 - 1);
      assert.equal(call.grant, null);
      await world.clock.advance(1);
      assert.equal(call.settledAtMs, 1000 + 1e10); // 115 days.
      assert.ok(
        clock.delays.every((delayMs) => delayMs <= MAX_TIMER_MS),
        "no runtime waits longer in one go",
      );
      assert.equal(clock.delays.length, Math.ceil(1e10 / MAX_TIMER_MS));
    }),
  );

  it("BEY-51 a timer beyond 2^31 ms does not fire at once on this runtime", async () => {
    const fired: string[] = [];
    const long = systemClock.setTimer(2 ** 31 + 5000, () => fired.push("long"));
    await new Promise<void>((resolve) => systemClock.setTimer(30, resolve));
    long.cancel();
    assert.deepEqual(fired, []);
  });

  for (const share of [0.9, 0.5, 0.01]) {
    it(
      `BEY-51 a timer that fires after ${share} of its delay is armed again, and grants come on time`,
      scenario(async (world) => {
        const clock = new BentClock(world.clock);
        clock.timerShare = share;
        const bucket = drained(clock);
        const call = world.follow(world.admission({ clock }).admit(new Demand().add(bucket, 100)));
        await world.clock.advanceTo(1000 + 1000 * share);
        assert.equal(call.grant, null, "the first timer only looks");
        assert.equal(world.clock.pendingTimers, 1);
        clock.timerShare = 0.999;
        await world.clock.advanceTo(1999.999);
        assert.equal(call.grant, null);
        await world.clock.advanceTo(2000);
        // A reading within a sixteenth of a tick counts as the tick, because doubles round.
        assert.ok(call.settledAtMs! > 2000 - 0.0001 && call.settledAtMs! <= 2000, `${call.settledAtMs}`);
        assert.ok(clock.delays.length < 20, `${clock.delays.length} timers for one wait`);
      }),
    );
  }
});

describe("The timer of an admission", () => {
  /** Parks one caller who waits for the clock, on top of whom something then ends the wait. */
  async function armed(world: World) {
    const bucket = world.bucket("gpt", CAPS);
    bucket.tryTake([6000], []);
    const admission = world.admission();
    const controller = new AbortController();
    const call = world.follow(admission.admit(new Demand().add(bucket, 100), { signal: controller.signal }));
    await world.settle();
    assert.equal(world.clock.pendingTimers, 1);
    return { admission, bucket, call, controller };
  }

  it(
    "BEY-52 no timer is armed once nobody waits, whichever way the last waiter left",
    scenario(async (world) => {
      const endings: ((each: Awaited<ReturnType<typeof armed>>) => unknown)[] = [
        ({ controller }) => controller.abort(),
        ({ admission }) => admission.stop(),
        ({ bucket }) => bucket.give([6000]),
        ({ bucket }) => (bucket.setConfig({ rpm: 601, tpm: 50 }), world.settle()),
        () => world.clock.advance(1000),
      ];
      for (const end of endings) {
        const each = await armed(world);
        await end(each);
        await world.settle();
        assert.equal(each.admission.queueSize, 0);
        assert.ok(each.call.settledAtMs !== null);
        assert.equal(world.clock.pendingTimers, 0, String(end));
      }
    }),
  );

  it(
    "BEY-52 none is armed for who waits on an event alone, and one for many who wait on the clock",
    scenario(async (world) => {
      const gate = world.gate("http", 1);
      const bucket = world.bucket("gpt", CAPS);
      bucket.tryTake([6000], []);
      const admission = world.admission();
      const out = admission.tryAdmit(new Demand().add(gate))!;
      void world.follow(admission.admit(new Demand().add(gate)));
      await world.settle();
      assert.equal(world.clock.pendingTimers, 0);
      for (let i = 0; i < 50; i++) void world.follow(admission.admit(new Demand().add(bucket, 100)));
      await world.settle();
      assert.equal(world.clock.pendingTimers, 1);
      out.release();
      await world.clock.advance(50_000);
      assert.deepEqual([admission.queueSize, world.clock.pendingTimers], [0, 0]);
    }),
  );

  it("BEY-52 with nobody waiting the process ends by itself, and not while somebody waits for the clock", () => {
    const child = runChild("ends_when_nobody_waits");
    assert.deepEqual(child, { status: 0, lines: ["left a minute early", "granted: true"], errors: "" });
  });
});

describe("Whose clock it is", () => {
  it(
    "BEY-53 admit refuses a bucket that reads another clock, and names both",
    scenario(async (world) => {
      const gate = world.gate("http", 1);
      const foreign = new TokenBucketRateLimiter("gpt", { ...CAPS, clock: new ManualClock(1000) });
      const admission = world.admission();
      const demand = new Demand().add(gate).add(foreign, 1);
      const isRefusal = (error: unknown) => {
        assert.ok(error instanceof InvalidStateError);
        assert.match(error.message, /gpt/);
        assert.match(error.message, /this Admission/);
        return true;
      };
      await assert.rejects(admission.admit(demand), isRefusal);
      assert.throws(() => admission.tryAdmit(demand), isRefusal);
      const held = admission.tryAdmit(new Demand().add(gate))!;
      await assert.rejects(admission.admit(demand), isRefusal, "nor may it join the line");
      held.release();
      assert.deepEqual([gate.currentInUse, foreign.currentInUse, admission.queueSize], [0, 0, 0]);
      assert.ok(world.events.every((event) => event.type !== "REJECTED"));
    }),
  );

  it(
    "BEY-53 a custom account may have whatever clock it likes, and a gate reads none",
    scenario(async (world) => {
      const elsewhere = new ManualClock(5);
      const meter = new MeterLimiter("meter", 100, 1, elsewhere);
      const demand = new Demand().add(meter, 60).add(new ScriptedLimiter("custom"), 1).add(
        world.gate("http", 1),
      );
      const admission = world.admission();
      const call = world.follow(admission.admit(demand));
      await world.settle();
      assert.ok(call.grant !== null);
      assert.equal(meter.level, 40);
    }),
  );

  it(
    "BEY-53 a bucket's levels and its recovery read one clock, never the wall",
    scenario(async (world) => {
      const bucket = world.bucket("gpt", CAPS);
      bucket.tryTake([6000], []);
      bucket.record429();
      world.clock.stepWall(10 * 60_000);
      bucket.recordSuccess();
      assert.equal(bucket.throttle, 0.5);
      assert.equal(levels(bucket).tokens, 0);
      await world.clock.advance(300_000);
      bucket.recordSuccess();
      assert.equal(bucket.throttle, 0);
      assert.equal(levels(bucket).tokens, 6000);
    }),
  );
});

describe("A ManualClock", () => {
  it("moves by numbers of milliseconds alone, and stays where it was when it is given anything else", async () => {
    const clock = new ManualClock(5, 7);
    const moves = {
      advance: (ms: number) => clock.advance(ms),
      advanceTo: (ms: number) => clock.advanceTo(ms),
      // deno-lint-ignore require-await -- what it throws has to come as a rejection
      stepWall: async (ms: number) => clock.stepWall(ms),
    };
    for (const [name, move] of Object.entries(moves)) {
      for (const wrong of ["5", null, undefined, 5n]) {
        await assert.rejects(move(wrong as never), {
          name: "TypeError",
          message: / is .*, it should be a number of/,
        });
      }
      for (const wrong of [NaN, Infinity]) {
        await assert.rejects(move(wrong), { name: "RangeError", message: /it should be finite/ }, name);
      }
    }
    await assert.rejects(clock.advance("5" as never), {
      message: 'Cannot advance a ManualClock: ms is "5", it should be a number of milliseconds',
    });
    await assert.rejects(clock.advance(-1), {
      name: "RangeError",
      message: /ms is -1, it should be 0 or more/,
    });
    assert.deepEqual([clock.now(), clock.wallNow()], [5, 7]);
    assert.throws(() => new ManualClock("0" as never), { name: "TypeError", message: /startMs is "0"/ });
    assert.throws(() => new ManualClock(0, NaN), { name: "RangeError", message: /wallMs is NaN/ });
  });
});
