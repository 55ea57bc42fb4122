// What accounts say about themselves in one line, and by one word when they are not nominal.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  DatabaseGate,
  HttpConnectionGate,
  type LimiterIdentity,
  type LimiterStatus,
  ModelGate,
  SemaphoreLimiterStatus,
  STDIOEndpoint,
  STDIOEndpointRateLimiter,
  STDIOEndpoints,
  TokenBucketStatus,
} from "../mod.ts";
import { permits } from "./custom_accounts.ts";
import { scenario, type World } from "./scenario.ts";

const FILES = new STDIOEndpoint({ command: "npx", args: ["files"], name: "files" });

/** One gate of each kind, with 7 permits. */
function gates({ clock }: World) {
  return [
    new ModelGate({ id: "kev", maxConcurrent: 7 }, { clock }),
    new DatabaseGate("orders", 7, { clock }),
    new HttpConnectionGate(7, { clock }),
    new STDIOEndpointRateLimiter(FILES, 7, { clock }),
    new STDIOEndpoints({ capacity: 7, clock }).gate,
  ];
}

/** The whole numbers in a summary. */
function numbers(status: LimiterStatus): string[] {
  return status.summary().split(/[^0-9]+/).filter((word) => word !== "");
}

describe("Statuses", () => {
  it(
    "STA-01 STA-03 every kind of gate sums up active over capacity and what is free, in one line",
    scenario(async (world) => {
      world.admission();
      await world.clock.advance(500);
      for (const gate of gates(world)) {
        gate.tryTake(permits(5), []);
        const { status } = gate;
        assert.ok(status instanceof SemaphoreLimiterStatus, gate.limiterName);
        const { maxConcurrent, activeCount, availablePermits, lastActivity } = status;
        assert.deepEqual([maxConcurrent, activeCount, availablePermits, lastActivity], [
          7,
          5,
          2,
          world.clock.wallNow(),
        ]);
        assert.deepEqual(numbers(status), ["5", "7", "2"]);
        assert.match(status.summary(), /^5\/7 [^\n]*$/);
      }
    }),
  );

  it("STA-01 STA-04 a bucket sums up requests and tokens in one line", () => {
    const status = new TokenBucketStatus(10, 3, 1000, 250, 0);
    assert.deepEqual(numbers(status), ["3", "10", "250", "1000"]);
    assert.match(status.summary(), /^[^\n]*3\/10[^\n]*250\/1000[^\n]*$/);
  });

  it(
    "STA-06 BEY-11 stay as they were, and a thousand readings of every kind of account move nothing",
    scenario((world) => {
      world.admission();
      const bucket = world.bucket("gpt", { tpm: 6000, rpm: 60 });
      bucket.tryTake([1500], []);
      bucket.record429();
      const accounts: LimiterIdentity[] = [bucket, ...gates(world)];
      const told = () =>
        accounts.map(({ status, statusIndicator, currentInUse, capacity }) =>
          [status.summary(), statusIndicator, currentInUse, capacity].join()
        );
      const first = told();
      for (let i = 0; i < 1000; i++) assert.deepEqual(told(), first);
      const before = accounts.map(({ status }) => status);
      bucket.tryTake([1000], []);
      for (const gate of accounts.slice(1) as DatabaseGate[]) gate.tryTake(permits(1), []);
      assert.deepEqual(
        before.map((status) => status.summary()),
        first.map((line) => line.split(",").slice(0, -3).join()),
      );
      assert.ok(before.every((status) => Object.isFrozen(status)));
    }),
  );

  it(
    "ACC-14 the indicator is null while nominal; a closed endpoint says blocked, a slowed bucket how much",
    scenario((world) => {
      world.admission();
      const all = gates(world);
      assert.deepEqual(all.map(({ statusIndicator }) => statusIndicator), [null, null, null, null, null]);
      for (const gate of all) if (gate instanceof STDIOEndpointRateLimiter) gate.close();
      assert.deepEqual(all.map(({ statusIndicator }) => statusIndicator), [
        null,
        null,
        null,
        "blocked",
        null,
      ]);
      const bucket = world.bucket("gpt", { tpm: 6000, rpm: 60 });
      const said = [bucket.statusIndicator];
      for (let i = 0; i < 2; i++) {
        bucket.record429();
        said.push(bucket.statusIndicator);
      }
      bucket.recordBackpressure(1000);
      said.push(bucket.statusIndicator);
      assert.deepEqual(said, [null, "throttle:1.5x", "throttle:2.0x", "throttle:10.0x"]);
    }),
  );
});
