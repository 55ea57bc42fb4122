/** Text, safe inside an SVG element or attribute. Control characters, which XML forbids, become a replacement mark. */
export function escaped(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.replace(/[\u0000-\u001f\u007f\ufffe\uffff]|[\ud800-\udfff]/gu, "\ufffd").replace(
    /[&<>"]/g,
    (mark) => ENTITIES[mark] ?? mark,
  );
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** A number as SVG coordinates have it: at most one decimal, without idle zeros. */
export function coordinate(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/** One element: `name`, attributes, and inner text or markup that is already safe. */
export function element(
  name: string,
  attributes: Readonly<Record<string, string | number>>,
  inner?: string,
): string {
  const texts = Object.entries(attributes).map(([key, value]) =>
    ` ${key}="${typeof value === "number" ? coordinate(value) : escaped(value)}"`
  );
  return inner === undefined ? `<${name}${texts.join("")}/>` : `<${name}${texts.join("")}>${inner}</${name}>`;
}

/** A piece of text; `anchor` says which end of it stands at x. */
export function label(
  text: string,
  at: { x: number; y: number; style: string; anchor?: "start" | "middle" | "end" },
): string {
  const anchor = at.anchor === undefined ? {} : { "text-anchor": at.anchor };
  return element("text", { x: at.x, y: at.y, class: at.style, ...anchor }, escaped(text));
}

/**
 * The outline of a staircase: one level per column, each of the same width.
 * @param heights y coordinates, one per column
 */
export function stairs(heights: readonly number[], { left, width }: { left: number; width: number }): string {
  let path = "";
  let previous: string | null = null;
  heights.forEach((height, index) => {
    const y = coordinate(height);
    if (y === previous) return;
    const x = coordinate(left + index * width);
    path += previous === null ? `M${x} ${y}` : `H${x}V${y}`;
    previous = y;
  });
  return `${path}H${coordinate(left + heights.length * width)}`;
}
