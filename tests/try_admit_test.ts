import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  Admission,
  createJobContext,
  Demand,
  Grant,
  InvalidStateError,
  type LimiterEvent,
  UncorrectableError,
} from "../mod.ts";
import { ScriptedLimiter, SwitchMemory } from "../testing/mod.ts";
import { MAX_ACCOUNTS, MAX_LINES } from "../assembly/layout.ts";
import { currentHost } from "../core/host.ts";
import { scenario } from "./scenario.ts";

describe("tryAdmit", () => {
  it(
    "BEY-23 it answers with a grant, or with null, at once and without waiting",
    scenario(async (world) => {
      const gate = world.gate("http", 1);
      const bucket = world.bucket("gpt", { rpm: 600, tpm: 6000 });
      const admission = world.admission();
      const demand = new Demand().add(gate).add(bucket, 4000);
      const grant = admission.tryAdmit(demand);
      assert.ok(grant instanceof Grant);
      assert.deepEqual([gate.currentInUse, bucket.currentInUse], [1, 4000]);
      assert.deepEqual(world.transitions, ["http GRANTED_IMMEDIATE", "gpt GRANTED_IMMEDIATE"]);
      assert.equal(admission.tryAdmit(demand), null);
      assert.equal(admission.queueSize, 0);
      grant.release();
      assert.equal(admission.tryAdmit(demand), null, "one account short is enough");
      assert.deepEqual(
        [gate.currentInUse, bucket.currentInUse],
        [0, 4000],
        "and nothing was taken from the other",
      );
      await world.settle();
      assert.equal(world.clock.pendingTimers, 0);
      assert.deepEqual(world.transitions.slice(2), ["http RELEASED"], "a null tells nobody anything");
    }),
  );

  it(
    "BEY-23 it answers null while anybody waits, although its demand would fit",
    scenario(async (world) => {
      const [http, db] = [world.gate("http", 1), world.gate("db", 1)];
      const admission = world.admission();
      const out = admission.tryAdmit(new Demand().add(http))!;
      const call = world.follow(admission.admit(new Demand().add(http)));
      assert.equal(admission.tryAdmit(new Demand().add(db)), null);
      assert.equal(admission.tryAdmit(new Demand()), null, "an empty demand is one too");
      out.release();
      await world.settle();
      call.grant!.release();
      const grant = admission.tryAdmit(new Demand().add(db));
      assert.notEqual(grant, null);
      assert.equal(db.currentInUse, 1);
    }),
  );

  it(
    "BEY-23 before start it is the attempt alone as well",
    scenario((world) => {
      const gate = world.gate("http", 1);
      const admission = world.unstarted();
      assert.ok(admission.tryAdmit(new Demand().add(gate)) instanceof Grant);
      assert.equal(admission.tryAdmit(new Demand().add(gate)), null);
      assert.ok(admission.tryAdmit(new Demand())!.isEmpty);
    }),
  );

  it(
    "BEY-23 a refusal throws and emits REJECTED",
    scenario((world) => {
      const bucket = world.bucket("gpt", { rpm: 600, tpm: 6000 });
      const gate = world.gate("http", 4);
      const admission = world.admission();
      assert.throws(() => admission.tryAdmit(new Demand().add(gate).add(bucket, 6001)), (error) => {
        assert.ok(error instanceof UncorrectableError);
        assert.equal(error.account, "gpt");
        assert.match(error.message, /6001 tokens exceeds/);
        return true;
      });
      assert.throws(
        () => admission.tryAdmit(new Demand().add(gate, 5).add(bucket, 1)),
        /5 permits can never fit/,
      );
      const custom = new ScriptedLimiter("custom", "refuses");
      assert.throws(
        () => admission.tryAdmit(new Demand().add(gate).add(custom, 1)),
        /custom refuses everyone/,
      );
      assert.deepEqual(world.transitions, ["gpt REJECTED", "http REJECTED", "custom REJECTED"]);
      assert.ok(
        world.events.every((event) => event.rejectReason === "circuit_blocked" && event.waitMs === 0),
      );
      assert.deepEqual([gate.currentInUse, bucket.currentInUse, admission.queueSize], [0, 0, 0]);
    }),
  );

  it(
    "BEY-23 a custom account that is short, declines or breaks leaves no trace in the line",
    scenario((world) => {
      currentHost().kernel.limits(1, MAX_ACCOUNTS, MAX_LINES);
      const gate = world.gate("http", 1);
      const custom = new ScriptedLimiter("custom", "short");
      const admission = world.admission();
      const demand = new Demand().add(gate).add(custom, 1);
      for (let i = 0; i < 100; i++) assert.equal(admission.tryAdmit(demand), null);
      custom.mode = "declines";
      for (let i = 0; i < 100; i++) assert.equal(admission.tryAdmit(demand), null);
      assert.equal(world.events.length, 0);
      custom.mode = "throws";
      assert.throws(() => admission.tryAdmit(demand), (error) => {
        assert.ok(error instanceof UncorrectableError);
        assert.match((error.cause as Error).message, /custom is broken/);
        return true;
      });
      assert.deepEqual([gate.currentInUse, admission.queueSize], [0, 0]);
      custom.mode = "fits";
      assert.ok(admission.tryAdmit(demand) instanceof Grant);
      assert.deepEqual([gate.currentInUse, custom.takeCount], [1, 1]);
    }),
  );

  it(
    "BEY-23 memory is part of the attempt",
    scenario((world) => {
      const memory = new SwitchMemory();
      const gate = world.gate("http", 2);
      const admission = world.admission({ memory });
      memory.isOpen = false;
      assert.equal(admission.tryAdmit(new Demand().add(gate)), null);
      assert.ok(admission.tryAdmit(new Demand())!.isEmpty, "an empty demand never meets memory");
      memory.isOpen = true;
      admission.tryAdmit(new Demand().add(gate))!.release();
      assert.equal(memory.giveCount, 1);
    }),
  );

  it(
    "BEY-23 called from inside a step it answers null",
    scenario(async (world) => {
      const gate = world.gate("http", 2);
      const answers: (Grant | null)[] = [];
      const admission: Admission = world.admission({
        events: () => answers.push(admission.tryAdmit(demand)),
      });
      const demand = new Demand().add(gate);
      const grant = admission.tryAdmit(demand)!;
      assert.deepEqual(answers, [null]);
      grant.release();
      await world.settle();
      assert.deepEqual([answers.length, gate.currentInUse], [2, 0]);
    }),
  );

  it(
    "BEY-23 it throws after stop, and for something that is no demand",
    scenario((world) => {
      const gate = world.gate("http", 1);
      const admission = world.admission();
      assert.throws(() => admission.tryAdmit({} as Demand), TypeError);
      admission.stop();
      assert.throws(() => admission.tryAdmit(new Demand().add(gate)), { code: "stopped" });
      assert.equal(gate.currentInUse, 0);
    }),
  );
});

describe("A waiter that leaves early", () => {
  for (const how of ["abort", "cancel", "timeout"] as const) {
    it(
      `BEY-01 followers that only its reservation blocked are granted at once after ${how}`,
      scenario(async (world) => {
        const bucket = world.bucket("gpt", { rpm: 600, tpm: 1000 });
        bucket.tryTake([500], []);
        const admission = world.admission();
        const controller = new AbortController();
        const context = createJobContext();
        const head = world.follow(
          admission.admit(new Demand().add(bucket, 800), {
            signal: controller.signal,
            context,
            timeoutMs: 60,
          }),
        );
        const follower = world.follow(admission.admit(new Demand().add(bucket, 100)));
        const later = world.follow(admission.admit(new Demand().add(bucket, 600)));
        await world.settle();
        assert.equal(
          admission.queueSize,
          3,
          "300 tokens are missing for the head, and no follower may use the 500",
        );
        if (how === "abort") controller.abort(new Error("changed my mind"));
        else if (how === "cancel") context.cancel();
        else await world.clock.advance(60); // One token.
        await world.settle();
        const code = (head.error as { code?: string }).code;
        if (how === "abort") assert.equal(head.error, controller.signal.reason);
        else assert.equal(code, how === "cancel" ? "cancelled" : "timeout");
        assert.equal(follower.settledAtMs, head.settledAtMs, "at the same instant");
        assert.equal(bucket.currentInUse, how === "timeout" ? 599 : 600);
        assert.equal(later.grant, null, "who is short by itself goes on waiting");
        assert.equal(world.clock.nextTimerMs, 1000 + 200 * 60, "as the head now, until its own instant");
      }),
    );
  }
});

describe("A settlement in which accounts throw", () => {
  it(
    "BEY-04 every other entry and memory still get theirs, waiters are woken, and the caller gets the error",
    scenario(async (world) => {
      const memory = new SwitchMemory();
      const [first, last] = [world.gate("first", 1), world.gate("last", 1)];
      const broken = new ScriptedLimiter("broken");
      broken.giveThrows = true;
      const admission = world.admission({ memory });
      const grant = admission.tryAdmit(new Demand().add(first).add(broken, 1).add(last))!;
      const call = world.follow(admission.admit(new Demand().add(first).add(last)));
      await world.settle();
      assert.throws(() => grant.release(), { message: "broken cannot take anything back" });
      assert.equal(memory.giveCount, 1);
      await world.settle();
      assert.notEqual(call.grant, null);
      assert.deepEqual([first.currentInUse, last.currentInUse], [1, 1]);
      assert.ok(grant.isSettled);
      grant.release();
      assert.equal(memory.giveCount, 1, "the grant was settled, so a second release does nothing");
      assert.equal(world.count("RELEASED", "broken"), 0);
      assert.equal(world.count("RELEASED", "last"), 1);
    }),
  );

  it(
    "BEY-04 several errors come as one AggregateError, in demand order, memory last",
    scenario((world) => {
      const memory = new SwitchMemory();
      memory.give = () => {
        throw new Error("memory is broken");
      };
      const gate = world.gate("http", 1);
      const broken = ["left", "right"].map((name) => new ScriptedLimiter(name));
      for (const account of broken) account.giveThrows = true;
      const admission = world.admission({ memory });
      const grant = admission.tryAdmit(new Demand().add(broken[0]!, 1).add(broken[1]!, 1).add(gate))!;
      assert.throws(() => grant.rollback(), (error) => {
        assert.ok(error instanceof AggregateError);
        assert.deepEqual(error.errors.map((each) => each.message), [
          "left cannot take anything back",
          "right cannot take anything back",
          "memory is broken",
        ]);
        return true;
      });
      assert.equal(gate.currentInUse, 0);
      assert.notEqual(admission.tryAdmit(new Demand().add(gate)), null, "admission is open");
    }),
  );

  it(
    "BEY-04 a gate whose permits somebody gave back already declines, and the rest is settled, with a sink or without",
    scenario((world) => {
      const events: LimiterEvent[] = [];
      for (const options of [{}, { events: (event: LimiterEvent) => events.push(event) }]) {
        const [first, last] = [world.gate("first", 2), world.gate("last", 1)];
        const admission = new Admission({ memory: null, clock: world.clock, ...options });
        const grant = admission.tryAdmit(new Demand().add(first, 2).add(last))!;
        first.give([undefined]);
        assert.throws(() => grant.release(), (error) => {
          assert.ok(error instanceof InvalidStateError);
          assert.match(error.message, /first/);
          return true;
        });
        assert.deepEqual([first.currentInUse, last.currentInUse], [1, 0], "what it declines changes nothing");
      }
      assert.deepEqual(events.filter(({ type }) => type === "RELEASED").map((event) => event.limiterName), [
        "last",
      ]);
    }),
  );
});
