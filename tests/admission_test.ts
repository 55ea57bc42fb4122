/** Granting: what admit does at once, who is parked, and that a demand is granted whole (monitor.md 1.1 and 1.2). */
import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Demand, UncorrectableError } from "../mod.ts";
import { MeterLimiter, ScriptedLimiter } from "../testing/mod.ts";
import { type Call, scenario } from "./scenario.ts";
import { assertParked, grantOf, WatchedLimiter } from "./watched.ts";

describe("Granting", () => {
  it(
    "MON-01 admission has start, admit, release, rollback, stop and queueSize, and only admit waits",
    scenario(async (world) => {
      const gate = world.gate("gate", 1);
      const bucket = world.bucket("bucket", { tpm: 1000, rpm: 10 });
      const admission = world.unstarted();

      assert.equal(admission.start(), admission);
      const grant = await admission.admit(new Demand().add(gate).add(bucket, 1000));
      const parked = world.follow(admission.admit(new Demand().add(gate).add(bucket, 1000)));
      assert.equal(admission.queueSize, 1);
      for (const answer of [gate.fits([undefined], []), gate.tryTake([undefined], [])]) {
        assert.equal(answer, false);
      }
      for (const answer of [bucket.fits([1000], []), bucket.tryTake([1000], [])]) assert.equal(answer, false);
      assert.equal(gate.earliestFit([undefined], []), null);
      assert.equal(admission.release(grant), undefined);
      assert.equal(bucket.give([1000]), undefined);
      await world.settle();
      assert.equal(admission.rollback(grantOf(parked)), undefined);
      assert.equal(admission.stop(), undefined);
      assert.equal(gate.currentInUse, 0);
    }),
  );

  it(
    "MON-02 a demand is granted whole or not at all, and nobody comes between its checks and its debits",
    scenario(async (world) => {
      const [left, right] = [world.gate("left", 1), world.gate("right", 1)];
      const middle = new WatchedLimiter("middle", []);
      const admission = world.admission();
      const seen: unknown[] = [];
      const intruders: Call[] = [];
      middle.onAsk = (verb) => {
        if (verb !== "tryTake") return;
        seen.push(left.currentInUse, right.currentInUse, admission.tryAdmit(new Demand().add(right)));
        intruders.push(world.follow(admission.admit(new Demand().add(right).add(left))));
      };

      const whole = world.follow(admission.admit(new Demand().add(left).add(middle).add(right)));
      await world.settle();
      assert.deepEqual(seen, [1, 0, null]);
      assert.equal(whole.error, null);
      assert.deepEqual([left.currentInUse, right.currentInUse], [1, 1]);
      assertParked(...intruders);
      grantOf(whole).release();
      await world.settle();
      assert.deepEqual(intruders.map(grantOf).map((grant) => grant.isSettled), [false]);
      assert.deepEqual([left.currentInUse, right.currentInUse], [1, 1]);
    }),
  );

  it(
    "MON-03 a thousand jobs that wait for tokens hold no place in the pool",
    scenario(async (world) => {
      const bucket = world.bucket("bucket", { tpm: 100_000, rpm: 2000 });
      const http = world.gate("http", 1000);
      const admission = world.admission();
      assert.ok(bucket.tryTake([100_000], []));

      const jobs = Array.from(
        { length: 1000 },
        () => world.follow(admission.admit(new Demand().add(bucket, 100).add(http))),
      );
      await world.settle();
      assert.equal(admission.queueSize, 1000);
      assert.equal(http.currentInUse, 0);
      bucket.give([100_000]);
      await world.settle();
      jobs.forEach(grantOf);
      assert.equal(http.currentInUse, 1000);
      assert.equal(admission.queueSize, 0);
    }),
  );

  it(
    "MON-03 whoever waits for a scarce permit holds none of the plentiful ones",
    scenario(async (world) => {
      const [plentiful, scarce] = [world.gate("plentiful", 100), world.gate("scarce", 1)];
      const admission = world.admission();
      await admission.admit(new Demand().add(scarce));

      for (let i = 0; i < 20; i++) world.follow(admission.admit(new Demand().add(plentiful).add(scarce)));
      await world.settle();
      assert.equal(admission.queueSize, 20);
      assert.equal(plentiful.currentInUse, 0);
    }),
  );

  it(
    "MON-04 tokens leave the bucket at the moment of the grant and not before",
    scenario(async (world) => {
      const meter = new MeterLimiter("meter", 1000, 0, world.clock);
      const bucket = world.bucket("bucket", { tpm: 1000, rpm: 10 });
      const permit = world.gate("permit", 1);
      const admission = world.admission();
      const holder = await admission.admit(new Demand().add(permit));

      const job = world.follow(admission.admit(new Demand().add(meter, 400).add(bucket, 400).add(permit)));
      await world.settle();
      assertParked(job);
      assert.deepEqual([meter.level, meter.takeCount, bucket.status.availableTokens], [1000, 0, 1000]);
      holder.release();
      await world.settle();
      grantOf(job);
      assert.deepEqual([meter.level, meter.takeCount, bucket.status.availableTokens], [600, 1, 600]);
    }),
  );

  it(
    "MON-05 all entries are asked in demand order, then all are taken; memory is asked first and taken last",
    scenario(async (world) => {
      const log: string[] = [];
      const [x, y, z] = ["x", "y", "z"].map((name) => new WatchedLimiter(name, log));
      const memory = new WatchedLimiter("memory", log);
      const admission = world.admission({ memory });
      await world.settle();
      y!.mode = "short";
      log.length = 0;

      const job = world.follow(admission.admit(new Demand().add(x!, 1).add(y!, 2).add(z!, 3)));
      const asked = log.filter((line) => line.includes(" fits "));
      assert.deepEqual(asked, ["memory fits [] []", "x fits [1] []", "y fits [2] []", "z fits [3] []"]);
      assert.ok(!log.some((line) => line.includes("tryTake")));
      await world.settle();
      log.length = 0;
      y!.mode = "fits";
      y!.wake();
      await world.settle();
      grantOf(job);
      const takes = ["x tryTake [1] []", "y tryTake [2] []", "z tryTake [3] []", "memory tryTake [] []"];
      assert.deepEqual(log, [...asked, ...takes]);
    }),
  );

  it(
    "MON-06 one attempt finds every short account, and a later refusal still surfaces",
    scenario(async (world) => {
      const [first, second] = [world.gate("first", 1), world.gate("second", 1)];
      const refusing = new ScriptedLimiter("refusing", "refuses");
      const admission = world.admission();
      await admission.admit(new Demand().add(first).add(second));
      world.events.length = 0;

      const refused = admission.admit(new Demand().add(first).add(refusing));
      await assert.rejects(refused, { name: "UncorrectableError", message: /pick a different tool/ });
      assert.deepEqual(world.transitions, ["refusing REJECTED"]);
      world.follow(admission.admit(new Demand().add(first).add(second)));
      assert.deepEqual(world.transitions.slice(1), ["first HELD", "second HELD"]);
      assert.equal(admission.queueSize, 1);
    }),
  );
});

describe("Admit at once or park", () => {
  it(
    "MON-07 admit tries on its own turn when the line is empty, with nothing set aside",
    scenario((world) => {
      const log: string[] = [];
      const x = new WatchedLimiter("x", log);
      const gate = world.gate("gate", 3);
      const admission = world.admission();

      world.follow(admission.admit(new Demand().add(gate, 2).add(x, 7)));
      assert.equal(gate.currentInUse, 2);
      assert.equal(admission.queueSize, 0);
      assert.deepEqual(log, ["x wired", "x fits [7] []", "x tryTake [7] []"]);
      world.follow(admission.admit(new Demand().add(gate)));
      assert.equal(gate.currentInUse, 3);
      world.follow(admission.admit(new Demand().add(gate)));
      assert.equal(admission.queueSize, 1);
    }),
  );

  it(
    "MON-08 with anybody in line admit joins its end, whatever it asks, and the next pass looks at it",
    scenario(async (world) => {
      const [taken, free] = [world.gate("taken", 1), world.gate("free", 1)];
      const admission = world.admission();
      await admission.admit(new Demand().add(taken));
      const head = world.follow(admission.admit(new Demand().add(taken)));
      await world.settle();

      const disjoint = world.follow(admission.admit(new Demand().add(free)));
      const empty = world.follow(admission.admit(new Demand()));
      assert.equal(admission.tryAdmit(new Demand().add(free)), null);
      assert.deepEqual([admission.queueSize, free.currentInUse], [3, 0]);
      await world.settle();
      assert.equal(grantOf(disjoint).isEmpty, false);
      assert.equal(grantOf(empty).isEmpty, true);
      assert.deepEqual([admission.queueSize, free.currentInUse], [1, 1]);
      assertParked(head);
    }),
  );

  it(
    "MON-10 an attempt that is held on arrival says so at once, joins the line and is looked at again",
    scenario(async (world) => {
      const x = new ScriptedLimiter("x", "short");
      const gate = world.gate("gate", 1);
      const admission = world.admission();
      await admission.admit(new Demand().add(gate));
      world.events.length = 0;

      const job = world.follow(admission.admit(new Demand().add(x)));
      assert.deepEqual(world.transitions, ["x HELD"]);
      assert.equal(admission.queueSize, 1);
      x.mode = "fits";
      await world.settle();
      assert.deepEqual([...grantOf(job).waitTimesMs], [["x", 0]]);

      x.mode = "short";
      const slow = world.follow(admission.admit(new Demand().add(gate).add(x)));
      assert.deepEqual(world.transitions.slice(2), ["gate HELD", "x HELD"]);
      await world.clock.advance(250);
      x.mode = "fits";
      gate.setCapacity(2);
      await world.settle();
      assert.deepEqual([...grantOf(slow).waitTimesMs], [["gate", 250], ["x", 250]]);
    }),
  );

  it(
    "MON-11 a demand that is refused on arrival rejects from admit and never joins the line",
    scenario(async (world) => {
      const gate = world.gate("gate", 2);
      const admission = world.admission();

      const refused = world.follow(admission.admit(new Demand().add(gate, 3)));
      assert.equal(admission.queueSize, 0);
      await world.settle();
      assert.ok(refused.error instanceof UncorrectableError);
      assert.match(refused.error.message, /can never fit/);
      assert.throws(() => admission.tryAdmit(new Demand().add(gate, 3)), UncorrectableError);
      assert.deepEqual([gate.currentInUse, admission.queueSize], [0, 0]);
    }),
  );
});
