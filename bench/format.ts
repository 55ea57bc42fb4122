/** A figure in a unit that suits its size, with three significant digits: `61.2 ns`, `3.41 ms`, `0.984`. */
export function shown(value: number, unit: string): string {
  if (unit === "ratio") return value.toFixed(3);
  const steps = STEPS[unit] ?? [[1, unit]];
  const [factor, name] = steps.find(([factor]) => Math.abs(value) >= factor) ?? steps.at(-1)!;
  return `${digits(value / factor)} ${name}`;
}

/** A round figure on an axis, without idle zeros: `10 ns`. */
export function shownMark(value: number, unit: string): string {
  return shown(value, unit).replace(/\.0+(?=$| )|(\.\d*[1-9])0+(?=$| )/, "$1");
}

type Step = readonly [factor: number, name: string];

const STEPS: Readonly<Record<string, readonly Step[]>> = {
  "ns": [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]],
  "us": [[1e6, "s"], [1e3, "ms"], [1, "us"]],
  "ms": [[1e3, "s"], [1, "ms"], [1e-3, "us"]],
  "B": [[1e6, "MB"], [1e4, "kB"], [1, "B"]],
  "waiters": [[1e6, "M"], [1e3, "k"], [1, ""]],
  "jobs/s": [[1e6, "M jobs/s"], [1e3, "k jobs/s"], [1, "jobs/s"]],
};

/** Three significant digits, never in powers of ten. */
export function digits(value: number): string {
  const size = Math.abs(value);
  if (size >= 100 || value === 0) return String(Math.round(value));
  return value.toFixed(size >= 10 ? 1 : 2);
}

/** A table for a terminal: the first column from the left, the others from the right. */
export function textTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? "").length))
  );
  return rows.map((row) =>
    `  ${
      row.map((cell, column) => column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!)).join(
        "  ",
      )
    }`
      .trimEnd()
  ).join("\n");
}

/** The same table in Markdown; the first row is its head. */
export function markdownTable(rows: readonly (readonly string[])[]): string {
  const [head = [], ...body] = rows.map((row) => row.map((cell) => cell.replaceAll("|", "\\|")));
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const rule = head.map((_, column) => column === 0 ? "---" : "---:");
  return [line(head), line(rule), ...body.map(line)].join("\n");
}
