import { type Failed, judge, Lookup } from "./bars.ts";
import { pictureOf, RUNTIME_NAMES } from "./charts/pictures.ts";
import { type Figure, isGain } from "./figures.ts";
import { digits, markdownTable, shown } from "./format.ts";
import { type Runtime, RUNTIMES } from "./options.ts";
import { type Absence, titleOf } from "./plan.ts";
import { absenceLines, barTable } from "./text_report.ts";
import type { EffortName, Workload } from "./workload.ts";

/** What the generated parts of docs/performance.md are made of. */
export interface Results {
  readonly figures: readonly Figure[];
  readonly absences: readonly Absence[];
  readonly workloads: readonly Workload[];
  readonly effort: EffortName;
  readonly failed: Failed;
  /** Machine, versions and date, in a sentence. */
  readonly setting: string;
}

/** The generated parts of docs/performance.md by name: `setting`, `bars`, `slower`, and one for each workload. */
export function pageBlocks(results: Results): Map<string, string> {
  const verdicts = judge(results.figures, RUNTIMES, results.failed);
  const met = verdicts.filter(({ isMet }) => isMet).length;
  const blocks = new Map<string, string>([
    ["setting", results.setting],
    [
      "bars",
      `${met} of ${verdicts.length} are met.\n\n${markdownTable(barTable(verdicts))}`,
    ],
    ["slower", slowerTable(results.figures)],
  ]);
  for (const workload of results.workloads) blocks.set(workload.name, workloadBlock(workload, results));
  return blocks;
}

/** Every figure of ours that a peer beats. */
function slowerTable(figures: readonly Figure[]): string {
  const rows = figures.filter(({ contender }) => contender === "sluice").flatMap((own) => {
    const best = new Lookup(figures, own.runtime).bestPeer(own.workload, own.metric);
    if (best === null || (isGain(own.unit) ? own.median >= best.median : own.median <= best.median)) {
      return [];
    }
    return [[
      `${own.workload}, ${own.metric}`,
      own.runtime,
      shown(own.median, own.unit),
      `${best.contender}: ${shown(best.median, best.unit)}`,
      best.median === 0 ? "" : `${digits(own.median / best.median)}x`,
    ]];
  });
  if (rows.length === 0) return "Nothing, in this run.";
  return markdownTable([["what", "runtime", "sluice", "best peer", ""], ...rows]);
}

function workloadBlock(workload: Workload, { figures, absences, effort }: Results): string {
  const own = figures.filter((figure) => figure.workload.split("/")[0] === workload.name);
  const picture = pictureOf(workload.name);
  const cannot = absenceLines(absences.filter((each) => each.workload === workload));
  return [
    workload.method,
    ...picture === null ? [] : [`![${workload.question}](performance/${picture})`],
    ...Object.entries(workload.units).flatMap(([metric, unit]) => {
      const table = metricTable(own, workload, { metric, unit, sizes: workload.sizes[effort] });
      return table === null ? [] : [table];
    }),
    ...cannot.length === 0 ? [] : [`Cannot:\n\n${cannot.map((line) => `- ${line}`).join("\n")}`],
  ].join("\n\n");
}

/** Contenders below each other, runtimes and sizes side by side: the median, and the spread behind it. */
function metricTable(
  own: readonly Figure[],
  workload: Workload,
  { metric, unit, sizes }: { metric: string; unit: string; sizes: readonly number[] },
): string | null {
  const ofMetric = own.filter((figure) => figure.metric === metric);
  if (ofMetric.length === 0) return null;
  const columns = RUNTIMES.flatMap((runtime) => sizes.map((size) => ({ runtime, size })));
  const names = [...new Set(ofMetric.map(({ contender }) => contender))];
  const rows = names.map((name) => [
    name,
    ...columns.map(({ runtime, size }) =>
      cell(ofMetric.find((figure) =>
        figure.contender === name && figure.runtime === runtime &&
        figure.workload === titleOf(workload.name, size)
      ))
    ),
  ]);
  return markdownTable([[metric, ...columns.map(({ runtime, size }) => heading(runtime, size))], ...rows]);

  function cell(figure: Figure | undefined): string {
    if (figure === undefined) return "-";
    const spread = `${shown(figure.min, unit)} to ${shown(figure.max, unit)}`;
    return figure.min === figure.max
      ? shown(figure.median, unit)
      : `${shown(figure.median, unit)} (${spread})`;
  }
}

function heading(runtime: Runtime, size: number): string {
  return size === 0 ? RUNTIME_NAMES[runtime] : `${RUNTIME_NAMES[runtime]}, ${size.toLocaleString("en")}`;
}

/**
 * A page with its generated parts replaced: what stands between `<!-- bench NAME -->` and `<!-- end -->`.
 * @throws Error when the page names a part that there is not, or lacks one.
 */
export function withBlocks(page: string, blocks: ReadonlyMap<string, string>): string {
  const used = new Set<string>();
  const replaced = page.replace(/<!-- bench ([a-z-]+) -->\n[\s\S]*?<!-- end -->/g, (_, name: string) => {
    const block = blocks.get(name);
    if (block === undefined) throw new Error(`the page names a part ${name}, which the bench does not make`);
    used.add(name);
    return `<!-- bench ${name} -->\n\n${block}\n\n<!-- end -->`;
  });
  const missing = [...blocks.keys()].filter((name) => !used.has(name));
  if (missing.length > 0) throw new Error(`the page has no place for ${missing.join(", ")}`);
  return replaced;
}
