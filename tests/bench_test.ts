/** The bench, without its peers: statistics, arguments, plan, figures, bars, tables and pictures. */
import { describe, it } from "@std/testing/bdd";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { judge } from "../bench/bars.ts";
import { linearAxis, logAxis } from "../bench/charts/axis.ts";
import { drawPictures, pictureOf } from "../bench/charts/pictures.ts";
import { faultOf, type Figure, figuresOf, isGain } from "../bench/figures.ts";
import { markdownTable, shown, shownMark, textTable } from "../bench/format.ts";
import { parseOptions, type Runtime, RUNTIMES } from "../bench/options.ts";
import { pageBlocks, withBlocks } from "../bench/page_blocks.ts";
import { planOf, titleOf } from "../bench/plan.ts";
import { PlainSemaphore } from "../bench/plain_semaphore.ts";
import { RuledSemaphore } from "../bench/ruled_semaphore.ts";
import { median, quantile, spreadOf } from "../bench/statistics.ts";
import { textReport } from "../bench/text_report.ts";
import { EFFORTS } from "../bench/workload.ts";
import { WORKLOADS } from "../bench/workloads.ts";

const NAMES = WORKLOADS.map(({ name }) => name);

/** A figure for everything that a run of that effort measures. */
function everyFigure(effort: "quick" | "full"): Figure[] {
  const plan = planOf(WORKLOADS, { ...parseOptions([], NAMES), effort });
  return figuresOf(
    new Map(plan.tasks.map((task, index) => [
      task,
      [1, 2, 3].map((round) =>
        Object.fromEntries(Object.keys(task.workload.units).map((metric) => [metric, round * (index + 1)]))
      ),
    ])),
  );
}

function figure(runtime: Runtime, workload: string, contender: string, value: number): Figure {
  return { runtime, workload, contender, metric: "pair", unit: "ns", median: value, min: value, max: value };
}

describe("statistics of the bench", () => {
  it("takes the middle, or the mean of two, and interpolates between neighbours", () => {
    assert.equal(median([3, 1, 2]), 2);
    assert.equal(median([4, 1, 2, 3]), 2.5);
    assert.equal(quantile([0, 10], 0.99), 9.9);
    assert.ok(Number.isNaN(median([])));
    assert.deepEqual(spreadOf([5, 1, 3]), { median: 3, min: 1, max: 5 });
  });
});

describe("arguments of the bench", () => {
  it("are everything, thoroughly, when there are none", () => {
    const options = parseOptions([], NAMES);
    assert.equal(options.effort, "full");
    assert.deepEqual(options.runtimes, RUNTIMES);
    assert.deepEqual(options.workloads, NAMES);
    assert.equal(options.json, null);
  });

  it("name effort, workloads in the order of the bench, runtime and file", () => {
    const options = parseOptions(
      ["--quick", "--only=stream,drain", "--runtime", "bun", "--json", "a.json"],
      NAMES,
    );
    assert.equal(options.effort, "quick");
    assert.deepEqual(options.workloads, ["drain", "stream"]);
    assert.deepEqual(options.runtimes, ["bun"]);
    assert.equal(options.json, "a.json");
  });

  it("are refused with what would do", () => {
    const refused: [string[], RegExp][] = [
      [["--fast"], /Cannot use "--fast": it should be one of --quick/],
      [["--only", "drian"], /Cannot use --only "drian": it should be among floor, /],
      [["--only"], /--only: it has no value, it should be like --only await-one,drain/],
      [["--runtime", "node"], /Cannot use --runtime "node": it should be deno or bun/],
      [["--json", "--quick"], /--json: it has no value/],
      [["--quick=yes"], /Cannot use "--quick=yes"/],
      [["--tiny", "--quick"], /choose one/],
      [["--tiny", "--write"], /its figures mean nothing/],
      [["--write", "--runtime", "bun"], /the page tells one whole run/],
    ];
    for (const [args, message] of refused) {
      assert.throws(() => parseOptions(args, NAMES), { name: "UserError", message });
    }
  });
});

describe("the plan of the bench", () => {
  it("has every contender of every question on both runtimes, or says why not", () => {
    const { tasks, absences } = planOf(WORKLOADS, parseOptions(["--quick"], NAMES));
    for (const workload of WORKLOADS) {
      const named = workload.sizes.quick.length * Object.keys(workload.contenders).length;
      const run = tasks.filter((task) => task.workload === workload).length / RUNTIMES.length;
      assert.equal(run + absences.filter((each) => each.workload === workload).length, named, workload.name);
    }
    assert.ok(absences.every(({ cannot }) => cannot.length > 5));
  });

  it("is measured at sizes that an effort names, the tiny ones small", () => {
    for (const { sizes } of WORKLOADS) assert.ok(Math.max(...sizes.tiny) <= 200);
    assert.ok(EFFORTS.tiny.measureMs < 10);
    assert.equal(titleOf("drain", 10_000), "drain/10000");
    assert.equal(titleOf("stream", 0), "stream");
  });
});

describe("figures of the bench", () => {
  it("have the shape that --json promises", () => {
    const figures = JSON.parse(JSON.stringify(everyFigure("quick"))) as Record<string, unknown>[];
    const keys = ["contender", "max", "median", "metric", "min", "runtime", "unit", "workload"];
    for (const each of figures) {
      assert.deepEqual(Object.keys(each).sort(), keys);
      assert.ok([each["median"], each["min"], each["max"]].every(Number.isFinite), JSON.stringify(each));
    }
    assert.ok(figures.some(({ contender }) => contender === "sluice"));
  });

  it("are costs but for ratios and rates", () => {
    assert.deepEqual(["ns", "B", "ms", "ratio", "jobs/s"].map(isGain), [false, false, false, true, true]);
  });

  it("are refused when they are no sane numbers", () => {
    assert.equal(faultOf({ pair: 1 }, { pair: "ns" }), null);
    assert.match(faultOf({}, { pair: "ns" })!, /pair is undefined/);
    assert.match(faultOf({ pair: NaN }, { pair: "ns" })!, /pair is NaN/);
    assert.match(faultOf({ pair: 0 }, { pair: "ns" })!, /pair is 0/);
    assert.equal(faultOf({ kept: 0 }, { kept: "ratio" }), null);
  });

  it("are judged within their own runtime, and a yardstick is no peer", () => {
    const figures = [
      figure("deno", "await-one", "sluice", 70),
      figure("deno", "await-one", "plain", 1),
      figure("deno", "await-one", "async-sema", 40),
      figure("bun", "await-one", "sluice", 71),
      figure("bun", "await-one", "async-sema", 40),
    ];
    const verdicts = judge(figures, RUNTIMES);
    assert.deepEqual(verdicts.map(({ runtime, limit, isMet }) => [runtime, limit, isMet]), [
      ["deno", 70, true],
      ["bun", 70, false],
    ]);
    const [failed] = judge(figures.slice(1), ["deno"], new Set(["deno await-one"]));
    assert.deepEqual([failed?.figure, failed?.isMet], [NaN, false]);
  });
});

describe("what the bench writes", () => {
  it("has figures in a unit that suits their size", () => {
    assert.equal(shown(61.23, "ns"), "61.2 ns");
    assert.equal(shown(3_412_000, "ns"), "3.41 ms");
    assert.equal(shown(0.98412, "ratio"), "0.984");
    assert.equal(shown(378, "B"), "378 B");
    assert.deepEqual([shownMark(10, "ns"), shownMark(0.5, "ratio"), shownMark(100_000, "waiters")], [
      "10 ns",
      "0.5",
      "100 k",
    ]);
  });

  it("has tables in columns", () => {
    assert.equal(textTable([["a", "median"], ["long", "1"]]), "  a     median\n  long       1");
    assert.equal(markdownTable([["a", "b"], ["1|2", "3"]]), "| a | b |\n| --- | ---: |\n| 1\\|2 | 3 |");
  });

  it("marks axes at round values that hold everything", () => {
    assert.deepEqual(logAxis([12, 340]).marks, [10, 100, 1_000]);
    assert.equal(logAxis([10, 1_000]).shareOf(100), 0.5);
    assert.deepEqual(linearAxis([0, 0.98]).marks.map((mark) => shownMark(mark, "ratio")), [
      "0",
      "0.2",
      "0.4",
      "0.6",
      "0.8",
      "1",
    ]);
    assert.deepEqual(linearAxis([0]).marks, [0, 1]);
  });

  it("draws one picture per question, whose title fits", () => {
    const pictures = drawPictures(everyFigure("full"), WORKLOADS);
    assert.ok(pictures.size >= 8);
    for (const [file, svg] of pictures) {
      assert.match(svg, /<svg [^>]*viewBox[\s\S]*prefers-color-scheme: dark[\s\S]*<\/svg>\n$/, file);
      assert.doesNotMatch(svg, /NaN|Infinity|undefined/, file);
    }
    for (const { name, question } of WORKLOADS) {
      if (pictureOf(name) !== null) assert.ok(question.length <= 76, question);
    }
  });

  it("closes its report with the bars", () => {
    const options = parseOptions(["--quick"], NAMES);
    const report = textReport(everyFigure("quick"), {
      plan: planOf(WORKLOADS, options),
      options,
      workloads: WORKLOADS,
      failed: new Set(),
    });
    assert.match(report, /await-one on deno: What does a free place cost\?/);
    assert.match(report, /cannot: .*p-limit.*: no weights/);
    assert.match(report, /Bars: \d+ of \d\d met\n/);
  });

  it("fills every part of docs/performance.md, and only these", () => {
    const page = readFileSync(new URL("../docs/performance.md", import.meta.url), "utf8");
    const results = {
      figures: everyFigure("full"),
      absences: [],
      workloads: WORKLOADS,
      effort: "full" as const,
      failed: new Set<string>(),
    };
    const blocks = pageBlocks({ ...results, setting: "Measured here." });
    assert.match(withBlocks(page, blocks), /Measured here\./);
    assert.throws(() => withBlocks(page, new Map([...blocks, ["other", ""]])), /no place for other/);
    assert.throws(() => withBlocks("<!-- bench odd -->\n<!-- end -->", blocks), /names a part odd/);
  });
});

describe("the ruled semaphore", () => {
  it("hands its places on in arrival order, in a microtask, once for each permit", async () => {
    const semaphore = new RuledSemaphore(1);
    const held = semaphore.tryAcquire()!;
    const order: number[] = [];
    const waiters = [1, 2, 3].map(async (index) => {
      const permit = await semaphore.acquire();
      order.push(index);
      permit.release();
      permit.release();
    });
    assert.equal(semaphore.tryAcquire(), null);
    held.release();
    assert.equal(semaphore.tryAcquire(), null, "nobody overtakes those who wait");
    await Promise.all(waiters);
    assert.deepEqual(order, [1, 2, 3]);
    assert.equal(semaphore.inUse, 0);
  });

  it("lets a caller go whose signal aborts", async () => {
    const semaphore = new RuledSemaphore(1);
    const held = semaphore.tryAcquire()!;
    const leaving = new AbortController();
    const [left, stays] = [
      semaphore.acquire(leaving.signal),
      semaphore.acquire(new AbortController().signal),
    ];
    leaving.abort(new Error("gone"));
    await assert.rejects(left, /gone/);
    held.release();
    (await stays).release();
    assert.equal(semaphore.inUse, 0);
    await assert.rejects(semaphore.acquire(leaving.signal), /gone/);
  });
});

describe("the plain semaphore", () => {
  it("hands its places on in arrival order", async () => {
    const semaphore = new PlainSemaphore(1);
    const held = semaphore.tryAcquire()!;
    const order: number[] = [];
    const waiters = [1, 2, 3].map(async (index) => {
      const permit = await semaphore.acquire();
      order.push(index);
      semaphore.release(permit);
    });
    assert.equal(semaphore.tryAcquire(), null);
    semaphore.release(held);
    await Promise.all(waiters);
    assert.deepEqual(order, [1, 2, 3]);
    assert.equal(semaphore.inUse, 0);
  });
});
