/** Who wins when several things happen at once, and what is refused before anybody is asked (beyond.md). */
import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { describe, it } from "@std/testing/bdd";
import { type AdmissionError, createJobContext, Demand } from "../mod.ts";
import { countedSignal } from "./counted_signals.ts";
import { type Call, scenario, type World } from "./scenario.ts";
import { grantOf, WatchedLimiter } from "./watched.ts";

const ACTS = ["grant", "abort", "cancel", "stop"] as const;
type Act = (typeof ACTS)[number];

function permutations(acts: readonly Act[]): Act[][] {
  if (acts.length === 0) return [[]];
  return acts.flatMap((first) =>
    permutations(acts.filter((act) => act !== first)).map((rest) => [first, ...rest])
  );
}

/** Plays the acts on one parked waiter, all in one turn or a microtask apart; answers who won. */
async function race(world: World, acts: readonly Act[], isApart: boolean): Promise<Act> {
  const gate = world.gate("gate", 1);
  const bucket = world.bucket("bucket", { tpm: 1000, rpm: 10 });
  const admission = world.admission();
  const holder = await admission.admit(new Demand().add(gate));
  const [leaving, context] = [new AbortController(), createJobContext()];
  const options = { signal: leaving.signal, context };
  const call = world.follow(admission.admit(new Demand().add(gate).add(bucket, 400), options));
  await world.settle();
  const play: Record<Act, () => void> = {
    grant: () => holder.release(),
    abort: () => leaving.abort("aborted"),
    cancel: () => context.cancel(),
    stop: () => admission.stop(),
  };
  for (const act of acts) {
    play[act]();
    if (isApart) await null;
  }
  await world.settle();
  holder.release();
  const winner = winnerOf(call);
  const expected = winner === "grant" ? [1, 600, 0] : [0, 1000, 0];
  assert.deepEqual([gate.currentInUse, bucket.status.availableTokens, admission.queueSize], expected);
  call.grant?.release();
  assert.equal(gate.currentInUse, 0);
  return winner;
}

function winnerOf({ grant, error }: Call): Act {
  if (grant !== null) return "grant";
  if (error === "aborted") return "abort";
  return (error as AdmissionError).code === "cancelled" ? "cancel" : "stop";
}

describe("Refused before anybody is asked", () => {
  it(
    "BEY-02 an aborted signal or a cancelled context is refused before any account is asked",
    scenario(async (world) => {
      const log: string[] = [];
      const x = new WatchedLimiter("x", log);
      const gate = world.gate("gate", 1);
      const admission = world.admission();
      const context = createJobContext();
      context.cancel();
      const refusals = [
        { options: { signal: AbortSignal.abort("too late") }, winner: "too late" },
        { options: { context }, winner: "cancelled" },
        { options: { signal: AbortSignal.abort("too late"), context }, winner: "too late" },
      ];
      for (const { options, winner } of refusals) {
        const calls = [new Demand().add(x).add(gate), new Demand().add(gate), new Demand()].map((demand) =>
          world.follow(admission.admit(demand, options))
        );
        assert.equal(admission.queueSize, 0);
        await world.settle();
        for (const { error } of calls) assert.equal((error as AdmissionError).code ?? error, winner);
      }
      assert.deepEqual([log.length, gate.currentInUse, world.events.length], [0, 0, 0]);
    }),
  );
});

describe("Races", () => {
  it(
    "BEY-24 of grant, abort, cancel and stop in one turn exactly one wins, and amounts are conserved",
    scenario(async (world) => {
      for (const acts of permutations(ACTS)) {
        // A release only marks: whatever else happens in the same turn comes before the pass.
        assert.equal(await race(world, acts, false), acts.find((act) => act !== "grant"), acts.join());
      }
    }),
  );

  it(
    "BEY-24 the same a microtask apart: the first that takes effect wins",
    scenario(async (world) => {
      for (const acts of permutations(ACTS)) {
        assert.equal(await race(world, acts, true), acts[0], acts.join());
      }
    }),
  );

  it(
    "BEY-24 a signal shared by many waiters carries one listener, and none when the last of them ends",
    scenario(async (world) => {
      const gate = world.gate("gate", 1);
      const admission = world.admission();
      let holder = await admission.admit(new Demand().add(gate));
      const { signal, counts, controller } = countedSignal();
      const calls = Array.from(
        { length: 20 },
        () => world.follow(admission.admit(new Demand().add(gate), { signal })),
      );
      await world.settle();
      assert.deepEqual(counts, { added: 1, removed: 0 });
      for (const call of calls) {
        holder.release();
        await world.settle();
        holder = grantOf(call);
      }
      assert.deepEqual(counts, { added: 1, removed: 1 });

      const again = [1, 2].map(() => world.follow(admission.admit(new Demand().add(gate), { signal })));
      assert.deepEqual(counts, { added: 2, removed: 1 });
      controller.abort();
      await world.settle();
      for (const { error } of again) assert.equal(error, signal.reason);
      assert.deepEqual(counts, { added: 2, removed: 2 });
      assert.equal(admission.queueSize, 0);
    }),
  );

  it(
    "BEY-24 a signal on a demand that is granted at once, or refused at once, keeps no listener",
    scenario(async (world) => {
      const { signal, counts } = countedSignal();
      const gate = world.gate("gate", 1);
      const x = new WatchedLimiter("x", []);
      const admission = world.admission();
      await admission.admit(new Demand().add(gate), { signal });
      await admission.admit(new Demand().add(x), { signal });
      x.mode = "refuses";
      await assert.rejects(admission.admit(new Demand().add(x), { signal }), { name: "UncorrectableError" });
      assert.equal(counts.added, counts.removed);
    }),
  );
});

describe("The caller's async context", () => {
  it(
    "BEY-33 a caller keeps its own async context over a wait, however that ends",
    scenario(async (world) => {
      const store = new AsyncLocalStorage<string>();
      const gate = world.gate("gate", 1);
      const bucket = world.bucket("bucket", { tpm: 60_000, rpm: 6000 });
      const admission = world.admission();
      const holder = await admission.admit(new Demand().add(gate).add(bucket, 60_000));
      const leaving = new AbortController();
      const { signal } = leaving;
      const seen: (string | undefined)[] = [];
      const visit = (name: string, demand: Demand) =>
        store.run(name, async () => {
          await admission.admit(demand, { signal }).catch(() => {});
          seen.push(`${name} in ${store.getStore()}`);
        });

      const visits = [
        visit("released", new Demand().add(gate)),
        visit("timed", new Demand().add(bucket, 100)),
        visit("aborted", new Demand().add(gate)),
      ];
      await store.run("releaser", async () => {
        await world.settle();
        holder.release();
        await world.clock.advance(100);
        leaving.abort();
      });
      await Promise.all(visits);
      assert.deepEqual(seen, ["released in released", "timed in timed", "aborted in aborted"]);
    }),
  );
});
