import { isOurs } from "../bars.ts";
import { type Figure, isGain } from "../figures.ts";
import { shown, shownMark } from "../format.ts";
import { type Runtime, RUNTIMES } from "../options.ts";
import type { Workload } from "../workload.ts";
import { type DotRow, drawDotPlot } from "./dot_plot.ts";
import { drawLinePlot, type LinePanel, type Series } from "./line_plot.ts";
import { COLOURS } from "./page.ts";

/** How the runtimes are written. */
export const RUNTIME_NAMES: Readonly<Record<Runtime, string>> = { deno: "Deno", bun: "Bun" };

/** The metric that a question's picture shows, by workload; the others have none. */
const METRICS: Readonly<Record<string, string>> = {
  "try-one": "pair",
  "await-one": "pair",
  "await-three": "job",
  "drain": "whole",
  "abort": "abort",
  "memory": "whole",
  "memory-signal": "whole",
  "stream": "late p99",
  "http-only": "kept",
  "hono": "added",
};

/** The file name of a question's picture, or null where it has none. */
export function pictureOf(workload: string): string | null {
  if (workload === "event-gate") return "event.svg";
  return METRICS[workload] === undefined ? null : `${workload.replaceAll("-", "_")}.svg`;
}

/** All pictures by file name. A workload with sizes shows the first of a run, which most contenders reach. */
export function drawPictures(
  figures: readonly Figure[],
  workloads: readonly Workload[],
): Map<string, string> {
  const pictures = new Map<string, string>();
  for (const workload of workloads) {
    const metric = METRICS[workload.name];
    const file = pictureOf(workload.name);
    if (file === null) continue;
    if (metric !== undefined) pictures.set(file, drawContenders(figures, workload, metric));
    else pictures.set(file, drawGrowth(figures));
  }
  return pictures;
}

function drawContenders(figures: readonly Figure[], workload: Workload, metric: string): string {
  const unit = workload.units[metric]!;
  const title = figures.find((figure) => figure.workload.split("/")[0] === workload.name)?.workload;
  const own = figures.filter((figure) => figure.workload === title && figure.metric === metric);
  const names = [...new Set(own.map(({ contender }) => contender))];
  const rows = names.map((name): DotRow => ({
    name,
    isOwn: isOurs(name),
    figures: RUNTIMES.map((runtime) =>
      own.find((figure) => figure.contender === name && figure.runtime === runtime) ?? null
    ),
  }));
  const good = isGain(unit) ? "right" : "left";
  return drawDotPlot({
    title: workload.question,
    axisText: `${metric}; better to the ${good}`,
    series: RUNTIMES.map((runtime) => RUNTIME_NAMES[runtime]),
    rows,
    text: (value) => shown(value, unit),
    mark: (value) => shownMark(value, unit),
  });
}

/** Which lines the picture of events has. */
const GROWTHS: readonly { workload: string; contender: string; name: string }[] = [
  { workload: "event-gate", contender: "sluice", name: "sluice: gate" },
  { workload: "event-bucket", contender: "sluice", name: "sluice: bucket" },
  { workload: "event-system", contender: "sluice", name: "sluice: 16 accounts" },
  { workload: "event-gate", contender: "async-sema", name: "async-sema: gate" },
  { workload: "event-bucket", contender: "async-mutex", name: "async-mutex: bucket" },
];

function drawGrowth(figures: readonly Figure[]): string {
  const panels = RUNTIMES.map((runtime): LinePanel => ({
    title: RUNTIME_NAMES[runtime],
    series: GROWTHS.map(({ workload, contender, name }, index): Series => ({
      name,
      colour: COLOURS[index]!,
      isPeer: contender !== "sluice",
      points: figures
        .filter((figure) =>
          figure.runtime === runtime && figure.contender === contender && figure.metric === "event" &&
          figure.workload.startsWith(`${workload}/`)
        )
        .map((figure) => ({ x: Number(figure.workload.split("/")[1]), y: figure.median })),
    })),
  }));
  return drawLinePlot({
    title: "What does it cost when one job ends and n wait?",
    xText: "waiting jobs",
    yText: "one event",
    panels,
    xMark: (value) => shownMark(value, "waiters"),
    yMark: (value) => shownMark(value, "ns"),
  });
}
