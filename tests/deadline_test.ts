/** Deadlines: the instant at which the clock alone lets somebody go (monitor.md 2, WAK-05 to WAK-15). */
import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Demand, type RateLimiter } from "../mod.ts";
import { MeterLimiter, ScriptedLimiter } from "../testing/mod.ts";
import { scenario, type World } from "./scenario.ts";
import { assertParked, grantOf, WatchedClock, WatchedLimiter } from "./watched.ts";

/** An account that is short and names an instant. */
function shortUntil(name: string, instant: number | null): ScriptedLimiter {
  return Object.assign(new ScriptedLimiter(name, "short"), { instant });
}

/** A head that also waits on a taken gate, so that the follower's instant is the only one there is. */
async function followerInstant(world: World, account: RateLimiter<number>, head: number, follower: number) {
  const gate = world.gate("gate", 1);
  const admission = world.admission();
  await admission.admit(new Demand().add(gate));
  const calls = [
    world.follow(admission.admit(new Demand().add(account, head).add(gate))),
    world.follow(admission.admit(new Demand().add(account, follower))),
  ];
  await world.settle();
  const instant = world.clock.nextTimerMs;
  assertParked(...calls);
  admission.stop();
  return instant;
}

describe("Deadlines", () => {
  it(
    "WAK-05 nothing polls: the line sleeps until the earliest instant of any waiter, or until it is woken",
    scenario(async (world) => {
      const clock = new WatchedClock(1000);
      const gate = world.gate("gate", 1);
      const admission = world.admission({ clock });
      const holder = await admission.admit(new Demand().add(gate));
      world.follow(admission.admit(new Demand().add(gate)));
      await clock.advance(0);
      const before = clock.readings;
      await clock.advance(3_600_000);
      assert.equal(clock.readings, before);
      assert.equal(clock.pendingTimers, 0);

      const [late, soon] = [shortUntil("late", 3_601_250), shortUntil("soon", 3_601_100)];
      const calls = [late, soon].map((account) => world.follow(admission.admit(new Demand().add(account))));
      await clock.advance(0);
      assert.deepEqual([clock.nextTimerMs, clock.pendingTimers], [3_601_100, 1]);
      late.mode = soon.mode = "fits";
      late.instant = soon.instant = null;
      await clock.advance(99);
      assertParked(...calls);
      await clock.advance(1);
      calls.forEach(grantOf);
      assert.equal(clock.pendingTimers, 0);
      holder.release();
      await clock.advance(0);
      assert.equal(admission.queueSize, 0);
    }),
  );

  it(
    "WAK-06 a waiter's deadline is the latest instant over its short accounts, none if any names none",
    scenario(async (world) => {
      const [early, late, never] = [
        shortUntil("early", 1100),
        shortUntil("late", 1250),
        shortUntil("never", null),
      ];
      const fitting = Object.assign(new ScriptedLimiter("fitting"), { instant: 9000 });
      const deadlineOf = async (...accounts: ScriptedLimiter[]) => {
        const admission = world.admission();
        const demand = new Demand();
        for (const account of accounts) demand.add(account);
        world.follow(admission.admit(demand));
        await world.settle();
        const instant = world.clock.nextTimerMs;
        admission.stop();
        return instant;
      };

      assert.equal(await deadlineOf(early, late, fitting), 1250);
      assert.equal(await deadlineOf(late, early), 1250);
      assert.equal(await deadlineOf(early, never, late), null);
      early.mode = "declines";
      assert.equal(await deadlineOf(fitting, early), 1100);
      early.instant = null;
      assert.equal(await deadlineOf(fitting, early), null);
    }),
  );

  it(
    "WAK-06 memory's own instant counts when memory is short, and everybody behind it shares that one",
    scenario(async (world) => {
      const memory = new WatchedLimiter("memory", [], "short");
      memory.instant = 1300;
      const admission = world.admission({ memory });
      const early = shortUntil("early", 1100);
      for (let i = 0; i < 2; i++) world.follow(admission.admit(new Demand().add(early)));
      await world.settle();
      assert.equal(world.clock.nextTimerMs, 1300);

      memory.instant = null;
      memory.wake();
      await world.settle();
      assert.equal(world.clock.nextTimerMs, null);
      memory.mode = "declines";
      memory.instant = 1400;
      early.mode = "fits";
      memory.wake();
      await world.settle();
      assert.equal(world.clock.nextTimerMs, 1400);
      memory.mode = "fits";
      memory.wake();
      await world.settle();
      assert.equal(admission.queueSize, 0);
    }),
  );

  it(
    "WAK-07 only accounts that refused in the attempt are asked for an instant, each right after its no",
    scenario((world) => {
      const log: string[] = [];
      const x = new WatchedLimiter("x", log, "short");
      const y = new WatchedLimiter("y", log);
      const z = new WatchedLimiter("z", log, "short");
      const admission = world.admission();

      world.follow(admission.admit(new Demand().add(x, 1).add(y, 2).add(z, 3)));
      assert.deepEqual(log.filter((line) => !line.endsWith("wired")), [
        "x fits [1] []",
        "x earliestFit [1] []",
        "y fits [2] []",
        "z fits [3] []",
        "z earliestFit [3] []",
      ]);
    }),
  );

  it(
    "WAK-08 a deadline that is already past means another pass at once, null that only an event helps",
    scenario(async (world) => {
      const x = new WatchedLimiter("x", [], "short");
      const admission = world.admission();
      const job = world.follow(admission.admit(new Demand().add(x)));
      await world.settle();
      assert.equal(world.clock.pendingTimers, 0);

      x.instant = 990;
      x.onAsk = (verb) => {
        if (verb === "earliestFit") x.mode = "fits";
      };
      x.wake();
      await world.settle();
      assert.equal(job.settledAtMs, 1000);
      grantOf(job);
    }),
  );

  it(
    "WAK-09 deadlines are worked out afresh in each pass, and an early wake only looks again",
    scenario(async (world) => {
      const x = shortUntil("x", 1100);
      const bucket = world.bucket("bucket", { tpm: 60_000, rpm: 6000 });
      const admission = world.admission();
      const job = world.follow(admission.admit(new Demand().add(x)));
      await world.settle();
      assert.equal(world.clock.nextTimerMs, 1100);
      x.instant = 1300;
      x.wake();
      await world.settle();
      assert.deepEqual([world.clock.nextTimerMs, world.clock.pendingTimers], [1300, 1]);
      x.mode = "fits";
      await world.clock.advance(299);
      assertParked(job);
      await world.clock.advance(1);
      grantOf(job);

      assert.ok(bucket.tryTake([60_000], []));
      const metered = world.follow(admission.admit(new Demand().add(bucket, 200)));
      await world.clock.advance(100);
      bucket.give([50]);
      await world.settle();
      assertParked(metered);
      assert.deepEqual([world.clock.nextTimerMs, world.clock.pendingTimers], [1450, 1]);
    }),
  );
});

describe("Metered deadlines", () => {
  it(
    "WAK-10 a follower's deadline on a shared meter is when its own and the head's amounts are both there",
    scenario(async (world) => {
      const meter = (name: string) => {
        const account = new MeterLimiter(name, 1000, 1000, world.clock);
        account.drain();
        return account;
      };
      assert.equal(await followerInstant(world, meter("near"), 600, 300), 1900);
      assert.equal(await followerInstant(world, meter("beyond"), 800, 500), null);

      const bucket = world.bucket("bucket", { tpm: 60_000, rpm: 6000 });
      assert.ok(bucket.tryTake([60_000], []));
      assert.equal(await followerInstant(world, bucket, 600, 300), 1900);
      assert.equal(await followerInstant(world, bucket, 40_000, 30_000), null);
      const admission = world.admission();
      const head = world.follow(admission.admit(new Demand().add(bucket, 600)));
      const follower = world.follow(admission.admit(new Demand().add(bucket, 300)));
      await world.settle();
      assert.equal(world.clock.nextTimerMs, 1600);
      await world.clock.advance(1000);
      assert.deepEqual([head.settledAtMs, follower.settledAtMs], [1600, 1900]);
    }),
  );

  it(
    "WAK-11 a shortfall of tokens is granted by the clock alone: 100 of 60,000 per minute in 100 ms",
    scenario(async (world) => {
      const bucket = world.bucket("bucket", { rpm: 6000, tpm: 60_000 });
      const admission = world.admission();
      const all = await admission.admit(new Demand().add(bucket, 60_000));
      const job = world.follow(admission.admit(new Demand().add(bucket, 100)));

      await world.clock.advance(99.999);
      assertParked(job);
      await world.clock.advance(0.001);
      assert.equal(grantOf(job).wallWaitMs, 100);
      assert.equal(all.isSettled, false);
    }),
  );

  it(
    "WAK-12 a raised cap gets parked waiters looked at again at once",
    scenario(async (world) => {
      const bucket = world.bucket("bucket", { rpm: 60, tpm: 1000 });
      const admission = world.admission();
      await admission.admit(new Demand().add(bucket, 1000));
      const job = world.follow(admission.admit(new Demand().add(bucket, 500)));
      await world.settle();
      assert.equal(world.clock.nextTimerMs, 31_000);

      bucket.setConfig({ rpm: 60_000, tpm: 60_000_000 });
      await world.settle();
      assert.equal(world.clock.nextTimerMs, 1000.5);
      await world.clock.advance(5000);
      assert.equal(job.settledAtMs, 1000.5);
    }),
  );

  it(
    "WAK-15 the sleep is the deadline minus the clock after the pass, and none when that is not positive",
    scenario(async (world) => {
      const clock = new WatchedClock(1000);
      const x = new WatchedLimiter("x", [], "short");
      const admission = world.admission({ clock });
      const job = world.follow(admission.admit(new Demand().add(x)));
      await clock.advance(0);
      assert.deepEqual(clock.delaysMs, []);

      x.instant = 1100;
      x.onAsk = (verb) => clock.skewMs += verb === "earliestFit" ? 30 : 0;
      x.wake();
      await clock.advance(0);
      assert.deepEqual(clock.delaysMs, [70]);
      x.instant = 1130;
      x.onAsk = (verb) => {
        if (verb !== "earliestFit") return;
        clock.skewMs += 200;
        x.mode = "fits";
      };
      x.wake();
      await clock.advance(0);
      grantOf(job);
      assert.deepEqual(clock.delaysMs, [70]);
    }),
  );
});
