// What a job's metadata says of its waits for admission.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { createJobContext, Demand, JobRequirements } from "../mod.ts";
import { recordWait } from "../core/jobs/admission_waits.ts";
import { scenario } from "./scenario.ts";
import { JobWorld, rejectionOf, signalOf } from "./scripted_jobs.ts";

describe("The waits of a job", () => {
  it("ATT-07 add up over repeated recordings, and a snapshot carries both", () => {
    const context = createJobContext();
    recordWait(context, { wallMs: 120, waitTimesMs: new Map([["http", 100], ["db:default", 7]]) });
    const before = context.snapshot();
    recordWait(context, { wallMs: 30, waitTimesMs: new Map([["http", 50]]) });
    const { metadata } = context.snapshot();
    assert.deepEqual(metadata, { wait_times: { "http": 150, "db:default": 7 }, admission_wait_ms: 150 });
    assert.deepEqual(before.metadata["wait_times"], { "http": 100, "db:default": 7 }, "as it was then");
  });

  it("ATT-07 take any name, and whatever stands under their keys", () => {
    const metadata: Record<string, unknown> = { wait_times: { a: "junk", b: 1 }, admission_wait_ms: NaN };
    const context = createJobContext({ metadata });
    recordWait(context, { wallMs: 5, waitTimesMs: new Map([["__proto__", 3], ["a", 2]]) });
    assert.equal(metadata["admission_wait_ms"], 5);
    assert.deepEqual(Object.entries(metadata["wait_times"] as object), [["a", 2], ["b", 1], [
      "__proto__",
      3,
    ]]);
    metadata["wait_times"] = "junk";
    recordWait(context, { wallMs: 1, waitTimesMs: new Map([["a", 2]]) });
    assert.deepEqual(metadata, { wait_times: { a: 2 }, admission_wait_ms: 6 });
  });

  it(
    "ATT-07 ATT-08 are measured around admit, for every attempt, and stand there before the work begins",
    scenario(async (world) => {
      const jobs = new JobWorld(world);
      const database = jobs.database("db", 1);
      const requirements = new JobRequirements({ timeoutMs: 1000 }).database(database);
      const context = createJobContext();
      const seen: unknown[] = [];
      const hold = async (ms: number) => {
        const grant = await jobs.admission.admit(new Demand().add(database.admission));
        void world.clock.setTimer(ms, () => grant.release());
      };
      await hold(120.5);
      void jobs.runner.run(requirements, ({ attempt }) => {
        seen.push(context.snapshot().metadata);
        if (attempt === 1) throw signalOf("RATE_LIMIT");
      }, { context });
      await world.clock.advance(200);
      await hold(4_920.5 + 30);
      await world.clock.advance(10_000);
      assert.deepEqual(seen, [
        { wait_times: { "db:db": 120 }, admission_wait_ms: 120 },
        { wait_times: { "db:db": 150 }, admission_wait_ms: 150 },
      ]);
    }),
  );

  it(
    "ATT-08 a wait of 0 is recorded too, and no account then",
    scenario(async (world) => {
      const context = createJobContext();
      await new JobWorld(world).runner.run(new JobRequirements({ timeoutMs: 5 }).http(), () => {}, {
        context,
      });
      assert.deepEqual(context.metadata, { admission_wait_ms: 0 });
      await new JobWorld(world).runner.run(null, () => {}, { context });
      assert.deepEqual(context.metadata, { admission_wait_ms: 0 });
    }),
  );

  it(
    "ATT-09 nothing is recorded when admit fails",
    scenario(async (world) => {
      const jobs = new JobWorld(world);
      const database = jobs.database("db", 1);
      await jobs.admission.admit(new Demand().add(database.admission));
      const requirements = new JobRequirements({ timeoutMs: 1000 }).database(database);
      const context = createJobContext();
      const job = jobs.runner.run(requirements, () => {}, { context, admit: { timeoutMs: 50 } });
      const rejected = rejectionOf(job);
      await world.clock.advance(50);
      assert.equal((await rejected as { code: string }).code, "timeout");
      assert.deepEqual(context.metadata, {});
    }),
  );

  it(
    "ATT-07 metadata that takes nothing fails the job, and its permits come back",
    scenario(async (world) => {
      const jobs = new JobWorld(world);
      const context = createJobContext({ metadata: Object.freeze({}) });
      const database = jobs.database("db", 1);
      const requirements = new JobRequirements({ timeoutMs: 1000 }).database(database);
      const never = () => assert.fail("the work ran");
      await assert.rejects(jobs.runner.run(requirements, never, { context }), TypeError);
      assert.deepEqual([database.admission.currentInUse, jobs.log.length], [0, 0]);
    }),
  );
});
