// Admissions, accounts and kernels that are closed, disposed or broken: everyone is told, and nothing moves any more.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  Admission,
  type AdmissionError,
  CountingGate,
  Demand,
  InvalidStateError,
  TokenBucketRateLimiter,
} from "../mod.ts";
import { onBrokenKernel } from "./broken_kernels.ts";
import { permits } from "./custom_accounts.ts";
import { KERNELS, playOn, scenario } from "./scenario.ts";

/** The verbs of a gate. */
const VERBS: readonly ((gate: CountingGate) => unknown)[] = [
  (gate) => gate.fits(permits(1), []),
  (gate) => gate.tryTake(permits(1), []),
  (gate) => gate.earliestFit(permits(1), []),
  (gate) => gate.give(permits(1)),
  (gate) => gate.setCapacity(5),
];

async function errorOf(promise: Promise<unknown>): Promise<AdmissionError> {
  return await promise.then(() => assert.fail("it resolved"), (error) => error);
}

describe("A stopped admission", () => {
  it(
    "CAN-11 refuses every call with a clear error, and nothing is taken",
    scenario(async (world) => {
      const gate = world.gate("slot", 2);
      const admission = world.admission();
      const grant = await admission.admit(new Demand().add(gate));
      admission.stop();
      const stopped = { name: "CancellationError", code: "stopped" };
      await assert.rejects(admission.admit(new Demand().add(gate)), stopped);
      await assert.rejects(admission.admit(new Demand()), stopped);
      assert.throws(() => admission.tryAdmit(new Demand().add(gate)), stopped);
      assert.throws(() => admission.start(), { ...stopped, message: /make a new Admission$/ });
      admission.stop();
      assert.equal(gate.currentInUse, 1);
      admission.release(grant);
      assert.equal(gate.currentInUse, 0, "what is out can still be settled");
    }),
  );
});

describe("A listener of the end of an admission", () => {
  it(
    "CAN-10 BEY-27 hears of it once, with an error of its own, unless it was taken back; at once when it comes too late",
    scenario((world) => {
      const admission = world.admission();
      const heard: AdmissionError[] = [];
      const listen = (error: AdmissionError) => heard.push(error);
      admission.onClose(listen);
      admission.onClose(listen);
      admission.onClose(() => assert.fail("it was taken back"))();
      admission.stop();
      admission.stop();
      admission.onClose(listen)();
      assert.deepEqual(heard.map(({ code }) => code), ["stopped", "stopped", "stopped"]);
      assert.equal(new Set(heard).size, 3);
      assert.throws(() => admission.onClose(undefined as never), { name: "TypeError", message: /undefined/ });
    }),
  );

  it(
    "CAN-09 does not keep the others from it when it throws, which is logged",
    scenario((world) => {
      const lines: string[] = [];
      const logger = { debug() {}, info() {}, warn() {}, error: (line: string) => void lines.push(line) };
      const admission = world.admission({ logger });
      let heard = 0;
      admission.onClose(() => {
        throw new Error("no time");
      });
      admission.onClose(() => heard++);
      admission.stop();
      assert.equal(heard, 1);
      assert.deepEqual(lines, ["A listener of the end of admission failed: no time"]);
    }),
  );
});

describe("A disposed account", () => {
  it(
    "BEY-16 refuses every verb and every demand, also one that was admitted before",
    scenario(async (world) => {
      const gate = world.gate("slot", 2);
      const admission = world.admission();
      const demand = new Demand().add(gate);
      admission.release(await admission.admit(demand));
      gate.dispose();
      gate.dispose();
      const refused = { name: "InvalidStateError", message: /"slot".*disposed/ };
      for (const use of VERBS) assert.throws(() => use(gate), refused);
      assert.deepEqual(
        [gate.currentInUse, gate.status.availablePermits],
        [0, 2],
        "questions are answered, idle",
      );
      const next = world.gate("next", 2);
      assert.equal(next.currentInUse, 0, "a new account may get the record");
      await assert.rejects(admission.admit(demand), refused);
      assert.throws(() => admission.tryAdmit(demand), refused);
      await assert.rejects(admission.admit(new Demand().add(gate)), refused);
      assert.deepEqual(
        [next.currentInUse, admission.queueSize],
        [0, 0],
        "nobody reached into another account",
      );
    }),
  );

  it(
    "BEY-16 still serves the waiters and grants that name it",
    scenario(async (world) => {
      const gate = world.gate("slot", 1);
      const admission = world.admission();
      const demand = new Demand().add(gate);
      const first = await admission.admit(demand);
      const parked = world.follow(admission.admit(demand));
      await world.settle();
      gate.dispose();
      admission.release(first);
      await world.settle();
      assert.ok(parked.grant);
      assert.deepEqual([gate.currentInUse, gate.status.activeCount], [1, 1]);
      admission.release(parked.grant);
      assert.equal(gate.currentInUse, 0);
      await assert.rejects(admission.admit(demand), InvalidStateError);
    }),
  );

  it(
    "BEY-16 EVT-17 reports what still happens on it",
    scenario(async (world) => {
      const gate = world.gate("slot", 1);
      const admission = world.admission();
      const grant = await admission.admit(new Demand().add(gate));
      gate.dispose();
      admission.release(grant);
      assert.deepEqual(world.transitions, ["slot GRANTED_IMMEDIATE", "slot RELEASED"]);
    }),
  );
});

describe("An account of another kernel", () => {
  it("is refused by an admission that lives elsewhere, which keeps working", async () => {
    await playOn(KERNELS.wasm(), async (world) => {
      const gate = world.gate("slot", 1);
      assert.equal(gate.currentInUse, 0);
      await playOn(KERNELS.wasm(), async (elsewhere) => {
        const admission = elsewhere.admission();
        await assert.rejects(admission.admit(new Demand().add(gate)), {
          name: "InvalidStateError",
          message: /"slot".*another kernel/,
        });
        assert.ok(await admission.admit(new Demand().add(elsewhere.gate("own", 1))));
      });
      assert.equal(gate.currentInUse, 0);
    });
  });
});

describe("A trapped kernel", () => {
  const defect = { name: "UncorrectableError", code: "defect" };

  it("closes every admission on it, and each parked caller gets the defect as its cause", async () => {
    await onBrokenKernel(async (world, breakIt) => {
      const gate = world.gate("slot", 1);
      const [admission, other] = [world.admission(), world.admission()];
      const grant = await admission.admit(new Demand().add(gate));
      const parked = [admission, admission, other].map((each) =>
        world.follow(each.admit(new Demand().add(gate)))
      );
      await world.settle();
      breakIt();
      assert.throws(() => admission.release(grant), defect);
      await world.settle();
      const causes = new Set(parked.map(({ error }) => (error as AdmissionError).cause));
      assert.equal(causes.size, 1);
      assert.ok([...causes][0] instanceof WebAssembly.RuntimeError);
      for (const { error } of parked) assert.equal((error as AdmissionError).code, "defect");
      assert.equal(new Set(parked.map(({ error }) => error)).size, 3, "each its own error");
      assert.deepEqual([admission.queueSize, other.queueSize, world.clock.pendingTimers], [0, 0, 0]);
    });
  });

  for (const name of ["admit", "a verb", "a pass"] as const) {
    it(`is found by ${name}, and refuses accounts and admissions for good from then on`, async () => {
      await onBrokenKernel(async (world, breakIt) => {
        const gate = world.gate("slot", 1);
        const bucket = world.bucket("gpt", { tpm: 100, rpm: 10 });
        const admission = world.admission();
        await admission.admit(new Demand().add(gate).add(bucket, 100));
        const parked = world.follow(admission.admit(new Demand().add(bucket, 50)));
        await world.settle();
        breakIt();
        if (name === "admit") await assert.rejects(admission.admit(new Demand().add(gate)), defect);
        else if (name === "a verb") assert.throws(() => bucket.fits([1], []), defect);
        else await world.clock.advance(30_000);
        await world.settle();
        assert.equal((parked.error as AdmissionError).code, "defect");
        for (const use of VERBS) assert.throws(() => use(gate), defect);
        const demand = new Demand().add(gate);
        const errors = [await errorOf(admission.admit(demand)), await errorOf(admission.admit(new Demand()))];
        assert.deepEqual(errors.map(({ code }) => code), ["defect", "defect"]);
        assert.throws(() => admission.tryAdmit(demand), defect);
        gate.dispose();
        bucket.dispose();
        admission.stop();
      });
    });
  }

  for (const breaks of ["in the pass of that instant", "before it"]) {
    it(`BEY-20 BEY-27 the kernel trapped ${breaks}: the caller gets the defect, and drain ends`, async () => {
      await onBrokenKernel(async (world, breakIt) => {
        const bucket = world.bucket("bucket", { tpm: 60_000, rpm: 60_000 });
        const gate = world.gate("gate", 1);
        bucket.tryTake([60_000], []);
        gate.tryTake(permits(1), []);
        const admission = world.admission();
        const call = world.follow(
          admission.admit(new Demand().add(bucket, 100).add(gate), { timeoutMs: 100 }),
        );
        let isDrained = false;
        void admission.drain().then(() => isDrained = true);
        await world.settle();
        breakIt();
        if (breaks === "before it") assert.throws(() => bucket.fits([1], []), { code: "defect" });
        await world.clock.advance(100);
        assert.equal((call.error as AdmissionError).code, "defect");
        assert.deepEqual([admission.queueSize, world.clock.pendingTimers, isDrained], [0, 0, true]);
      });
    });
  }

  it("is replaced: what is made afterwards works, and does not accept the old accounts", async () => {
    await onBrokenKernel(async (world, breakIt) => {
      const old = world.gate("old", 1);
      assert.equal(old.currentInUse, 0);
      breakIt();
      assert.throws(() => old.tryTake(permits(1), []), defect);
      const [gate, bucket] = [
        new CountingGate("new", 1),
        new TokenBucketRateLimiter("gpt", { tpm: 10, rpm: 1 }),
      ];
      const admission = new Admission({ memory: null }).start();
      using grant = await admission.admit(new Demand().add(gate).add(bucket, 0));
      assert.deepEqual([grant.isEmpty, gate.currentInUse, bucket.currentInUse], [false, 1, 0]);
      await assert.rejects(admission.admit(new Demand().add(old)), defect);
    });
  });
});
