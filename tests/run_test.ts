// run: admit, work, feedback while the permits are still held, settle.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { CancellationError, createJobContext, Demand, type Grant, type UpstreamFailure } from "../mod.ts";
import { SwitchMemory } from "../testing/mod.ts";
import { BySize, Slots } from "./custom_accounts.ts";
import { scenario } from "./scenario.ts";

/** An account that writes down what it takes, gives and hears, with what is in use at that moment. */
class Listener extends Slots {
  readonly #log: string[];
  /** When set, hearing of anything throws. */
  isDeaf = false;

  constructor(name: string, log: string[], capacity = 5) {
    super(name, capacity, (line) => log.push(line));
    this.#log = log;
  }

  override onSuccess(input?: unknown): void {
    this.#hear(`success ${String(input)}`);
  }

  override onRateLimitError(failure: UpstreamFailure, input?: unknown): void {
    this.#hear(`failure ${failure.statusCode} ${failure.retryAfterSeconds} ${String(input)}`);
  }

  #hear(what: string): void {
    this.#log.push(`${this.limiterName} hears ${what} at ${this.currentInUse}`);
    if (this.isDeaf) throw new Error(`${this.limiterName} is deaf`);
  }
}

/** An error that carries a status, as clients throw them. */
function failed(fields: Record<string, unknown>): Error {
  return Object.assign(new Error("upstream said no"), fields);
}

describe("run", () => {
  it(
    "BEY-31 takes, works, tells of the success while the permits are held, and gives back, in that order",
    scenario(async (world) => {
      const log: string[] = [];
      const [a, b] = [new Listener("a", log), new Listener("b", log)];
      const bucket = world.bucket("bucket", { tpm: 1000, rpm: 10 });
      const admission = world.admission();
      const demand = new Demand().add(a, "x").add(a, "y").add(bucket, 300).add(b, 7);
      const result = await admission.run(demand, (grant) => {
        log.push(`works, settled: ${grant.isSettled}`);
        return Promise.resolve("the answer");
      });
      assert.equal(result, "the answer");
      assert.deepEqual(log, [
        "a takes 2",
        "b takes 1",
        "works, settled: false",
        "a hears success x at 2",
        "b hears success 7 at 1",
        "a gives 2",
        "b gives 1",
      ]);
      assert.equal(bucket.status.availableTokens, 700);
    }),
  );

  it(
    "BEY-31 a failure of the service is told with its status and wait, then the permits come back",
    scenario(async (world) => {
      for (const error of [failed({ statusCode: 503 }), failed({ status: 429, retryAfterSeconds: 42 })]) {
        const log: string[] = [];
        const account = new Listener("a", log);
        const run = world.admission().run(new Demand().add(account, "x"), () => Promise.reject(error));
        await assert.rejects(run, error);
        const heard = "status" in error ? "failure 429 42 x" : "failure 503 0 x";
        assert.deepEqual(log, ["a takes 1", `a hears ${heard} at 1`, "a gives 1"]);
      }
    }),
  );

  it(
    "BEY-31 nobody hears of a fault of the caller, nor of an error without a status of its own",
    scenario(async (world) => {
      const quiet = [400, 401, 403, 404, 413, 422].map((status) => failed({ status }));
      quiet.push(new Error("a bug"), failed({ status: "429" }), failed({ cause: failed({ status: 503 }) }));
      for (const error of [...quiet, "a string", undefined, null]) {
        const log: string[] = [];
        const work = () => {
          throw error;
        };
        const seen = await world.admission().run(new Demand().add(new Listener("a", log), 1), work).then(
          () => assert.fail("it should reject"),
          (reason) => reason,
        );
        assert.equal(seen, error);
        assert.deepEqual(log, ["a takes 1", "a gives 1"]);
      }
    }),
  );

  it(
    "BEY-31 buckets hear from whoever saw the response, so run tells them nothing, behind a router neither",
    scenario(async (world) => {
      const bucket = world.bucket("bucket", { tpm: 1000, rpm: 10 });
      const router = new BySize(bucket, bucket);
      bucket.recordBackpressure(2);
      const { throttle } = bucket;
      const heard: string[] = [];
      Object.assign(router, { onSuccess: () => heard.push("success") });
      const admission = world.admission();
      for (let i = 0; i < 3; i++) await admission.run(new Demand().add(bucket, 1), () => {});
      await admission.run(new Demand().add(router, 1), () => {});
      const error = failed({ status: 429 });
      await assert.rejects(admission.run(new Demand().add(bucket, 1), () => Promise.reject(error)), error);
      assert.equal(bucket.throttle, throttle);
      assert.deepEqual(heard, []);
    }),
  );

  it(
    "BEY-31 an account without the members for feedback is not told",
    scenario(async (world) => {
      const slots = new Slots("slots", 1);
      Object.assign(slots, { onSuccess: undefined, onRateLimitError: undefined });
      const admission = world.admission();
      assert.equal(await admission.run(new Demand().add(slots), () => 5), 5);
      const error = failed({ status: 500 });
      await assert.rejects(admission.run(new Demand().add(slots), () => Promise.reject(error)), error);
      assert.deepEqual([slots.currentInUse, world.logs], [0, []]);
    }),
  );

  it(
    "BEY-31 work that knows that nothing went upstream rolls back itself, and that stands",
    scenario(async (world) => {
      const gate = world.gate("gate", 1);
      const bucket = world.bucket("bucket", { tpm: 1000, rpm: 10 });
      const memory = new SwitchMemory();
      const admission = world.admission({ memory });
      const demand = new Demand().add(gate).add(bucket, 300);
      const rollsBack = (grant: Grant) => {
        grant.rollback();
        assert.deepEqual([gate.currentInUse, bucket.status.availableTokens], [0, 1000]);
        throw new Error("could not connect");
      };
      await assert.rejects(admission.run(demand, rollsBack), { message: "could not connect" });
      assert.deepEqual([gate.currentInUse, bucket.status.availableTokens, memory.giveCount], [0, 1000, 1]);

      await assert.rejects(admission.run(demand, () => Promise.reject(new Error("later"))));
      assert.deepEqual([gate.currentInUse, bucket.status.availableTokens, memory.giveCount], [0, 700, 2]);
    }),
  );

  it(
    "BEY-31 a release that fails is thrown after good work, and only logged after work that failed",
    scenario(async (world) => {
      const log: string[] = [];
      const [broken, other] = [new Listener("broken", log), world.gate("other", 1)];
      broken.afterGive = () => {
        throw new Error("cannot give");
      };
      const admission = world.admission();
      const demand = new Demand().add(broken).add(other);
      await assert.rejects(admission.run(demand, () => "fine"), { message: "cannot give" });
      assert.deepEqual([other.currentInUse, world.logs], [0, []]);
      const failing = admission.run(demand, () => Promise.reject(new Error("the work failed")));
      await assert.rejects(failing, { message: "the work failed" });
      assert.deepEqual([other.currentInUse, world.logs.length], [0, 1]);
      assert.match(world.logs[0]!, /^error .*cannot give/);
    }),
  );

  it(
    "BEY-31 an account that fails while it hears keeps nobody else from hearing, and is logged",
    scenario(async (world) => {
      const log: string[] = [];
      const [deaf, b] = [new Listener("deaf", log), new Listener("b", log)];
      deaf.isDeaf = true;
      const admission = world.admission();
      assert.equal(await admission.run(new Demand().add(deaf, 1).add(b, 2), () => "fine"), "fine");
      const error = failed({ status: 500 });
      const failing = admission.run(new Demand().add(deaf, 1).add(b, 2), () => Promise.reject(error));
      await assert.rejects(failing, error);
      assert.deepEqual(log.filter((line) => line.startsWith("b hears")), [
        "b hears success 2 at 1",
        "b hears failure 500 0 2 at 1",
      ]);
      assert.deepEqual([deaf.currentInUse, b.currentInUse, world.logs.length], [0, 0, 2]);
      assert.match(world.logs[0]!, /^error .*"deaf".*deaf is deaf/);
    }),
  );

  it(
    "BEY-31 rejects as admit does, and work that is no function is refused before anybody is asked",
    scenario(async (world) => {
      const gate = world.gate("gate", 1);
      const admission = world.admission();
      await assert.rejects(admission.run(new Demand().add(gate), 5 as never), {
        name: "TypeError",
        message: /work is 5/,
      });
      await assert.rejects(admission.run({} as never, () => {}), { name: "TypeError", message: /demand is/ });
      const never = () => assert.fail("it worked without a grant");
      await assert.rejects(admission.run(new Demand().add(gate, 2), never), { code: "uncorrectable" });
      await admission.admit(new Demand().add(gate));
      const timed = assert.rejects(admission.run(new Demand().add(gate), never, { timeoutMs: 20 }), {
        code: "timeout",
      });
      const stopped = assert.rejects(admission.run(new Demand().add(gate), never), CancellationError);
      await world.clock.advance(20);
      await timed;
      admission.stop();
      await stopped;
      assert.equal(gate.currentInUse, 1);
    }),
  );
});

describe("run and its signal", () => {
  it(
    "BEY-24 a context that is cancelled before the work starts returns everything as well",
    scenario(async (world) => {
      const gate = world.gate("gate", 1);
      const context = createJobContext();
      const never = () => assert.fail("it worked although its job was cancelled");
      const run = world.admission().run(new Demand().add(gate), never, { context });
      context.cancel();
      await assert.rejects(run, CancellationError);
      assert.equal(gate.currentInUse, 0);
    }),
  );

  it(
    "BEY-24 looks at the signal once more before the work, and returns everything",
    scenario(async (world) => {
      const gate = world.gate("gate", 1);
      const bucket = world.bucket("bucket", { tpm: 1000, rpm: 10 });
      const admission = world.admission();
      const demand = new Demand().add(gate).add(bucket, 300);
      for (const isParked of [false, true]) {
        const holder = isParked ? await admission.admit(new Demand().add(gate)) : null;
        const leaving = new AbortController();
        const never = () => assert.fail("it worked although its caller had left");
        const run = admission.run(demand, never, { signal: leaving.signal });
        const rejected = assert.rejects(run, (reason) => reason === "left");
        if (isParked) {
          // The next permit is granted in one microtask; the abort comes in the one after.
          await world.settle();
          holder!.release();
          await null;
          assert.equal(gate.currentInUse, 1, "granted, and not yet resumed");
        }
        leaving.abort("left");
        await rejected;
        assert.deepEqual([gate.currentInUse, bucket.status.availableTokens], [0, 1000]);
      }
    }),
  );

  it(
    "BEY-31 an abort during the work is the work's to see: the grant stays until it ends",
    scenario(async (world) => {
      const log: string[] = [];
      const account = new Listener("a", log);
      const leaving = new AbortController();
      const result = await world.admission().run(new Demand().add(account), () => {
        leaving.abort("left");
        assert.equal(account.currentInUse, 1);
        return "finished anyway";
      }, { signal: leaving.signal });
      assert.equal(result, "finished anyway");
      assert.deepEqual(log, ["a takes 1", "a hears success undefined at 1", "a gives 1"]);
    }),
  );
});
