import { counted, duration, grouped, percent } from "./format.ts";
import type { HttpUse } from "./http_use.ts";
import type { Replay } from "./job.ts";
import { type Curve, drawPanel, type Frame, type Panel } from "./plot_panel.ts";
import { PLOT_STYLE } from "./plot_style.ts";
import { roundMarks, timeMarks } from "./scale.ts";
import type { Summary } from "./summary.ts";
import { element, escaped, label } from "./svg.ts";

/** Columns of a plot: one per pixel of its charts. */
export const PLOT_COLUMNS = 890;

const WIDTH = 1_000;
const HEIGHT = 990;
const LEFT = 84;

/**
 * Draws both runs of a replay as one SVG picture, 1,000 pixels wide: the line, the HTTP pool under Sluice and under
 * one-after-another, and how much of the quota was spent, over one axis of time.
 */
export function drawPlot(replay: Replay, summary: Summary): string {
  const time = timeMarks(summary.axis.endTicks, 14);
  const xOf = (value: number) => LEFT + (PLOT_COLUMNS * value * time.unit.ticks) / summary.axis.endTicks;
  const timeXs = time.values.map(xOf);
  const frames = FRAMES.map((frame) => ({ left: LEFT, width: PLOT_COLUMNS, ...frame }));
  const bottom = HEIGHT - 62;
  const panels = [
    linePanel(summary),
    httpPanel("HTTP places with Sluice: all that are taken are at work", summary.sluice.http, replay),
    httpPanel("HTTP places one after another", summary.stepping.http, replay),
    quotaPanel(summary),
  ];
  const columnText = duration(summary.axis.endTicks / PLOT_COLUMNS);
  return [
    // A plot may lie in a project whose every file is checked for its format, as in this one's docs.
    "<!-- deno-fmt-ignore-file -->",
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" ` +
    `role="img" aria-labelledby="title lead">`,
    `<style>${PLOT_STYLE}</style>`,
    element("rect", { class: "page", width: WIDTH, height: HEIGHT }),
    drawHeading(replay, summary),
    ...panels.map((panel, index) => drawPanel(panel, frames[index] ?? NO_FRAME, timeXs)),
    ...time.values.map((value, index) =>
      label(grouped(value), { x: timeXs[index] ?? 0, y: bottom, style: "mark", anchor: "middle" })
    ),
    label(`${time.unit.name} after the first request`, {
      x: LEFT + PLOT_COLUMNS / 2,
      y: bottom + 22,
      style: "mark",
      anchor: "middle",
    }),
    label(`Each column is ${columnText}: lines show the peak in it, HTTP places the average.`, {
      x: LEFT,
      y: bottom + 46,
      style: "note",
    }),
    "</svg>\n",
  ].join("\n");
}

const FRAMES: readonly Pick<Frame, "top" | "height">[] = [
  { top: 136, height: 160 },
  { top: 346, height: 150 },
  { top: 546, height: 150 },
  { top: 746, height: 160 },
];
const NO_FRAME: Frame = { left: 0, top: 0, width: 0, height: 0 };

function drawHeading({ trace, limits }: Replay, { stepping, sluice }: Summary): string {
  const hostages = stepping.http.hostageToTokens;
  const title = `Replay of ${trace.name}: ${counted(trace.rows.length, "request")}`;
  const lead = hostages.peak === 0
    ? "Tokens were never short: nobody held an HTTP place hostage."
    : `Taken one after another, up to ${hostages.peak} of ${
      grouped(limits.http)
    } HTTP places were held by jobs ` +
      `waiting for tokens (${grouped(hostages.seconds)} place-seconds). With Sluice: ` +
      `${sluice.http.hostageToTokens.peak === 0 ? "none" : sluice.http.hostageToTokens.peak}.`;
  const limitText = `${grouped(limits.tpm)} tokens and ${grouped(limits.rpm)} requests a minute, ` +
    `${grouped(limits.http)} HTTP places, ${grouped(limits.db)} database permits`;
  return [
    element("text", { id: "title", class: "title", x: 24, y: 40 }, escaped(shortened(title))),
    element("text", { id: "lead", class: "lead", x: 24, y: 66 }, escaped(lead)),
    label(limitText, { x: 24, y: 88, style: "note" }),
  ].join("\n");
}

function shortened(text: string): string {
  return text.length > 84 ? `${text.slice(0, 81)}...` : text;
}

function linePanel({ sluice, stepping }: Summary): Panel {
  const top = Math.max(4, sluice.http.waiting.peak, stepping.http.waiting.peak) * 1.08;
  return {
    title: "Jobs waiting",
    unit: "jobs",
    curves: [
      { name: "with Sluice", style: "sluice", kind: "area", values: sluice.http.waiting.columns.peak },
      {
        name: "one after another",
        style: "stepping",
        kind: "line",
        values: stepping.http.waiting.columns.peak,
      },
    ],
    top,
    marks: roundMarks(top, { most: 5, smallestStep: 1 }).values,
    markText: grouped,
    limit: null,
  };
}

function httpPanel(title: string, use: HttpUse, { limits }: Replay): Panel {
  const curve = (name: string, style: string, values: Float64Array): Curve => ({
    name,
    style,
    kind: "area",
    values,
  });
  const top = limits.http * 1.16;
  return {
    title,
    unit: "places",
    curves: [
      curve("at work", "working", use.working.columns.mean),
      curve("waiting for the database", "to-db", use.hostageToDb.columns.mean),
      curve("waiting for tokens", "to-tokens", use.hostageToTokens.columns.mean),
    ],
    top,
    marks: roundMarks(limits.http, { most: 4, smallestStep: 1 }).values,
    markText: grouped,
    limit: { value: limits.http, text: `all ${counted(limits.http, "place")}` },
  };
}

function quotaPanel({ tokens, requests }: Summary): Panel {
  return {
    title: "Quota spent, with Sluice",
    unit: "share of the bucket",
    curves: [
      { name: "tokens", style: "tokens", kind: "line", values: tokens.spentPeak },
      { name: "requests", style: "requests", kind: "line", values: requests.spentPeak },
    ],
    top: 1.16,
    marks: [0, 0.25, 0.5, 0.75, 1],
    markText: (value) => percent(value).replace(".0", ""),
    limit: { value: 1, text: "dry: jobs wait for the quota" },
  };
}
