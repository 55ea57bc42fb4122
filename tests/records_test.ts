import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Admission, CountingGate, Demand, InvalidStateError, QueueFullError } from "../mod.ts";
import { ScriptedLimiter } from "../testing/mod.ts";
import { currentHost } from "../core/host.ts";
import { MAX_ACCOUNTS, MAX_LINES, MAX_WAITERS } from "../assembly/layout.ts";
import { runChild } from "./children.ts";
import { BentClock } from "./odd_clocks.ts";
import { KERNELS, scenario } from "./scenario.ts";

/** How much the heap may differ between two moments of a process that keeps nothing. */
const HEAP_NOISE_BYTES = 4_000_000;

function accountCount(): number {
  return currentHost().kernel.accountCount();
}

const isDisposed = (error: unknown) => error instanceof InvalidStateError && /disposed/.test(error.message);

describe("lastActivity", () => {
  it(
    "BEY-15 it is the wall time of the event-loop turn of the last take or give",
    scenario(async (world) => {
      const gate = new CountingGate("http", 1, { clock: world.clock });
      const stamp = () => gate.status.lastActivity - 1_700_000_000_000;
      await world.clock.advance(10);
      assert.equal(stamp(), 0, "of construction, before the first");
      const admission = world.admission();
      const out = admission.tryAdmit(new Demand().add(gate))!;
      assert.equal(stamp(), 10);
      await world.clock.advance(10);
      assert.equal(admission.tryAdmit(new Demand().add(gate)), null);
      assert.equal(gate.fits([undefined], []), false);
      assert.equal(gate.tryTake([undefined], []), false);
      assert.equal(stamp(), 10, "neither a question nor a take that failed counts");
      const call = world.follow(admission.admit(new Demand().add(gate)));
      await world.clock.advance(10);
      out.release();
      assert.equal(stamp(), 30);
      await world.clock.advance(10);
      assert.notEqual(call.grant, null);
      assert.equal(stamp(), 30, "the pass ran in the same turn");
      gate.give([undefined]);
      assert.equal(stamp(), 40);
      world.clock.stepWall(5);
      gate.tryTake([undefined], []);
      assert.equal(stamp(), 40, "one turn has one time");
      await world.settle();
      gate.give([undefined]);
      assert.equal(stamp(), 45);
    }),
  );

  it(
    "BEY-15 the shell reads the wall clock at most once a turn",
    scenario(async (world) => {
      const clock = new BentClock(world.clock);
      const gate = new CountingGate("http", 10, { clock });
      const admission = new Admission({ memory: null, clock }).start();
      const demand = new Demand().add(gate);
      for (let turn = 0; turn < 3; turn++) {
        await world.settle();
        clock.wallReadings = 0;
        for (let i = 0; i < 100; i++) {
          admission.tryAdmit(demand)!.release();
          (await admission.admit(demand)).rollback();
          gate.tryTake([undefined], []);
          gate.give([undefined]);
        }
        assert.equal(clock.wallReadings, 1, "for 600 takes and gives");
      }
    }),
  );
});

describe("The record of an account", () => {
  it(
    "BEY-16 dispose frees it, and refuses every verb and every demand from then on",
    scenario(async (world) => {
      const admission = world.admission();
      const before = accountCount();
      const gate = world.gate("tenant", 2);
      assert.equal(accountCount(), before, "no record before the first use");
      const demand = new Demand().add(gate);
      admission.tryAdmit(demand)!.release();
      assert.equal(accountCount(), before + 1);
      gate.dispose();
      assert.equal(accountCount(), before);
      gate.dispose();
      gate[Symbol.dispose]();
      assert.equal(accountCount(), before, "twice does nothing");
      assert.throws(() => gate.fits([undefined], []), isDisposed);
      assert.throws(() => gate.tryTake([undefined], []), isDisposed);
      assert.throws(() => gate.give([undefined]), isDisposed);
      assert.throws(() => gate.setCapacity(3), isDisposed);
      await assert.rejects(admission.admit(new Demand().add(gate)), isDisposed);
      const next = world.gate("next", 1);
      assert.equal(next.fits([undefined], []), true);
      assert.throws(() => admission.tryAdmit(demand), isDisposed, "also a demand that was admitted before");
      assert.deepEqual(
        [next.currentInUse, admission.queueSize],
        [0, 0],
        "whoever has the record now is not touched",
      );
    }),
  );

  it(
    "BEY-16 it is kept until no waiter and no grant names the account",
    scenario(async (world) => {
      const admission = world.admission();
      const before = accountCount();
      const gate = world.gate("tenant", 1);
      const demand = new Demand().add(gate);
      const out = admission.tryAdmit(demand)!;
      const calls = [world.follow(admission.admit(demand)), world.follow(admission.admit(demand))];
      await world.settle();
      gate.dispose();
      assert.equal(accountCount(), before + 1);
      out.release();
      await world.settle();
      assert.equal(admission.queueSize, 1, "who waited already is served");
      assert.equal(accountCount(), before + 1);
      calls[0]!.grant!.rollback();
      await world.settle();
      assert.equal(accountCount(), before + 1, "the last grant is out");
      calls[1]!.grant!.release();
      assert.equal(accountCount(), before);
    }),
  );

  it(
    "BEY-16 events tell of a disposed account until its last grant is settled",
    scenario(async (world) => {
      const admission = world.admission();
      const gate = world.gate("tenant", 1);
      const out = admission.tryAdmit(new Demand().add(gate))!;
      const call = world.follow(admission.admit(new Demand().add(gate)));
      await world.settle();
      gate.dispose();
      out.release();
      await world.settle();
      call.grant!.release();
      assert.deepEqual(world.transitions.map((line) => line.replace("tenant ", "")), [
        "GRANTED_IMMEDIATE",
        "HELD",
        "RELEASED",
        "GRANTED_FROM_HOLD",
        "RELEASED",
      ]);
    }),
  );

  it(
    "BEY-16 an account for each tenant, disposed, needs no more records than live at a time",
    scenario((world) => {
      currentHost().kernel.limits(MAX_WAITERS, 4, MAX_LINES);
      const admission = world.admission();
      for (let tenant = 0; tenant < 5000; tenant++) {
        using gate = world.gate(`tenant ${tenant}`, 1);
        using bucket = world.bucket(`bucket ${tenant}`, { rpm: 60, tpm: 6000 });
        admission.tryAdmit(new Demand().add(gate).add(bucket, 10))!.release();
        assert.equal(bucket.currentInUse, 10, "a record that is used again starts afresh");
      }
      assert.equal(accountCount(), 0);
    }),
  );

  it("BEY-16 a process that makes and drops 100,000 gates and admissions stays flat", () => {
    const { status, lines, errors } = runChild("tenants");
    assert.equal(status, 0, errors);
    const [warm, end] = lines.map((line) => JSON.parse(line));
    for (const { accounts } of [warm, end]) {
      assert.ok(accounts <= 200, `${accounts} account records are left`);
    }
    assert.equal(end.kernelBytes, warm.kernelBytes, "the kernel did not grow");
    assert.ok(
      end.heapUsed - warm.heapUsed < HEAP_NOISE_BYTES,
      `the heap went from ${warm.heapUsed} to ${end.heapUsed}`,
    );
  });
});

describe("The tables of a kernel", () => {
  it(
    "BEY-16 a full table of accounts is a clear error that changes nothing, and a freed record makes room",
    scenario(async (world) => {
      currentHost().kernel.limits(MAX_WAITERS, 2, MAX_LINES);
      const [first, second, third] = [
        world.gate("first", 1),
        world.gate("second", 1),
        world.gate("third", 1),
      ];
      const admission = world.admission();
      admission.tryAdmit(new Demand().add(first))!.release();
      const isFull = (error: unknown) =>
        error instanceof InvalidStateError && /tables are full/.test(error.message);
      await assert.rejects(admission.admit(new Demand().add(first).add(second).add(third)), isFull);
      assert.throws(() => third.fits([undefined], []), isFull);
      assert.throws(() => admission.tryAdmit(new Demand().add(new ScriptedLimiter("custom"), 1)), isFull);
      assert.deepEqual([accountCount(), first.currentInUse, second.currentInUse, admission.queueSize], [
        2,
        0,
        0,
        0,
      ]);
      second.dispose();
      assert.equal(third.tryTake([undefined], []), true);
      assert.equal(third.currentInUse, 1);
    }),
  );

  it(
    "a full table of waiters fails the next caller with queue_full, takes nothing, and has room again when one leaves",
    scenario(async (world) => {
      currentHost().kernel.limits(3, MAX_ACCOUNTS, MAX_LINES);
      const gate = world.gate("http", 1);
      const admissions = [world.admission(), world.admission()];
      const out = admissions[0]!.tryAdmit(new Demand().add(gate))!;
      const controller = new AbortController();
      const { signal } = controller;
      void world.follow(admissions[0]!.admit(new Demand().add(gate), { signal }));
      for (const admission of admissions) void world.follow(admission.admit(new Demand().add(gate)));
      await world.settle();
      await assert.rejects(admissions[1]!.admit(new Demand().add(gate)), (error) => {
        assert.ok(error instanceof QueueFullError);
        assert.deepEqual([error.code, error.queueSize, error.retryAfterMs], ["queue_full", 1, null]);
        return true;
      });
      assert.deepEqual([admissions[0]!.queueSize, admissions[1]!.queueSize, gate.currentInUse], [2, 1, 1]);
      controller.abort();
      const call = world.follow(admissions[1]!.admit(new Demand().add(gate)));
      await world.settle();
      assert.equal(call.error, null);
      assert.equal(admissions[1]!.queueSize, 2);
      out.release();
      for (const admission of admissions) admission.stop();
    }),
  );

  it(
    "a full table of lines refuses another Admission, and leaves those there are alone",
    scenario((world) => {
      currentHost().kernel.limits(MAX_WAITERS, MAX_ACCOUNTS, 1);
      const admission = world.admission();
      assert.throws(() => world.admission(), (error) => {
        assert.ok(error instanceof InvalidStateError);
        assert.match(error.message, /another Admission: the kernel's tables are full/);
        return true;
      });
      assert.notEqual(admission.tryAdmit(new Demand().add(world.gate("http", 1))), null);
    }),
  );

  for (const [name, makeKernel] of Object.entries(KERNELS)) {
    it(`a slot that is used again has another generation, so a late withdrawal misses (${name})`, () => {
      const kernel = makeKernel();
      const line = kernel.openLine(0);
      const first = kernel.park(line, 0);
      const generation = kernel.generationOf(first);
      assert.equal(kernel.withdraw(first, generation), 1);
      kernel.recycle(first);
      assert.equal(kernel.park(line, 0), first, "the slot is used again");
      assert.notEqual(kernel.generationOf(first), generation);
      assert.equal(kernel.withdraw(first, generation), -1);
      assert.equal(kernel.queueSize(line), 1);
      const gate = kernel.openGate(1);
      const ofRecord = kernel.accountGeneration(gate);
      kernel.closeAccount(gate, 0);
      assert.notEqual(kernel.accountGeneration(gate), ofRecord, "a freed account record tells as well");
    });
  }
});
