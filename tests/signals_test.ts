// Callers who leave by the thousand and in the same instant, and signals that are shared, hasty or wrong.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { type AdmissionError, type AdmitOptions, createJobContext, Demand, type JobContext } from "../mod.ts";
import { countedSignal, warningsOf } from "./counted_signals.ts";
import { type Call, KERNELS, playOn, scenario, type World } from "./scenario.ts";
import { assertParked, grantOf, WatchedLimiter } from "./watched.ts";

const MANY = 10_000;

/** Plays on the kernel alone: the twin is written to be read, and takes a second for what costs the kernel a millisecond. */
function atLength(play: (world: World) => Promise<void>): () => Promise<void> {
  return async () => void await playOn(KERNELS.wasm(), play);
}

describe("Ten thousand callers", () => {
  it(
    "BEY-24 share one signal: one listener, none left, and no warning, whether they are granted or leave",
    atLength(async (world) => {
      const gate = world.gate("gate", 1);
      const admission = world.admission({ events: () => {} });
      const { signal, counts, controller } = countedSignal();
      const demand = new Demand().add(gate);
      const line = () =>
        Array.from({ length: MANY }, () => world.follow(admission.admit(demand, { signal })));
      const warnings = await warningsOf(async () => {
        const holder = await admission.admit(demand);
        const granted = line();
        assert.deepEqual(counts, { added: 1, removed: 0 });
        gate.setCapacity(MANY + 1);
        holder.release();
        await world.settle();
        granted.forEach((call) => grantOf(call));
        assert.deepEqual(counts, { added: 1, removed: 1 });
        assert.equal(gate.currentInUse, MANY);

        gate.setCapacity(1);
        const left = line();
        controller.abort("all out");
        await world.settle();
        for (const call of left) assert.equal(call.error, "all out");
        granted.forEach((call) => grantOf(call).release());
      });
      assert.deepEqual(warnings, []);
      assert.deepEqual(counts, { added: 2, removed: 2 });
      assert.deepEqual([admission.queueSize, gate.currentInUse], [0, 0]);
    }),
  );

  it(
    "BEY-24 abort in one tick, each with a reason of its own; who stays is served as if they never were",
    atLength(async (world) => {
      const gate = world.gate("gate", 1);
      const bucket = world.bucket("bucket", { tpm: 60_000, rpm: 60_000 });
      const admission = world.admission({ events: () => {} });
      const holder = await admission.admit(new Demand().add(gate).add(bucket, 60_000));
      const demands = [
        new Demand().add(gate),
        new Demand().add(bucket, 700),
        new Demand().add(gate).add(bucket, 5),
      ];
      const controllers = Array.from({ length: MANY }, () => new AbortController());
      const leaving = controllers.map(({ signal }, index) =>
        world.follow(admission.admit(demands[index % 3]!, { signal }))
      );
      const staying = world.follow(admission.admit(new Demand().add(bucket, 10)));
      await world.settle();
      controllers.forEach((controller, index) => controller.abort(`reason ${index}`));
      assert.equal(admission.queueSize, 1);
      holder.release();
      await world.settle();
      leaving.forEach((call, index) => assert.equal(call.error, `reason ${index}`));
      assertParked(staying);
      await world.clock.advance(10);
      assert.equal(grantOf(staying).wallWaitMs, 10);
      assert.deepEqual([gate.currentInUse, bucket.status.availableTokens], [0, 0]);
      assert.deepEqual([admission.queueSize, world.clock.pendingTimers], [0, 0]);
    }),
  );

  it(
    "BEY-24 the first half leaves and the permit comes back in the same tick: the next in line gets it",
    scenario(async (world) => {
      const gate = world.gate("gate", 1);
      const admission = world.admission({ events: () => {} });
      for (const releasesFirst of [true, false]) {
        const holder = await admission.admit(new Demand().add(gate));
        const half = new AbortController();
        const calls = Array.from({ length: 1000 }, (_, index) =>
          world.follow(
            admission.admit(new Demand().add(gate), index < 500 ? { signal: half.signal } : {}),
          ));
        await world.settle();
        if (releasesFirst) holder.release();
        half.abort("left");
        if (!releasesFirst) holder.release();
        await world.settle();
        assert.deepEqual(calls.map((call) => call.error), [
          ...new Array<string>(500).fill("left"),
          ...new Array<null>(500).fill(null),
        ]);
        for (const call of calls.slice(500)) {
          grantOf(call).release();
          await world.settle();
        }
        assert.deepEqual([gate.currentInUse, admission.queueSize], [0, 0]);
      }
    }),
  );
});

type Act = "release" | "abort" | "cancel" | "stop" | "timeout";
const ACTS: readonly Act[] = ["release", "abort", "cancel", "stop", "timeout"];

function permutations(acts: readonly Act[]): Act[][] {
  if (acts.length === 0) return [[]];
  return acts.flatMap((first) =>
    permutations(acts.filter((act) => act !== first)).map((rest) => [first, ...rest])
  );
}

/** All acts are timers of one instant, that of the time limit, and fire in the order given; answers who won. */
async function raceAtOneInstant(world: World, acts: readonly Act[]): Promise<Act> {
  const gate = world.gate("gate", 1);
  const bucket = world.bucket("bucket", { tpm: 1000, rpm: 10 });
  const admission = world.admission();
  const holder = await admission.admit(new Demand().add(gate));
  const [leaving, context] = [new AbortController(), createJobContext()];
  const call: Call[] = [];
  const arm: Record<Act, () => unknown> = {
    release: () => world.clock.setTimer(70, () => holder.release()),
    abort: () => world.clock.setTimer(70, () => leaving.abort("aborted")),
    cancel: () => world.clock.setTimer(70, () => context.cancel()),
    stop: () => world.clock.setTimer(70, () => admission.stop()),
    timeout: () => {
      const options = { signal: leaving.signal, context, timeoutMs: 70 };
      call.push(world.follow(admission.admit(new Demand().add(gate).add(bucket, 400), options)));
    },
  };
  for (const act of acts) arm[act]();
  await world.clock.advance(70);
  holder.release();
  const winner = winnerOf(call[0]!);
  const expected = winner === "release" ? [1, 600, 0] : [0, 1000, 0];
  assert.deepEqual([gate.currentInUse, bucket.status.availableTokens, admission.queueSize], expected);
  assert.equal(world.clock.pendingTimers, 0);
  call[0]!.grant?.release();
  assert.equal(gate.currentInUse, 0);
  return winner;
}

function winnerOf({ grant, error }: Call): Act {
  if (grant !== null) return "release";
  if (error === "aborted") return "abort";
  const { code } = error as AdmissionError;
  assert.ok(code === "cancelled" || code === "stopped" || code === "timeout", String(error));
  return code === "cancelled" ? "cancel" : code === "stopped" ? "stop" : "timeout";
}

describe("One instant", () => {
  it(
    "BEY-24 release, abort, cancel, stop and time limit at one instant: the first wins, in all 120 orders",
    scenario(async (world) => {
      for (const acts of permutations(ACTS)) {
        assert.equal(await raceAtOneInstant(world, acts), acts[0], acts.join());
      }
    }),
  );

  it(
    "BEY-24 CAN-03 an abort seen before the caller resumes wins, and the grant is rolled back whole",
    scenario(async (world) => {
      const gate = world.gate("gate", 1);
      const bucket = world.bucket("bucket", { tpm: 1000, rpm: 10 });
      const x = new WatchedLimiter("x", []);
      for (const verb of ["fits", "tryTake"] as const) {
        const admission = world.admission();
        const holder = await admission.admit(new Demand().add(gate));
        const leaving = new AbortController();
        const demand = new Demand().add(gate).add(bucket, 300).add(x);
        const call = world.follow(admission.admit(demand, { signal: leaving.signal, timeoutMs: 500 }));
        await world.settle();
        x.onAsk = (asked) => asked === verb && leaving.abort("in the middle");
        holder.release();
        await world.settle();
        x.onAsk = null;
        assert.equal(call.error, "in the middle");
        assert.deepEqual([gate.currentInUse, bucket.status.availableTokens, x.currentInUse], [0, 1000, 0]);
        assert.deepEqual([admission.queueSize, world.clock.pendingTimers], [0, 0]);
      }
    }),
  );

  it(
    "BEY-24 CAN-02 an abort after the grant, however soon, leaves the grant to its caller",
    scenario(async (world) => {
      const gate = world.gate("gate", 1);
      const admission = world.admission();
      const holder = await admission.admit(new Demand().add(gate));
      const leaving = new AbortController();
      const parked = admission.admit(new Demand().add(gate), { signal: leaving.signal });
      const call = world.follow(parked);
      await world.settle();
      // The caller is the first to hear of its own promise, and aborts at that very moment.
      const aborted = parked.then(() => leaving.abort("too late"));
      holder.release();
      await aborted;
      assert.equal(grantOf(call).isSettled, false);
      assert.equal(gate.currentInUse, 1);
    }),
  );
});

describe("Wrong signals, contexts and limits", () => {
  /** Anything at all, where TypeScript would not let it through. */
  const options = (fields: Record<string, unknown>) => fields as AdmitOptions;

  it(
    "BEY-24 BEY-60 are refused by name before anybody is asked, and nothing is taken",
    scenario(async (world) => {
      const x = new WatchedLimiter("x", []);
      const admission = world.admission();
      const refuse = async (fields: Record<string, unknown>, name: string, message: RegExp) => {
        await assert.rejects(admission.admit(new Demand().add(x), options(fields)), { name, message });
        const run = admission.run(new Demand().add(x), () => assert.fail("it worked"), options(fields));
        await assert.rejects(run, { name, message });
      };
      for (const span of ["timeoutMs", "maxHoldMs"]) {
        for (const wrong of [-1, -0.001, NaN, -Infinity]) {
          await refuse({ [span]: wrong }, "RangeError", new RegExp(`${span} is ${wrong}`));
        }
        for (const wrong of ["5", null, {}, 5n]) {
          await refuse({ [span]: wrong }, "TypeError", new RegExp(`${span} is `));
        }
      }
      for (const flag of ["failFast", "detached"]) {
        for (const wrong of [1, "yes", null]) {
          await refuse({ [flag]: wrong }, "TypeError", new RegExp(`${flag} is `));
        }
      }
      for (const wrong of [null, 5, "abort", {}, new AbortController(), { aborted: false }]) {
        await refuse({ signal: wrong }, "TypeError", /signal is /);
      }
      for (const wrong of [null, 5, {}, { isCancelled: false, snapshot: () => ({}) }, new Date()]) {
        await refuse({ context: wrong }, "TypeError", /context is /);
      }
      assert.deepEqual([x.log, admission.queueSize, world.events], [[], 0, []]);
    }),
  );

  it(
    "BEY-24 a signal or context that fails while it is listened to leaves nobody in line",
    scenario(async (world) => {
      const gate = world.gate("gate", 1);
      const admission = world.admission();
      const holder = await admission.admit(new Demand().add(gate));
      const fails = () => {
        throw new Error("no listeners here");
      };
      const { signal } = new AbortController();
      signal.addEventListener = fails;
      const context: JobContext = { ...createJobContext(), onCancel: fails };
      for (const odd of [{ signal }, { context }]) {
        await assert.rejects(admission.admit(new Demand().add(gate), odd), { message: /no listeners/ });
        assert.equal(admission.queueSize, 0);
      }
      const next = world.follow(admission.admit(new Demand().add(gate)));
      holder.release();
      await world.settle();
      grantOf(next);
    }),
  );

  it(
    "BEY-24 a signal shared by two Admissions carries one listener and lets both lines go",
    scenario(async (world) => {
      const gate = world.gate("gate", 1);
      const [first, second] = [world.admission(), world.admission()];
      await first.admit(new Demand().add(gate));
      const { signal, counts, controller } = countedSignal();
      const calls = [first, second, first].map((admission) =>
        world.follow(admission.admit(new Demand().add(gate), { signal }))
      );
      assert.equal(counts.added, 1);
      controller.abort("both");
      await world.settle();
      for (const call of calls) assert.equal(call.error, "both");
      assert.deepEqual([first.queueSize, second.queueSize, counts.removed], [0, 0, 1]);
    }),
  );
});
