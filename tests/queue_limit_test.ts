// A line of limited length: who is turned away at once, with nothing taken and nothing reported.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Admission, type AdmissionOptions, Demand, type QueueFullError } from "../mod.ts";
import { currentHost } from "../core/host.ts";
import { ScriptedLimiter, SwitchMemory } from "../testing/mod.ts";
import { MAX_ACCOUNTS, MAX_LINES } from "../assembly/layout.ts";
import { Slots } from "./custom_accounts.ts";
import { type Call, scenario } from "./scenario.ts";
import { assertParked, grantOf, WatchedLimiter } from "./watched.ts";

/** The facts of a call that met a full line. */
function fullOf(call: Call): [number, number | null] {
  const { name, code, queueSize, retryAfterMs } = call.error as QueueFullError;
  assert.deepEqual([name, code], ["QueueFullError", "queue_full"]);
  return [queueSize, retryAfterMs];
}

describe("maxQueue", () => {
  it(
    "BEY-22 BEY-26 beyond it admit fails at once: nothing is taken, nothing reported, the line unchanged",
    scenario(async (world) => {
      const [full, free] = [world.gate("full", 1), world.gate("free", 1)];
      const admission = world.admission({ maxQueue: 2 });
      const holder = await admission.admit(new Demand().add(full));
      const parked = [1, 2].map(() => world.follow(admission.admit(new Demand().add(full))));
      await world.settle();
      const told = world.events.length;
      const turnedAway = [new Demand().add(full), new Demand().add(free)].map((demand) =>
        world.follow(admission.admit(demand))
      );
      assert.equal(admission.queueSize, 2);
      await world.settle();
      // Who would have passed the others is turned away as well: it has to join the line first.
      for (const call of turnedAway) assert.deepEqual(fullOf(call), [2, null]);
      assert.deepEqual([free.currentInUse, world.events.length], [0, told]);

      holder.release();
      await world.settle();
      grantOf(parked[0]!);
      const next = world.follow(admission.admit(new Demand().add(full)));
      await world.settle();
      assertParked(parked[1]!, next);
    }),
  );

  it(
    "BEY-22 says when the clock alone will move the line",
    scenario(async (world) => {
      const bucket = world.bucket("bucket", { tpm: 60_000, rpm: 60_000 });
      bucket.tryTake([60_000], []);
      const admission = world.admission({ maxQueue: 1 });
      const head = world.follow(admission.admit(new Demand().add(bucket, 300)));
      await world.clock.advance(100.5);
      const turnedAway = world.follow(admission.admit(new Demand().add(bucket, 1)));
      await world.settle();
      assert.deepEqual(fullOf(turnedAway), [1, 200]);
      await world.clock.advance(200);
      grantOf(head);
    }),
  );

  it(
    "BEY-22 maxQueue 0 grants what fits at once and lets nobody wait, whoever decides",
    scenario(async (world) => {
      const gate = world.gate("gate", 1);
      const slots = new Slots("slots", 1);
      const memory = new SwitchMemory();
      for (const admission of [world.admission({ maxQueue: 0 }), world.admission({ maxQueue: 0, memory })]) {
        for (const account of [gate, slots]) {
          const demand = new Demand().add(account);
          const holder = await admission.admit(demand);
          const told = world.events.length;
          await assert.rejects(admission.admit(demand), { code: "queue_full", queueSize: 0 });
          assert.deepEqual([account.currentInUse, world.events.length, admission.queueSize], [1, told, 0]);
          holder.release();
          (await admission.admit(demand)).release();
        }
      }
      memory.isOpen = false;
      const admission = world.admission({ maxQueue: 0, memory });
      await assert.rejects(admission.admit(new Demand().add(gate)), { code: "queue_full" });
      assert.deepEqual([gate.currentInUse, world.clock.pendingTimers], [0, 0]);
    }),
  );

  it(
    "BEY-22 a refusal is a refusal, also where nobody may wait",
    scenario(async (world) => {
      const admission = world.admission({ maxQueue: 0 });
      const demands = [
        new Demand().add(world.gate("gate", 1), 2),
        new Demand().add(new ScriptedLimiter("x", "refuses")),
      ];
      for (const demand of demands) {
        await assert.rejects(admission.admit(demand), { code: "uncorrectable" });
      }
      assert.deepEqual(world.transitions, ["gate REJECTED", "x REJECTED"]);
    }),
  );

  it(
    "BEY-22 an empty demand is neither counted nor turned away",
    scenario(async (world) => {
      const gate = world.gate("gate", 1);
      const admission = world.admission({ maxQueue: 1 });
      await admission.admit(new Demand().add(gate));
      const parked = world.follow(admission.admit(new Demand().add(gate)));
      const empty = world.follow(admission.admit(new Demand()));
      assert.equal(admission.queueSize, 2);
      await world.settle();
      assert.equal(grantOf(empty).isEmpty, true);

      const unstarted = world.unstarted({ maxQueue: 1 });
      const second = world.follow(unstarted.admit(new Demand().add(gate)));
      const many = [1, 2, 3].map(() => world.follow(unstarted.admit(new Demand())));
      const third = world.follow(unstarted.admit(new Demand().add(gate)));
      assert.equal(unstarted.queueSize, 4);
      await world.settle();
      assert.deepEqual(fullOf(third), [4, null]);
      unstarted.start();
      await world.settle();
      many.forEach((call) => grantOf(call));
      assertParked(parked, second);
    }),
  );

  it(
    "BEY-22 room comes back however a waiter leaves",
    scenario(async (world) => {
      const gate = world.gate("gate", 1);
      const admission = world.admission({ maxQueue: 1 });
      const holder = await admission.admit(new Demand().add(gate));
      const leaving = new AbortController();
      const aborted = world.follow(admission.admit(new Demand().add(gate), { signal: leaving.signal }));
      leaving.abort("left");
      const timed = world.follow(admission.admit(new Demand().add(gate), { timeoutMs: 5 }));
      await world.clock.advance(5);
      const refused = world.follow(admission.admit(new Demand().add(gate).add(world.gate("small", 1), 2)));
      await world.settle();
      const granted = world.follow(admission.admit(new Demand().add(gate)));
      const tooMany = world.follow(admission.admit(new Demand().add(gate)));
      holder.release();
      await world.settle();
      grantOf(granted);
      assert.deepEqual(fullOf(tooMany), [1, null]);
      assert.equal(aborted.error, "left");
      assert.match(`${timed.error} ${refused.error}`, /time limit.*never fit/);
      assert.equal(admission.queueSize, 0);
    }),
  );

  it("BEY-22 refuses limits that are no whole number from 0, naming the value", () => {
    const make = (maxQueue: unknown) => () => new Admission({ maxQueue } as AdmissionOptions);
    for (const wrong of [-1, 1.5, NaN, -Infinity]) {
      assert.throws(make(wrong), { name: "RangeError", message: new RegExp(`maxQueue is ${wrong}`) });
    }
    for (const wrong of ["3", null, {}, 3n, true]) {
      assert.throws(make(wrong), { name: "TypeError", message: /maxQueue is / });
    }
    for (const right of [0, 1, Infinity]) make(right)();
  });
});

describe("The kernel's table of waiters", () => {
  it(
    "BEY-22 BEY-23 when it is full, tryAdmit answers null for accounts outside the kernel, and others need no place",
    scenario(async (world) => {
      currentHost().kernel.limits(1, MAX_ACCOUNTS, MAX_LINES);
      const gate = world.gate("gate", 1);
      const [crowded, other] = [world.admission(), world.admission()];
      const holder = await crowded.admit(new Demand().add(gate));
      const parked = world.follow(crowded.admit(new Demand().add(gate)));
      const custom = new WatchedLimiter("x", []);
      assert.equal(other.tryAdmit(new Demand().add(custom)), null);
      assert.equal(custom.takeCount, 0);
      other.tryAdmit(new Demand().add(world.gate("free", 1)))!.release();

      holder.release();
      await world.settle();
      grantOf(parked);
      other.tryAdmit(new Demand().add(custom))!.release();
    }),
  );

  it(
    "BEY-22 when it is full, admit fails alike, whichever Admission filled it",
    scenario(async (world) => {
      currentHost().kernel.limits(3, MAX_ACCOUNTS, MAX_LINES);
      const gate = world.gate("gate", 1);
      const x = new WatchedLimiter("x", [], "short");
      const [crowded, other] = [world.admission(), world.admission()];
      const holder = await crowded.admit(new Demand().add(gate));
      const parked = [1, 2, 3].map(() => world.follow(crowded.admit(new Demand().add(gate))));
      await world.settle();
      const told = world.events.length;
      const demands = [new Demand().add(gate), new Demand().add(x)];
      const turnedAway = demands.map((demand) => world.follow(other.admit(demand)));
      const own = world.follow(crowded.admit(new Demand()));
      await world.settle();
      for (const call of turnedAway) assert.deepEqual(fullOf(call), [0, null]);
      assert.deepEqual(fullOf(own), [3, null]);
      assert.deepEqual([world.events.length, x.takeCount, other.queueSize], [told, 0, 0]);

      holder.release();
      await world.settle();
      grantOf(parked[0]!);
      x.mode = "fits";
      (await other.admit(new Demand().add(x))).release();
      assertParked(parked[1]!, parked[2]!);
    }),
  );
});

describe("What is turned away without a word", () => {
  it(
    "BEY-26 an aborted signal and a tryAdmit that answers null report nothing, whoever decides",
    scenario(async (world) => {
      const gate = world.gate("gate", 1);
      const [slots, memory] = [new Slots("slots", 1), new SwitchMemory()];
      const admission = world.admission({ memory });
      await admission.admit(new Demand().add(gate).add(slots));
      world.events.length = 0;
      const demands = [new Demand().add(gate), new Demand().add(slots), new Demand().add(gate).add(slots)];
      for (const isOpen of [true, false]) {
        memory.isOpen = isOpen;
        for (const demand of demands) {
          assert.equal(admission.tryAdmit(demand), null);
          await assert.rejects(admission.admit(demand, { signal: AbortSignal.abort("gone") }), (reason) => {
            assert.equal(reason, "gone");
            return true;
          });
        }
      }
      assert.deepEqual([world.events, admission.queueSize, slots.held()], [[], 0, 0]);
    }),
  );
});
