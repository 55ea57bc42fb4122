// Work inside `run` that asks for what the work around it holds.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { type Admission, Demand, type NestedDemandError } from "../mod.ts";
import { Slots } from "./custom_accounts.ts";
import { scenario } from "./scenario.ts";
import { assertParked, grantOf } from "./watched.ts";

/** Runs each demand inside the one before; answers what the innermost work answers. */
function runEach<R>(admission: Admission, demands: readonly Demand[], work: () => R): Promise<Awaited<R>> {
  const [first, ...rest] = demands;
  if (first === undefined) return Promise.resolve(work());
  return admission.run(first, () => runEach(admission, rest, work)) as Promise<Awaited<R>>;
}

/** The nested demand error that a call rejects with. */
async function nestedOf(promise: Promise<unknown>): Promise<[string, readonly string[]]> {
  const error = await promise.then(() => null, (reason) => reason) as NestedDemandError | null;
  assert.deepEqual([error?.name, error?.code], ["NestedDemandError", "nested_demand"], String(error));
  return [error!.account, error!.ancestors];
}

describe("A nested demand", () => {
  it(
    "BEY-41 for more than its ancestors leave is refused at once, naming the gate and what each of them holds",
    scenario(async (world) => {
      const [http, db] = [world.gate("http", 4), world.gate("db", 9)];
      const admission = world.admission();
      const outer = [new Demand().add(http, 2).add(db, 3), new Demand().add(db), new Demand().add(http)];
      const told = await runEach(admission, outer, async () => {
        assert.deepEqual([http.currentInUse, db.currentInUse], [3, 4]);
        const refused = await nestedOf(admission.admit(new Demand().add(db).add(http, 2)));
        const runs = await nestedOf(admission.run(new Demand().add(http, 2), () => assert.fail("it ran")));
        assert.deepEqual(runs, refused);
        assert.deepEqual([http.currentInUse, db.currentInUse, admission.queueSize], [3, 4, 0]);
        (await admission.admit(new Demand().add(http).add(db, 5))).release();
        return refused;
      });
      assert.deepEqual(told, ["http", ["http x 2", "http x 1"]]);
      assert.deepEqual([http.currentInUse, db.currentInUse], [0, 0]);
      (await admission.admit(new Demand().add(http, 4))).release();
    }),
  );

  it(
    "BEY-41 that only others keep from its permits waits as usual, and so does one on another gate",
    scenario(async (world) => {
      const [http, db] = [world.gate("http", 2), world.gate("db", 1)];
      const admission = world.admission();
      const others = await admission.admit(new Demand().add(http).add(db));
      await admission.run(new Demand().add(http), async () => {
        const waiting = [http, db].map((gate) => world.follow(admission.admit(new Demand().add(gate))));
        await world.settle();
        assertParked(...waiting);
        others.release();
        await world.settle();
        waiting.forEach((call) => grantOf(call).release());
      });
      assert.deepEqual([http.currentInUse, db.currentInUse], [0, 0]);
    }),
  );

  it(
    "BEY-41 is seen across timers, other Admissions and tasks it starts, until the ancestor has settled",
    scenario(async (world) => {
      const http = world.gate("http", 1);
      const [outer, inner] = [world.admission(), world.admission()];
      let late: Promise<unknown> = Promise.resolve();
      await outer.run(new Demand().add(http), async (grant) => {
        await new Promise((resolve) => void setTimeout(resolve, 0));
        assert.deepEqual(await nestedOf(inner.admit(new Demand().add(http))), ["http", ["http x 1"]]);
        late = new Promise((resolve) => void setTimeout(resolve, 0))
          .then(() => outer.run(new Demand().add(http), () => "after the ancestor"));
        grant.release();
        (await inner.admit(new Demand().add(http))).release();
      });
      assert.equal(await late, "after the ancestor");
      assert.equal(http.currentInUse, 0);
    }),
  );

  it(
    "BEY-41 detached is work that its ancestor does not wait for: it parks, and goes once the ancestor ends",
    scenario(async (world) => {
      const http = world.gate("http", 1);
      const admission = world.admission();
      let later: ReturnType<typeof world.follow> | null = null;
      await admission.run(new Demand().add(http), async () => {
        later = world.follow(admission.admit(new Demand().add(http), { detached: true }));
        await world.settle();
        assertParked(later);
      });
      await world.settle();
      grantOf(later!).release();
      assert.deepEqual(world.logs, []);
    }),
  );

  it(
    'BEY-41 nested: "warn" only logs, and "off" does not look',
    scenario(async (world) => {
      const http = world.gate("http", 2);
      for (const nested of ["warn", "off"] as const) {
        const admission = world.admission({ nested });
        world.logs.length = 0;
        await admission.run(new Demand().add(http, 2), async () => {
          const timed = world.follow(admission.admit(new Demand().add(http), { timeoutMs: 30 }));
          await world.settle();
          assertParked(timed);
          await world.clock.advance(30);
          assert.match(String(timed.error), /TimeoutError/);
        });
        assert.equal(world.logs.length, nested === "warn" ? 1 : 0);
        if (nested === "warn") assert.match(world.logs[0]!, /^warn .*"http".* 2 of 2/);
      }
    }),
  );

  it(
    "BEY-41 goes by what the gate has now, and a demand that never fits is refused as such",
    scenario(async (world) => {
      const http = world.gate("http", 1);
      const admission = world.admission();
      await admission.run(new Demand().add(http), async () => {
        await nestedOf(admission.admit(new Demand().add(http)));
        assert.equal(admission.tryAdmit(new Demand().add(http)), null);
        await assert.rejects(admission.admit(new Demand().add(http, 5)), { code: "uncorrectable" });
        http.setCapacity(2);
        (await admission.admit(new Demand().add(http))).release();
      });
      assert.equal(http.currentInUse, 0);
    }),
  );

  it(
    "BEY-41 work beside a run, or after it, has no ancestors; grants of admit make none",
    scenario(async (world) => {
      const http = world.gate("http", 1);
      const admission = world.admission();
      const { promise: end, resolve: finish } = Promise.withResolvers<void>();
      const run = admission.run(new Demand().add(http), () => end);
      await world.settle();
      const beside = world.follow(admission.admit(new Demand().add(http)));
      await world.settle();
      assertParked(beside);
      finish();
      await run;
      await world.settle();
      const after = world.follow(admission.admit(new Demand().add(http)));
      await world.settle();
      assertParked(after);
      grantOf(beside).release();
      await world.settle();
      grantOf(after).release();
    }),
  );

  it(
    "BEY-41 refuses options that mean nothing; accounts that are no gates are not looked at",
    scenario(async (world) => {
      assert.throws(() => world.unstarted({ nested: "maybe" as never }), {
        name: "TypeError",
        message: /nested is "maybe"/,
      });
      const slots = new Slots("slots", 1);
      const admission = world.admission();
      await admission.run(new Demand().add(slots), async () => {
        const timed = world.follow(admission.admit(new Demand().add(slots), { timeoutMs: 5 }));
        await world.clock.advance(5);
        assert.match(String(timed.error), /TimeoutError/);
      });
    }),
  );
});
