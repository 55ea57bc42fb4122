/** What accounts throw about one waiter, and at settlement (monitor.md 3.1 and 3.3). */
import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  type AdmissionError,
  CorrectableError,
  createJobContext,
  Demand,
  UncorrectableError,
} from "../mod.ts";
import { ScriptedLimiter } from "../testing/mod.ts";
import { scenario } from "./scenario.ts";
import { assertParked, grantOf, WatchedLimiter } from "./watched.ts";

/** An account that throws what it is told to, from the verb it is told. */
class ThrowingLimiter extends WatchedLimiter {
  constructor(log: string[], verb: string, thrown: unknown) {
    super("broken", log, verb === "earliestFit" ? "short" : "fits");
    this.onAsk = (asked) => {
      if (asked === verb) throw thrown;
    };
  }
}

describe("What an account throws about one waiter", () => {
  it(
    "FLT-01 an account that refuses one waiter leaves the others and admission alone",
    scenario(async (world) => {
      const slot = world.gate("slot", 1);
      const circuit = new ScriptedLimiter("circuit", "refuses");
      const admission = world.admission();
      const holder = await admission.admit(new Demand().add(slot));
      const patient = world.follow(admission.admit(new Demand().add(slot)));
      const refused = world.follow(admission.admit(new Demand().add(slot).add(circuit)));

      await world.settle();
      assert.ok(refused.error instanceof UncorrectableError);
      assertParked(patient);
      assert.equal(admission.queueSize, 1);
      holder.release();
      await world.settle();
      grantOf(patient);
    }),
  );

  it(
    "FLT-01 whatever is thrown, from fits, tryTake or earliestFit, fails the waiter that was asked about",
    scenario(async (world) => {
      const admission = world.admission();
      const slot = world.gate("slot", 1);
      for (const verb of ["fits", "tryTake", "earliestFit"]) {
        for (const thrown of [new Error("a bug"), new RangeError("a range"), "a string", undefined]) {
          const broken = new ThrowingLimiter([], verb, thrown);
          const holder = await admission.admit(new Demand().add(slot));
          const patient = world.follow(admission.admit(new Demand().add(slot)));
          const failing = world.follow(admission.admit(new Demand().add(broken)));
          await world.settle();
          const error = failing.error as UncorrectableError;
          assert.ok(error instanceof UncorrectableError, `${verb} threw ${thrown}`);
          assert.equal(error.cause, thrown);
          holder.release();
          await world.settle();
          grantOf(patient).release();
        }
      }
      assert.deepEqual([admission.queueSize, slot.currentInUse], [0, 0]);
    }),
  );

  it(
    "FLT-02 a refusal fit for a model reaches the caller as the same object, reported circuit_blocked, unlogged",
    scenario(async (world) => {
      const admission = world.admission();
      for (
        const thrown of [new UncorrectableError("take another tool"), new CorrectableError("ask for less")]
      ) {
        const inline = world.follow(
          admission.admit(new Demand().add(new ThrowingLimiter([], "fits", thrown))),
        );
        await world.settle();
        assert.equal(inline.error, thrown);
      }
      const gate = world.gate("gate", 2);
      await assert.rejects(admission.admit(new Demand().add(gate, 3)), { message: /can never fit/ });
      const reported = world.events.map(({ type, limiterName, rejectReason }) =>
        `${limiterName} ${type} ${rejectReason}`
      );
      const broken = "broken REJECTED circuit_blocked";
      assert.deepEqual(reported, [broken, broken, "gate REJECTED circuit_blocked"]);
      assert.deepEqual(world.logs, []);
    }),
  );

  it(
    "FLT-03 any other throw is wrapped with account and cause, reported aborted, and logged in two records",
    scenario(async (world) => {
      const records: unknown[][] = [];
      const keep = (level: string) => (message: string, fields?: object) =>
        records.push([level, message, fields]);
      const logger = { info: keep("info"), warn: keep("warn"), error: keep("error") };
      const admission = world.admission({ logger });
      const bug = new TypeError("nobody expected this");
      const broken = new ThrowingLimiter([], "fits", bug);
      const context = createJobContext({ id: "job-7" });

      const failing = world.follow(admission.admit(new Demand().add(broken), { context }));
      await world.settle();
      const error = failing.error as AdmissionError;
      assert.ok(error instanceof UncorrectableError);
      assert.match(error.message, /broken.*nobody expected this/);
      assert.equal(error.cause, bug);
      assert.deepEqual(world.events.map(({ rejectReason }) => rejectReason), ["aborted"]);
      assert.deepEqual(records.map(([level]) => level), ["error", "error"]);
      const [summary, stack] = records;
      assert.match(String(summary![1]), /^[^\n]*broken[^\n]*nobody expected this$/);
      assert.deepEqual(summary![2], { account: "broken", job: "job-7" });
      assert.equal(stack![1], bug.stack);
      assert.equal((await admission.admit(new Demand().add(world.gate("free", 1)))).isEmpty, false);
    }),
  );

  it(
    "FLT-04 what the attempt had taken goes back, in order, before the refusal is recorded",
    scenario(async (world) => {
      const log: string[] = [];
      const [a, b] = [new WatchedLimiter("a", log), new WatchedLimiter("b", log)];
      const gate = world.gate("gate", 1);
      const bucket = world.bucket("bucket", { tpm: 1000, rpm: 10 });
      const events = ({ limiterName, type }: { limiterName: string; type: string }) => {
        log.push(`${limiterName} ${type}, ${gate.currentInUse} ${bucket.status.availableTokens}`);
      };
      const admission = world.admission({ events });
      const broken = new ThrowingLimiter(log, "tryTake", new Error("no"));
      const demand = new Demand().add(a).add(gate).add(bucket, 400).add(b).add(broken);

      await assert.rejects(admission.admit(demand), { message: /broken/ });
      assert.deepEqual(log.slice(log.indexOf("a tryTake [] []")), [
        "a tryTake [] []",
        "b tryTake [] []",
        "broken tryTake [] []",
        "a give []",
        "b give []",
        "broken REJECTED, 0 1000",
      ]);
      assert.deepEqual([bucket.status.availableRequests, admission.queueSize], [10, 0]);
    }),
  );
});

describe("Where a refusal surfaces", () => {
  it(
    "FLT-05 a refusal surfaces although an earlier entry was only short",
    scenario(async (world) => {
      const slot = world.gate("slot", 1);
      const circuit = new ScriptedLimiter("circuit");
      const admission = world.admission();
      await admission.admit(new Demand().add(slot));
      const parked = world.follow(admission.admit(new Demand().add(slot).add(circuit)));
      await world.clock.advance(500);
      assertParked(parked);
      world.events.length = 0;

      circuit.mode = "refuses";
      circuit.wake();
      await world.settle();
      assert.ok(parked.error instanceof UncorrectableError);
      const told = world.events.map((
        { limiterName, rejectReason, waitMs },
      ) => [limiterName, rejectReason, waitMs]);
      assert.deepEqual(told, [["circuit", "circuit_blocked", 0], ["slot", "circuit_blocked", 500]]);
      await assert.rejects(admission.admit(new Demand().add(slot).add(circuit)), UncorrectableError);
    }),
  );

  it(
    "FLT-06 a refusal rejects from admit when it comes inline, and reaches the parked caller when in a pass",
    scenario(async (world) => {
      const circuit = new ScriptedLimiter("circuit", "refuses");
      const admission = world.admission();
      const inline = world.follow(admission.admit(new Demand().add(circuit)));
      assert.equal(admission.queueSize, 0);
      await world.settle();
      assert.ok(inline.error instanceof UncorrectableError);

      circuit.mode = "short";
      const parked = world.follow(admission.admit(new Demand().add(circuit)));
      await world.settle();
      assertParked(parked);
      circuit.mode = "refuses";
      circuit.wake();
      assert.equal(admission.queueSize, 1);
      await world.settle();
      assert.ok(parked.error instanceof UncorrectableError);
      assert.deepEqual(world.transitions, ["circuit REJECTED", "circuit HELD", "circuit REJECTED"]);
    }),
  );

  it(
    "FLT-07 a cap lowered under a parked amount refuses it at its next check, head and follower alike",
    scenario(async (world) => {
      const bucket = world.bucket("bucket", { rpm: 600, tpm: 10_000 });
      const admission = world.admission();
      assert.ok(bucket.tryTake([10_000], []));
      const calls = [1, 2].map(() => world.follow(admission.admit(new Demand().add(bucket, 9000))));
      const small = world.follow(admission.admit(new Demand().add(bucket, 8000)));
      await world.settle();

      bucket.setConfig({ rpm: 600, tpm: 8000 });
      assert.throws(() => bucket.fits([9000], []), UncorrectableError);
      await world.settle();
      assertParked(...calls, small);
      world.follow(admission.admit(new Demand()));
      await world.settle();
      for (const { error } of calls) assert.match(String(error), /exceeds/);
      assertParked(small);
      assert.equal(admission.queueSize, 1);
    }),
  );
});

describe("Faults at settlement and in the sink", () => {
  it(
    "FLT-14 a give that throws at settlement reaches the caller and closes nothing",
    scenario(async (world) => {
      const x = new ScriptedLimiter("x");
      const gate = world.gate("gate", 1);
      const admission = world.admission();
      const parked: ReturnType<typeof world.follow>[] = [];
      for (const settle of ["release", "rollback"] as const) {
        const grant = await admission.admit(new Demand().add(x).add(gate));
        parked.push(world.follow(admission.admit(new Demand().add(gate))));
        x.giveThrows = true;
        assert.throws(() => admission[settle](grant), { message: "x cannot take anything back" });
        x.giveThrows = false;
        await world.settle();
        grantOf(parked.at(-1)!).release();
      }
      assert.deepEqual([admission.queueSize, gate.currentInUse, world.logs.length], [0, 0, 0]);
    }),
  );

  it(
    "FLT-16 a sink that throws, or rejects, changes nothing and closes nothing",
    scenario(async (world) => {
      let told = 0;
      const events = () => {
        if (++told % 2 === 0) return Promise.reject(new Error("a late sink"));
        throw new Error("a broken sink");
      };
      const gate = world.gate("gate", 1);
      const admission = world.admission({ events });
      const holder = await admission.admit(new Demand().add(gate));
      const parked = world.follow(admission.admit(new Demand().add(gate)));
      const doomed = world.follow(admission.admit(new Demand().add(gate, 2)));
      await world.settle();
      assert.match(String(doomed.error), /can never fit/);
      holder.release();
      await world.settle();
      grantOf(parked).release();
      assert.equal(told, 6);
      assert.deepEqual([admission.queueSize, gate.currentInUse, world.logs.length], [0, 0, 0]);
    }),
  );
});
