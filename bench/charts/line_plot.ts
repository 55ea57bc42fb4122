import { coordinate, element, label } from "../../examples/replay/svg.ts";
import { type Axis, logAxis } from "./axis.ts";
import { type Key, legend, page } from "./page.ts";

/** A line through points, in the order of x. */
export interface Series extends Omit<Key, "isLine"> {
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

/** One of the panels that stand side by side over equal axes. */
export interface LinePanel {
  readonly title: string;
  readonly series: readonly Series[];
}

/** A chart of how something grows: both axes are logarithmic. */
export interface LinePlot {
  readonly title: string;
  readonly xText: string;
  readonly yText: string;
  readonly panels: readonly LinePanel[];
  readonly xMark: (value: number) => string;
  readonly yMark: (value: number) => string;
}

const WIDTH = 860;
const HEIGHT = 470;
const LEFT = 84;
const TOP = 112;
const BOTTOM = HEIGHT - 66;
const GAP = 44;

/** Draws a line plot. */
export function drawLinePlot(plot: LinePlot): string {
  const points = plot.panels.flatMap(({ series }) => series.flatMap((each) => each.points));
  const axes = { x: logAxis(points.map(({ x }) => x)), y: logAxis(points.map(({ y }) => y)) };
  const width = (WIDTH - LEFT - 24 - GAP * (plot.panels.length - 1)) / plot.panels.length;
  const keys = new Map(plot.panels.flatMap(({ series }) => series.map((each) => [each.name, each])));
  const middle = (TOP + BOTTOM) / 2;
  return page(plot.title, {
    width: WIDTH,
    height: HEIGHT,
    body: [
      ...legend([...keys.values()].map((key) => ({ ...key, isLine: true })), { x: 20, y: 62 }),
      ...plot.panels.flatMap((panel, index) =>
        drawPanel(plot, panel, { axes, width, left: LEFT + index * (width + GAP), isFirst: index === 0 })
      ),
      element(
        "text",
        { class: "mark", x: 20, y: middle, "text-anchor": "middle", transform: `rotate(-90 20 ${middle})` },
        plot.yText,
      ),
      label(plot.xText, { x: (LEFT + WIDTH - 24) / 2, y: HEIGHT - 20, style: "mark", anchor: "middle" }),
    ],
  });
}

interface Place {
  readonly axes: { readonly x: Axis; readonly y: Axis };
  readonly left: number;
  readonly width: number;
  readonly isFirst: boolean;
}

function drawPanel(plot: LinePlot, panel: LinePanel, place: Place): string[] {
  const { axes, left, width, isFirst } = place;
  const xOf = (value: number) => left + width * axes.x.shareOf(value);
  const yOf = (value: number) => BOTTOM - (BOTTOM - TOP) * axes.y.shareOf(value);
  return [
    label(panel.title, { x: left, y: TOP - 14, style: "panel" }),
    ...axes.x.marks.flatMap((mark) => [
      element("line", { class: "grid", x1: xOf(mark), x2: xOf(mark), y1: TOP, y2: BOTTOM }),
      label(plot.xMark(mark), { x: xOf(mark), y: BOTTOM + 20, style: "mark", anchor: "middle" }),
    ]),
    ...axes.y.marks.flatMap((mark) => [
      element("line", { class: "grid", x1: left, x2: left + width, y1: yOf(mark), y2: yOf(mark) }),
      ...isFirst
        ? [label(plot.yMark(mark), { x: left - 8, y: yOf(mark) + 4, style: "mark", anchor: "end" })]
        : [],
    ]),
    element("line", { class: "axis", x1: left, x2: left + width, y1: BOTTOM, y2: BOTTOM }),
    ...panel.series.flatMap(({ points, colour, isPeer }) => {
      const path = points.map(({ x, y }) => `${coordinate(xOf(x))} ${coordinate(yOf(y))}`).join("L");
      return [
        ...points.length > 1
          ? [element("path", { class: `line ${colour}${isPeer ? " peer" : ""}`, d: `M${path}` })]
          : [],
        ...points.map(({ x, y }) => element("circle", { class: colour, cx: xOf(x), cy: yOf(y), r: 4 })),
      ];
    }),
  ];
}
