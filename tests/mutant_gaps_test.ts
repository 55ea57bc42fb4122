/** Scenarios that planted faults asked for: promises that no other test would miss (`npm run mutants`). */
import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Demand, type EventSink } from "../mod.ts";
import { SwitchMemory } from "../testing/mod.ts";
import { Router } from "./custom_accounts.ts";
import { type Call, scenario } from "./scenario.ts";
import { assertParked, WatchedLimiter } from "./watched.ts";

/** Memory that counts how often it is asked. */
class CountingMemory extends SwitchMemory {
  asked = 0;

  override fits(): boolean {
    this.asked++;
    return super.fits();
  }
}

describe("Memory and the line", () => {
  it(
    "MON-35 an empty demand never meets memory: at once, behind a head that is short of memory, or settled",
    scenario(async (world) => {
      const memory = new CountingMemory();
      memory.isOpen = false;
      const admission = world.admission({ memory });
      const atOnce = await admission.admit(new Demand());
      assert.equal(memory.asked, 0);
      const head = world.follow(admission.admit(new Demand().add(world.gate("http", 1))));
      await world.settle();
      const second = world.follow(admission.admit(new Demand()));
      await world.settle();
      assertParked(head);
      assert.equal(second.settledAtMs, 1000, "through the line, in one pass");
      atOnce.release();
      second.grant!.rollback();
      assert.equal(memory.giveCount, 0);
    }),
  );

  it(
    "MON-38 behind a head that is short elsewhere, memory is asked for each follower, and they go",
    scenario(async (world) => {
      const memory = new CountingMemory();
      const [closed, free] = [world.gate("closed", 1), world.gate("free", 25)];
      const admission = world.admission({ memory });
      closed.tryTake([undefined], []);
      const head = world.follow(admission.admit(new Demand().add(closed)));
      await world.settle();
      memory.asked = 0;
      const calls: Call[] = [];
      for (let i = 0; i < 25; i++) calls.push(world.follow(admission.admit(new Demand().add(free))));
      await world.settle();
      assertParked(head);
      assert.ok(calls.every((call) => call.grant !== null));
      assert.ok(memory.asked >= 25, `memory was asked ${memory.asked} times`);
      assert.equal(world.count("HELD", "memory"), 0);
    }),
  );
});

describe("A deadline that passes during the pass", () => {
  it(
    "WAK-13 leads to another pass without any event",
    scenario(async (world) => {
      const memory = new CountingMemory();
      memory.isOpen = false;
      memory.instant = 1000.5;
      let reading = 1000;
      const clock = {
        now: () => reading,
        wallNow: () => 0,
        setTimer: world.clock.setTimer.bind(world.clock),
      };
      const events: EventSink = ({ type }) => {
        // The pace that memory named closes while those who wait are still being marked.
        if (type === "HELD") [reading, memory.isOpen] = [reading + 1, true];
      };
      const admission = world.admission({ memory, clock, events });
      const gate = world.gate("http", 2);
      const calls = [0, 1].map(() => world.follow(admission.admit(new Demand().add(gate))));
      await world.settle();
      assert.ok(calls.every((call) => call.grant !== null), "both went, and no timer had to fire");
      assert.equal(world.clock.pendingTimers, 0);
    }),
  );
});

describe("A refund in the instant of a take", () => {
  it(
    "TB-10 ACC-04 fills a bucket to its cap and not beyond",
    scenario((world) => {
      const bucket = world.bucket("gpt", { tpm: 1000, rpm: 10 });
      bucket.give([500]);
      assert.equal(bucket.tryTake([1000], []), true);
      assert.deepEqual([bucket.currentInUse, bucket.fits([1], [])], [1000, false]);
    }),
  );
});

describe("An inline attempt", () => {
  it(
    "MON-06 FLT-05 that is short on one account is refused by another at once",
    scenario(async (world) => {
      const [busy, small] = [world.gate("busy", 1), world.gate("small", 1)];
      const admission = world.admission();
      const out = admission.tryAdmit(new Demand().add(busy))!;
      world.events.length = 0;
      const demand = new Demand().add(busy).add(small, 2);
      const refusal = { code: "uncorrectable", account: "small" };
      assert.throws(() => admission.tryAdmit(demand), refusal);
      await assert.rejects(admission.admit(demand), refusal);
      assert.deepEqual(world.transitions, ["small REJECTED", "small REJECTED"]);
      out.release();
    }),
  );

  it(
    "MON-31 whose take is declined asks nobody behind the one that declined",
    scenario(async (world) => {
      const log: string[] = [];
      const [first, second, third] = ["first", "second", "third"].map((name) =>
        new WatchedLimiter(name, log)
      );
      second!.mode = "declines";
      const admission = world.admission();
      const call = world.follow(admission.admit(new Demand().add(first!, 1).add(second!, 1).add(third!, 1)));
      const verbs = log.filter((line) => !line.endsWith("wired")).map((line) => line.replace(/ \[.*/, ""));
      assert.deepEqual(verbs, [
        "first fits",
        "second fits",
        "third fits",
        "first tryTake",
        "second tryTake",
        "first give",
        "second earliestFit",
      ]);
      await world.settle();
      assertParked(call);
    }),
  );
});

describe("What wakes whom", () => {
  it(
    "WAK-06 a waiter short on two buckets sleeps until the later instant, in either order",
    scenario(async (world) => {
      const [slow, fast] = [
        world.bucket("slow", { tpm: 60, rpm: 60 }),
        world.bucket("fast", { tpm: 600, rpm: 60 }),
      ];
      slow.tryTake([60], []);
      fast.tryTake([600], []);
      const calls = [
        new Demand().add(slow, 10).add(fast, 10),
        new Demand().add(fast, 10).add(slow, 10),
      ].map((demand) => world.follow(world.admission().admit(demand)));
      await world.settle();
      assert.deepEqual([world.clock.pendingTimers, world.clock.nextTimerMs], [2, 11_000]);
      await world.clock.advanceTo(11_000);
      assert.equal(calls[0]!.settledAtMs, 11_000);
    }),
  );

  it(
    "BEY-06 one gain that is enough for the waiters of two admissions wakes both",
    scenario(async (world) => {
      const gate = world.gate("http", 2);
      gate.tryTake([undefined, undefined], []);
      const calls = [world.admission(), world.admission()].map((admission) =>
        world.follow(admission.admit(new Demand().add(gate)))
      );
      await world.settle();
      assertParked(...calls);
      gate.give([undefined, undefined]);
      await world.settle();
      assert.deepEqual(calls.map((call) => call.settledAtMs), [1000, 1000]);
    }),
  );

  it(
    "BEY-07 what a failed attempt gives back is no news to its own line, also when another line has asked meanwhile",
    scenario(async (world) => {
      const [gate, elsewhere] = [world.gate("http", 1), world.gate("elsewhere", 1)];
      const [own, other] = [world.admission(), world.admission()];
      const decliner = new WatchedLimiter("decliner", [], "declines");
      let takes = 0;
      decliner.onAsk = (verb) => {
        if (verb !== "tryTake") return;
        takes++;
        assert.equal(other.tryAdmit(new Demand().add(gate)), null, "the permit is taken for the moment");
      };
      const call = world.follow(own.admit(new Demand().add(gate).add(decliner, 1)));
      await world.settle();
      elsewhere.tryTake([undefined], []);
      const served = world.follow(other.admit(new Demand().add(elsewhere)));
      await world.settle();
      // Whoever is to be woken is woken with the next gain of any account, if not before.
      elsewhere.give([undefined]);
      await world.settle();
      assertParked(call);
      assert.ok(served.grant);
      assert.deepEqual([takes, gate.currentInUse, world.clock.pendingTimers], [2, 0, 0]);
    }),
  );

  it(
    "BEY-04 a settlement in which an account throws still wakes who waits for another that asks for no wake",
    scenario(async (world) => {
      const slot = new WatchedLimiter("slot", []);
      const broken = new WatchedLimiter("broken", []);
      broken.giveThrows = true;
      slot.onAsk = (verb) => {
        if (verb === "tryTake") queueMicrotask(() => slot.mode = "short");
        if (verb === "give") slot.mode = "fits";
      };
      const admission = world.admission();
      const out = admission.tryAdmit(new Demand().add(slot, 1).add(broken, 1))!;
      await world.settle();
      const call = world.follow(admission.admit(new Demand().add(slot, 1)));
      await world.settle();
      assertParked(call);
      assert.throws(() => out.release(), /cannot take anything back/);
      await world.settle();
      assert.ok(call.grant);
    }),
  );

  it(
    "DEM-07 a follower that a router leads to the head's account leaves the head's amounts alone",
    scenario(async (world) => {
      const [search, other] = [world.gate("search", 3), world.gate("other", 1)];
      const admission = world.admission();
      other.tryTake([undefined], []);
      const head = world.follow(admission.admit(new Demand().add(search, 2).add(other)));
      const router = new Router({ search });
      const two = world.follow(admission.admit(new Demand().add(router, "search").add(router, "search")));
      const one = world.follow(admission.admit(new Demand().add(router, "search")));
      await world.settle();
      assertParked(head, two);
      assert.ok(one.grant, "one is left beside the head's two");
    }),
  );
});
