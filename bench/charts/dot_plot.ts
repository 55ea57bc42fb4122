import { element, label } from "../../examples/replay/svg.ts";
import type { Spread } from "../statistics.ts";
import { type Axis, linearAxis, logAxis } from "./axis.ts";
import { COLOURS, legend, page } from "./page.ts";

/** A row of dots: one contender, a figure for each series that has one. */
export interface DotRow {
  readonly name: string;
  /** Whether it is ours. */
  readonly isOwn: boolean;
  readonly figures: readonly (Spread | null)[];
}

/** A chart of one metric: contenders below each other, the better to the left where figures are costs. */
export interface DotPlot {
  readonly title: string;
  /** What the axis counts, and which end of it is good. */
  readonly axisText: string;
  readonly series: readonly string[];
  readonly rows: readonly DotRow[];
  /** How a figure is written, and a mark of the axis. */
  readonly text: (value: number) => string;
  readonly mark: (value: number) => string;
}

const WIDTH = 860;
const LEFT = 250;
const RIGHT = 630;
/** Where the figures of each series end. */
const FIGURE_ENDS = [735, 835] as const;
const TOP = 82;
const ROW = 34;

/** Draws a dot plot. The axis is logarithmic where all is above 0 and the largest is more than eight times the least. */
export function drawDotPlot(plot: DotPlot): string {
  const values = plot.rows.flatMap(({ figures }) =>
    figures.flatMap((spread) => spread === null ? [] : ends(spread))
  );
  const isWide = Math.min(...values) > 0 && Math.max(...values) > 8 * Math.min(...values);
  const axis = isWide ? logAxis(values) : linearAxis(values);
  const bottom = TOP + ROW * plot.rows.length;
  const keys = plot.series.map((name, index) => ({ name, colour: COLOURS[index]!, isLine: false }));
  return page(plot.title, {
    width: WIDTH,
    height: bottom + 62,
    body: [
      ...legend(keys, { x: LEFT, y: 60 }),
      ...plot.series.map((name, index) =>
        label(name, { x: FIGURE_ENDS[index]!, y: 72, style: "mark", anchor: "end" })
      ),
      ...plot.rows.flatMap((row, index) => row.isOwn ? [band(index)] : []),
      ...axis.marks.flatMap((mark) => gridLine(axis, mark, { bottom, text: plot.mark(mark) })),
      ...plot.rows.flatMap((row, index) => drawRow(plot, axis, { row, y: TOP + ROW * (index + 0.5) })),
      element("line", { class: "axis", x1: LEFT, x2: RIGHT, y1: bottom, y2: bottom }),
      label(`${plot.axisText}${isWide ? "; logarithmic" : ""}`, {
        x: (LEFT + RIGHT) / 2,
        y: bottom + 44,
        style: "mark",
        anchor: "middle",
      }),
    ],
  });
}

function ends({ min, max, median }: Spread): number[] {
  return [min, median, max];
}

function xOf(axis: Axis, value: number): number {
  return LEFT + (RIGHT - LEFT) * axis.shareOf(value);
}

function band(index: number): string {
  return element("rect", { class: "band", x: 12, y: TOP + ROW * index, width: WIDTH - 24, height: ROW });
}

function gridLine(axis: Axis, mark: number, { bottom, text }: { bottom: number; text: string }): string[] {
  const x = xOf(axis, mark);
  return [
    element("line", { class: "grid", x1: x, x2: x, y1: TOP, y2: bottom }),
    label(text, { x, y: bottom + 20, style: "mark", anchor: "middle" }),
  ];
}

/** Name, dots with whiskers from least to most, and the medians in figures. */
function drawRow(plot: DotPlot, axis: Axis, { row, y }: { row: DotRow; y: number }): string[] {
  return [
    label(row.name, { x: LEFT - 16, y: y + 5, style: row.isOwn ? "own" : "name", anchor: "end" }),
    ...row.figures.flatMap((spread, index) => {
      if (spread === null) return [];
      const colour = COLOURS[index]!;
      const at = y + (index - (row.figures.length - 1) / 2) * 11;
      const [x1, x2] = [xOf(axis, spread.min), xOf(axis, spread.max)];
      return [
        element("line", { class: `whisker ${colour}`, x1, x2, y1: at, y2: at }),
        element("circle", { class: colour, cx: xOf(axis, spread.median), cy: at, r: 5 }),
      ];
    }),
    ...row.figures.map((spread, index) =>
      label(spread === null ? "-" : plot.text(spread.median), {
        x: FIGURE_ENDS[index]!,
        y: y + 5,
        style: "figure",
        anchor: "end",
      })
    ),
  ];
}
