import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Admission, TokenBucketRateLimiter, UncorrectableError } from "../../mod.ts";
import { ManualClock, ScriptedLimiter, SwitchMemory } from "../../testing/mod.ts";
import { Digests } from "./digests.ts";

const ask = (text: string) => Promise.resolve(`digest of ${text}`);

/** One clock for all of it: 60,000 tokens a minute are one each millisecond. */
function open() {
  const clock = new ManualClock();
  const gpt = new TokenBucketRateLimiter("gpt", { tpm: 60_000, rpm: 600, clock });
  const admission = new Admission({ memory: null, clock }).start();
  return { clock, admission, digests: new Digests(admission, gpt, ask) };
}

describe("Digests", () => {
  it("wait for exactly the tokens that are missing", async () => {
    const { clock, admission, digests } = open();
    await digests.digest("a", 60_000);
    const doneAtMs = digests.digest("b", 1_000).then(() => clock.now());
    await clock.advance(999);
    assert.equal(admission.queueSize, 1);
    await clock.advance(1);
    assert.equal(await doneAtMs, 1_000);
  });

  it("are the first line when there is no room in five seconds", async () => {
    const { clock, digests } = open();
    await digests.digest("a", 60_000);
    const late = digests.digest("title\nbody", 6_000);
    await clock.advance(5_000);
    assert.equal(await late, "title");
  });

  it("leave the line when their reader goes away", async () => {
    const { clock, admission, digests } = open();
    await digests.digest("a", 60_000);
    const reader = new AbortController();
    const unread = digests.digest("b", 1_000, { signal: reader.signal });
    await clock.advance(10);
    reader.abort(new Error("the tab was closed"));
    await assert.rejects(unread, /the tab was closed/);
    assert.deepEqual([admission.queueSize, clock.pendingTimers], [0, 0]);
  });

  it("fail with the account's own words when it refuses", async () => {
    const clock = new ManualClock();
    const model = new ScriptedLimiter("gpt", "refuses");
    const digests = new Digests(new Admission({ memory: null, clock }).start(), model, ask);
    await assert.rejects(digests.digest("a", 1), UncorrectableError);
    model.mode = "fits";
    assert.equal(await digests.digest("a", 1), "digest of a");
    assert.deepEqual([model.takeCount, model.currentInUse], [1, 0]);
  });

  it("wait while memory is short", async () => {
    const clock = new ManualClock();
    const memory = new SwitchMemory();
    const admission = new Admission({ memory, clock }).start();
    const digests = new Digests(admission, new ScriptedLimiter("gpt"), ask);
    memory.isOpen = false;
    const waiting = digests.digest("a", 1);
    await clock.advance(1_000);
    assert.equal(admission.queueSize, 1);
    memory.isOpen = true;
    memory.wake();
    assert.equal(await waiting, "digest of a");
  });
});
