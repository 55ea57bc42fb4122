import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Admission, Demand, ElasticWindowRateLimiter, InvalidStateError } from "../mod.ts";
import { ManualClock } from "../testing/mod.ts";
import { scenario } from "./scenario.ts";
import { grantOf } from "./watched.ts";
import { blocked, slots, THREE } from "./window_readings.ts";

const TWO = { maxRequests: 2, baseWindowMs: 1000 };

describe("A demand on a window", () => {
  it(
    "BEY-60 add appends n unit amounts, and refuses what is no positive whole number",
    scenario((world) => {
      const window = world.window("window", THREE);
      const demand = new Demand().add(window).add(window, 2);
      assert.deepEqual(demand.entries[0]!.amounts, slots(3));
      for (const count of [0, -1, 1.5, NaN, Infinity]) {
        assert.throws(() => demand.add(window, count), RangeError);
      }
      for (const count of ["3", {}, null]) {
        assert.throws(() => demand.add(window, count as unknown as number), {
          name: "TypeError",
          message: /"window"/,
        });
      }
      assert.equal(demand.entries[0]!.amounts.length, 3);
      assert.throws(() => window.fits(1 as unknown as void[], []), TypeError);
      world.admission().tryAdmit(demand);
      assert.equal(window.currentInUse, 3);
      assert.equal(world.events.at(-1)!.amount, 3);
    }),
  );

  it("BEY-53 admit refuses a window that reads another clock than admission's own", async () => {
    const clock = new ManualClock();
    const admission = new Admission({ memory: null, clock }).start();
    const window = new ElasticWindowRateLimiter("window", { ...THREE, clock: new ManualClock() });
    await assert.rejects(admission.admit(new Demand().add(window)), (error: Error) => {
      assert.ok(error instanceof InvalidStateError);
      assert.match(error.message, /"window"/);
      return true;
    });
    const own = new ElasticWindowRateLimiter("own", { ...THREE, clock });
    assert.equal((await admission.admit(new Demand().add(own))).isEmpty, false);
  });

  it(
    "BEY-11 BEY-40 explain says what is short, when, and why never, and gives up no lost probe",
    scenario(async (world) => {
      const window = world.window("window", THREE);
      const admission = world.admission();
      window.tryTake(slots(2), []);
      const short = admission.explain(new Demand().add(window, 2)).accounts[0]!;
      assert.deepEqual([short.isShort, short.missing, short.earliestMs], [true, 1, 2000]);
      const never = admission.explain(new Demand().add(window, 4)).accounts[0]!;
      assert.match(never.refusal!, /can never fit/);
      const probing = blocked(world, { probeTimeoutMs: 50 });
      await world.clock.advance(100);
      probing.tryTake(slots(1), []);
      await world.clock.advance(50);
      assert.equal(admission.explain(new Demand().add(probing)).fits, true);
      assert.equal(probing.status.availablePermits, 4);
      assert.equal(probing.circuitState, "PROBING", "nobody asked");
      assert.equal(probing.fits(slots(1), []), true);
      assert.equal(probing.circuitState, "BLOCKED");
    }),
  );

  it(
    "EW-36 an attempt that ends in a refusal asks nobody after it, so a lost probe there still reads PROBING",
    scenario(async (world) => {
      const lost = blocked(world, { probeTimeoutMs: 50 });
      await world.clock.advance(100);
      lost.tryTake(slots(1), []);
      await world.clock.advance(50);
      const cooling = blocked(world);
      const admission = world.admission();
      const asks = [new Demand().add(cooling).add(lost), new Demand().add(lost).add(cooling)];
      assert.throws(() => admission.tryAdmit(asks[0]!), { code: "circuit_blocked" });
      assert.equal(lost.circuitState, "PROBING");
      assert.throws(() => admission.tryAdmit(asks[1]!), { code: "circuit_blocked" });
      assert.equal(lost.circuitState, "BLOCKED");
    }),
  );

  it(
    "BEY-20 BEY-21 a wait that is known to be too long fails at once, and says when to come back",
    scenario(async (world) => {
      const window = world.window("window", TWO);
      const admission = world.admission();
      window.tryTake(slots(2), []);
      const hopeless = admission.admit(new Demand().add(window), { timeoutMs: 999, failFast: true });
      await assert.rejects(hopeless, { code: "timeout", waitingOn: ["window"], retryAfterMs: 1000 });
      const call = world.follow(
        admission.admit(new Demand().add(window), { timeoutMs: 1000, failFast: true }),
      );
      await world.clock.advance(1000);
      assert.equal(grantOf(call).wallWaitMs, 1000);
    }),
  );

  it(
    "ACC-12 a subclass that overrides a verb is asked as a custom account, with the numbers of its record",
    scenario(async (world) => {
      const asked: string[] = [];
      class Watched extends ElasticWindowRateLimiter {
        override fits(mine: readonly void[], ahead: readonly void[]): boolean {
          asked.push(`${mine.length} ${ahead.length}`);
          return super.fits(mine, ahead);
        }
      }
      const window = new Watched("window", { ...TWO, clock: world.clock });
      const admission = world.admission();
      assert.notEqual(admission.tryAdmit(new Demand().add(window, 2)), null);
      const call = world.follow(admission.admit(new Demand().add(window)));
      await world.clock.advance(1000);
      assert.equal(call.settledAtMs, 2000);
      assert.ok(asked.includes("1 0"));
      await assert.rejects(admission.admit(new Demand().add(window, 3)), { code: "uncorrectable" });
    }),
  );
});
