// Accounts that misbehave when they are asked: they throw, answer nonsense, or change their mind every time.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Admission, type AdmissionError, Demand, type UncorrectableError } from "../mod.ts";
import { SwitchMemory } from "../testing/mod.ts";
import { Chance } from "./chance.ts";
import { Slots } from "./custom_accounts.ts";
import { type Call, KERNELS, playOn, scenario, type World } from "./scenario.ts";
import { grantOf } from "./watched.ts";

/** An account that throws from one of its members. */
function throwing(member: string): Slots {
  return Object.assign(new Slots("slots", 1), {
    [member]: () => {
      throw new Error(`${member} broke`);
    },
  });
}

describe("An account that throws", () => {
  it(
    "FLT-01 FLT-14 from any verb: only its caller hears of it, nothing stays taken, admission stays open",
    scenario(async (world) => {
      const gate = world.gate("gate", 1);
      const admission = world.admission();
      for (const verb of ["fits", "tryTake", "earliestFit"]) {
        const slots = throwing(verb);
        if (verb === "earliestFit") slots.currentInUse = 1;
        await assert.rejects(admission.admit(new Demand().add(gate).add(slots)), {
          code: "uncorrectable",
          account: "slots",
          message: new RegExp(`"slots" failed: ${verb} broke`),
        });
      }
      const grant = await admission.admit(new Demand().add(throwing("give")).add(gate));
      assert.throws(() => grant.release(), { message: "give broke" });
      for (const member of ["onCapacityChange", "observeHeld"]) {
        const demand = new Demand().add(gate).add(throwing(member));
        await assert.rejects(admission.admit(demand), { message: `${member} broke` });
        assert.throws(() => admission.tryAdmit(demand), { message: `${member} broke` });
      }
      assert.throws(() => new Demand().add(throwing("accountFor")), { message: "accountFor broke" });
      assert.deepEqual([gate.currentInUse, admission.queueSize], [0, 0]);
      (await admission.admit(new Demand().add(gate))).release();
      admission.stop();
    }),
  );
});

describe("An account that answers nonsense", () => {
  const cases: [verb: "fits" | "tryTake" | "earliestFit", answer: unknown, shown: RegExp][] = [
    ["fits", Promise.resolve(true), /Promise/],
    ["fits", 1, /answered 1/],
    ["fits", "yes", /"yes"/],
    ["fits", undefined, /undefined/],
    ["fits", null, /null/],
    ["tryTake", Promise.resolve(false), /Promise/],
    ["tryTake", 0, /answered 0/],
    ["tryTake", undefined, /undefined/],
    ["earliestFit", NaN, /NaN/],
    ["earliestFit", undefined, /undefined/],
    ["earliestFit", "5", /"5"/],
    ["earliestFit", new Date(0), /Date/],
    ["earliestFit", Promise.resolve(5), /Promise/],
  ];

  it(
    "FLT-01 FLT-03 its caller is told which account and verb, inline and in a pass, and nothing stays taken",
    scenario(async (world) => {
      const admission = world.admission();
      for (const [verb, answer, shown] of cases) {
        for (const isParked of [false, true]) {
          const [gate, full] = [world.gate("gate", 1), world.gate("full", 1)];
          const odd = Object.assign(new Slots("odd", 1), { [verb]: () => answer });
          if (verb === "earliestFit") odd.currentInUse = 1;
          const holder = await admission.admit(new Demand().add(full));
          const patient = isParked ? world.follow(admission.admit(new Demand().add(full))) : null;
          const call = world.follow(admission.admit(new Demand().add(gate).add(odd)));
          await world.settle();
          const error = call.error as UncorrectableError;
          assert.equal(error?.code, "uncorrectable", `${verb} answered ${String(answer)}`);
          assert.match(error.message, new RegExp(`"odd" failed: ${verb}\\(\\) answered`));
          assert.match(error.message, shown);
          assert.ok(error.cause instanceof TypeError);
          assert.deepEqual([gate.currentInUse, admission.tryAdmit(new Demand().add(gate)) === null], [
            0,
            isParked,
          ]);
          holder.release();
          await world.settle();
          if (patient !== null) grantOf(patient).release();
        }
      }
    }),
  );

  it("BEY-60 memory that lacks a verb is refused by name when Admission is made", () => {
    for (const verb of ["fits", "tryTake", "give", "earliestFit", "onCapacityChange"]) {
      const memory = Object.assign(new SwitchMemory(), { [verb]: undefined });
      assert.throws(() => new Admission({ memory }), {
        name: "TypeError",
        message: new RegExp(`${verb}\\(\\)`),
      });
    }
  });
});

/** An account that changes its mind every time it is asked. */
class Fickle extends Slots {
  readonly #chance: Chance;
  isTame = false;

  constructor(name: string, seed: number) {
    super(name, 2);
    this.#chance = new Chance(seed);
  }

  override fits(): boolean {
    this.#maybeThrow();
    return this.isTame || this.#chance.below(3) > 0;
  }

  override tryTake(mine: readonly unknown[]): boolean {
    this.#maybeThrow();
    if (!this.isTame && this.#chance.below(3) === 0) return false;
    this.currentInUse += mine.length;
    return true;
  }

  override earliestFit(): number | null {
    this.#maybeThrow();
    return this.#chance.pick([null, 0, -Infinity, Infinity, 1500, 4000.0005, 1e12]);
  }

  #maybeThrow(): void {
    if (!this.isTame && this.#chance.below(40) === 0) throw new Error(`${this.limiterName} changed its mind`);
  }
}

/** Jobs over fickle accounts; every one gets an answer and nothing stays taken. */
async function playFickle(world: World, seed: number, seen: Set<string>): Promise<void> {
  const chance = new Chance(seed);
  const fickle = [new Fickle("a", seed), new Fickle("b", seed + 1)];
  const gate = world.gate("gate", 2);
  const admission = world.admission({ events: () => {} });
  const calls: Call[] = [];
  for (let i = 0; i < 60; i++) {
    const demand = new Demand().add(gate).add(chance.pick(fickle), 1).add(chance.pick(fickle), 1);
    calls.push(world.follow(admission.admit(demand, { timeoutMs: chance.pick([0, 50, 5000, Infinity]) })));
    await world.clock.advance(chance.below(40));
    chance.pick(calls).grant?.[chance.pick(["release", "rollback"] as const)]();
    if (chance.below(3) === 0) chance.pick(fickle).wake();
  }
  for (const each of fickle) each.isTame = true;
  for (let round = 0; round < 100; round++) {
    fickle.forEach((each) => each.wake());
    await world.clock.advance(100);
    calls.forEach((call) => call.grant?.release());
  }
  for (const { grant, error } of calls) {
    assert.ok(grant !== null || error !== null, "every job gets an answer");
    seen.add(grant !== null ? "granted" : (error as AdmissionError).code);
  }
  const left = [gate, ...fickle].map(({ currentInUse }) => currentInUse);
  assert.deepEqual([left, admission.queueSize, world.clock.pendingTimers], [[0, 0, 0], 0, 0]);
}

describe("An account that changes its mind every time", () => {
  // How often an account is asked is no promise, so the two kernels are not compared here.
  for (const [name, kernel] of Object.entries(KERNELS)) {
    it(`BEY-24 FLT-01 amounts are conserved and every job gets an answer, on the ${name} kernel`, async () => {
      const seen = new Set<string>();
      for (let seed = 1; seed <= 40; seed++) {
        await playOn(kernel(), (world) =>
          playFickle(world, seed, seen).catch((error) => {
            throw new Error(`seed ${seed}`, { cause: error });
          }));
      }
      assert.deepEqual([...seen].sort(), ["granted", "timeout", "uncorrectable"]);
    });
  }
});
