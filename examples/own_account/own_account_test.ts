import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Admission, Demand } from "../../mod.ts";
import { ManualClock, rateLimiterContract } from "../../testing/mod.ts";
import { PaceLimiter } from "./pace_limiter.ts";
import { UploadLimiter } from "./upload_limiter.ts";

rateLimiterContract("UploadLimiter", () => ({
  account: new UploadLimiter(100),
  clock: new ManualClock(), // It reads none, so any will do.
  amount: 25,
  room: 4,
  impossible: [101],
}), { describe, it });

rateLimiterContract("PaceLimiter", () => {
  const clock = new ManualClock();
  return {
    account: new PaceLimiter(3, 200, clock),
    clock,
    amount: undefined,
    room: 3,
    impossible: [undefined, undefined, undefined, undefined],
  };
}, { describe, it });

describe("UploadLimiter in a line", () => {
  it("lets a waiter go when its capacity is raised, and tells how many it holds", async () => {
    const clock = new ManualClock();
    const uploads = new UploadLimiter(100);
    const admission = new Admission({ memory: null, clock }).start();
    await admission.admit(new Demand().add(uploads, 80));
    const waiting = admission.admit(new Demand().add(uploads, 40));
    await clock.advance(0);
    assert.equal(uploads.statusIndicator, "held:1");
    uploads.setCapacity(120);
    await waiting;
    assert.deepEqual([uploads.currentInUse, uploads.statusIndicator], [120, null]);
  });
});

describe("PaceLimiter in a line", () => {
  it("lets the fourth call go exactly one gap after the first", async () => {
    const clock = new ManualClock();
    const pace = new PaceLimiter(3, 200, clock);
    const admission = new Admission({ memory: null, clock }).start();
    const wentAtMs: number[] = [];
    const call = async () => {
      await admission.run(new Demand().add(pace), () => wentAtMs.push(clock.now()));
    };
    const calls = [call(), call(), call(), call(), call()];
    await clock.advance(1_000);
    await Promise.all(calls);
    assert.deepEqual(wentAtMs, [0, 0, 0, 200, 400]);
  });
});
