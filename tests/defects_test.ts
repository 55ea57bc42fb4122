/** Defects: what escapes a pass, or an inline attempt, closes admission for good (monitor.md 3.2). */
import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { type AdmissionError, Demand, UncorrectableError } from "../mod.ts";
import { SwitchMemory } from "../testing/mod.ts";
import { type Call, scenario, type World } from "./scenario.ts";
import { assertParked, grantOf, WatchedLimiter } from "./watched.ts";

/** Memory that throws from one verb once it is told to. */
class ThrowingMemory extends SwitchMemory {
  verb = "";

  override fits(): boolean {
    this.#meet("fits");
    return super.fits();
  }

  override tryTake(): boolean {
    this.#meet("tryTake");
    return super.tryTake();
  }

  override earliestFit(): number | null {
    this.#meet("earliestFit");
    return super.earliestFit();
  }

  #meet(verb: string): void {
    if (this.verb === verb) throw new Error(`memory broke in ${verb}`);
  }
}

/** The worked example of FLT-10: a head whose compensation breaks, and a bystander on a full gate. */
async function breakInPass(world: World) {
  const log: string[] = [];
  const [first, second] = [new WatchedLimiter("first", log), new WatchedLimiter("second", log, "short")];
  const full = world.gate("full", 1);
  const admission = world.admission();
  const earlier = await admission.admit(new Demand().add(full));
  const head = world.follow(admission.admit(new Demand().add(first).add(second)));
  const bystander = world.follow(admission.admit(new Demand().add(full)));
  await world.settle();
  assertParked(head, bystander);
  world.events.length = 0;

  second.mode = "declines";
  first.giveThrows = true;
  second.wake();
  await world.settle();
  return { log, full, admission, earlier, head, bystander };
}

async function settled(world: World, promise: Parameters<World["follow"]>[0]): Promise<Call> {
  const call = world.follow(promise);
  await world.settle();
  return call;
}

function errorOf(call: Call): AdmissionError {
  assert.ok(call.error instanceof UncorrectableError, String(call.error));
  assert.equal(call.error.code, "defect");
  return call.error;
}

describe("Defects", () => {
  it(
    "FLT-08 a give that throws in compensation is a defect; a throw about one waiter is none",
    scenario(async (world) => {
      const { head } = await breakInPass(world);
      assert.match(errorOf(head).message, /first cannot take anything back/);

      const admission = world.admission();
      const broken = new WatchedLimiter("broken", [], "throws");
      const harmless = world.follow(admission.admit(new Demand().add(broken)));
      await world.settle();
      assert.equal((harmless.error as AdmissionError).code, "uncorrectable");
      assert.equal((await admission.admit(new Demand())).isEmpty, true);
    }),
  );

  it(
    "FLT-09 a defect closes admission for good: all waiters fail, later admits fail, and it is logged once",
    scenario(async (world) => {
      const { admission, head, bystander, full } = await breakInPass(world);
      errorOf(head);
      errorOf(bystander);
      assert.equal(admission.queueSize, 0);
      for (const demand of [new Demand(), new Demand().add(full)]) {
        const later = world.follow(admission.admit(demand));
        await world.settle();
        errorOf(later);
        assert.throws(() => admission.tryAdmit(demand), UncorrectableError);
      }
      assert.equal(world.logs.length, 2);
      assert.match(world.logs[0]!, /^error [^\n]*first cannot take anything back$/);
      assert.match(world.logs[1]!, /^error Error: first cannot take anything back\n\s+at /);
      assert.equal(world.clock.pendingTimers, 0);
    }),
  );

  it(
    "FLT-10 every caller gets an error of its own, all with the one defect as cause",
    scenario(async (world) => {
      const { admission, head, bystander, earlier, full } = await breakInPass(world);
      earlier.release();
      assert.equal(full.currentInUse, 0);
      const later = [1, 2].map(() => world.follow(admission.admit(new Demand().add(full))));
      await world.settle();
      const errors = [head, bystander, ...later].map(errorOf);
      assert.equal(new Set(errors).size, 4);
      assert.equal(new Set(errors.map(({ cause }) => cause)).size, 1);
      assert.ok(errors[0]!.cause instanceof Error);
    }),
  );

  it(
    "FLT-11 on a defect parked waiters are reported aborted and every wake slot is cleared",
    scenario(async (world) => {
      const { log } = await breakInPass(world);
      const told = world.events.map(({ type, limiterName, rejectReason }) =>
        `${limiterName} ${type} ${rejectReason}`
      );
      assert.deepEqual(told, ["second REJECTED aborted", "full REJECTED aborted"]);
      assert.deepEqual(log.filter((line) => line.endsWith("unwired")).sort(), [
        "first unwired",
        "second unwired",
      ]);
      assert.deepEqual(world.events.map(({ waiters }) => waiters), [0, 0]);
    }),
  );

  it(
    "BEY-03 a fault inline is handled as in a pass: nothing stays taken, and admission closes",
    scenario(async (world) => {
      const log: string[] = [];
      const [breaking, kept] = [new WatchedLimiter("breaking", log), new WatchedLimiter("kept", log)];
      const declining = new WatchedLimiter("declining", log, "declines");
      const gate = world.gate("gate", 1);
      const bucket = world.bucket("bucket", { tpm: 1000, rpm: 10 });
      const memory = new WatchedLimiter("memory", log);
      const admission = world.admission({ memory });
      breaking.giveThrows = true;

      const demand = new Demand().add(breaking).add(gate).add(bucket, 400).add(kept).add(declining);
      const call = world.follow(admission.admit(demand));
      await world.settle();
      errorOf(call);
      assert.deepEqual([gate.currentInUse, bucket.status.availableTokens, kept.currentInUse], [0, 1000, 0]);
      assert.equal(admission.queueSize, 0);
      await assert.rejects(admission.admit(new Demand()), { code: "defect", cause: errorOf(call).cause });
      assert.equal(log.filter((line) => line.endsWith("unwired")).length, 4);
      assert.equal(world.logs.length, 2);
    }),
  );

  it(
    "BEY-03 tryAdmit meets the same fault with the same end",
    scenario((world) => {
      const [breaking, declining] = [
        new WatchedLimiter("breaking", []),
        new WatchedLimiter("declining", [], "declines"),
      ];
      const gate = world.gate("gate", 1);
      const admission = world.admission();
      breaking.giveThrows = true;

      const attempt = () => admission.tryAdmit(new Demand().add(gate).add(breaking).add(declining));
      assert.throws(attempt, { code: "defect" });
      assert.throws(attempt, { code: "defect" });
      assert.deepEqual([gate.currentInUse, admission.queueSize, breaking.takeCount], [0, 0, 1]);
    }),
  );

  it(
    "BEY-03 an account's fault about the caller itself, inline, closes nothing and leaves nothing taken",
    scenario(async (world) => {
      const gate = world.gate("gate", 1);
      const throwing = new WatchedLimiter("throwing", []);
      const admission = world.admission();
      throwing.onAsk = (verb) => {
        if (verb === "tryTake") throw new Error("a bug");
      };

      await assert.rejects(admission.admit(new Demand().add(gate).add(throwing)), { code: "uncorrectable" });
      assert.equal(gate.currentInUse, 0);
      grantOf(await settled(world, admission.admit(new Demand().add(gate))));
    }),
  );
});

describe("Faults of memory", () => {
  it(
    "BEY-14 memory that throws refuses that waiter only, whichever verb it throws from",
    scenario(async (world) => {
      for (const verb of ["fits", "tryTake", "earliestFit"]) {
        const memory = new ThrowingMemory();
        const gate = world.gate("gate", 1);
        const admission = world.admission({ memory });
        const holder = await admission.admit(new Demand().add(gate));
        memory.verb = verb;
        memory.isOpen = verb !== "earliestFit";
        const doomed = world.follow(admission.admit(new Demand().add(world.gate("free", 1))));
        await world.settle();
        assert.match(String(doomed.error), new RegExp(`"memory" failed: memory broke in ${verb}`));

        memory.verb = "";
        const parked = world.follow(admission.admit(new Demand().add(gate)));
        await world.settle();
        assertParked(parked);
        memory.isOpen = true;
        memory.wake();
        holder.release();
        await world.settle();
        assert.equal(grantOf(parked).isEmpty, false);
        assert.equal(gate.currentInUse, 1);
      }
      assert.equal(world.logs.length, 6);
    }),
  );
});
