/** The middle of some figures; between two middles, their mean. NaN of none. */
export function median(figures: readonly number[]): number {
  return quantile(figures, 0.5);
}

/** The figure below which that share (0 to 1) of the figures lies, interpolated between neighbours. NaN of none. */
export function quantile(figures: readonly number[], share: number): number {
  const sorted = [...figures].sort((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const below = sorted[Math.floor(at)];
  const above = sorted[Math.ceil(at)];
  if (below === undefined || above === undefined) return NaN;
  return below + (above - below) * (at - Math.floor(at));
}

/** Median and extremes of one metric over all rounds. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** What several rounds of one figure come to. */
export function spreadOf(figures: readonly number[]): Spread {
  return { median: median(figures), min: Math.min(...figures), max: Math.max(...figures) };
}
