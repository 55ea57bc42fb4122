/** The main job: real and made-up LLM traffic through a real Admission, and what must hold of it. */
import { describe, it } from "@std/testing/bdd";
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { generateTrace } from "../examples/replay/generate_trace.ts";
import type { Job } from "../examples/replay/job.ts";
import { jobLines } from "../examples/replay/job_lines.ts";
import { DEFAULT_LIMITS, type Limits } from "../examples/replay/limits.ts";
import { readTrace } from "../examples/replay/read_trace.ts";
import { runThroughSluice } from "../examples/replay/through_sluice.ts";
import type { Trace, TraceRow } from "../examples/replay/trace.ts";
import { assertInOrder, assertLaws, assertWithinGate, assertWithinQuota, dueTicks } from "./replay_laws.ts";

const MS = 1_000;

/** A trace of [arrival in ms, input tokens, output tokens]. */
function traceOf(...rows: [number, number, number][]): Trace {
  return {
    name: "tiny",
    rows: rows.map(([arrivalMs, inputTokens, outputTokens]): TraceRow => ({
      arrivalStamps: Math.round(arrivalMs * 10_000),
      inputTokens,
      outputTokens,
    })),
  };
}

async function replayTiny(
  limits: Partial<Limits>,
  ...rows: [number, number, number][]
): Promise<readonly Job[]> {
  const replay = { trace: traceOf(...rows), limits: { ...DEFAULT_LIMITS, ...limits } };
  const { jobs } = await runThroughSluice(replay);
  assertLaws(replay, jobs);
  return jobs;
}

async function assertReplayHolds(trace: Trace, limits: Limits): Promise<void> {
  const replay = { trace, limits };
  const run = await runThroughSluice(replay);
  assertLaws(replay, run.jobs);
  assert.deepEqual(run.jobs.map((job) => job.grantedTicks), dueTicks(replay));
  assert.ok(run.httpPeak <= limits.http, `${run.httpPeak} HTTP places in use`);
  assert.ok(run.dbPeak <= limits.db, `${run.dbPeak} database permits in use`);
}

describe("replay: traces worked out by hand", () => {
  it("a job that finds everything is granted in the instant of its arrival", async () => {
    const [job] = await replayTiny({}, [0, 1_000, 10]);
    assert.equal(job?.grantedTicks, 0);
    assert.equal(job?.releasedTicks, 400 * MS);
    assert.equal(job?.waits.size, 0);
  });

  it("a job waits for the one database permit, and is granted when it comes back", async () => {
    const [, second] = await replayTiny({ db: 1 }, [0, 1_000, 10], [100, 1_000, 10]);
    assert.equal(second?.grantedTicks, 400 * MS);
    assert.deepEqual([...second?.waits ?? []], [["db", 300]]);
  });

  it("a release and an arrival at one instant: the permit is free for who comes", async () => {
    const [, second] = await replayTiny({ db: 1 }, [0, 1_000, 10], [400, 1_000, 10]);
    assert.equal(second?.grantedTicks, 400 * MS);
    assert.equal(second?.waits.size, 0);
  });

  it("a dry bucket: the grant comes at the computed tick, and who is behind goes with it", async () => {
    const jobs = await replayTiny({ tpm: 6_000 }, [0, 5_000, 1_000], [0, 1, 0], [5, 0, 0]);
    assert.deepEqual(jobs.map((job) => job.grantedTicks), [0, 10 * MS, 10 * MS]);
    assert.deepEqual([...jobs[1]?.waits ?? []], [["model", 10]]);
  });

  it("a third of a millisecond is rounded up to the next tick, never down", async () => {
    const jobs = await replayTiny({ tpm: 180_000 }, [0, 180_000, 0], [0, 1, 0], [0, 1, 0], [0, 1, 0]);
    assert.deepEqual(jobs.map((job) => job.grantedTicks), [0, 334, 667, 1_000]);
  });

  it("requests bind on their own", async () => {
    const jobs = await replayTiny({ rpm: 2 }, [0, 1, 0], [0, 1, 0], [0, 1, 0]);
    assert.deepEqual(jobs.map((job) => job.grantedTicks), [0, 0, 30_000 * MS]);
  });

  it("a request larger than the quota is refused and holds nobody up", async () => {
    const jobs = await replayTiny({ tpm: 6_000 }, [0, 6_000, 0], [0, 6_001, 0], [0, 100, 0]);
    assert.deepEqual(jobs.map((job) => job.grantedTicks), [0, null, 1_000 * MS]);
    assert.match(jobs[1]?.refused ?? "", /exceeds/);
    assert.equal(jobs[1]?.waits.size, 0);
  });

  it("a large request at the head is not overtaken by small ones that would fit", async () => {
    const jobs = await replayTiny({ tpm: 6_000 }, [0, 5_000, 0], [1, 2_000, 0], [2, 10, 0], [3, 10, 0]);
    assert.deepEqual(jobs.map((job) => job.grantedTicks), [0, 10_000 * MS, 10_100 * MS, 10_200 * MS]);
  });

  it("a stamp between two ticks arrives at the later one, and the report keeps its digits", async () => {
    const replay = { trace: traceOf([0, 1, 0], [0.0001, 1, 0], [0.0201, 1, 0]), limits: DEFAULT_LIMITS };
    const { jobs } = await runThroughSluice(replay);
    assert.deepEqual(jobs.map((job) => job.grantedTicks), [0, 1, 21]);
    const lines = jobLines(replay, jobs).trimEnd().split("\n").slice(1);
    assert.deepEqual(lines.map((line) => line.slice(0, 38)), [
      '{"arrivalMs":0,"grantedMs":0,"released',
      '{"arrivalMs":0.0001,"grantedMs":0.001,',
      '{"arrivalMs":0.0201,"grantedMs":0.021,',
    ]);
  });
});

describe("replay: what must hold of traffic", () => {
  for (const seed of [1, 2, 3]) {
    it(`made-up traffic, seed ${seed}: laws and computed instants, with the defaults`, async () => {
      await assertReplayHolds(generateTrace(seed), DEFAULT_LIMITS);
    });
  }

  for (
    const limits of [
      { tpm: 899_999, rpm: 150, http: 64, db: 16 },
      { tpm: 600_000, rpm: 601, http: 3, db: 16 },
      { tpm: 77_777, rpm: 100_000_000, http: 1, db: 1 },
      { tpm: 100_000_000, rpm: 7, http: 9, db: 10 },
    ]
  ) {
    it(`made-up traffic under other limits, ${JSON.stringify(limits)}`, async () => {
      const { name, rows } = generateTrace(4);
      await assertReplayHolds({ name, rows: rows.slice(0, 600) }, limits);
    });
  }

  for (const [name, count] of [["code", 8_819], ["conv", 19_366]] as const) {
    const path = fileURLToPath(
      new URL(`../../shared/data/AzureLLMInferenceTrace_${name}.csv`, import.meta.url),
    );
    const title =
      `the Azure trace "${name}", ${count} requests: laws and computed instants, with the defaults`;
    if (!existsSync(path)) {
      it.skip(`${title} (skipped: ../shared/data/AzureLLMInferenceTrace_${name}.csv is not there)`);
      continue;
    }
    it(title, async () => {
      const trace = readTrace(path);
      assert.equal(trace.rows.length, count);
      await assertReplayHolds(trace, DEFAULT_LIMITS);
    });
  }
});

describe("replay: the laws themselves", () => {
  const job = (grantedTicks: number, tokens: number): Job => ({
    arrivalTicks: 0,
    tokens,
    grantedTicks,
    releasedTicks: grantedTicks + 10,
    refused: null,
    waits: new Map(),
  });
  const amountOf = (each: Job) => each.tokens;

  it("the quota's law allows what a bucket can give, to the tick", () => {
    assertWithinQuota([job(0, 60), job(1_000_000, 1)], { cap: 60, amountOf });
    assertWithinQuota([job(5, 1), job(6, 59), job(1_000_006, 1)], { cap: 60, amountOf });
  });

  it("the quota's law notices a grant one tick early, in whichever window it falls", () => {
    assert.throws(() => assertWithinQuota([job(0, 60), job(999_999, 1)], { cap: 60, amountOf }));
    assert.throws(() =>
      assertWithinQuota([job(0, 30), job(90_000_000, 60), job(90_999_999, 1)], { cap: 60, amountOf })
    );
  });

  it("the laws of order and of the gates notice one too many", () => {
    assert.throws(() => assertInOrder([job(5, 1), job(4, 1)]));
    assertWithinGate([job(0, 1), job(10, 1)], 1);
    assert.throws(() => assertWithinGate([job(0, 1), job(9, 1)], 1));
  });
});
