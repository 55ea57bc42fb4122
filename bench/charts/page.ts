import { element, escaped, label } from "../../examples/replay/svg.ts";
import { CHART_STYLE } from "./chart_style.ts";

/** The colours of series, in their order. */
export const COLOURS = ["first", "second", "third", "fourth", "fifth"] as const;

/** One of a chart's series, as its legend names it. */
export interface Key {
  readonly name: string;
  readonly colour: string;
  readonly isLine: boolean;
  /** Lines of others are dashed. */
  readonly isPeer?: boolean;
}

/** A whole SVG picture: its title, which asks the question, and what is drawn below. */
export function page(
  title: string,
  { width, height, body }: { width: number; height: number; body: readonly string[] },
): string {
  return [
    "<!-- deno-fmt-ignore-file -->",
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
    `role="img" aria-labelledby="title">`,
    `<style>${CHART_STYLE}</style>`,
    element("rect", { class: "page", width, height }),
    element("text", { id: "title", class: "title", x: 20, y: 32 }, escaped(title)),
    ...body,
    "</svg>\n",
  ].join("\n");
}

/** The legend, in one row from the left. */
export function legend(keys: readonly Key[], { x, y }: { x: number; y: number }): string[] {
  let left = x;
  return keys.flatMap(({ name, colour, isLine, isPeer }) => {
    const sample = isLine
      ? element("path", { class: `line ${colour}${isPeer ? " peer" : ""}`, d: `M${left} ${y - 4}h26` })
      : element("circle", { class: colour, cx: left + 6, cy: y - 4, r: 5 });
    const textLeft = left + (isLine ? 32 : 16);
    left = textLeft + name.length * GLYPH_WIDTH + 18;
    return [sample, label(name, { x: textLeft, y, style: "legend" })];
  });
}

const GLYPH_WIDTH = 6.8;
