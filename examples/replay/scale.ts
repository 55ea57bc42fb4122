/** Round values to mark on an axis. */
export interface Marks {
  readonly values: readonly number[];
  /** The distance between two of them. */
  readonly step: number;
}

/**
 * Marks from 0 to `end`, at most `most` steps apart, the step being 1, 2 or 5 times a power of ten.
 * @param smallestStep the smallest step that makes sense: 1 for counts
 */
export function roundMarks(
  end: number,
  { most, smallestStep }: { most: number; smallestStep: number },
): Marks {
  let power = smallestStep;
  while (power * 10 * most < end) power *= 10;
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate * most >= end) ??
    end;
  return { values: marksUpTo(end, step), step };
}

/** A unit of the time axis. */
export interface TimeUnit {
  readonly name: string;
  readonly ticks: number;
}

/** Marks for an axis of time, in the unit that suits its length; their values are in that unit. */
export function timeMarks(endTicks: number, most: number): Marks & { readonly unit: TimeUnit } {
  const [first, ...others] = TIME_UNITS;
  let unit = first;
  for (const candidate of others) if (endTicks >= 3 * candidate.ticks) unit = candidate;
  return { ...roundMarks(endTicks / unit.ticks, { most, smallestStep: 1 }), unit };
}

const TIME_UNITS: readonly [TimeUnit, ...TimeUnit[]] = [
  { name: "milliseconds", ticks: 1_000 },
  { name: "seconds", ticks: 1_000_000 },
  { name: "minutes", ticks: 60_000_000 },
  { name: "hours", ticks: 3_600_000_000 },
  { name: "days", ticks: 86_400_000_000 },
];

function marksUpTo(end: number, step: number): number[] {
  return Array.from({ length: Math.floor(end / step) + 1 }, (_, index) => index * step);
}
