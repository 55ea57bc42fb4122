// What an operator sees: who waits and why, and who holds a grant for too long.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { createJobContext, Demand } from "../mod.ts";
import { MAX_TIMER_MS } from "../core/clock.ts";
import { ScriptedLimiter, SwitchMemory } from "../testing/mod.ts";
import { runChild } from "./children.ts";
import { Slots } from "./custom_accounts.ts";
import { scenario } from "./scenario.ts";
import { assertParked, grantOf } from "./watched.ts";

/** What an account says that is short and refuses nobody. */
const SHORT = { isShort: true, refusal: null };

describe("waiters()", () => {
  it(
    "BEY-40 lists everyone oldest first: job, wait, and each account with what is missing and since when",
    scenario(async (world) => {
      const gate = world.gate("gate", 2);
      const bucket = world.bucket("bucket", { tpm: 60_000, rpm: 60_000 });
      const admission = world.admission();
      const startMs = world.clock.now();
      await admission.admit(new Demand().add(gate).add(bucket, 60_000));
      const context = (id: string) => ({ context: createJobContext({ id }) });
      void admission.admit(new Demand().add(gate, 2).add(bucket, 50), context("head")).catch(() => {});
      await world.clock.advance(30);
      void admission.admit(new Demand().add(bucket, 30).add(gate), context("next")).catch(() => {});
      await world.clock.advance(10.5);

      const [head, next] = admission.waiters();
      assert.deepEqual([head!.job!.id, head!.waitedMs, next!.job!.id, next!.waitedMs], [
        "head",
        40.5,
        "next",
        10.5,
      ]);
      assert.deepEqual(head!.accounts, [
        { ...SHORT, account: "gate", amount: 2, ahead: 0, missing: 1, earliestMs: null, heldMs: 40.5 },
        {
          ...SHORT,
          account: "bucket",
          amount: 50,
          ahead: 0,
          missing: 10,
          earliestMs: startMs + 50,
          heldMs: 40.5,
        },
      ]);
      assert.deepEqual(next!.accounts, [
        {
          ...SHORT,
          account: "bucket",
          amount: 30,
          ahead: 50,
          missing: 40,
          earliestMs: startMs + 80,
          heldMs: 10.5,
        },
        { ...SHORT, account: "gate", amount: 1, ahead: 2, missing: 2, earliestMs: null, heldMs: 10.5 },
      ]);
      await world.clock.advance(200);
      const later = admission.waiters().map(({ accounts }) => accounts.map(({ isShort }) => isShort));
      assert.deepEqual(later, [[true, false], [false, true]]);
      admission.stop();
      assert.deepEqual(admission.waiters(), []);
    }),
  );

  it(
    "BEY-40 tells the instant at which the clock alone lets each go: the latest of its accounts, or none",
    scenario(async (world) => {
      const gate = world.gate("gate", 1);
      const [gpt, cohere] = [
        world.bucket("gpt", { tpm: 60_000, rpm: 60_000 }),
        world.bucket("cohere", { tpm: 60_000, rpm: 60_000 }),
      ];
      const admission = world.admission();
      await admission.admit(new Demand().add(gpt, 60_000).add(cohere, 60_000).add(gate));
      const demands = [
        new Demand().add(gpt, 100).add(cohere, 250),
        new Demand().add(gpt, 20),
        new Demand().add(gpt, 10).add(gate),
      ];
      const calls = demands.map((demand) => world.follow(admission.admit(demand)));
      await world.settle();
      const startMs = world.clock.now();
      const instants = () =>
        admission.waiters().map(({ earliestMs: at }) => at === null ? null : at - startMs);
      assert.deepEqual(instants(), [250, 120, null]);
      await world.clock.advance(120);
      assert.deepEqual(instants(), [250, null]);
      await world.clock.advance(130);
      grantOf(calls[0]!);
      assert.deepEqual(instants(), [null], "it waits for the gate alone");
      admission.stop();
    }),
  );

  it(
    "BEY-40 names the job of a context without a sink too, as it is now",
    scenario(async (world) => {
      const gate = world.gate("gate", 1);
      const admission = world.admission({ events: undefined as never });
      await admission.admit(new Demand().add(gate));
      const context = createJobContext({ id: "head" });
      const calls = [{ context }, { timeoutMs: 60_000 }, {}].map((options) =>
        world.follow(admission.admit(new Demand().add(gate), options))
      );
      await world.settle();
      context.metadata["tenant"] = "acme";
      const jobs = admission.waiters().map(({ job }) => job);
      assert.deepEqual(jobs, [{ id: "head", isCancelled: false, metadata: { tenant: "acme" } }, null, null]);
      assertParked(...calls);
      admission.stop();
    }),
  );

  it(
    "BEY-40 shows memory first, an account that never held as such, and custom ones without a number",
    scenario(async (world) => {
      const memory = new SwitchMemory();
      const [gate, slots] = [world.gate("gate", 1), new Slots("slots", 1)];
      const admission = world.admission({ memory, events: undefined as never });
      await admission.admit(new Demand().add(slots));
      void admission.admit(new Demand().add(gate).add(slots)).catch(() => {});
      await world.clock.advance(5);
      memory.isOpen = false;
      const [waiter] = admission.waiters();
      assert.equal(waiter!.job, null, "without a sink there is no job");
      assert.deepEqual(waiter!.accounts, [
        { ...SHORT, account: "memory", amount: 1, ahead: 0, missing: null, earliestMs: null, heldMs: null },
        {
          ...SHORT,
          account: "gate",
          amount: 1,
          ahead: 0,
          isShort: false,
          missing: 0,
          earliestMs: null,
          heldMs: null,
        },
        { ...SHORT, account: "slots", amount: 1, ahead: 0, missing: null, earliestMs: null, heldMs: 5 },
      ]);
      admission.stop();
    }),
  );

  it(
    "BEY-11 BEY-40 looking at the line changes nothing, not even from inside a step",
    scenario(async (world) => {
      const gate = world.gate("gate", 1);
      const bucket = world.bucket("bucket", { tpm: 60_000, rpm: 60_000 });
      let looks = 0;
      const admission = world.admission();
      const curious = world.admission({
        events: () => {
          looks += curious.waiters().length + curious.explain(new Demand().add(bucket, 5)).queueSize;
        },
      });
      bucket.tryTake([60_000], []);
      const holder = await curious.admit(new Demand().add(gate));
      const calls = [curious, admission].map((each) =>
        world.follow(each.admit(new Demand().add(bucket, 100).add(gate)))
      );
      await world.settle();
      const [timer, told] = [world.clock.nextTimerMs, world.events.length];
      for (let i = 0; i < 5; i++) {
        assert.equal(curious.waiters().length, 1);
        admission.waiters();
        await world.settle();
      }
      assert.deepEqual([world.clock.nextTimerMs, world.events.length], [timer, told]);
      holder.release();
      await world.clock.advance(200);
      assert.equal(grantOf(calls[0]!).wallWaitMs, 100);
      assertParked(calls[1]!);
      grantOf(calls[0]!).release();
      await world.settle();
      grantOf(calls[1]!);
      assert.ok(looks > 0);
    }),
  );
});

describe("maxHoldMs", () => {
  it(
    "BEY-28 a grant that is not settled in time is reported once, with accounts, age and where it came from",
    scenario(async (world) => {
      const reports: [string, Record<string, unknown>][] = [];
      const warn = (message: string, fields?: object) =>
        reports.push([message, fields as Record<string, unknown>]);
      const [gate, bucket] = [world.gate("gate", 1), world.bucket("bucket", { tpm: 100, rpm: 9 })];
      const admission = world.admission({ logger: { info: () => {}, warn, error: () => {} } });
      const grant = await admission.admit(new Demand().add(gate).add(bucket, 5), { maxHoldMs: 80 });
      await world.clock.advance(79.999);
      assert.equal(reports.length, 0);
      await world.clock.advance(0.001);
      const [[message, fields]] = reports as [[string, Record<string, unknown>]];
      assert.match(message, /gate, bucket .*80/);
      assert.deepEqual([fields["accounts"], fields["heldMs"]], [["gate", "bucket"], 80]);
      assert.match(String(fields["admittedAt"]), /waiters_and_grants_test/);
      await world.clock.advance(500);
      assert.equal(reports.length, 1);

      const [held] = admission.grants();
      assert.deepEqual([held!.accounts, held!.heldMs, held!.maxHoldMs, held!.isOverdue], [
        ["gate", "bucket"],
        580,
        80,
        true,
      ]);
      assert.equal(held!.admittedAt, fields["admittedAt"]);
      assert.deepEqual([gate.currentInUse, grant.isSettled], [1, false], "nothing is taken back");
      grant.release();
      assert.deepEqual([admission.grants(), gate.currentInUse], [[], 0]);
    }),
  );

  it(
    "BEY-28 counts from the grant, and a settlement in time, however it is made, leaves no timer",
    scenario(async (world) => {
      const gate = world.gate("gate", 1);
      const admission = world.admission();
      const demand = new Demand().add(gate);
      for (const settle of ["release", "rollback"] as const) {
        const holder = await admission.admit(demand);
        const parked = world.follow(admission.admit(demand, { maxHoldMs: 100 }));
        await world.clock.advance(500);
        assert.deepEqual(admission.grants(), [], "whoever waits holds nothing");
        holder.release();
        await world.clock.advance(99);
        assert.deepEqual(admission.grants().map(({ heldMs, isOverdue }) => [heldMs, isOverdue]), [[
          99,
          false,
        ]]);
        grantOf(parked)[settle]();
        assert.deepEqual([admission.grants(), world.clock.pendingTimers], [[], 0]);
      }
      assert.equal(await admission.run(demand, () => admission.grants().length, { maxHoldMs: 100 }), 1);
      assert.deepEqual([world.logs, world.clock.pendingTimers], [[], 0]);
    }),
  );

  it(
    "BEY-28 lists watched grants oldest first, and only those",
    scenario(async (world) => {
      const gate = world.gate("gate", 5);
      const admission = world.admission();
      const demand = new Demand().add(gate);
      const hold = (maxHoldMs: number) => admission.admit(demand, { maxHoldMs });
      await admission.admit(demand);
      assert.ok(admission.tryAdmit(demand) !== null);
      const first = await hold(Infinity);
      await world.clock.advance(10);
      await hold(3 * MAX_TIMER_MS);
      await world.clock.advance(10);
      await hold(0);
      assert.deepEqual(admission.grants().map(({ heldMs, isOverdue }) => [heldMs, isOverdue]), [
        [20, false],
        [10, false],
        [0, true],
      ]);
      await world.settle();
      assert.equal(world.logs.length, 1);
      await world.clock.advance(3 * MAX_TIMER_MS - 11);
      assert.equal(world.logs.length, 1, "a long limit is not reported early");
      await world.clock.advance(1);
      assert.equal(world.logs.length, 2);
      first.release();
      assert.equal(admission.grants().length, 2);
      assert.equal(world.clock.pendingTimers, 0);
    }),
  );

  it(
    "BEY-28 a logger that fails, and a settlement that fails, change nothing",
    scenario(async (world) => {
      const x = new ScriptedLimiter("x");
      const warn = () => {
        throw new Error("a broken logger");
      };
      const admission = world.admission({ logger: { info: warn, warn, error: warn } });
      const grant = await admission.admit(new Demand().add(x), { maxHoldMs: 5 });
      await world.clock.advance(5);
      assert.equal(admission.grants()[0]!.isOverdue, true);
      x.giveThrows = true;
      assert.throws(() => grant.release(), { message: /cannot take anything back/ });
      assert.deepEqual(admission.grants(), []);
    }),
  );

  it("BEY-28 BEY-52 the process ends after the last grant, though one is never settled", () => {
    const { status, lines, errors } = runChild("ends_with_a_grant_out");
    assert.deepEqual([status, errors], [0, ""]);
    assert.deepEqual(lines, ["worked: 3 of 3", "timed out: timeout", "drained", "out: 1"]);
  });
});
