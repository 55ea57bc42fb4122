// Accounts that call admission back while they are asked: what they ask for is done after the step.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { type Admission, type AdmissionError, Demand, type Grant } from "../mod.ts";
import { ScriptedLimiter } from "../testing/mod.ts";
import { type Call, scenario, type World } from "./scenario.ts";
import { grantOf, WatchedLimiter } from "./watched.ts";

/** `give` is met in a failed attempt, `settle` is the same verb at the end of the job. */
const VERBS = ["fits", "tryTake", "earliestFit", "give", "settle"] as const;
type Verb = (typeof VERBS)[number];

const ACTS = [
  "admit",
  "admit with no time",
  "tryAdmit",
  "release",
  "rollback",
  "abort",
  "stop",
  "wake",
  "another's admit",
  "another's stop",
  "look",
] as const;
type Act = (typeof ACTS)[number];

/** A world in which the account `x` acts once, in the middle of the verb it is told. */
class Stage {
  readonly x = new WatchedLimiter("x", []);
  readonly y = new ScriptedLimiter("y");
  readonly gate;
  readonly pool;
  readonly bucket;
  readonly admission: Admission;
  readonly other: Admission;
  readonly leaving = new AbortController();
  readonly calls: Call[] = [];
  readonly grants: Grant[] = [];
  acted = 0;
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
    this.gate = world.gate("gate", 1);
    this.pool = world.gate("pool", 5);
    this.bucket = world.bucket("bucket", { tpm: 1000, rpm: 100 });
    [this.admission, this.other] = [world.admission(), world.admission()];
  }

  /** The demand that meets `x` in the middle: amounts before and after it. */
  get demand(): Demand {
    return new Demand().add(this.pool).add(this.bucket, 100).add(this.x, 1).add(this.y, 1);
  }

  act(act: Act, holder: Grant): void {
    this.acted++;
    const { admission, other, pool } = this;
    const follow = (promise: Promise<Grant>) => void this.calls.push(this.#world.follow(promise));
    const acts: Record<Act, () => unknown> = {
      "admit": () => follow(admission.admit(new Demand().add(pool))),
      "admit with no time": () => follow(admission.admit(new Demand().add(pool), { timeoutMs: 0 })),
      "tryAdmit": () => {
        const grant = admission.tryAdmit(new Demand().add(pool));
        if (grant !== null) this.grants.push(grant);
      },
      "release": () => holder.release(),
      "rollback": () => holder.rollback(),
      "abort": () => this.leaving.abort("left"),
      "stop": () => admission.stop(),
      "wake": () => this.x.wake(),
      "another's admit": () => follow(other.admit(new Demand().add(pool).add(this.gate))),
      "another's stop": () => other.stop(),
      "look": () => [admission.explain(new Demand().add(pool)), admission.waiters(), admission.grants()],
    };
    acts[act]();
  }

  /** Settles everything; then all that was taken came back, and everyone has an answer. */
  async end(subject: Call): Promise<void> {
    const { gate, pool, x, y, bucket, admission, other } = this;
    this.grants.forEach((grant) => grant.release());
    // Whoever waits for a permit of the one before it gets it a round later.
    for (let round = 0; round < 3; round++) {
      for (const call of [subject, ...this.calls]) call.grant?.release();
      await this.#world.settle();
    }
    for (const call of this.calls) assert.ok(call.grant !== null || call.error !== null, "an answer");
    assert.deepEqual([gate, pool, x, y].map(({ currentInUse }) => currentInUse), [0, 0, 0, 0]);
    assert.equal(bucket.status.availableTokens, subject.grant === null ? 1000 : 900);
    assert.deepEqual([admission.queueSize, other.queueSize, this.#world.clock.pendingTimers], [0, 0, 0]);
  }
}

/** `x` is met inline or in a pass, and acts in the middle of one verb. */
async function playAct(world: World, verb: Verb, act: Act, isParked: boolean): Promise<void> {
  const stage = new Stage(world);
  const { x, y, admission, gate, calls } = stage;
  const holder = await admission.admit(new Demand().add(gate));
  // Behind someone who waits for what the holder has, the subject is met in a pass.
  if (isParked) calls.push(world.follow(admission.admit(new Demand().add(gate))));
  x.mode = verb === "earliestFit" ? "short" : "fits";
  y.mode = verb === "give" ? "declines" : "fits";
  const asked = verb === "settle" ? "give" : verb;
  x.onAsk = (each) => each === asked && stage.acted === 0 && stage.act(act, holder);
  const subject = world.follow(admission.admit(stage.demand, { signal: stage.leaving.signal }));
  await world.settle();
  if (verb === "settle") grantOf(subject).release();
  assert.equal(stage.acted, 1, `x was asked ${asked}`);

  [x.mode, y.mode] = ["fits", "fits"];
  x.wake();
  y.wake();
  holder.release();
  await world.settle();
  const ends = verb === "settle" ? null : act === "abort" ? "left" : act === "stop" ? "stopped" : null;
  assert.equal((subject.error as AdmissionError | null)?.code ?? subject.error, ends);
  assert.equal(subject.grant === null, ends !== null);
  await stage.end(subject);
  await checkOpen(admission, act === "stop" ? "stopped" : null);
  await checkOpen(stage.other, act === "another's stop" ? "stopped" : null);
}

/** Admission is open, or closed with a code. */
async function checkOpen(admission: Admission, closed: string | null): Promise<void> {
  if (closed === null) (await admission.admit(new Demand())).release();
  else await assert.rejects(admission.admit(new Demand()), { code: closed });
}

describe("An account that calls admission back", () => {
  for (const verb of VERBS) {
    it(
      `BEY-24 BEY-12 from ${verb}: it acts after the step, and amounts are conserved, whatever it calls`,
      scenario(async (world) => {
        for (const act of ACTS) {
          for (const isParked of [false, true]) {
            world.tell(`${verb} ${act} ${isParked}`);
            await playAct(world, verb, act, isParked).catch((error) => {
              throw new Error(`${act} from ${verb}, ${isParked ? "in a pass" : "inline"}`, { cause: error });
            });
          }
        }
      }),
    );
  }

  it(
    "BEY-12 tryAdmit inside a step answers null, although there is room",
    scenario(async (world) => {
      const [x, pool] = [new WatchedLimiter("x", []), world.gate("pool", 5)];
      const admission = world.admission();
      const answers: unknown[] = [];
      x.onAsk = (verb) => verb === "give" || answers.push(admission.tryAdmit(new Demand().add(pool)));
      const grant = await admission.admit(new Demand().add(x));
      assert.deepEqual(answers, [null, null]);
      grant.release();
      assert.equal(pool.currentInUse, 0);
    }),
  );
});
