import { element, label, stairs } from "./svg.ts";

/** One curve of a panel. */
export interface Curve {
  /** What the legend calls it. */
  readonly name: string;
  /** The style class that gives it its colour. */
  readonly style: string;
  /** `area` is filled and stands on the areas before it; `line` is an outline of its own. */
  readonly kind: "area" | "line";
  /** One value per column. */
  readonly values: Float64Array;
}

/** One of the charts that share the time axis. */
export interface Panel {
  readonly title: string;
  /** What the vertical axis counts. */
  readonly unit: string;
  readonly curves: readonly Curve[];
  /** The top of the vertical axis. */
  readonly top: number;
  /** Values to mark on the vertical axis, and how to write them. */
  readonly marks: readonly number[];
  readonly markText: (value: number) => string;
  /** A level to mark with a dashed line, such as the capacity; null for none. */
  readonly limit: { readonly value: number; readonly text: string } | null;
}

/** Where a panel's chart stands, in pixels. */
export interface Frame {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** Draws a panel: grid, curves, limit, axis, title and legend. `timeXs` are the x coordinates of the time marks. */
export function drawPanel(panel: Panel, frame: Frame, timeXs: readonly number[]): string {
  const bottom = frame.top + frame.height;
  return [
    ...timeXs.map((x) => element("line", { class: "grid", x1: x, x2: x, y1: frame.top, y2: bottom })),
    ...panel.marks.map((value) => drawMark(panel, frame, value)),
    ...drawCurves(panel, frame),
    ...drawLimit(panel, frame),
    element("line", { class: "axis", x1: frame.left, x2: frame.left + frame.width, y1: bottom, y2: bottom }),
    label(panel.title, { x: frame.left, y: frame.top - 12, style: "panel" }),
    ...drawUnit(panel, frame),
    ...drawLegend(panel.curves, frame),
  ].join("\n");
}

function yOf(panel: Panel, frame: Frame, value: number): number {
  return frame.top + frame.height * (1 - value / panel.top);
}

function drawMark(panel: Panel, frame: Frame, value: number): string {
  const y = yOf(panel, frame, value);
  return element("line", { class: "grid", x1: frame.left, x2: frame.left + frame.width, y1: y, y2: y }) +
    label(panel.markText(value), { x: frame.left - 8, y: y + 4, style: "mark", anchor: "end" });
}

function drawUnit(panel: Panel, frame: Frame): string[] {
  const x = frame.left - 58;
  const y = frame.top + frame.height / 2;
  const attributes = { x, y, class: "mark", "text-anchor": "middle", transform: `rotate(-90 ${x} ${y})` };
  return [element("text", attributes, panel.unit)];
}

function drawCurves(panel: Panel, frame: Frame): string[] {
  let floor: number[] | null = null;
  return panel.curves.map((curve) => {
    const below: number[] | null = floor;
    const sums = Array.from(curve.values, (value, index) => value + (below?.[index] ?? 0));
    const width = frame.width / sums.length;
    if (curve.kind === "line") {
      const ys = Array.from(curve.values, (value) => yOf(panel, frame, value));
      return element("path", { class: `line ${curve.style}`, d: stairs(ys, { left: frame.left, width }) });
    }
    floor = sums;
    return drawArea({ panel, frame, style: curve.style, sums, below });
  });
}

/** An area between its own staircase and that of the areas below it, drawn there and back. */
function drawArea(
  area: {
    panel: Panel;
    frame: Frame;
    style: string;
    sums: readonly number[];
    below: readonly number[] | null;
  },
): string {
  const { panel, frame, sums, below } = area;
  if (sums.every((sum, index) => sum === (below?.[index] ?? 0))) return "";
  const width = frame.width / sums.length;
  const upper = stairs(sums.map((sum) => yOf(panel, frame, sum)), { left: frame.left, width });
  const lowerYs = sums.map((_, index) => yOf(panel, frame, below?.[index] ?? 0));
  const lower = stairs(lowerYs.reverse(), { left: frame.left + frame.width, width: -width });
  return element("path", { class: `area ${area.style}`, d: `${upper}${lower.replace("M", "L")}Z` });
}

function drawLimit(panel: Panel, frame: Frame): string[] {
  if (panel.limit === null) return [];
  const y = yOf(panel, frame, panel.limit.value);
  return [
    element("line", { class: "limit", x1: frame.left, x2: frame.left + frame.width, y1: y, y2: y }),
    label(panel.limit.text, { x: frame.left + frame.width - 6, y: y - 5, style: "mark", anchor: "end" }),
  ];
}

const GLYPH_WIDTH = 6.6;
const SWATCH_WIDTH = 12;

/** The legend, right-aligned above the chart. */
function drawLegend(curves: readonly Curve[], frame: Frame): string[] {
  let right = frame.left + frame.width;
  const pieces: string[] = [];
  for (const curve of [...curves].reverse()) {
    const textLeft = right - curve.name.length * GLYPH_WIDTH;
    const x = textLeft - SWATCH_WIDTH - 6;
    const isLine = curve.kind === "line";
    pieces.push(
      isLine
        ? element("path", { class: `line ${curve.style}`, d: `M${x} ${frame.top - 16}H${x + SWATCH_WIDTH}` })
        : element("rect", {
          class: `area ${curve.style}`,
          x,
          y: frame.top - 22,
          width: SWATCH_WIDTH,
          height: 12,
        }),
      label(curve.name, { x: textLeft, y: frame.top - 12, style: "legend" }),
    );
    right = x - 18;
  }
  return pieces;
}
