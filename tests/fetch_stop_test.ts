// What the end of an Admission is for requests: those in line, and those that pause before a retry.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { CancellationError, Demand, UncorrectableError } from "../mod.ts";
import { ScriptedLimiter } from "../testing/mod.ts";
import { chat, CHAT_URL, completion, FetchWorld, follow, refusal } from "./fetch_world.ts";

/** An account that breaks when an attempt is undone, which closes an Admission. */
class Breaking extends ScriptedLimiter {
  override give(): void {
    throw new Error("give is broken");
  }
}

describe("A stopped Admission", () => {
  it("CAN-10 BEY-27 ends every pause at once with a CancellationError of its own, and drain is over", async () => {
    const world = new FetchWorld();
    const fetch = world.fetch(() => refusal(429));
    const pausing = [follow(fetch(CHAT_URL, chat())), follow(fetch(CHAT_URL, chat()))];
    await world.clock.advance(500);
    assert.deepEqual([world.clock.pendingTimers, world.admission.queueSize], [2, 0]);
    world.admission.stop();
    await world.admission.drain();
    await world.settle();
    const errors = pausing.map(({ error }) => error as CancellationError);
    assert.deepEqual(errors.map(({ code }) => code), ["stopped", "stopped"]);
    assert.ok(errors[0] instanceof CancellationError && errors[0] !== errors[1]);
    assert.deepEqual([world.clock.pendingTimers, world.sent.length], [0, 2]);
    world.assertIdle();
  });

  it("CAN-11 lets a request that was sent end, and begins no pause after it", async () => {
    const world = new FetchWorld();
    const answers: ((response: Response) => void)[] = [];
    const fetch = world.fetch(() => new Promise((resolve) => answers.push(resolve)));
    const [refused, answered] = [follow(fetch(CHAT_URL, chat())), follow(fetch(CHAT_URL, chat()))];
    await world.settle();
    world.admission.stop();
    answers[0]!(refusal(429));
    answers[1]!(completion(5));
    await world.settle();
    assert.equal((refused.error as CancellationError).code, "stopped");
    assert.equal(world.clock.pendingTimers, 0);
    assert.equal((await answered.value!.json()).usage.total_tokens, 5);
    world.assertIdle();
  });

  it("FLT-10 a defect ends pauses as well, with the error that callers get", async () => {
    const world = new FetchWorld();
    const pausing = follow(world.fetch(() => refusal(429))(CHAT_URL, chat()));
    await world.clock.advance(500);
    const demand = new Demand().add(new Breaking("a"), 1).add(new ScriptedLimiter("b", "declines"), 1);
    await assert.rejects(world.admission.admit(demand));
    await world.settle();
    assert.equal((pausing.error as UncorrectableError).code, "defect");
    assert.equal(world.clock.pendingTimers, 0);
  });

  it("hears no more of pauses that ended before, by their time or by a signal", async () => {
    const world = new FetchWorld();
    const aborter = new AbortController();
    const fetch = world.fetch((_, index) => index < 2 ? refusal(429) : completion(5));
    const first = follow(fetch(CHAT_URL, chat()));
    const second = follow(fetch(CHAT_URL, chat({}, { signal: aborter.signal })));
    await world.clock.advance(500);
    aborter.abort("enough");
    await world.clock.advance(600);
    world.admission.stop();
    await world.settle();
    assert.deepEqual([second.error, first.error], ["enough", undefined]);
    assert.equal((await first.value!.json()).usage.total_tokens, 5);
    world.assertIdle();
  });
});
