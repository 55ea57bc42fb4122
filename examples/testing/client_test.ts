import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { admittedFetch } from "../../adapters/fetch.ts";
import { Admission, CancellationError, HttpConnectionGate, RateLimiterFactory } from "../../mod.ts";
import { ManualClock } from "../../testing/mod.ts";

const GPT = { id: "gpt", tpm: 60_000, rpm: 600 }; // A token each millisecond, a request each 100.
const answer = (tokens: number) => () => Response.json({ usage: { total_tokens: tokens } });

/** A client whose provider gives these answers, one after the other. The same clock goes everywhere. */
function open(...answers: (() => Response)[]) {
  const clock = new ManualClock();
  const accounts = new RateLimiterFactory({ clock }); // Those of the process would read the system's clock.
  const admission = new Admission({ memory: null, clock }).start();
  const sentAtMs: number[] = [];
  const fetch = admittedFetch({
    admission,
    accounts,
    clock,
    provider: "openai",
    models: [GPT],
    estimate: () => 60_000,
    pauseMs: () => 1_000, // Left out, a pause is drawn by chance.
    fetch: () => {
      sentAtMs.push(clock.now());
      return Promise.resolve(answers[sentAtMs.length - 1]!());
    },
  });
  const ask = () =>
    fetch("https://api.test/v1/chat/completions", { method: "POST", body: JSON.stringify({ model: "gpt" }) });
  return { clock, accounts, admission, sentAtMs, ask };
}

describe("A client", () => {
  it("sends the second request when the first has told its usage, and the tokens are there", async () => {
    const { clock, accounts, sentAtMs, ask } = open(answer(20_000), answer(1));
    const first = await ask();
    const second = ask();
    await clock.advance(5_000);
    await first.json(); // Its 40,000 unused tokens are back; 15,000 are missing then.
    await clock.advance(60_000);
    await (await second).json();
    assert.deepEqual(sentAtMs, [0, 20_000]);
    assert.equal(accounts.limiter(HttpConnectionGate).currentInUse, 0);
  });

  it("asks again when the provider says", async () => {
    const refusal = () => new Response("{}", { status: 429, headers: { "retry-after": "120" } });
    const { clock, sentAtMs, ask } = open(refusal, answer(1));
    const response = ask();
    await clock.advance(120_000);
    assert.equal((await response).status, 200);
    assert.deepEqual(sentAtMs, [0, 120_000]);
  });

  it("is told when the program stops amid a pause", async () => {
    const { clock, admission, ask } = open(() => new Response("{}", { status: 503 }));
    const response = ask();
    await clock.advance(500);
    admission.stop();
    await assert.rejects(response, CancellationError);
    assert.equal(clock.pendingTimers, 0);
  });
});
