// What a grant costs with nobody waiting, counted; and what must stay right although it is that little.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  Admission,
  type AdmissionError,
  CountingGate,
  createJobContext,
  Demand,
  TokenBucketRateLimiter,
} from "../mod.ts";
import { ManualClock } from "../testing/mod.ts";
import { KernelHost, useHost } from "../core/host.ts";
import type { Kernel } from "../core/kernel.ts";
import { countedSignal } from "./counted_signals.ts";
import { KERNELS, scenario } from "./scenario.ts";
import { assertParked, grantOf, WatchedLimiter } from "./watched.ts";

/** A kernel that notes which of its functions were called. */
function countedKernel(kernel: Kernel, calls: string[]): Kernel {
  return new Proxy(kernel, {
    get: (target, name: keyof Kernel) => (...args: number[]) => {
      calls.push(name);
      return Reflect.apply(target[name], target, args);
    },
  });
}

class CountingClock extends ManualClock {
  readings = 0;

  override now(): number {
    this.readings++;
    return super.now();
  }
}

/** Plays on a fresh kernel of each kind, with its calls noted, for an Admission with neither sink nor memory. */
async function onCounted(
  play: (world: { calls: string[]; clock: CountingClock; admission: Admission }) => Promise<void>,
): Promise<void> {
  for (const make of Object.values(KERNELS)) {
    const calls: string[] = [];
    const clock = new CountingClock();
    useHost(new KernelHost(countedKernel(make(), calls)));
    try {
      await play({ calls, clock, admission: new Admission({ memory: null, clock }).start() });
    } finally {
      useHost(null);
    }
  }
}

describe("With nobody waiting", () => {
  it("a grant and its settlement cross the border twice, whatever was staged before", async () => {
    await onCounted(async ({ calls, clock, admission }) => {
      const [gate, other] = [new CountingGate("gate", 2), new CountingGate("other", 2)];
      const bucket = new TokenBucketRateLimiter("bucket", { tpm: 60_000, rpm: 60_000, clock });
      const one = new Demand().add(gate);
      const three = new Demand().add(gate).add(other).add(bucket, 5);
      const pairs = async () => {
        admission.release(admission.tryAdmit(one)!);
        admission.release(await admission.admit(one));
        admission.release(admission.tryAdmit(three)!);
        admission.release(await admission.admit(three));
      };
      await pairs();
      calls.length = 0;
      await pairs();
      const expected = ["attemptOne", "settleOne", "attempt", "settle"];
      assert.deepEqual(calls, [0, 0, 2, 2].flatMap((at) => expected.slice(at, at + 2)));
    });
  });

  it("gates read no clock, a bucket reads it once, and once more when it is rolled back", async () => {
    await onCounted(async ({ clock, admission }) => {
      const gates = new Demand().add(new CountingGate("a", 2)).add(new CountingGate("b", 2));
      const bucket = new TokenBucketRateLimiter("bucket", { tpm: 60_000, rpm: 60_000, clock });
      const metered = new Demand().add(bucket, 5).add(new CountingGate("c", 1));
      const readings = async (work: () => Promise<void> | void) => {
        const before = clock.readings;
        await work();
        return clock.readings - before;
      };
      assert.equal(await readings(() => admission.release(admission.tryAdmit(gates)!)), 0);
      assert.equal(await readings(async () => admission.rollback(await admission.admit(gates))), 0);
      admission.release(admission.tryAdmit(metered)!);
      assert.equal(await readings(() => admission.release(admission.tryAdmit(metered)!)), 1);
      assert.equal(await readings(async () => admission.release(await admission.admit(metered))), 1);
      assert.equal(await readings(async () => admission.rollback(await admission.admit(metered))), 2);
    });
  });

  it("a caller who has to park has the clock read for it once, whatever it asks", async () => {
    await onCounted(async ({ clock, admission }) => {
      const bucket = new TokenBucketRateLimiter("bucket", { tpm: 60_000, rpm: 60_000, clock });
      const metered = new Demand().add(bucket, 60_000).add(new CountingGate("gate", 1));
      const grant = await admission.admit(metered);
      const behind = new Demand().add(new CountingGate("free", 1));
      const first = admission.admit(metered);
      const before = clock.readings;
      const second = admission.admit(behind.add(bucket, 1));
      assert.equal(clock.readings - before, 1);
      admission.rollback(grant);
      await clock.advance(0);
      admission.rollback(await first);
      await clock.advance(0);
      admission.release(await second);
    });
  });
});

describe("Behind somebody who waits", () => {
  it(
    "MON-08 BEY-23 tryAdmit asks no account, neither in the kernel nor outside it",
    scenario(async (world) => {
      const gate = world.gate("gate", 1);
      const free = world.gate("free", 1);
      const outside = new WatchedLimiter("outside", []);
      const admission = world.admission();
      const holder = admission.tryAdmit(new Demand().add(gate))!;
      const waiting = world.follow(admission.admit(new Demand().add(gate)));
      assert.equal(admission.tryAdmit(new Demand().add(free)), null);
      assert.equal(admission.tryAdmit(new Demand().add(outside)), null);
      assert.deepEqual(outside.log, ["outside wired"]);
      holder.release();
      // The permit is there, and whose it is is for the pass to say, not for whoever asks meanwhile.
      assert.equal(admission.tryAdmit(new Demand().add(outside)), null);
      assert.deepEqual([gate.currentInUse, free.currentInUse, admission.queueSize], [0, 0, 1]);
      await world.settle();
      grantOf(waiting).release();
    }),
  );

  it(
    "MON-08 BEY-23 tryAdmit takes nothing of one account or of several where nobody hears of it",
    scenario(async (world) => {
      const [gate, free, other] = [world.gate("gate", 1), world.gate("free", 1), world.gate("other", 1)];
      const admission = new Admission({ memory: null, clock: world.clock }).start();
      const holder = admission.tryAdmit(new Demand().add(gate))!;
      const waiting = world.follow(admission.admit(new Demand().add(gate)));
      assert.equal(admission.tryAdmit(new Demand().add(free)), null);
      assert.equal(admission.tryAdmit(new Demand().add(free).add(other)), null);
      assert.deepEqual([free.currentInUse, other.currentInUse], [0, 0]);
      holder.release();
      await world.settle();
      grantOf(waiting).release();
    }),
  );
});

describe("A demand that stands staged", () => {
  it(
    "BEY-64 is staged anew once something was added, and each grant gives back what it took",
    scenario((world) => {
      const [a, b] = [world.gate("a", 10), world.gate("b", 10)];
      const admission = world.admission();
      const demand = new Demand().add(a).add(b);
      const first = admission.tryAdmit(demand)!;
      const second = admission.tryAdmit(demand.add(a, 2).add(b, 3))!;
      assert.deepEqual([a.currentInUse, b.currentInUse], [4, 5]);
      first.release();
      assert.deepEqual([a.currentInUse, b.currentInUse], [3, 4]);
      second.release();
      assert.deepEqual([a.currentInUse, b.currentInUse], [0, 0]);
    }),
  );

  it(
    "is another's once a second demand was admitted, also by another Admission on the same kernel",
    scenario((world) => {
      const [a, b, c] = [world.gate("a", 9), world.gate("b", 9), world.gate("c", 9)];
      const admissions = [world.admission(), world.admission()] as const;
      const demands = [new Demand().add(a).add(b, 2), new Demand().add(b, 3).add(c)] as const;
      const grants = [0, 1, 0].map((which) => admissions[which]!.tryAdmit(demands[which]!)!);
      assert.deepEqual([a.currentInUse, b.currentInUse, c.currentInUse], [2, 7, 1]);
      grants[0]!.release();
      assert.deepEqual([a.currentInUse, b.currentInUse, c.currentInUse], [1, 5, 1]);
      grants[1]!.rollback();
      assert.deepEqual([a.currentInUse, b.currentInUse, c.currentInUse], [1, 2, 0]);
      grants[2]!.release();
      assert.deepEqual([a.currentInUse, b.currentInUse, c.currentInUse], [0, 0, 0]);
    }),
  );

  it(
    "BEY-16 settles its own accounts after one was disposed, and never one that has its record now",
    scenario((world) => {
      const [kept, gone] = [world.gate("kept", 5), world.gate("gone", 5)];
      const admission = world.admission();
      const demand = new Demand().add(kept).add(gone, 2);
      const grant = admission.tryAdmit(demand)!;
      gone.dispose();
      assert.throws(() => admission.tryAdmit(demand), { name: "InvalidStateError", message: /disposed/ });
      grant.release();
      // The record that came free is the next account's.
      const next = world.gate("next", 5);
      const held = admission.tryAdmit(new Demand().add(next, 4))!;
      assert.throws(() => admission.tryAdmit(demand), { name: "InvalidStateError", message: /disposed/ });
      assert.deepEqual([kept.currentInUse, next.currentInUse], [0, 4]);
      held.release();
      assert.equal(next.currentInUse, 0);
    }),
  );

  it(
    "is parked from where it stands, and a waiter keeps what it asked when another is staged",
    scenario(async (world) => {
      const [a, b] = [world.gate("a", 1), world.gate("b", 2)];
      const admission = world.admission();
      const demand = new Demand().add(a).add(b, 2);
      const holder = admission.tryAdmit(demand)!;
      const waiting = world.follow(admission.admit(demand));
      const behind = world.follow(admission.admit(new Demand().add(b)));
      holder.release();
      await world.settle();
      assert.deepEqual([a.currentInUse, b.currentInUse], [1, 2]);
      assertParked(behind);
      grantOf(waiting).release();
      await world.settle();
      assert.deepEqual([a.currentInUse, b.currentInUse], [0, 1]);
      grantOf(behind).release();
    }),
  );
});

describe("Whoever listens to a signal", () => {
  it(
    "BEY-24 the first of three who share one is granted: the others still leave with it, and one listener served all",
    scenario(async (world) => {
      const gate = world.gate("gate", 1);
      const admission = world.admission();
      const { controller, signal, counts } = countedSignal();
      const holder = await admission.admit(new Demand().add(gate));
      const calls = [1, 2, 3].map(() => world.follow(admission.admit(new Demand().add(gate), { signal })));
      holder.release();
      await world.settle();
      const first = grantOf(calls[0]!);
      assert.deepEqual(counts, { added: 1, removed: 0 });
      controller.abort("the rest leaves");
      await world.settle();
      assert.deepEqual(calls.slice(1).map((call) => call.error), ["the rest leaves", "the rest leaves"]);
      assert.equal(first.isSettled, false);
      assert.deepEqual([admission.queueSize, counts.removed], [0, 1]);
      first.release();
    }),
  );

  it(
    "BEY-24 one alone after others shared it leaves no listener behind",
    scenario(async (world) => {
      const gate = world.gate("gate", 1);
      const admission = world.admission();
      const { controller, signal, counts } = countedSignal();
      for (const sharers of [1, 3, 1]) {
        const holder = await admission.admit(new Demand().add(gate));
        const calls = Array.from(
          { length: sharers },
          () => world.follow(admission.admit(new Demand().add(gate), { signal })),
        );
        gate.setCapacity(10);
        holder.release();
        await world.settle();
        calls.forEach((call) => grantOf(call).release());
        gate.setCapacity(1);
      }
      assert.deepEqual(counts, { added: 3, removed: 3 });
      controller.abort();
      assert.equal(admission.queueSize, 0);
    }),
  );

  it(
    "BEY-24 BEY-12 a sink that aborts and cancels who is leaving comes too late, and breaks nothing",
    scenario(async (world) => {
      const gate = world.gate("gate", 1);
      const context = createJobContext();
      const leaving = new AbortController();
      const admission = world.admission({
        events: (event) => {
          if (event.type !== "REJECTED") return;
          context.cancel();
          leaving.abort("too late");
        },
      });
      const holder = await admission.admit(new Demand().add(gate));
      const late = world.follow(
        admission.admit(new Demand().add(gate), { signal: leaving.signal, context, timeoutMs: 10 }),
      );
      await world.clock.advance(10);
      assert.equal((late.error as AdmissionError).code, "timeout");
      assert.equal(admission.queueSize, 0);
      holder.release();
      const next = await admission.admit(new Demand().add(gate));
      assert.equal(gate.currentInUse, 1);
      next.release();
    }),
  );
});
