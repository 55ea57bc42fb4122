// A gateway through real sockets, with providers that misbehave and callers that leave: no permit is lost, no quota overrun, and
// every caller gets an answer.

// Runs alone: @hono/node-server replaces the global Request and Response of its process.
// Left out of npm run ok: it starts servers and lets thousands of callers leave, which takes 40 s on both runtimes.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import type { Mood } from "../examples/llm_gateway/fake_provider.ts";
import { REAL_MINUTE_MS } from "../examples/llm_gateway/minute_clock.ts";
import { seededRandom } from "../examples/replay/random.ts";
import { ask, askAll, assertIdle, type GatewayWorld, KEY, until, withGateways } from "./gateway_world.ts";
import { nodeServer, ownServer } from "./hono/servers.ts";

const MOODS: readonly Mood[] = ["answers", "hangs", "hangs amid its body", "closes amid its body"];

for (const server of [await ownServer(), nodeServer()]) {
  describe(`A gateway on ${server.name}`, () => {
    it("survives a storm of aborts, whatever the provider does: each caller is answered, and nothing stays taken", async () => {
      const seed = Date.now() % 1_000_000;
      console.log(`seed ${seed}`);
      const random = seededRandom(seed);
      const moods = Array.from({ length: 400 }, () => MOODS[Math.floor(random.next() * MOODS.length)]!);
      let isCalm = false;
      await withGateways(server, {
        provider: { mood: (index) => isCalm ? "answers" : moods[index % moods.length]! },
        gateway: { maxInFlight: 20, timeLimitMs: 1500 },
      }, async (world) => {
        const answers = await Promise.all(Array.from({ length: 300 }, async (_, index) => {
          const isStream = index % 2 === 0;
          // Every fifth stays.
          const chat = index % 5 === 0 ? { isStream } : { isStream, leaveMs: random.next() * 1000 };
          return { ...await ask(world.gateway, chat), hasStayed: index % 5 === 0 };
        }));
        const stayed = answers.filter(({ hasStayed }) => hasStayed);
        // What breaks off may do so before its head is sent: then the connection is closed, and that is all.
        assert.ok(stayed.every(({ status }) => [0, 200, 504].includes(status)), JSON.stringify(stayed));
        assert.ok(stayed.some(({ status }) => status > 0), "some were answered");
        assert.ok(answers.some(({ status, hasStayed }) => status === 0 && !hasStayed), "some have left");
        assert.ok(world.provider.status(KEY).requests > 20, "the provider was reached");
        await assertIdle(world);
        isCalm = true;
        const after = await askAll(world.gateway, 20);
        assert.deepEqual(after.map(({ status }) => status), after.map(() => 200), "it goes on as before");
        await assertIdle(world);
      });
    });

    it("in front of a provider that hangs answers whoever is sent and whoever waits, once their time is up", async () => {
      let isCalm = false;
      await withGateways(server, {
        provider: { mood: () => isCalm ? "answers" : "hangs" },
        gateway: { maxInFlight: 5, timeLimitMs: 1000 },
      }, async (world) => {
        const calls = await askAll(world.gateway, 30);
        assert.deepEqual(new Set(calls.map(({ status }) => status)), new Set([504]));
        await assertIdle(world);
        isCalm = true;
        assert.equal((await ask(world.gateway)).status, 200);
        await assertIdle(world);
      });
    });

    it("in front of a provider that closes amid its answers breaks them off, and asks once", async () => {
      let isCalm = false;
      await withGateways(server, {
        provider: { mood: () => isCalm ? "answers" : "closes amid its body" },
      }, async (world) => {
        const calls = await askAll(world.gateway, 30);
        assert.ok(calls.every(({ tokens }) => tokens === 0), "no answer is whole");
        assert.equal(world.provider.status(KEY).requests, 30);
        await assertIdle(world);
        isCalm = true;
        assert.equal((await askAll(world.gateway, 10)).filter(({ status }) => status === 200).length, 10);
        await assertIdle(world);
      });
    });

    it("refuses callers beyond those it keeps open, and keeps the others", async () => {
      await withGateways(server, {
        provider: { serviceMs: [200, 200] },
        gateway: { maxOpen: 10 },
      }, async (world) => {
        const calls = await askAll(world.gateway, 40);
        const statuses = calls.map(({ status }) => status).sort();
        assert.deepEqual(new Set(statuses), new Set([200, 503]));
        assert.ok(statuses.filter((status) => status === 200).length >= 10);
        await assertIdle(world);
      });
    });

    it("keeps to a limit that falls while 500 wait: beyond it goes at most what was in flight when it heard", async () => {
      const { overdrawn, inFlight, waiting, statuses } = await falling(server);
      assert.ok(waiting >= 500, `${waiting} waited`);
      assert.deepEqual(new Set(statuses), new Set([200]));
      assert.ok(overdrawn <= inFlight, `${overdrawn} tokens beyond the limit, ${inFlight} in flight`);
    });
  });
}

describe("Two gateways with a part of the quota each", () => {
  it("are never refused, answer all, and settle to the token what the provider counts", async () => {
    const quota = { tpm: 60_000, rpm: 600 };
    await withGateways(nodeServer(), {
      minuteMs: 1500,
      gateways: 2,
      provider: { quota },
      gateway: { quota, share: 0.3 },
    }, async (world) => {
      const calls = (await Promise.all(world.gateways.map((gateway) => askAll(gateway, 150, 300)))).flat();
      assert.ok(calls.every(({ status }) => status === 200));
      await assertIdle(world);
      const { refused, requests, tokens, fullestTokens } = world.provider.status(KEY);
      assert.deepEqual([refused, requests], [0, 300]);
      assert.equal(tokens, calls.reduce((sum, call) => sum + call.tokens, 0));
      assert.ok(tokens > 45_000, "there is more to do than a minute's part");
      assert.ok(fullestTokens <= quota.tpm, `${fullestTokens}`);
    });
  });
});

/**
 * 580 requests to a provider whose limit falls by two thirds. Answers the most tokens that arrived beyond the lower limit at any time
 * after the gateway had heard of it (from then on, so that late arrivals never count against it), and what was in flight then.
 */
async function falling(server: ReturnType<typeof nodeServer>) {
  const [HIGH, LOW] = [{ tpm: 120_000, rpm: 1200 }, { tpm: 40_000, rpm: 400 }];
  const TOKENS = 128;
  const heard = { atMs: NaN, inFlight: 0, waiting: 0 };
  let world: GatewayWorld | null = null;
  const outcome = { overdrawn: 0, inFlight: 0, waiting: 0, statuses: [] as number[] };
  await withGateways(server, {
    minuteMs: 1500,
    provider: {
      quota: HIGH,
      isStrict: false,
      usedShare: [1, 1],
      async onAnswer() {
        await until(() => world!.gateway.admission.queueSize >= 500 || Number.isFinite(heard.atMs));
        world!.provider.window(KEY).quota = LOW;
      },
    },
    gateway: {
      quota: HIGH,
      maxInFlight: 60,
      estimate: () => TOKENS,
      logger: {
        info(message) {
          if (!message.startsWith("Updated rate limits")) return;
          const { gateway, provider } = world!;
          heard.atMs = provider.clock.now();
          heard.inFlight = gateway.http.currentInUse * TOKENS;
          heard.waiting = gateway.admission.queueSize;
        },
        warn: () => {},
        error: () => {},
      },
    },
  }, async (made) => {
    world = made;
    const calls = await askAll(made.gateway, 580);
    outcome.statuses = calls.map(({ status }) => status);
    await assertIdle(made);
    const late = made.provider.window(KEY).stamps.filter(({ atMs }) => atMs > heard.atMs);
    assert.ok(late.length > 400);
    let tokens = 0;
    for (const stamp of late) {
      tokens += stamp.tokens;
      const granted = LOW.tpm * (stamp.atMs - heard.atMs) / REAL_MINUTE_MS;
      outcome.overdrawn = Math.max(outcome.overdrawn, tokens - granted);
    }
    Object.assign(outcome, { inFlight: heard.inFlight, waiting: heard.waiting });
  });
  return outcome;
}
