// What a sink and a logger may do without harm.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Admission, createJobContext, Demand, type Grant, type LimiterEvent } from "../mod.ts";
import { ScriptedLimiter } from "../testing/mod.ts";
import { Slots } from "./custom_accounts.ts";
import { type Call, scenario, type World } from "./scenario.ts";

/** A sink or a logger that fails in one of the ways in which code of others fails. */
const FAULTS: Readonly<Record<string, () => unknown>> = {
  "throws": () => {
    throw new Error("the sink is broken");
  },
  "rejects": () => Promise.reject(new Error("the sink is broken later")),
  "throws nothing at all": () => {
    throw undefined;
  },
};

/** Grants, holds, refuses, cancels and releases under a sink; answers what callers saw. */
async function playAll(world: World, admission: Admission): Promise<unknown[]> {
  const slot = world.gate("slot", 1);
  const broken = new ScriptedLimiter("broken", "throws");
  const grant = await admission.admit(new Demand().add(slot));
  const controller = new AbortController();
  const calls = [
    world.follow(admission.admit(new Demand().add(slot), { signal: controller.signal })),
    world.follow(admission.admit(new Demand().add(slot))),
    world.follow(admission.admit(new Demand().add(broken, 1))),
  ];
  await world.settle();
  controller.abort("enough");
  admission.release(grant);
  await world.settle();
  const late = world.follow(admission.admit(new Demand().add(slot)));
  await world.settle();
  admission.stop();
  await world.settle();
  admission.release(calls[1]!.grant!);
  const kinds = [...calls, late].map(({ grant, error }) =>
    grant === null ? (error as Error).name ?? error : "granted"
  );
  return [...kinds, slot.currentInUse, admission.queueSize];
}

const PLAYED = ["enough", "granted", "UncorrectableError", "CancellationError", 0, 0];

describe("A sink that fails", () => {
  for (const [how, fault] of Object.entries(FAULTS)) {
    it(
      `BEY-12 EVT-20 changes nothing when it ${how}, and neither does such a logger`,
      scenario(async (world) => {
        const logger = { info: fault, warn: fault, error: fault };
        assert.deepEqual(await playAll(world, world.admission({ events: fault, logger })), PLAYED);
        assert.deepEqual(await playAll(world, world.admission()), PLAYED);
      }),
    );
  }

  it(
    "EVT-20 without a sink nothing is built: no context is asked and no identity is read",
    scenario(async (world) => {
      const slots = new Slots("slots", 1);
      Object.defineProperty(slots, "statusIndicator", { get: () => assert.fail("the indicator was read") });
      const context = createJobContext();
      context.snapshot = () => assert.fail("a snapshot was taken");
      const admission = new Admission({ memory: null, clock: world.clock }).start();
      const first = await admission.admit(new Demand().add(slots, 1), { context });
      const parked = world.follow(admission.admit(new Demand().add(slots, 1), { context }));
      await world.settle();
      admission.release(first);
      await world.settle();
      assert.ok(parked.grant);
    }),
  );

  it(
    "EVT-20 an identity that cannot be read costs its event and nothing else",
    scenario(async (world) => {
      const [slots, slot] = [new Slots("slots", 2), world.gate("slot", 2)];
      let isBroken = false;
      Object.defineProperty(slots, "statusIndicator", {
        get: () => {
          if (isBroken) throw new Error("cannot be read");
          return null;
        },
      });
      const admission = world.admission();
      const demand = new Demand().add(slots, 1).add(slot);
      const first = await admission.admit(demand);
      isBroken = true;
      const second = await admission.admit(demand);
      admission.release(first);
      isBroken = false;
      admission.release(second);
      assert.deepEqual([slots.currentInUse, slot.currentInUse], [0, 0]);
      assert.deepEqual(world.transitions, [
        ...["slots GRANTED_IMMEDIATE", "slot GRANTED_IMMEDIATE", "slot GRANTED_IMMEDIATE"],
        ...["slot RELEASED", "slots RELEASED", "slot RELEASED"],
      ]);
    }),
  );
});

describe("A sink that calls admission back", () => {
  it(
    "EVT-21 BEY-12 is inside a step: tryAdmit answers null and admit parks until the step is over",
    scenario(async (world) => {
      const slot = world.gate("slot", 5);
      const inside: [LimiterEvent["type"], Grant | null, Call][] = [];
      const admission: Admission = world.admission({
        events: ({ type, limiterName }) => {
          if (limiterName !== "outer") return;
          const demand = new Demand().add(slot);
          inside.push([type, admission.tryAdmit(demand), world.follow(admission.admit(demand))]);
          world.tell(`${type} ${admission.queueSize}`);
        },
      });
      const outer = world.gate("outer", 1);
      const first = world.follow(admission.admit(new Demand().add(outer)));
      assert.deepEqual(
        [inside.length, admission.queueSize, slot.currentInUse],
        [1, 1, 0],
        "granted, and told of",
      );
      await world.settle();
      const parked = world.follow(admission.admit(new Demand().add(outer)));
      await world.settle();
      admission.release(first.grant!);
      await world.settle();
      assert.ok(parked.grant);
      assert.deepEqual(inside.map(([type]) => type), [
        ...["GRANTED_IMMEDIATE", "HELD", "RELEASED", "GRANTED_FROM_HOLD"],
      ]);
      assert.ok(inside.every(([, tried, call]) => tried === null && call.grant !== null));
      assert.equal(slot.currentInUse, 4);
    }),
  );

  it(
    "BEY-12 may give back at once, which marks: the freed room is handed out after the step",
    scenario(async (world) => {
      const [slot, other] = [world.gate("slot", 1), world.gate("other", 1)];
      let held: Grant | null = null;
      const admission: Admission = world.admission({
        events: ({ limiterName, type }) => {
          world.tell(`${limiterName} ${type}`);
          if (limiterName !== "other" || type !== "GRANTED_IMMEDIATE") return;
          held!.release();
          world.tell(`slot in use ${slot.currentInUse}`);
        },
      });
      held = await admission.admit(new Demand().add(slot));
      const parked = world.follow(admission.admit(new Demand().add(slot)));
      await world.settle();
      const start = world.story.length;
      await world.settle();
      const call = world.follow(admission.admit(new Demand().add(other)));
      await world.settle();
      assert.ok(call.grant && parked.grant);
      assert.deepEqual(world.story.slice(start), [
        ...["other GRANTED_IMMEDIATE", "slot RELEASED", "slot in use 0", "slot GRANTED_FROM_HOLD"],
      ]);
    }),
  );

  it(
    "BEY-12 may abort a job or stop admission in the middle of a grant: the job gets nothing and all comes back",
    scenario(async (world) => {
      for (const act of ["abort", "stop"] as const) {
        const [slot, last] = [world.gate("slot", 1), world.gate("last", 5)];
        const controller = new AbortController();
        const admission: Admission = world.admission({
          events: ({ limiterName, type }) => {
            if (limiterName !== "slot" || !type.startsWith("GRANTED")) return;
            if (act === "abort") controller.abort("changed my mind");
            else admission.stop();
          },
        });
        const { signal } = controller;
        assert.ok(slot.tryTake([undefined], []));
        const parked = world.follow(admission.admit(new Demand().add(slot).add(last), { signal }));
        const behind = world.follow(admission.admit(new Demand().add(slot)));
        await world.settle();
        slot.give([undefined]);
        await world.settle();
        assert.equal(parked.grant, null);
        assert.equal(
          act === "abort" ? parked.error : (parked.error as Error).name,
          {
            abort: "changed my mind",
            stop: "CancellationError",
          }[act],
        );
        assert.equal(last.currentInUse, 0);
        assert.deepEqual(
          [behind.grant !== null, slot.currentInUse],
          act === "abort" ? [true, 1] : [false, 0],
        );
      }
    }),
  );

  it(
    "BEY-12 a logger may call admission back as well",
    scenario(async (world) => {
      const slot = world.gate("slot", 3);
      const calls: Call[] = [];
      const error = () => void calls.push(world.follow(admission.admit(new Demand().add(slot))));
      const admission: Admission = world.admission({ logger: { info: () => {}, warn: () => {}, error } });
      const broken = new ScriptedLimiter("broken", "throws");
      await assert.rejects(admission.admit(new Demand().add(broken, 1)), /broken/);
      await world.settle();
      assert.deepEqual([calls.length, calls.every(({ grant }) => grant !== null), slot.currentInUse], [
        2,
        true,
        2,
      ]);
    }),
  );
});
