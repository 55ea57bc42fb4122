// The instants that classes name, against a search through all waiters that knows nothing of trees.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Demand, TokenBucketRateLimiter } from "../mod.ts";
import { Chance } from "./chance.ts";
import { Crowd } from "./crowd.ts";
import { BentClock } from "./odd_clocks.ts";
import { scenario, type World } from "./scenario.ts";

const MANY = 1_000_000;

/** Waiters by number with their sums, and what the buckets hold: bucket i refills 2^i tokens a millisecond. */
class BruteForce {
  readonly waiting: Map<number, readonly number[]> = new Map();
  readonly granted: number[] = [];
  #levels: number[];
  #atMs: number;

  constructor(meters: number, atMs: number) {
    this.#levels = new Array<number>(meters).fill(0);
    this.#atMs = atMs;
  }

  /** When the first of all waiters has its sums. */
  get nextMs(): number {
    const instants = [...this.waiting.values()].map((sums) =>
      Math.max(...sums.map((sum, i) => (sum - this.#levels[i]!) / 2 ** i))
    );
    return this.#atMs + Math.min(...instants);
  }

  /** The clock goes to an instant: the oldest that fits is granted, then again. */
  advanceTo(atMs: number): void {
    this.#levels = this.#levels.map((level, i) => level + (atMs - this.#atMs) * 2 ** i);
    this.#atMs = atMs;
    for (let next = this.#oldest(); next !== undefined; next = this.#oldest()) {
      const [number, sums] = next;
      this.waiting.delete(number);
      this.granted.push(number);
      this.#levels = this.#levels.map((level, i) => level - sums[i]!);
    }
  }

  #oldest(): [number, readonly number[]] | undefined {
    return [...this.waiting].find(([, sums]) => sums.every((sum, i) => sum <= this.#levels[i]!));
  }
}

/** Buckets that are empty, behind a head that waits for none of them. */
async function emptyBuckets(world: World, meters: number) {
  const gate = world.gate("gate", 1);
  const buckets = Array.from(
    { length: meters },
    (_, i) => world.bucket(`bucket${i}`, { tpm: 60_000 * 2 ** i, rpm: MANY }),
  );
  const admission = world.admission();
  await admission.admit(new Demand().add(gate));
  const crowd = new Crowd(world, admission);
  crowd.admit(new Demand().add(gate));
  for (const bucket of buckets) bucket.tryTake([bucket.status.availableTokens], []);
  return { gate, buckets, admission, crowd };
}

describe("The instant of a class", () => {
  for (const meters of [1, 2, 3]) {
    it(
      `WAK-06 with ${meters} metered sums it is the first at which some member has all of them, tick by tick`,
      scenario(async (world) => {
        const { buckets, crowd } = await emptyBuckets(world, meters);
        const brute = new BruteForce(meters, world.clock.now());
        const chance = new Chance(10 + meters);
        const admit = () => {
          const sums = Array.from({ length: meters }, (_, i) => 8 * chance.below(400) * 2 ** i + 8);
          const demand = sums.reduce((all, sum, i) => all.add(buckets[i]!, sum), new Demand());
          brute.waiting.set(crowd.admit(demand), sums);
        };
        for (let i = 0; i < 150; i++) admit();
        await world.settle();
        for (let round = 0; round < 60; round++) {
          assert.equal(world.clock.nextTimerMs, brute.nextMs, `round ${round}`);
          const atMs = brute.nextMs;
          await world.clock.advance(atMs - world.clock.now());
          brute.advanceTo(atMs);
          assert.deepEqual(crowd.granted, brute.granted);
          if (round % 3 === 0) admit();
          if (round % 7 === 0) {
            const gone = chance.pick([...brute.waiting.keys()]);
            brute.waiting.delete(gone);
            crowd.leave([gone]);
          }
          await world.settle();
        }
        await crowd.empty();
      }),
    );
  }

  it(
    "WAK-10 it counts what the head has set aside, and changes with the head although the class stays as it is",
    scenario(async (world) => {
      const { gate, buckets: [tokens], admission } = await emptyBuckets(world, 1);
      const crowd = new Crowd(world, world.admission());
      const demand = (sum: number) => new Demand().add(tokens!, sum);
      crowd.admit(demand(1000).add(gate));
      crowd.admitAll([demand(500), demand(300)]);
      await world.settle();
      assert.equal(world.clock.nextTimerMs, 1000 + 1300, "the head can never go by the clock");
      crowd.leave([0]);
      await world.settle();
      assert.equal(world.clock.nextTimerMs, 1000 + 500, "the second is the head");
      crowd.leave([1]);
      await world.settle();
      assert.equal(world.clock.nextTimerMs, 1000 + 300);
      assert.equal(admission.queueSize, 1);
      await crowd.empty();
    }),
  );

  it(
    "WAK-06 it is the latest over a window and a bucket, and the window's alone for those whose sums are there",
    scenario(async (world) => {
      const { buckets: [tokens], crowd } = await emptyBuckets(world, 1);
      const window = world.window("window", { maxRequests: 2, baseWindowMs: 500 });
      assert.ok(window.tryTake([undefined, undefined], []));
      const demand = (sum: number) => new Demand().add(window).add(tokens!, sum);
      crowd.admitAll([demand(900), demand(700), demand(800)]);
      await world.settle();
      assert.equal(world.clock.nextTimerMs, 1700);
      crowd.admit(demand(100));
      await world.settle();
      assert.equal(world.clock.nextTimerMs, 1500);
      await world.clock.advance(500);
      assert.deepEqual(crowd.granted, [4]);
      assert.equal(world.clock.nextTimerMs, 1800, "the sum of 700 and the 100 that are gone");
      await crowd.empty();
    }),
  );

  it(
    "WAK-09 it is worked out afresh after the clock stepped back, and who is short again is held",
    scenario(async (world) => {
      const clock = new BentClock(world.clock);
      const [window, tokens] = [
        world.window("window", { maxRequests: 1, baseWindowMs: 500, clock }),
        new TokenBucketRateLimiter("tokens", { tpm: 60_000, rpm: MANY, clock }),
      ];
      const gate = world.gate("gate", 1);
      const admission = world.admission({ clock });
      await admission.admit(new Demand().add(gate));
      const crowd = new Crowd(world, admission);
      crowd.admit(new Demand().add(gate));
      assert.ok(window.tryTake([undefined], []));
      assert.ok(tokens.tryTake([60_000], []));
      await world.clock.advance(600);
      crowd.admit(new Demand().add(window).add(tokens, 700));
      await world.settle();
      assert.deepEqual([world.count("HELD", "window"), world.count("HELD", "tokens")], [0, 1]);
      clock.sleptMs = -300;
      crowd.admit(new Demand().add(gate));
      await world.settle();
      assert.equal(world.count("HELD", "window"), 1, "its slot is not back yet");
      await world.clock.advance(399);
      assert.deepEqual(crowd.granted, []);
      await world.clock.advance(1);
      assert.deepEqual(crowd.granted, [1]);
      await crowd.empty();
    }),
  );
});
