/** Scenarios that planted faults in the kernel's memory asked for (`npm run mutants`). */
import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Admission, type CountingGate, Demand } from "../mod.ts";
import { type Kernel, wasmKernel } from "../core/kernel.ts";
import { YES } from "../assembly/layout.ts";
import { KERNELS, scenario } from "./scenario.ts";
import { assertParked, grantOf } from "./watched.ts";

/** How many cells each waiter of a round has: enough that lost ones would make memory grow. */
const CELLS = 40;

/** Opens, uses and closes as much as the tables hold: two accounts, two lines and a waiter. */
function fillAndEmpty(kernel: Kernel): void {
  const [gate, bucket] = [kernel.openGate(1), kernel.openBucket(100, 60, 0)];
  assert.ok(gate !== 0 && bucket !== 0, "the accounts of the last round made room");
  assert.equal(kernel.openCustom(), 0, "two accounts fill the table");
  assert.deepEqual([kernel.gateInUse(gate), kernel.bucketThrottle(bucket), kernel.heldOn(gate)], [0, 0, 0]);
  const lines = [kernel.openLine(0), kernel.openLine(0)];
  assert.ok(!lines.includes(0), "the lines of the last round made room");
  assert.equal(kernel.openLine(0), 0, "two lines fill the table");
  for (let i = 0; i < CELLS; i++) kernel.stage(i, bucket, bucket, 1, 1);
  const slot = kernel.park(lines[0]!, CELLS);
  assert.equal(kernel.park(lines[1]!, CELLS), -1, "one waiter fills the table");
  assert.equal(kernel.tryTake(gate, 1, 0, 0, 0, 0), YES);
  kernel.slowDown(bucket, 3, 0);
  assert.equal(kernel.withdraw(slot, kernel.generationOf(slot)), 1);
  kernel.recycle(slot);
  // What is closed last is used again first: a gate's record becomes a bucket's, and the other way round.
  const generations = [kernel.accountGeneration(gate), kernel.accountGeneration(bucket)];
  for (const account of [gate, bucket]) kernel.closeAccount(account, 0);
  assert.notDeepEqual([kernel.accountGeneration(gate), kernel.accountGeneration(bucket)], generations);
  for (const line of lines) kernel.closeLine(line);
}

describe("The tables of a kernel", () => {
  for (const [name, makeKernel] of Object.entries(KERNELS)) {
    it(`BEY-16 records of every kind come back, fresh, however many came and went (${name})`, () => {
      const kernel = makeKernel();
      kernel.limits(1, 2, 2);
      const bytes = () => (kernel as { memory?: WebAssembly.Memory }).memory?.buffer.byteLength;
      fillAndEmpty(kernel);
      const before = bytes();
      for (let round = 0; round < 3000; round++) fillAndEmpty(kernel);
      assert.equal(bytes(), before, "memory did not grow");
      assert.equal(kernel.accountCount(), 0);
    });
  }

  it(
    "MON-02 a waiter keeps its own entries, whoever came and left before it",
    scenario(async (world) => {
      const admission = world.admission();
      const gates = ["a", "b", "c", "d", "e"].map((name) => world.gate(name, 1));
      const [a, b, c, d, e] = gates as [CountingGate, CountingGate, CountingGate, CountingGate, CountingGate];
      for (const gate of gates) gate.tryTake([undefined], []);
      const leaving = new AbortController();
      void world.follow(admission.admit(new Demand().add(a), { signal: leaving.signal }));
      const staying = world.follow(admission.admit(new Demand().add(b)));
      await world.settle();
      leaving.abort();
      await world.settle();
      const large = world.follow(admission.admit(new Demand().add(c).add(d).add(e)));
      await world.settle();
      b.give([undefined]);
      await world.settle();
      assert.deepEqual([staying.settledAtMs, b.currentInUse], [1000, 1]);
      for (const gate of [c, d, e]) gate.give([undefined]);
      await world.settle();
      assert.deepEqual([large.settledAtMs, c.currentInUse, d.currentInUse, e.currentInUse], [1000, 1, 1, 1]);
    }),
  );

  for (const [name, makeKernel] of Object.entries(KERNELS)) {
    it(`CAN-05 BEY-24 a withdrawal that comes late misses whoever has the slot now (${name})`, () => {
      const kernel = makeKernel();
      const line = kernel.openLine(0);
      const slot = kernel.park(line, 0);
      const generation = kernel.generationOf(slot);
      assert.equal(kernel.withdraw(slot, generation), 1);
      kernel.recycle(slot);
      assert.equal(kernel.park(line, 0), slot, "the slot is used again");
      assert.equal(kernel.withdraw(slot, generation), -1);
      assert.equal(kernel.queueSize(line), 1);
    });
  }

  it("MON-02 a demand that is written down after memory grew is the one that is taken", () => {
    const kernel = wasmKernel();
    const [full, free] = [kernel.openGate(1), kernel.openGate(2)];
    const [long, short] = [kernel.openLine(0), kernel.openLine(0)];
    const before = kernel.memory.buffer.byteLength;
    kernel.stage(0, full, full, 1, 0);
    while (kernel.memory.buffer.byteLength < before + 2 ** 21) kernel.park(long, 1);
    kernel.stage(0, free, free, 2, 0);
    assert.equal(kernel.attempt(short, 1, 0, NaN), YES);
    assert.deepEqual([kernel.gateInUse(full), kernel.gateInUse(free)], [0, 2]);
  });

  it(
    "BEY-16 an account that a waiter names without being held on it is kept until the waiter is served",
    scenario(async (world) => {
      const [busy, idle] = [world.gate("busy", 1), world.gate("idle", 1)];
      const admission = world.admission();
      const out = admission.tryAdmit(new Demand().add(busy))!;
      const call = world.follow(admission.admit(new Demand().add(busy).add(idle)));
      await world.settle();
      idle.dispose();
      const next = world.gate("next", 1);
      assert.equal(next.currentInUse, 0);
      out.release();
      await world.settle();
      assert.deepEqual([idle.currentInUse, next.currentInUse], [1, 0]);
      grantOf(call).release();
    }),
  );

  it(
    "CAN-01 MON-17 who arrives after the last in line left stands behind those who stayed",
    scenario(async (world) => {
      const gate = world.gate("http", 1);
      const admission = world.admission();
      const out = admission.tryAdmit(new Demand().add(gate))!;
      const leaving = new AbortController();
      const head = world.follow(admission.admit(new Demand().add(gate)));
      void world.follow(admission.admit(new Demand().add(gate), { signal: leaving.signal }));
      await world.settle();
      leaving.abort();
      const last = world.follow(admission.admit(new Demand().add(gate)));
      await world.settle();
      assert.equal(admission.queueSize, 2);
      out.release();
      await world.settle();
      assertParked(last);
      grantOf(head).release();
      await world.settle();
      assert.ok(last.grant);
    }),
  );

  it(
    "SET-02 SET-03 a demand of many built-in accounts is settled whole where nobody listens",
    scenario((world) => {
      const admission = new Admission({ memory: null, clock: world.clock }).start();
      const gates = ["a", "b", "c"].map((name) => world.gate(name, 2));
      const bucket = world.bucket("gpt", { tpm: 100, rpm: 10 });
      const demand = new Demand();
      for (const gate of gates) demand.add(gate, 2);
      demand.add(bucket, 40);
      const inUse = () => [...gates, bucket].map((account) => account.currentInUse);
      admission.tryAdmit(demand)!.release();
      assert.deepEqual(inUse(), [0, 0, 0, 40]);
      const second = admission.tryAdmit(demand)!;
      assert.deepEqual(inUse(), [2, 2, 2, 80]);
      second.rollback();
      assert.deepEqual(inUse(), [0, 0, 0, 40]);
    }),
  );
});
