// A keyed limiter that forgets keys at random beside one that keeps all of them: nobody can tell which is which.

import assert from "node:assert/strict";
import process from "node:process";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import {
  Admission,
  CountingGate,
  Demand,
  ElasticWindowRateLimiter,
  type Grant,
  type KeyedAccount,
  KeyedRateLimiter,
  TokenBucketRateLimiter,
} from "../mod.ts";
import { KERNELS, playOn, type World } from "./scenario.ts";
import { fail } from "./window_readings.ts";

const RUNS = process.env.SOAK === undefined ? 60 : 2_000;
const SEED = Number(process.env.SEED ?? 20_261_207);

/** Of each kind two: one that is asked for afresh each time, and one whose demand is made once and kept. */
const KEYS = ["gate", "bucket", "window", "kept gate", "kept bucket", "kept window"] as const;
type Key = (typeof KEYS)[number];

/** Room for two that flood it while all of these are in use. */
const TIGHT = KEYS.length + 2;
const FLOOD = 3 * TIGHT;

type Operation =
  | { kind: "take"; key: Key; amount: number; holds: boolean }
  | { kind: "end"; at: number; how: "release" | "rollback" | "settle"; amount: number }
  | { kind: "tell"; key: Key; isGood: boolean; times: number }
  | { kind: "advance"; ms: number }
  | { kind: "flood" };

const key = fc.constantFrom(...KEYS);
const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("take" as const),
      key,
      amount: fc.integer({ min: 1, max: 3 }),
      holds: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("end" as const),
      at: fc.nat(20),
      how: fc.constantFrom("release" as const, "rollback" as const, "settle" as const),
      amount: fc.nat(5),
    }),
  },
  fc.record({
    kind: fc.constant("tell" as const),
    key,
    isGood: fc.boolean(),
    times: fc.integer({ min: 1, max: 4 }),
  }),
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("advance" as const),
      ms: fc.oneof(fc.integer({ min: 1, max: 900 }), fc.integer({ min: 1000, max: 400_000 })),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("flood" as const) }) },
);
const histories = fc.array(operation, { minLength: 10, maxLength: 80, size: "max" });

/** Nothing but its demands asks for such a key, so that these alone have to hold on to it: not even a reading does. */
function isKept(key: Key): boolean {
  return key.startsWith("kept");
}

/** What a history met; a run that meets too little proves too little. */
const met: Record<string, number> = { remade: 0, granted: 0, waits: 0, never: 0, ended: 0 };
const FLOOR: Readonly<Record<string, number>> = {
  remade: 200,
  granted: 500,
  waits: 100,
  never: 20,
  ended: 300,
};

function made(world: World, name: string): KeyedAccount {
  const { clock } = world;
  if (name.endsWith("bucket")) return new TokenBucketRateLimiter(name, { tpm: 4, rpm: 3, clock });
  if (!name.endsWith("window")) return new CountingGate(name, 2);
  const pacing = { maxThrottle: name === "window" ? 0 : 2, throttleDecrement: 1, initialCooldownMs: 2000 };
  return new ElasticWindowRateLimiter(name, { maxRequests: 2, baseWindowMs: 700, clock, ...pacing });
}

/** One of the two limiters, with the grants that are out. */
class Side {
  readonly #admission: Admission;
  readonly #accountFor: (key: Key) => KeyedAccount;
  readonly #kept = new Map<string, Demand>();
  readonly grants: { key: Key; account: KeyedAccount; grant: Grant }[] = [];

  constructor(world: World, accountFor: (key: Key) => KeyedAccount) {
    // Nobody hears of events, whose reporting would read the accounts.
    this.#admission = new Admission({ memory: null, clock: world.clock }).start();
    this.#accountFor = accountFor;
  }

  take(key: Key, amount: number): string {
    const demand = this.#demand(key, amount);
    try {
      const grant = this.#admission.tryAdmit(demand);
      if (grant === null) return "waits";
      this.grants.push({ key, account: demand.entries[0]!.key as KeyedAccount, grant });
      return "granted";
    } catch (error) {
      return `never: ${(error as Error).message}`;
    }
  }

  end(at: number, how: "release" | "rollback" | "settle", amount: number): string {
    const { key, account, grant } = this.grants[at]!;
    if (how === "settle" && account instanceof TokenBucketRateLimiter) grant.settle(account, amount);
    else if (how === "rollback") grant.rollback();
    else grant.release();
    if (grant.isSettled) this.grants.splice(at, 1);
    return `ended, ${isKept(key) ? "" : this.#readings(account)}`;
  }

  tell(key: Key, isGood: boolean): string {
    const account = this.#account(key);
    if (isGood) account.onSuccess();
    else if (account instanceof ElasticWindowRateLimiter) fail(account);
    else if (account instanceof TokenBucketRateLimiter) account.record429();
    return this.#readings(account);
  }

  state(key: Key): string {
    return this.#readings(this.#account(key));
  }

  forgetDemands(): void {
    this.#kept.clear();
  }

  #demand(key: Key, amount: number): Demand {
    const name = `${key} ${amount}`;
    const demand = this.#kept.get(name) ?? new Demand().add(this.#account(key) as CountingGate, amount);
    if (isKept(key)) this.#kept.set(name, demand);
    return demand;
  }

  /** Of a kept key the account is the one that its first demand named. */
  #account(key: Key): KeyedAccount {
    const kept = [1, 2, 3].map((amount) => this.#kept.get(`${key} ${amount}`)).find((demand) =>
      demand !== undefined
    );
    return kept === undefined ? this.#accountFor(key) : kept.entries[0]!.key as KeyedAccount;
  }

  #readings(account: KeyedAccount): string {
    const { currentInUse, capacity, statusIndicator } = account;
    const instant = account.earliestFit([1] as never, []);
    return `${account.limiterName} ${currentInUse}/${capacity} ${statusIndicator} ${instant}`;
  }
}

/** Plays a history on both; with floods keys are given up while demands, and grants of other keys, stay. */
async function play(world: World, operations: readonly Operation[], hasFloods: boolean): Promise<void> {
  const names = new Map<string, number>();
  const keyed = new KeyedRateLimiter("keyed", (name: string) => {
    names.set(name, (names.get(name) ?? 0) + 1);
    return made(world, name);
  }, { maxKeys: TIGHT });
  const all = new Map(KEYS.map((name) => [name, made(world, name)]));
  const [forgetful, faithful] = [
    new Side(world, (name) => keyed.accountFor(name)),
    new Side(world, (name) => all.get(name)!),
  ];
  let strangers = 0;
  const both = (act: (side: Side) => string): string => {
    const [ours, theirs] = [act(forgetful), act(faithful)];
    assert.equal(ours, theirs);
    met[ours.split(/[:, ]/)[0]!]! += 1;
    return ours;
  };
  for (const step of operations) {
    if (step.kind === "advance") await world.clock.advance(step.ms);
    else if (step.kind === "tell") {
      for (let i = 0; i < step.times; i++) assert.equal(...sides((side) => side.tell(step.key, step.isGood)));
    } else if (step.kind === "flood") {
      flood(hasFloods ? Infinity : 2);
    } else if (step.kind === "take") {
      const said = both((side) => side.take(step.key, step.amount));
      if (said === "granted" && !step.holds) {
        const last = forgetful.grants.length - 1;
        both((side) => side.end(last, "release", 0));
      }
    } else if (forgetful.grants.length > 0) {
      const at = step.at % forgetful.grants.length;
      both((side) => side.end(at, step.how, step.amount));
    }
    for (const name of KEYS) if (!isKept(name)) assert.equal(...sides((side) => side.state(name)));
  }
  // Whatever still stands is known by its key, also where only demands or grants had it.
  for (const side of [forgetful, faithful]) side.forgetDemands();
  flood(Infinity);
  for (const name of KEYS) assert.equal(...sides((side) => side.state(name)));
  for (const name of KEYS) met.remade! += Math.max(0, (names.get(name) ?? 0) - 1);

  /** Others ask, as many different ones as that. */
  function flood(names: number): void {
    for (let i = 0; i < FLOOD; i++) keyed.accountFor(`stranger ${strangers++ % names}`);
  }

  function sides(act: (side: Side) => string): [string, string] {
    return [act(forgetful), act(faithful)];
  }
}

describe("A keyed limiter that forgets", () => {
  for (const [kernel, make] of Object.entries(KERNELS)) {
    for (const hasFloods of [true, false]) {
      const how = hasFloods ? "gives keys up for others" : "only looks, while grants and demands stay";
      it(`and ${how} behaves as one that keeps every key (${kernel})`, async () => {
        await fc.assert(
          fc.asyncProperty(histories, async (operations) => {
            await playOn(make(), (world) => play(world, operations, hasFloods));
          }),
          { numRuns: RUNS, seed: SEED },
        );
      });
    }
  }

  it("met enough of everything", () => {
    const short = Object.entries(FLOOR).filter(([what, least]) => !(met[what]! >= least));
    assert.deepEqual(short, [], `met ${JSON.stringify(met)}, seed ${SEED}`);
  });
});
