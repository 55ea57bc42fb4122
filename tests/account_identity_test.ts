// What an account says about itself, and the statuses it hands out.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  type AbstractRateLimiter,
  CountingGate,
  Demand,
  type LimiterIdentity,
  type RateLimiter,
  SemaphoreLimiterStatus,
  TokenBucketStatus,
  UpstreamFailure,
} from "../mod.ts";
import { ScriptedLimiter, SwitchMemory } from "../testing/mod.ts";
import { permits, Router, Slots } from "./custom_accounts.ts";
import { scenario } from "./scenario.ts";

describe("The identity and the defaults of an account", () => {
  it(
    "a subclass may call its own members whatever it likes: nothing of the base is behind them",
    scenario(async (world) => {
      class Gauge extends CountingGate {
        read = () => assert.fail("read was called");
        call = () => assert.fail("call was called");
        tally = () => assert.fail("tally was called");
        wakeAll = () => assert.fail("wakeAll was called");
        openRecord = () => assert.fail("openRecord was called");
        nativePrototype = null;
      }
      const gauge = new Gauge("gauge", 1);
      const grant = await world.admission().admit(new Demand().add(gauge));
      assert.equal(gauge.currentInUse, 1);
      assert.equal(gauge.fits([undefined], []), false);
      gauge.setCapacity(2);
      assert.equal(gauge.fits([undefined], []), true);
      grant.release();
      assert.equal(gauge.status.availablePermits, 2);
    }),
  );

  it(
    "ACC-08 ignores the view of its line unless it overrides observeHeld",
    scenario((world) => {
      const view = () => assert.fail("the view was called");
      const accounts: AbstractRateLimiter<never>[] = [world.gate("gate", 1), new ScriptedLimiter("scripted")];
      accounts.push(world.bucket("bucket", { tpm: 10, rpm: 1 }));
      for (const account of accounts) {
        account.observeHeld(view);
        assert.equal(account.currentInUse, 0);
        assert.ok(account.status.summary());
      }
    }),
  );

  it(
    "ACC-09 ACC-13 a plain account is its own identity for every amount, nominal, with the one wake slot",
    scenario((world) => {
      const scripted = new ScriptedLimiter("scripted");
      for (const account of [scripted, world.gate("gate", 1), world.bucket("bucket", { tpm: 10, rpm: 1 })]) {
        for (const amount of [0, 5, null, undefined, "key", {}]) {
          assert.equal((account as RateLimiter<unknown>).accountFor(amount), account);
        }
        assert.equal(account.statusIndicator, null);
      }
      let wakes = 0;
      scripted.onCapacityChange(() => wakes++);
      scripted.wake();
      assert.equal(wakes, 1, "what a subclass calls capacityChanged for");
    }),
  );

  it(
    "ACC-10 feedback with an input does the same as without one",
    scenario((world) => {
      const failure = new UpstreamFailure({ statusCode: 429, service: "llm" });
      const bucket = world.bucket("bucket", { tpm: 10, rpm: 1 });
      const contract: RateLimiter<number> = bucket;
      contract.onRateLimitError!(failure, 5);
      assert.equal(bucket.throttle, 0.5);
      for (let i = 0; i < 3; i++) contract.onSuccess!(5);
      assert.equal(bucket.throttle, 0.3);
      const heard: unknown[] = [];
      class Listener extends ScriptedLimiter {
        override onSuccess(): void {
          heard.push("success");
        }

        override onRateLimitError(failure: UpstreamFailure): void {
          heard.push(failure);
        }
      }
      const listener: RateLimiter<unknown> = new Listener("listener");
      listener.onSuccess!("input");
      listener.onRateLimitError!(failure, "input");
      assert.deepEqual(heard, ["success", failure]);
      assert.equal(heard[1], failure, "the same object");
    }),
  );

  it(
    "ACC-12 replenishment has no default on the interface; the base class and gates say RELEASE, buckets TIME",
    scenario((world) => {
      assert.equal(new ScriptedLimiter("scripted").replenishment, "RELEASE");
      assert.equal(world.gate("gate", 1).replenishment, "RELEASE");
      assert.equal(new SwitchMemory().replenishment, "RELEASE");
      assert.equal(world.bucket("bucket", { tpm: 10, rpm: 1 }).replenishment, "TIME");
      const bare = new Router({});
      for (const said of [undefined, null, "release", true]) {
        Object.assign(bare, { replenishment: said });
        assert.throws(() => new Demand().add(bare, "key"), { name: "TypeError", message: /replenishment/ });
      }
    }),
  );

  it(
    "ACC-14 an identity tells its name, category, capacity, use, indicator and status",
    scenario((world) => {
      const gate = world.gate("db:main", 4);
      const bucket = world.bucket("gpt", { tpm: 6000, rpm: 60 });
      gate.tryTake(permits(3), []);
      bucket.tryTake([1500], []);
      const facts = (
        { limiterName, limiterCategory, capacity, currentInUse, statusIndicator }: LimiterIdentity,
      ) => [
        limiterName,
        limiterCategory,
        capacity,
        currentInUse,
        statusIndicator,
      ];
      assert.deepEqual(facts(gate), ["db:main", "semaphore", 4, 3, null]);
      assert.deepEqual(facts(bucket), ["gpt", "token_bucket", 6000, 1500, null]);
      assert.deepEqual(facts(new SwitchMemory()), ["memory", "memory", 1, 0, null]);
      bucket.record429();
      assert.equal(bucket.statusIndicator, "throttle:1.5x");
      assert.ok(gate.status instanceof SemaphoreLimiterStatus && bucket.status instanceof TokenBucketStatus);
    }),
  );

  it(
    "ACC-17 amount lists may hold permits without a value, and reach an account as they were added",
    scenario(async (world) => {
      const gate = world.gate("gate", 3);
      const nothings = [null, undefined] as unknown as void[];
      assert.equal(gate.tryTake(nothings, []), true);
      assert.equal(gate.fits([], nothings), false);
      gate.give(nothings.slice(1));
      assert.equal(gate.currentInUse, 1);
      const slots = new Slots("slots", 5);
      const demand = new Demand().add(slots, undefined).add(slots, null);
      const admission = world.admission();
      const grant = await admission.admit(demand);
      assert.deepEqual([demand.entries[0]!.amounts, slots.currentInUse], [[undefined, null], 2]);
      assert.equal(world.events[0]!.amount, 2, "each counts one");
      admission.release(grant);
      assert.equal(slots.currentInUse, 0);
    }),
  );
});

describe("A status", () => {
  it(
    "STA-01 sums up its numbers in one line",
    scenario((world) => {
      const statuses = [
        new SemaphoreLimiterStatus(20, 3, 0),
        new TokenBucketStatus(10, 3, 1000, 250, 0),
        world.gate("gate", 7).status,
        world.bucket("bucket", { tpm: 500, rpm: 11 }).status,
      ];
      const numbers = [["17", "20", "3"], ["10", "3", "1000", "250"], ["0", "7"], ["500", "11"]];
      statuses.forEach((status, index) => {
        const words = status.summary().split(/[^0-9]+/);
        for (const number of numbers[index]!) {
          assert.ok(words.includes(number), `${number} in ${status.summary()}`);
        }
        assert.ok(!status.summary().includes("\n"));
      });
    }),
  );

  it(
    "STA-03 of a gate tells permits in all, free and in use, and when it was last used",
    scenario((world) => {
      const gate = new CountingGate("gate", 2, { clock: world.clock });
      gate.tryTake(permits(1), []);
      const { maxConcurrent, availablePermits, activeCount, lastActivity } = gate.status;
      assert.deepEqual([maxConcurrent, availablePermits, activeCount, lastActivity], [
        2,
        1,
        1,
        world.clock.wallNow(),
      ]);
      assert.match(gate.status.summary(), /\b1\/2\b/);
    }),
  );

  it("STA-04 of a bucket tells requests and tokens, and whether one request of so many tokens would fit", () => {
    const status = new TokenBucketStatus(10, 3, 1000, 250, 1_700_000_000_000);
    const { maxRequests, availableRequests, maxTokens, availableTokens, lastRefill } = status;
    assert.deepEqual([maxRequests, availableRequests, maxTokens, availableTokens], [10, 3, 1000, 250]);
    assert.equal(lastRefill, 1_700_000_000_000);
    assert.match(status.summary(), /3\/10\b.*250\/1000\b/);
    assert.deepEqual([status.hasCapacity(250), status.hasCapacity(251)], [true, false]);
    const dry = new TokenBucketStatus(10, 0, 1000, 250, 0);
    assert.deepEqual([dry.hasCapacity(1), dry.hasCapacity(0)], [false, false]);
  });

  it(
    "STA-06 BEY-11 is a snapshot that does not change any more, and reading it moves nothing",
    scenario(async (world) => {
      const gate = world.gate("gate", 2);
      const bucket = world.bucket("bucket", { tpm: 6000, rpm: 60 });
      bucket.tryTake([6000], []);
      const instant = bucket.earliestFit([1000], []);
      const [before, level] = [gate.status, bucket.status];
      gate.tryTake(permits(2), []);
      for (let i = 0; i < 100; i++) {
        await world.clock.advance(99.999);
        assert.ok(bucket.currentInUse + bucket.status.availableTokens >= 5999);
        assert.equal(bucket.statusIndicator, null);
      }
      assert.deepEqual([before.availablePermits, before.activeCount], [2, 0]);
      assert.deepEqual([level.availableTokens, level.availableRequests], [0, 59]);
      for (const status of [before, level]) {
        assert.throws(() => Object.assign(status, { availablePermits: 9, availableTokens: 9 }), TypeError);
      }
      assert.equal(bucket.fits([1000], []), false, "9,999.9 ms have passed");
      assert.equal(bucket.earliestFit([1000], []), instant, "a hundred looks did not move the instant");
    }),
  );
});
