/** Where values lie on a chart, and which of them are marked. */
export interface Axis {
  readonly marks: readonly number[];
  /** From 0 at the low end to 1 at the high end. */
  shareOf(value: number): number;
}

/** An axis in powers of ten that holds all values, which must be above 0. */
export function logAxis(values: readonly number[]): Axis {
  const low = Math.floor(Math.log10(Math.min(...values)) + 1e-9);
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values)) - 1e-9));
  return {
    marks: Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index)),
    shareOf: (value) => (Math.log10(value) - low) / (high - low),
  };
}

/** An axis from 0 that holds all values, marked in steps of 1, 2 or 5 times a power of ten. */
export function linearAxis(values: readonly number[]): Axis {
  const most = Math.max(...values);
  if (!(most > 0)) return { marks: [0, 1], shareOf: (value) => value };
  const power = 10 ** Math.floor(Math.log10(most));
  const step = [0.2, 0.5, 1, 2].map((factor) => factor * power).find((candidate) => candidate * 6 >= most)!;
  const end = Math.ceil(most / step - 1e-9) * step;
  return {
    marks: Array.from({ length: Math.round(end / step) + 1 }, (_, index) => index * step),
    shareOf: (value) => value / end,
  };
}
