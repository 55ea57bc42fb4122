/** Arrival, wiring, start and the size of the line (monitor.md 1.2). */
import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { type Admission, Demand, type Grant, InvalidStateError } from "../mod.ts";
import { scenario } from "./scenario.ts";
import { assertParked, grantOf, WatchedLimiter } from "./watched.ts";

describe("Arrival and start", () => {
  it(
    "MON-12 arrival order is the order of the admit calls, not of their tasks",
    scenario(async (world) => {
      const gate = world.gate("gate", 1);
      const admission = world.admission();
      let holder: Grant = await admission.admit(new Demand().add(gate));
      const order: number[] = [];
      const tasks = [0, 1, 2].map(async (task) => {
        for (let turn = task; turn < 2; turn++) await Promise.resolve();
        holder = await admission.admit(new Demand().add(gate));
        order.push(task);
      });

      for (let i = 0; i < 3; i++) {
        await world.settle();
        holder.release();
      }
      await Promise.all(tasks);
      assert.deepEqual(order, [2, 1, 0]);
    }),
  );

  it(
    "MON-13 the accounts of a demand are wired before the first attempt, once each, granted or not",
    scenario(async (world) => {
      const log: string[] = [];
      const [x, y, refusing] = [
        new WatchedLimiter("x", log),
        new WatchedLimiter("y", log, "short"),
        new WatchedLimiter("refusing", log, "refuses"),
      ];
      const admission = world.admission();

      await admission.admit(new Demand().add(x));
      assert.deepEqual(log.splice(0), ["x wired", "x fits [] []", "x tryTake [] []"]);
      await assert.rejects(admission.admit(new Demand().add(x).add(refusing)), {
        name: "UncorrectableError",
      });
      assert.deepEqual(log.splice(0), ["refusing wired", "x fits [] []", "refusing fits [] []"]);
      const parked = world.follow(admission.admit(new Demand().add(x).add(y)));
      assert.equal(log.splice(0)[0], "y wired");
      y.mode = "fits";
      y.wake();
      await world.settle();
      grantOf(parked).release();
      await admission.admit(new Demand().add(x).add(y));
      assert.ok(!log.some((line) => line.endsWith(" wired")));
    }),
  );

  it(
    "MON-14 before start inline grants work, and everybody else parks until the first pass",
    scenario(async (world) => {
      const gate = world.gate("gate", 1);
      const admission = world.unstarted();

      const first = await admission.admit(new Demand().add(gate));
      const second = world.follow(admission.admit(new Demand().add(gate)));
      const empty = world.follow(admission.admit(new Demand()));
      first.release();
      await world.clock.advance(60_000);
      assertParked(second, empty);
      assert.deepEqual([gate.currentInUse, admission.queueSize], [0, 2]);
      admission.start();
      await world.settle();
      assert.equal(grantOf(second).wallWaitMs, 60_000);
      assert.equal(grantOf(empty).isEmpty, true);
    }),
  );

  it(
    "MON-14 says once, to the logger, that somebody waits and start was forgotten; a TimeoutError says it too",
    scenario(async (world) => {
      const gate = world.gate("gate", 1);
      const admission = world.unstarted();
      await admission.admit(new Demand().add(gate));
      assert.equal(admission.tryAdmit(new Demand().add(gate)), null);
      assert.deepEqual(world.logs, [], "nobody has to wait yet");
      const late = world.follow(admission.admit(new Demand().add(gate), { timeoutMs: 50 }));
      assert.deepEqual(world.logs, [
        "warn Somebody waits for an Admission that was never started, start() it: until then its line does not move",
      ]);
      const waiting = world.follow(admission.admit(new Demand().add(gate)));
      await world.clock.advance(50);
      assert.equal(
        (late.error as Error).message,
        'Not admitted within the time limit: waited 50 ms for "gate"; this Admission was never started, start() lets its line move',
      );
      assert.equal(world.logs.length, 1);
      admission.start();
      const timed = world.follow(admission.admit(new Demand().add(gate), { timeoutMs: 1 }));
      await world.clock.advance(1);
      assert.doesNotMatch((timed.error as Error).message, /started/);
      assertParked(waiting);
      admission.stop();
    }),
  );

  it(
    "MON-14 a logger that stops admission when it hears of that ends the wait",
    scenario(async (world) => {
      const gate = world.gate("gate", 1);
      const logger = { info: () => {}, warn: () => admission.stop(), error: () => {} };
      const admission: Admission = world.unstarted({ logger });
      await admission.admit(new Demand().add(gate));
      await assert.rejects(admission.admit(new Demand().add(gate)), { code: "stopped" });
      assert.equal(admission.queueSize, 0);
    }),
  );

  it(
    "MON-15 start wires the memory account and gives it the held view, and starting twice is refused",
    scenario(async (world) => {
      const log: string[] = [];
      const memory = new WatchedLimiter("memory", log, "short");
      const gate = world.gate("gate", 2);
      const admission = world.unstarted({ memory });

      assert.deepEqual([log, memory.held], [[], null]);
      admission.start();
      assert.deepEqual(log, ["memory wired"]);
      assert.throws(() => admission.start(), InvalidStateError);
      assert.equal(memory.held!(), 0);
      const jobs = [1, 2].map(() => world.follow(admission.admit(new Demand().add(gate))));
      await world.settle();
      assert.equal(memory.held!(), 2);
      memory.mode = "fits";
      memory.wake();
      await world.settle();
      jobs.forEach(grantOf);
      assert.equal(memory.held!(), 0);
      assert.equal(log.filter((line) => line === "memory wired").length, 1);
    }),
  );

  it(
    "MON-16 queueSize counts exactly those who are parked at that instant",
    scenario(async (world) => {
      const gate = world.gate("gate", 5);
      const admission = world.admission();
      const holder = await admission.admit(new Demand().add(gate, 5));
      const leaving = new AbortController();
      assert.equal(admission.queueSize, 0);

      const granted = world.follow(admission.admit(new Demand().add(gate, 2)));
      const aborted = world.follow(admission.admit(new Demand().add(gate), { signal: leaving.signal }));
      const refused = world.follow(admission.admit(new Demand().add(gate, 4)));
      const parked = world.follow(admission.admit(new Demand().add(gate, 3)));
      assert.equal(admission.queueSize, 4);
      leaving.abort();
      assert.equal(admission.queueSize, 3);
      gate.setCapacity(3);
      holder.release();
      await world.settle();
      assert.equal(admission.queueSize, 1);
      grantOf(granted);
      assertParked(parked);
      assert.equal(aborted.error, leaving.signal.reason);
      assert.match(String(refused.error), /can never fit/);
    }),
  );
});
