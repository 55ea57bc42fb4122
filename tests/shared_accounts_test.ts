import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { CountingGate, Demand } from "../mod.ts";
import { MeterLimiter, ScriptedLimiter, SwitchMemory } from "../testing/mod.ts";
import { countWakes } from "./bucket_readings.ts";
import { scenario } from "./scenario.ts";

/** An account that says yes when asked and no when taken from, and counts how often that happens. */
class Decliner extends ScriptedLimiter {
  asked = 0;

  constructor(name: string) {
    super(name, "declines");
  }

  override tryTake(): boolean {
    this.asked++;
    return super.tryTake();
  }
}

/** An account whose user does something whenever it is given back to. */
class Releasing extends ScriptedLimiter {
  onGive: () => void = () => {};

  override give(): void {
    super.give();
    this.onGive();
  }
}

/** A gate that keeps the views of its line that admissions hand it. */
class WatchedGate extends CountingGate {
  readonly views: (() => number)[] = [];

  override observeHeld(held: () => number): void {
    this.views.push(held);
  }
}

/** Memory that says yes when asked and no when taken from. */
class DecliningMemory extends SwitchMemory {
  asked = 0;

  override tryTake(): boolean {
    this.asked++;
    return false;
  }
}

describe("Two admissions that share an account", () => {
  it(
    "BEY-06 whichever gives back, the waiters of both are woken",
    scenario(async (world) => {
      const gate = world.gate("http", 2);
      const [left, right] = [world.admission(), world.admission()];
      const one = new Demand().add(gate);
      const out = [left.tryAdmit(one)!, right.tryAdmit(one)!];
      const calls = [world.follow(left.admit(one)), world.follow(right.admit(one))];
      await world.settle();
      assert.deepEqual([left.queueSize, right.queueSize, gate.currentInUse], [1, 1, 2]);
      out[0]!.release();
      await world.settle();
      assert.deepEqual([left.queueSize, right.queueSize], [0, 1], "one permit lets one of them go");
      calls[0]!.grant!.release();
      await world.settle();
      assert.deepEqual([left.queueSize, right.queueSize], [0, 0]);
      out[1]!.release();
      calls[1]!.grant!.release();
      assert.equal(gate.currentInUse, 0);
    }),
  );

  it(
    "BEY-06 a shared bucket wakes both when it gains room, and each keeps its own deadline",
    scenario(async (world) => {
      const bucket = world.bucket("gpt", { rpm: 600, tpm: 6000 });
      bucket.tryTake([6000], []);
      const [left, right] = [world.admission(), world.admission()];
      const calls = [
        world.follow(left.admit(new Demand().add(bucket, 100))),
        world.follow(right.admit(new Demand().add(bucket, 200))),
      ];
      await world.clock.advanceTo(2000);
      assert.equal(calls[0]!.settledAtMs, 2000);
      assert.equal(world.clock.nextTimerMs, 3000, "100 tokens less than when the other asked, but no poll");
      bucket.give([200]);
      await world.settle();
      assert.equal(calls[1]!.settledAtMs, 2000);
    }),
  );

  it(
    "BEY-06 stopping one leaves the other's wake in place",
    scenario(async (world) => {
      const gate = world.gate("http", 1);
      const [left, right] = [world.admission(), world.admission()];
      const one = new Demand().add(gate);
      const out = left.tryAdmit(one)!;
      const calls = [world.follow(left.admit(one)), world.follow(right.admit(one))];
      await world.settle();
      left.stop();
      await world.settle();
      assert.notEqual(calls[0]!.error, null);
      assert.equal(right.queueSize, 1);
      out.release();
      await world.settle();
      assert.equal(right.queueSize, 0);
      assert.equal(gate.currentInUse, 1);
    }),
  );

  it(
    "BEY-06 onCapacityChange replaces and clears only the account's public slot",
    scenario(async (world) => {
      const gate = world.gate("http", 1);
      const [left, right] = [world.admission(), world.admission()];
      const one = new Demand().add(gate);
      const old = countWakes(gate);
      const counter = countWakes(gate);
      const out = left.tryAdmit(one)!;
      const calls = [world.follow(left.admit(one)), world.follow(right.admit(one))];
      out.release();
      await world.settle();
      assert.equal(old.wakes, 0, "it was replaced");
      assert.equal(counter.wakes, 1, "using the account in admissions leaves the slot alone");
      assert.equal(left.queueSize, 0, "and the slot does not stand between account and admission");
      left.stop();
      calls[0]!.grant!.release();
      await world.settle();
      assert.equal(counter.wakes, 2, "nor does stop clear it");
      assert.equal(right.queueSize, 0);
      const last = world.follow(right.admit(one));
      await world.settle();
      gate.onCapacityChange(null);
      calls[1]!.grant!.release();
      await world.settle();
      assert.equal(counter.wakes, 2);
      assert.notEqual(last.grant, null, "clearing the slot leaves admission's wake in place");
    }),
  );

  it(
    "BEY-06 a custom account keeps its one slot: the admission that wired it last is woken, until it stops",
    scenario(async (world) => {
      const account = new ScriptedLimiter("custom", "short");
      const [left, right] = [world.admission(), world.admission()];
      const demand = new Demand().add(account, 1);
      void world.follow(left.admit(demand));
      const calls = [world.follow(right.admit(demand)), world.follow(right.admit(demand))];
      await world.settle();
      account.mode = "fits";
      account.wake();
      await world.settle();
      assert.deepEqual([left.queueSize, right.queueSize], [1, 0]);
      assert.ok(calls.every((call) => call.grant !== null));
      right.stop();
      account.wake();
      await world.settle();
      assert.equal(left.queueSize, 1, "the one slot is empty now");
    }),
  );

  it(
    "BEY-06 the held views of an account that several admissions share add up",
    scenario(async (world) => {
      const gate = new WatchedGate("http", 1);
      const [left, right] = [world.admission(), world.admission()];
      const one = new Demand().add(gate);
      const out = left.tryAdmit(one)!;
      const controller = new AbortController();
      for (const admission of [left, right, right]) {
        void world.follow(admission.admit(one, { signal: controller.signal }));
        await world.settle();
      }
      assert.deepEqual(world.events.filter(({ type }) => type === "HELD").map(({ waiters }) => waiters), [
        1,
        2,
        3,
      ]);
      assert.deepEqual(
        gate.views.map((held) => held()),
        [3, 3],
        "a view for each admission, both of the whole line",
      );
      controller.abort();
      await world.settle();
      assert.deepEqual(gate.views.map((held) => held()), [0, 0]);
      out.release();
    }),
  );
});

describe("A pass with an account that declines its take", () => {
  it(
    "BEY-07 compensation inside a failed attempt asks for no further pass",
    scenario(async (world) => {
      const decliner = new Decliner("custom");
      const gate = world.gate("http", 1);
      const bucket = world.bucket("gpt", { rpm: 600, tpm: 6000 });
      const admission = world.admission();
      void world.follow(admission.admit(new Demand().add(gate).add(bucket, 100).add(decliner, 1)));
      await world.settle();
      const asked = decliner.asked;
      assert.ok(asked >= 1 && asked <= 2, `${asked} attempts`);
      assert.equal(gate.currentInUse, 0);
      assert.equal(bucket.currentInUse, 0);
      await world.clock.advance(3_600_000);
      assert.equal(decliner.asked, asked, "nothing polls");
      gate.give([]);
      await world.settle();
      assert.equal(decliner.asked, asked + 1, "one wake, one attempt");
    }),
  );

  it(
    "BEY-07 nor does the wake that a custom account runs while it is given back to",
    scenario(async (world) => {
      const decliner = new Decliner("custom");
      const meter = new MeterLimiter("meter", 100, 0, world.clock);
      void world.follow(world.admission().admit(new Demand().add(meter, 10).add(decliner, 1)));
      await world.settle();
      const asked = decliner.asked;
      assert.ok(asked >= 1 && asked <= 2, `${asked} attempts`);
      assert.equal(meter.level, 100);
      meter.wake();
      await world.settle();
      assert.equal(decliner.asked, asked + 1, "one wake, one attempt");
    }),
  );

  it(
    "BEY-07 memory that declines is not asked again by what the attempt gives back",
    scenario(async (world) => {
      const memory = new DecliningMemory();
      const gate = world.gate("http", 1);
      const meter = new MeterLimiter("meter", 100, 0, world.clock);
      void world.follow(world.admission({ memory }).admit(new Demand().add(gate).add(meter, 10)));
      await world.settle();
      const asked = memory.asked;
      assert.ok(asked >= 1 && asked <= 2, `${asked} attempts`);
      await world.clock.advance(60_000);
      assert.equal(memory.asked, asked);
    }),
  );

  it(
    "BEY-07 two admissions whose attempts fail on a shared gate do not wake each other for ever",
    scenario(async (world) => {
      const gate = world.gate("http", 1);
      const decliners = [new Decliner("left"), new Decliner("right")];
      for (const decliner of decliners) {
        void world.follow(world.admission().admit(new Demand().add(gate).add(decliner, 1)));
      }
      await world.settle();
      const asked = decliners.map((decliner) => decliner.asked);
      assert.ok(asked.every((times) => times <= 2), `${asked} attempts`);
      gate.give([]);
      await world.settle();
      assert.deepEqual(decliners.map((decliner) => decliner.asked), asked.map((times) => times + 1));
    }),
  );

  it(
    "BEY-07 what really changes while an attempt is given back is news all the same",
    scenario(async (world) => {
      const gate = world.gate("http", 1);
      const admission = world.admission();
      const out = admission.tryAdmit(new Demand().add(gate))!;
      const releasing = new Releasing("releasing");
      const head = world.follow(admission.admit(new Demand().add(gate)));
      await world.settle();
      releasing.onGive = () => out.release();
      void world.follow(admission.admit(new Demand().add(releasing, 1).add(new Decliner("declines"), 1)));
      await world.settle();
      assert.equal(out.isSettled, true);
      assert.notEqual(
        head.grant,
        null,
        "the permit that was released during the pass is not lost on the older waiter",
      );
    }),
  );
});
