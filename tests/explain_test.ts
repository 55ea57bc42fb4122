// explain: what every account would say about a demand now. It changes nothing, and an attempt agrees with it.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { type AccountView, Demand } from "../mod.ts";
import { ScriptedLimiter, SwitchMemory } from "../testing/mod.ts";
import { Slots } from "./custom_accounts.ts";
import { scenario } from "./scenario.ts";
import { assertParked, WatchedLimiter } from "./watched.ts";

const NOMINAL: Omit<AccountView, "account" | "amount"> = {
  ahead: 0,
  isShort: false,
  missing: 0,
  earliestMs: null,
  refusal: null,
};

describe("explain", () => {
  it(
    "BEY-40 says of each account who is short, by how much, and from when the clock alone makes it fit",
    scenario(async (world) => {
      const gate = world.gate("gate", 3);
      const bucket = world.bucket("bucket", { tpm: 60_000, rpm: 60_000 });
      const admission = world.admission();
      const all = new Demand().add(gate, 2).add(bucket, 500);
      assert.deepEqual(admission.explain(all), {
        fits: true,
        queueSize: 0,
        accounts: [{ ...NOMINAL, account: "gate", amount: 2 }, {
          ...NOMINAL,
          account: "bucket",
          amount: 500,
        }],
        earliestMs: null,
        refusal: null,
      });
      const holder = await admission.admit(new Demand().add(gate, 2).add(bucket, 60_000));
      const short = admission.explain(all);
      assert.deepEqual(short.accounts, [
        { ...NOMINAL, account: "gate", amount: 2, isShort: true, missing: 1 },
        { ...NOMINAL, account: "bucket", amount: 500, isShort: true, missing: 500, earliestMs: 1500 },
      ]);
      assert.deepEqual([short.fits, short.earliestMs], [false, null], "only an event frees the gate");
      holder.release();
      assert.deepEqual([admission.explain(all).fits, admission.explain(all).earliestMs], [false, 1500]);
      assert.deepEqual(admission.explain(new Demand()), {
        fits: true,
        queueSize: 0,
        accounts: [],
        earliestMs: null,
        refusal: null,
      });
    }),
  );

  it(
    "BEY-40 says that a demand fits which admit would grant, while tryAdmit overtakes nobody and is null",
    scenario(async (world) => {
      const [gate, other] = [world.gate("gate", 1), world.gate("other", 1)];
      const admission = world.admission();
      const holder = await admission.admit(new Demand().add(gate));
      const waiting = admission.admit(new Demand().add(gate));
      const free = () => new Demand().add(other);
      assert.deepEqual([admission.explain(free()).fits, admission.tryAdmit(free())], [true, null]);
      (await admission.admit(free())).release();
      holder.release();
      (await waiting).release();
      assert.ok(admission.tryAdmit(free()), "nobody waits any more");
    }),
  );

  it(
    "BEY-40 behind a line it counts what the head has set aside",
    scenario(async (world) => {
      const [gate, other] = [world.gate("gate", 3), world.gate("other", 1)];
      const bucket = world.bucket("bucket", { tpm: 60_000, rpm: 60_000 });
      const admission = world.admission();
      await admission.admit(new Demand().add(other).add(bucket, 60_000));
      const head = world.follow(admission.admit(new Demand().add(other).add(gate, 2).add(bucket, 300)));
      await world.settle();
      const { accounts, earliestMs, queueSize } = admission.explain(
        new Demand().add(gate, 2).add(bucket, 100).add(other),
      );
      assert.deepEqual(accounts, [
        { ...NOMINAL, account: "gate", amount: 2, ahead: 2, isShort: true, missing: 1 },
        {
          ...NOMINAL,
          account: "bucket",
          amount: 100,
          ahead: 300,
          isShort: true,
          missing: 400,
          earliestMs: 1400,
        },
        { ...NOMINAL, account: "other", amount: 1, ahead: 1, isShort: true, missing: 2 },
      ]);
      assert.deepEqual([earliestMs, queueSize], [null, 1]);
      assert.equal(admission.explain(new Demand().add(gate)).fits, true);
      assertParked(head);
      admission.stop();
    }),
  );

  it(
    "BEY-40 says why a demand can never be granted, and shows an account's fault or bad answer as one",
    scenario((world) => {
      const [gate, x] = [world.gate("gate", 1), new ScriptedLimiter("x", "refuses")];
      const admission = world.admission();
      const told = (demand: Demand) => {
        const { fits, earliestMs, accounts } = admission.explain(demand);
        assert.deepEqual([fits, earliestMs], [false, null]);
        return accounts.map(({ isShort, refusal }) => [isShort, refusal]);
      };
      assert.match(String(told(new Demand().add(gate, 2))), /^false,2 permits can never fit "gate"/);
      assert.match(String(told(new Demand().add(gate).add(x))), /^false,,false,x /);
      x.mode = "throws";
      assert.deepEqual(told(new Demand().add(x)), [[false, "x is broken"]]);
      x.mode = "short";
      x.instant = NaN;
      assert.match(String(told(new Demand().add(x))), /^false,.*earliestFit\(\).*NaN/);
      const odd = Object.assign(new Slots("odd", 1), { fits: () => Promise.resolve(true) });
      assert.match(String(told(new Demand().add(odd))), /^false,.*fits\(\).*Promise/);
      assert.deepEqual([world.events, world.logs], [[], []]);
    }),
  );

  it(
    "BEY-40 asks memory first, unless the demand is empty",
    scenario((world) => {
      const memory = new SwitchMemory();
      const gate = world.gate("gate", 1);
      const admission = world.admission({ memory });
      memory.isOpen = false;
      memory.instant = 7000;
      const { accounts, fits, earliestMs } = admission.explain(new Demand().add(gate));
      assert.deepEqual(accounts, [
        { ...NOMINAL, account: "memory", amount: 1, isShort: true, missing: null, earliestMs: 7000 },
        { ...NOMINAL, account: "gate", amount: 1 },
      ]);
      assert.deepEqual([fits, earliestMs], [false, 7000]);
      assert.equal(admission.explain(new Demand()).fits, true);
    }),
  );

  it(
    "BEY-11 BEY-40 asks each account once what one attempt asks, and moves nothing: no floor, no held count",
    scenario(async (world) => {
      const log: string[] = [];
      const [x, y] = [new WatchedLimiter("x", log), new WatchedLimiter("y", log, "short")];
      const bucket = world.bucket("bucket", { tpm: 60_000, rpm: 60_000 });
      const admission = world.admission();
      bucket.tryTake([60_000], []);
      const demand = new Demand().add(x, 1).add(y, 2).add(bucket, 50);
      for (let i = 0; i < 3; i++) {
        log.length = 0;
        admission.explain(demand);
        assert.deepEqual(log, ["x fits [1] []", "y fits [2] []", "y earliestFit [2] []"]);
        await world.settle();
      }
      assert.deepEqual([bucket.currentInUse, world.events, x.held, world.clock.pendingTimers], [
        60_000,
        [],
        null,
        0,
      ]);
      assert.deepEqual([admission.queueSize, y.currentInUse], [0, 0]);
    }),
  );

  it(
    "BEY-40 refuses what admit refuses as an argument, and says after stop that nobody is admitted any more",
    scenario((world) => {
      const admission = world.admission();
      for (const wrong of [null, {}, "demand"]) {
        assert.throws(() => admission.explain(wrong as never), { name: "TypeError", message: /demand is / });
      }
      const gate = world.gate("gate", 1);
      const demand = new Demand().add(gate);
      admission.stop();
      assert.deepEqual(admission.explain(demand), {
        fits: false,
        queueSize: 0,
        accounts: [{ ...NOMINAL, account: "gate", amount: 1 }],
        earliestMs: null,
        refusal: "This Admission was stopped; nobody is admitted any more",
      });
      gate.dispose();
      assert.throws(() => admission.explain(demand), { code: "invalid_state" });
    }),
  );
});
