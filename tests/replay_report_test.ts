/** The replay's baseline and its reports: measures, table, plot, JSON lines, files. */
import { describe, it } from "@std/testing/bdd";
import assert from "node:assert/strict";
import { ColumnSampler } from "../examples/replay/columns.ts";
import { duration, grouped } from "../examples/replay/format.ts";
import { generateTrace } from "../examples/replay/generate_trace.ts";
import type { Job, Replay, SteppingJob } from "../examples/replay/job.ts";
import { jobLines } from "../examples/replay/job_lines.ts";
import { DEFAULT_LIMITS, type Limits } from "../examples/replay/limits.ts";
import { Occupancy } from "../examples/replay/occupancy.ts";
import { runOneAfterAnother } from "../examples/replay/one_after_another.ts";
import { drawPlot, PLOT_COLUMNS } from "../examples/replay/plot.ts";
import { progressMeter } from "../examples/replay/progress_meter.ts";
import { quotaUse } from "../examples/replay/quota_use.ts";
import { roundMarks, timeMarks } from "../examples/replay/scale.ts";
import { serviceTicks } from "../examples/replay/service_time.ts";
import { summarise } from "../examples/replay/summary.ts";
import { resultText } from "../examples/replay/table.ts";
import { arrivalTicksOf, tokensOf, type TraceRow } from "../examples/replay/trace.ts";
import { summariseWaits } from "../examples/replay/waits.ts";
import { dueTicks } from "./replay_laws.ts";

const MS = 1_000;

function replayOf(limits: Partial<Limits>, ...rows: [number, number, number][]): Replay {
  return {
    limits: { ...DEFAULT_LIMITS, ...limits },
    trace: {
      name: "tiny & <small>",
      rows: rows.map(([arrivalMs, inputTokens, outputTokens]): TraceRow => ({
        arrivalStamps: arrivalMs * 10_000,
        inputTokens,
        outputTokens,
      })),
    },
  };
}

/** The job records that a replay through Sluice must give, worked out without an Admission. */
function jobsOf(replay: Replay): Job[] {
  const due = dueTicks(replay);
  return replay.trace.rows.map((row, index): Job => {
    const grantedTicks = due[index] ?? null;
    return {
      arrivalTicks: arrivalTicksOf(row),
      tokens: tokensOf(row),
      grantedTicks,
      releasedTicks: grantedTicks === null ? null : grantedTicks + serviceTicks(row),
      refused: grantedTicks === null ? "model: it can never fit" : null,
      waits: new Map(grantedTicks === arrivalTicksOf(row) || grantedTicks === null ? [] : [["model", 7]]),
    };
  });
}

function summaryOf(replay: Replay) {
  return summarise(replay, {
    sluice: jobsOf(replay),
    stepping: runOneAfterAnother(replay),
    columnCount: PLOT_COLUMNS,
  });
}

function steps(jobs: readonly SteppingJob[]): (number | null)[][] {
  return jobs.map((job) => [job.httpTicks, job.tokensTicks, job.dbTicks, job.releasedTicks]);
}

describe("replay: one after another, worked out by hand", () => {
  // 6,000 tokens a minute are one in 10 ms. A takes all; B holds an HTTP place for a second; C waits for A's place.
  const hostage = replayOf({ tpm: 6_000, http: 2 }, [0, 6_000, 0], [0, 100, 0], [0, 0, 0]);

  it("a job holds its HTTP place while it waits for tokens", () => {
    assert.deepEqual(steps(runOneAfterAnother(hostage)), [
      [0, 0, 0, 800 * MS],
      [0, 1_000 * MS, 1_000 * MS, 1_210 * MS],
      [800 * MS, 1_000 * MS, 1_000 * MS, 1_200 * MS],
    ]);
  });

  it("and the measures say so", () => {
    const { stepping, sluice } = summaryOf(hostage);
    assert.equal(stepping.http.hostageToTokens.peak, 2);
    assert.equal(stepping.http.hostageToTokens.seconds, 1 + 0.2);
    assert.equal(stepping.http.hostageToTokens.average, 1.2 / 1.21);
    assert.equal(stepping.http.hostageToDb.seconds, 0);
    assert.equal(stepping.http.blockedSeconds, 1);
    assert.equal(stepping.http.waiting.peak, 2);
    assert.equal(stepping.wait.waited, 2);
    assert.equal(stepping.waitsOn.get("http")?.max, 800);
    assert.equal(stepping.waitsOn.get("model")?.max, 1_000);
    assert.equal(sluice.http.hostageToTokens.seconds, 0);
    assert.equal(sluice.http.working.peak, 2);
  });

  it("a job that has its tokens holds both while it waits for the database", () => {
    const replay = replayOf({ db: 1 }, [0, 0, 0], [0, 0, 0]);
    assert.deepEqual(steps(runOneAfterAnother(replay)), [[0, 0, 0, 200 * MS], [0, 0, 200 * MS, 400 * MS]]);
    assert.equal(summaryOf(replay).stepping.http.hostageToDb.seconds, 0.2);
  });

  it("a request that can never have its tokens gives its place back at once", () => {
    const replay = replayOf({ tpm: 6_000, http: 1 }, [0, 6_001, 0], [0, 0, 0]);
    assert.deepEqual(steps(runOneAfterAnother(replay)), [[0, null, null, 0], [0, 0, 0, 200 * MS]]);
  });

  it("with one HTTP place and one permit it keeps the line that Sluice keeps", () => {
    const { name, rows } = generateTrace(5);
    const replay = {
      trace: { name, rows: rows.slice(0, 500) },
      limits: { ...DEFAULT_LIMITS, http: 1, db: 1 },
    };
    assert.deepEqual(runOneAfterAnother(replay).map((job) => job.dbTicks), dueTicks(replay));
  });
});

describe("replay: measures", () => {
  it("what ends and begins at one instant never counts twice", () => {
    const occupancy = new Occupancy(1);
    occupancy.add(0, 0, 5);
    occupancy.add(0, 5, 9);
    occupancy.add(0, 7, 7);
    const seen: number[][] = [];
    occupancy.walk(({ fromTicks, toTicks, counts }) => seen.push([fromTicks, toTicks, ...counts]));
    assert.deepEqual(seen, [[0, 5, 1], [5, 9, 1]]);
  });

  it("a stretch is shared out over the columns it covers", () => {
    const sampler = new ColumnSampler({ endTicks: 40, columnCount: 4 });
    sampler.add(5, 25, 8);
    sampler.add(39, 60, 2);
    assert.deepEqual([...sampler.mean], [4, 8, 4, 0.2]);
    assert.deepEqual([...sampler.peak], [8, 8, 8, 2]);
  });

  it("the use of a quota counts a full bucket and a minute's worth a minute", () => {
    const takes = [{ ticks: 0, amount: 60 }, { ticks: 30_000_000, amount: 30 }, {
      ticks: 60_000_000,
      amount: 10,
    }];
    const use = quotaUse(takes, { cap: 60, axis: { endTicks: 60_000_000, columnCount: 4 } });
    assert.deepEqual([use.taken, use.share, use.busiestMinute], [100, 100 / 120, 90]);
    assert.deepEqual([...use.spentPeak], [1, 0.75, 1, 0.75]);
  });

  it("percentiles are waits that some job had; who did not wait counts as 0", () => {
    const hundred = Array.from({ length: 100 }, (_, index) => index + 1);
    assert.deepEqual(summariseWaits(hundred), { waited: 100, p50: 50, p95: 95, p99: 99, max: 100 });
    assert.deepEqual(summariseWaits([null, null, null, 8]), { waited: 1, p50: 0, p95: 8, p99: 8, max: 8 });
    assert.deepEqual(summariseWaits([]), { waited: 0, p50: 0, p95: 0, p99: 0, max: 0 });
  });

  it("axes have round marks, and time its own units", () => {
    assert.deepEqual(roundMarks(64, { most: 4, smallestStep: 1 }).values, [0, 20, 40, 60]);
    assert.deepEqual(roundMarks(2, { most: 4, smallestStep: 1 }).values, [0, 1, 2]);
    assert.deepEqual(timeMarks(58.36 * 60_000_000, 14).unit.name, "minutes");
    assert.equal(timeMarks(58.36 * 60_000_000, 14).step, 5);
    assert.equal(timeMarks(1, 14).unit.name, "milliseconds");
    assert.equal(timeMarks(3.15e14, 14).unit.name, "days");
  });

  it("numbers and durations are written for people", () => {
    assert.deepEqual([grouped(0), grouped(999), grouped(1_234_567), grouped(1_234.5, 2)], [
      "0",
      "999",
      "1,234,567",
      "1,234.50",
    ]);
    assert.deepEqual([duration(2_400_000), duration(3_502_000_000), duration(3_660_000_000)], [
      "2.400 s",
      "58 min 22 s",
      "1 h 1 min",
    ]);
  });
});

describe("replay: reports", () => {
  const refusedAll = replayOf({ tpm: 5 }, [0, 6, 0]);

  it("the table counts every job once", () => {
    const text = resultText(summaryOf(replayOf({ tpm: 6_000 }, [0, 6_000, 0], [0, 100, 0], [0, 6_001, 0])));
    assert.match(text, /^Jobs +3 +3$/m);
    assert.match(text, /^ {2}granted at once +1 +1$/m);
    assert.match(text, /^ {2}waited +1 +1$/m);
    assert.match(text, /^ {2}refused, they can never fit +1 +1$/m);
    assert.match(text, /^ {2}Sluice +1 +0 +1,000 +1,000 +1,000$/m);
    assert.ok(text.split("\n").every((line) => line.length <= 80), text);
    assert.doesNotMatch(resultText(summaryOf(refusedAll)), /NaN|Infinity|undefined/);
  });

  it("the plot is well-formed, says whose it is, and has no number that is none", () => {
    const { name, rows } = generateTrace(6);
    const some = { trace: { name, rows: rows.slice(0, 400) }, limits: DEFAULT_LIMITS };
    for (const replay of [some, refusedAll, replayOf({}, [0, 0, 0])]) {
      const svg = drawPlot(replay, summaryOf(replay));
      assertWellFormed(svg);
      assert.doesNotMatch(svg, /NaN|Infinity|undefined|null/);
      assert.match(svg, /prefers-color-scheme: dark/);
    }
    assert.match(
      drawPlot(refusedAll, summaryOf(refusedAll)),
      /Replay of tiny &amp; &lt;small&gt;: 1 request</,
    );
  });

  it("the JSON lines are the options, then a job each in file order", () => {
    const replay = replayOf({ tpm: 6_000 }, [0, 6_000, 0], [0, 100, 0], [0, 6_001, 0]);
    const lines = jobLines(replay, jobsOf(replay)).split("\n");
    assert.deepEqual(lines.slice(1), [
      '{"arrivalMs":0,"grantedMs":0,"releasedMs":800,"tokens":6000,"refused":null,"waits":{}}',
      '{"arrivalMs":0,"grantedMs":1000,"releasedMs":1210,"tokens":100,"refused":null,"waits":{"model":7}}',
      '{"arrivalMs":0,"grantedMs":null,"releasedMs":null,"tokens":6001,"refused":"model: it can never fit","waits":{}}',
      "",
    ]);
    assert.match(
      lines[0] ?? "",
      /^\{"trace":"tiny & <small>","tpm":6000,"rpm":600,"http":64,"db":16,"service":/,
    );
  });

  it("progress is a line per quarter, or one line of its own on a terminal", () => {
    const texts: string[] = [];
    const count = (isTTY: boolean) => {
      texts.length = 0;
      const meter = progressMeter({ isTTY, write: (text) => texts.push(text) }, 1_000);
      for (let done = 1; done <= 1_000; done++) meter(done);
      return texts;
    };
    assert.deepEqual(count(false).length, 4);
    assert.equal(texts[0], "  250 of 1,000 jobs through (25 %)\n");
    assert.equal(count(true).length, 100);
    assert.equal(texts.at(-1), "\r\u001b[K");
  });
});

/** Asserts that every tag is closed, in order. */
function assertWellFormed(svg: string): void {
  const open: string[] = [];
  const withoutStyle = svg.replace(/<!--[^<]*-->/, "").replace(/<style>[^<]*<\/style>/, "");
  for (
    const [, slash, name = "", end] of withoutStyle.matchAll(
      /<(\/?)([a-z]+)(?:\s+[\w-]+="[^"<]*")*\s*(\/?)>/g,
    )
  ) {
    if (slash === "/") assert.equal(open.pop(), name);
    else if (end !== "/") open.push(name);
  }
  assert.deepEqual(open, []);
  assert.doesNotMatch(withoutStyle.replace(/<\/?[a-z]+(?:\s+[\w-]+="[^"<]*")*\s*\/?>/g, ""), /[<>]/);
}
