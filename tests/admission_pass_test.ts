/** The pass: its walk, its one clock reading, takes that decline, and how a grant is made known (monitor.md 1.4, 1.5, 1.7). */
import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Demand } from "../mod.ts";
import { ScriptedLimiter } from "../testing/mod.ts";
import { scenario } from "./scenario.ts";
import { assertParked, grantOf, WatchedClock, WatchedLimiter } from "./watched.ts";

/** An account where 5 fits only once 1 was taken. */
class LadderLimiter extends WatchedLimiter {
  override fits(mine: readonly unknown[], ahead: readonly unknown[]): boolean {
    super.fits(mine, ahead);
    return mine[0] === 1 || this.takeCount > 0;
  }
}

describe("The pass", () => {
  it(
    "MON-27 after each departure the pass looks again from the head, until nobody leaves",
    scenario(async (world) => {
      const log: string[] = [];
      const ladder = new LadderLimiter("ladder", log);
      const gate = world.gate("gate", 1);
      const admission = world.admission();
      await admission.admit(new Demand().add(gate));
      const head = world.follow(admission.admit(new Demand().add(ladder, 5)));
      const stuck = world.follow(admission.admit(new Demand().add(gate)));
      const lifting = world.follow(admission.admit(new Demand().add(ladder, 1)));

      await world.settle();
      assert.deepEqual([grantOf(lifting).wallWaitMs, grantOf(head).wallWaitMs], [0, 0]);
      const takes = log.filter((line) => line.includes("tryTake"));
      assert.deepEqual(takes, ["ladder tryTake [1] [5]", "ladder tryTake [5] []"]);
      assertParked(stuck);
      assert.equal(admission.queueSize, 1);
    }),
  );

  it(
    "MON-27 a refusal and a cancellation met on the way start the walk over as a grant does",
    scenario(async (world) => {
      const x = new WatchedLimiter("x", []);
      const gate = world.gate("gate", 4);
      const admission = world.admission();
      const holder = await admission.admit(new Demand().add(gate, 4));
      const leaving = new AbortController();
      const refused = world.follow(admission.admit(new Demand().add(gate, 4)));
      const cancelled = world.follow(
        admission.admit(new Demand().add(gate, 2).add(x), { signal: leaving.signal }),
      );
      const last = world.follow(admission.admit(new Demand().add(gate, 2)));
      await world.settle();

      // Only 3 permits are left: the last can go only because both before it leave in the same pass.
      x.onAsk = () => leaving.abort();
      gate.setCapacity(3);
      holder.release();
      await world.settle();
      assert.match(String(refused.error), /can never fit/);
      assert.equal(cancelled.error, leaving.signal.reason);
      assert.equal(grantOf(last).wallWaitMs, 0);
      assert.deepEqual([x.takeCount - x.giveCount, gate.currentInUse], [0, 2]);
    }),
  );

  it(
    "MON-28 a pass reads the clock once and uses that reading for every hold and every wait",
    scenario(async (world) => {
      const clock = new WatchedClock(1000);
      const gate = world.gate("gate", 3);
      const admission = world.admission({ clock });
      const holder = await admission.admit(new Demand().add(gate, 3));
      clock.driftMs = 1;
      world.follow(admission.admit(new Demand().add(gate)));
      for (let i = 0; i < 2; i++) world.follow(admission.admit(new Demand().add(gate)));
      await world.settle();
      world.events.length = 0;

      holder.release();
      const before = clock.readings;
      await world.settle();
      assert.equal(clock.readings - before, 1);
      const [, first, second, third] = world.events;
      assert.deepEqual([second!.type, third!.type], ["GRANTED_FROM_HOLD", "GRANTED_FROM_HOLD"]);
      assert.equal(second!.waitMs, third!.waitMs);
      assert.ok(first!.waitMs > second!.waitMs && second!.waitMs > 0);
    }),
  );

  it(
    "MON-29 when the head leaves, the next waiter is the head within the same pass",
    scenario(async (world) => {
      const log: string[] = [];
      const x = new WatchedLimiter("x", log, "short");
      const gate = world.gate("gate", 1);
      const admission = world.admission();
      await admission.admit(new Demand().add(gate));
      const calls = [
        world.follow(admission.admit(new Demand().add(x, 5))),
        world.follow(admission.admit(new Demand().add(x, 3).add(gate))),
        world.follow(admission.admit(new Demand().add(x, 2))),
      ];
      await world.settle();
      log.length = 0;

      x.mode = "fits";
      x.onAsk = () => void Promise.resolve().then(() => log.push("the pass is over"));
      x.wake();
      await world.settle();
      assert.deepEqual(calls.map(({ grant }) => grant !== null), [true, false, true]);
      const pass = log.slice(0, log.indexOf("the pass is over"));
      const first = ["x fits [5] []", "x tryTake [5] []"];
      assert.deepEqual(pass, [
        ...first,
        "x fits [3] []",
        "x fits [2] [3]",
        "x tryTake [2] [3]",
        "x fits [3] []",
      ]);
    }),
  );

  it(
    "MON-30 with 10,000 waiting one token grants exactly one of them, the oldest",
    scenario(async (world) => {
      const bucket = world.bucket("bucket", { tpm: 60_000, rpm: 60_000 });
      const admission = world.admission({ events: () => {} });
      assert.ok(bucket.tryTake([60_000], []));
      const demand = new Demand().add(bucket, 1);
      const calls = Array.from({ length: 10_000 }, () => world.follow(admission.admit(demand)));
      await world.settle();
      assert.equal(admission.queueSize, 10_000);

      bucket.give([1]);
      await world.settle();
      assert.deepEqual(calls.flatMap(({ grant }, index) => grant === null ? [] : [index]), [0]);
      assert.equal(admission.queueSize, 9_999);
    }),
  );
});

describe("A take that declines after the checks passed", () => {
  it(
    "MON-31 what was taken goes back, and the waiter is held on the account that declined",
    scenario(async (world) => {
      const first = world.gate("first", 1);
      const second = new ScriptedLimiter("second", "declines");
      const admission = world.admission();

      const job = world.follow(admission.admit(new Demand().add(first).add(second)));
      await world.settle();
      assertParked(job);
      assert.equal(first.currentInUse, 0);
      second.mode = "fits";
      second.wake();
      await world.settle();
      grantOf(job);
      assert.deepEqual([first.currentInUse, second.takeCount], [1, 1]);
    }),
  );

  it(
    "MON-31 MON-33 takes go back in order and silently, nobody after is asked, one instant counts",
    scenario(async (world) => {
      const log: string[] = [];
      const [a, b, declining, after] = ["a", "b", "declining", "after"].map((name) =>
        new WatchedLimiter(name, log)
      );
      const memory = new WatchedLimiter("memory", log);
      const admission = world.admission({ memory });
      declining!.mode = "declines";
      declining!.instant = 1070;
      for (const fitting of [a!, after!]) fitting.instant = 9000;

      const demand = new Demand().add(a!).add(b!).add(declining!, 3).add(declining!, 4).add(after!);
      const job = world.follow(admission.admit(demand));
      const takes = log.filter((line) => /tryTake|give|earliestFit/.test(line));
      const given = ["a give []", "b give []"];
      const taken = ["a tryTake [] []", "b tryTake [] []", "declining tryTake [3,4] []"];
      assert.deepEqual(takes, [...taken, ...given, "declining earliestFit [3,4] []"]);
      await world.settle();
      assert.deepEqual(world.events.map(({ limiterName, type, amount }) => [limiterName, type, amount]), [
        ["declining", "HELD", 7],
      ]);
      assertParked(job);
      assert.equal(world.clock.nextTimerMs, 1070);
      declining!.instant = null;
      declining!.wake();
      await world.settle();
      assert.equal(world.clock.nextTimerMs, null);
    }),
  );

  it(
    "MON-32 MON-33 when memory declines its take all entries go back and the waiter is held on memory",
    scenario(async (world) => {
      const log: string[] = [];
      const bucket = world.bucket("bucket", { tpm: 1000, rpm: 10 });
      const a = new WatchedLimiter("a", log);
      const gate = world.gate("gate", 1);
      const memory = new WatchedLimiter("memory", log, "declines");
      memory.instant = 1070;
      const admission = world.admission({ memory });

      const job = world.follow(admission.admit(new Demand().add(a).add(bucket, 400).add(gate)));
      await world.settle();
      assertParked(job);
      assert.deepEqual([a.currentInUse, bucket.status.availableTokens, gate.currentInUse], [0, 1000, 0]);
      assert.deepEqual(world.events.map(({ limiterName, type, amount }) => [limiterName, type, amount]), [
        ["memory", "HELD", 1],
      ]);
      const attempt = ["a tryTake [] []", "memory tryTake [] []", "a give []", "memory earliestFit [] []"];
      assert.deepEqual(log.slice(-4), attempt);
      assert.equal(world.clock.nextTimerMs, 1070);
      memory.mode = "fits";
      await world.clock.advance(70);
      assert.deepEqual([...grantOf(job).waitTimesMs], [["memory", 70]]);
      assert.deepEqual([a.currentInUse, bucket.status.availableTokens, gate.currentInUse], [1, 600, 1]);
    }),
  );
});

describe("Publication", () => {
  it(
    "MON-40 entries are taken, then memory, the held counts fall, events go out, then the caller resumes",
    scenario(async (world) => {
      const log: string[] = [];
      const [x, y] = [new WatchedLimiter("x", log, "short"), new WatchedLimiter("y", log, "short")];
      const memory = new WatchedLimiter("memory", log);
      const admission = world.admission({
        memory,
        events: ({ limiterName, type, waiters }) =>
          log.push(`${limiterName} ${type}, held ${waiters} ${y.held!()}`),
      });
      void admission.admit(new Demand().add(x).add(y)).then((grant) =>
        log.push(`resumed, ${grant.isSettled}`)
      );
      await world.settle();
      log.length = 0;

      x.mode = y.mode = "fits";
      x.wake();
      await world.settle();
      assert.deepEqual(log.filter((line) => !line.includes(" fits ")), [
        "x tryTake [] []",
        "y tryTake [] []",
        "memory tryTake [] []",
        "x GRANTED_FROM_HOLD, held 0 0",
        "y GRANTED_FROM_HOLD, held 0 0",
        "resumed, false",
      ]);
      log.forEach((line) => world.tell(line));
    }),
  );
});
