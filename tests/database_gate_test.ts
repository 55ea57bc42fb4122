// The gates of pools that a job borrows from: a database's connections and the HTTP pool's places.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { CountingGate, DatabaseGate, Demand, HttpConnectionGate, UncorrectableError } from "../mod.ts";
import { ManualClock, rateLimiterContract } from "../testing/mod.ts";
import { nativeBinding } from "../core/accounts/native.ts";
import { permits } from "./custom_accounts.ts";
import { scenario } from "./scenario.ts";

const WRONG_CAPACITIES: readonly [unknown, string][] = [
  [NaN, "RangeError"],
  [Infinity, "RangeError"],
  [-1, "RangeError"],
  [0, "RangeError"],
  [2.5, "RangeError"],
  ["3", "TypeError"],
  [null, "TypeError"],
];

describe("A database gate", () => {
  it(
    "DG-01 CNT-09 is named db:<datasource>, and a permit is a connection in use",
    scenario((world) => {
      world.admission();
      const gate = new DatabaseGate("orders", 2);
      assert.deepEqual([gate.limiterName, gate.capacity, gate.replenishment], ["db:orders", 2, "RELEASE"]);
      assert.deepEqual([gate.tryTake(permits(1), []), gate.tryTake(permits(1), [])], [true, true]);
      assert.equal(gate.fits(permits(1), []), false, "a third does not fit");
      gate.give(permits(1));
      assert.deepEqual([gate.currentInUse, gate.capacity], [1, 2]);
      assert.equal(nativeBinding(gate)?.isNative, true, "the kernel asks it itself");
    }),
  );

  it(
    "DG-01 jobs that share a gate never have more connections out than it has permits, and wait in order",
    scenario(async (world) => {
      const gate = new DatabaseGate("orders", 3);
      const admission = world.admission();
      let [out, most] = [0, 0];
      const order: number[] = [];
      const jobs = Array.from({ length: 20 }, (_, job) =>
        admission.run(new Demand().add(gate), async () => {
          order.push(job);
          most = Math.max(most, ++out);
          await Promise.resolve();
          out--;
        }));
      await Promise.all(jobs);
      assert.deepEqual([most, gate.currentInUse], [3, 0]);
      assert.deepEqual(order, order.toSorted((a, b) => a - b));
    }),
  );

  it("refuses a datasource without a name and a capacity that is none, naming the value", () => {
    for (const datasource of ["", undefined, null, 5] as unknown as string[]) {
      assert.throws(() => new DatabaseGate(datasource, 2), { name: "TypeError", message: /datasource is / });
    }
    for (const [capacity, name] of WRONG_CAPACITIES) {
      assert.throws(() => new DatabaseGate("orders", capacity as number), {
        name,
        message: /"db:orders".*it should/,
      });
    }
  });
});

describe("The HTTP gate", () => {
  it("HG-01 CNT-09 is named http and is 1000 wide unless the pool is said to have another size", () => {
    const gate = new HttpConnectionGate();
    assert.deepEqual([gate.limiterName, gate.capacity, gate.replenishment], ["http", 1000, "RELEASE"]);
    assert.equal(new HttpConnectionGate(64).capacity, 64);
    assert.ok(gate instanceof CountingGate);
    assert.equal(gate.requiresHttpConnection, false, "the gate itself asks for no second one");
    for (const [size, name] of WRONG_CAPACITIES) {
      assert.throws(() => new HttpConnectionGate(size as number), { name, message: /"http".*it should/ });
    }
  });

  it(
    "HG-04 a job takes one permit of it, however many calls it makes",
    scenario(async (world) => {
      const http = new HttpConnectionGate(2);
      const admission = world.admission();
      const inUse: number[] = [];
      await admission.run(new Demand().add(http), async () => {
        for (let call = 0; call < 5; call++) {
          await Promise.resolve();
          inUse.push(http.currentInUse);
        }
      });
      assert.deepEqual([inUse, http.currentInUse], [[1, 1, 1, 1, 1], 0]);
      await assert.rejects(admission.admit(new Demand().add(http, 3)), UncorrectableError);
    }),
  );
});

const subject = (account: CountingGate) => ({
  account,
  clock: new ManualClock(),
  amount: undefined,
  room: 3,
  impossible: permits(4),
});

rateLimiterContract("DatabaseGate", () => subject(new DatabaseGate("orders", 3)), { describe, it });
rateLimiterContract("HttpConnectionGate", () => subject(new HttpConnectionGate(3)), { describe, it });
