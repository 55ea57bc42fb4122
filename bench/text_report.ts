import { type Failed, judge, Lookup, type Verdict } from "./bars.ts";
import { type Figure, isGain } from "./figures.ts";
import { digits, shown, textTable } from "./format.ts";
import type { Options, Runtime } from "./options.ts";
import { type Absence, type Plan, titleOf } from "./plan.ts";
import type { Workload } from "./workload.ts";

/** The whole run for a terminal: a block for each question and runtime, then the bars. */
export function textReport(
  figures: readonly Figure[],
  { plan, options, workloads, failed }: {
    plan: Plan;
    options: Options;
    workloads: readonly Workload[];
    failed: Failed;
  },
): string {
  const verdicts = options.effort === "tiny" ? [] : judge(figures, options.runtimes, failed);
  const blocks = workloads.flatMap((workload) =>
    workload.sizes[options.effort].flatMap((size) =>
      options.runtimes.flatMap((runtime) => block({ workload, size, runtime, figures, verdicts }))
    ).concat(absenceText(plan.absences.filter((each) => each.workload === workload)))
  );
  return [...blocks, barText(verdicts)].join("\n");
}

function block(
  about: {
    workload: Workload;
    size: number;
    runtime: Runtime;
    figures: readonly Figure[];
    verdicts: readonly Verdict[];
  },
): string[] {
  const { workload, runtime } = about;
  const title = titleOf(workload.name, about.size);
  const own = about.figures.filter((figure) => figure.runtime === runtime && figure.workload === title);
  if (own.length === 0) return [];
  const lookup = new Lookup(about.figures, runtime);
  const hasOwn = own.some(({ contender }) => contender === "sluice");
  const rows = own.map((figure) => {
    const best = lookup.bestPeer(title, figure.metric);
    const bars = figure.contender === "sluice"
      ? about.verdicts.filter((verdict) =>
        verdict.runtime === runtime && verdict.bar.workload === title && verdict.bar.metric === figure.metric
      )
      : [];
    return [
      figure.contender,
      figure.metric,
      shown(figure.median, figure.unit),
      `${shown(figure.min, figure.unit)} to ${shown(figure.max, figure.unit)}`,
      !hasOwn || best === null || best.median === 0 ? "" : `${digits(figure.median / best.median)}x`,
      bars.map(ratioText).join(", "),
    ];
  });
  const head = ["contender", "metric", "median", "spread", "of best peer", "of bar"];
  return [`\n${title} on ${runtime}: ${workload.question}`, textTable([head, ...rows])];
}

function ratioText({ figure, limit, isMet }: Verdict): string {
  return `${limit === 0 ? "-" : digits(figure / limit)} ${isMet ? "met" : "NOT MET"}`;
}

/** Who cannot, by reason. */
export function absenceLines(absences: readonly Absence[]): string[] {
  const reasons = new Map<string, Set<string>>();
  for (const { contender, cannot } of absences) {
    const names = reasons.get(cannot) ?? new Set();
    reasons.set(cannot, names.add(contender));
  }
  return [...reasons].map(([reason, names]) => `${[...names].join(", ")}: ${reason}`);
}

function absenceText(absences: readonly Absence[]): string[] {
  return absenceLines(absences).map((line) => `  cannot: ${line}`);
}

/** The bars as rows, the headings first: what, runtime, figure, limit, floor, verdict. */
export function barTable(verdicts: readonly Verdict[]): string[][] {
  const rows = verdicts.map(({ bar, runtime, figure, limit, isMet, floor }) => [
    `${bar.what}: ${bar.rule}`,
    runtime,
    Number.isNaN(figure) ? "failed" : shown(figure, bar.unit),
    Number.isNaN(limit) ? "" : `${isGain(bar.unit) ? ">=" : "<="} ${shown(limit, bar.unit)}`,
    floor === null ? "" : shown(floor, bar.unit),
    isMet ? "met" : "NOT MET",
  ]);
  return [["bar", "runtime", "figure", "limit", "floor", ""], ...rows];
}

function barText(verdicts: readonly Verdict[]): string {
  if (verdicts.length === 0) return "";
  const met = verdicts.filter(({ isMet }) => isMet).length;
  const table = textTable(barTable(verdicts));
  return `\nBars: ${met} of ${verdicts.length} met\n${table}\n`;
}
