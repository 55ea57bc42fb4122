import type { Runtime } from "./options.ts";
import { type Task, titleOf } from "./plan.ts";
import { type Spread, spreadOf } from "./statistics.ts";
import type { Reading } from "./workload.ts";

/** One line of the JSON that the bench writes. */
export interface Figure extends Spread {
  readonly runtime: Runtime;
  /** The workload, with its size where it has one: `drain/10000`. */
  readonly workload: string;
  readonly contender: string;
  readonly metric: string;
  /** Figures are costs, unless this ends in `/s` or is `ratio`. */
  readonly unit: string;
}

/** The readings of all rounds, by task. */
export type Readings = ReadonlyMap<Task, readonly Reading[]>;

/**
 * Median and extremes of every metric of every task, over its rounds.
 * @throws Error when a reading lacks a metric or is no sane number.
 */
export function figuresOf(readings: Readings): Figure[] {
  return [...readings].filter(([, rounds]) => rounds.length > 0).flatMap(([task, rounds]) =>
    Object.entries(task.workload.units).map(([metric, unit]) => ({
      runtime: task.runtime,
      workload: titleOf(task.workload.name, task.size),
      contender: task.contender,
      metric,
      unit,
      ...spreadOf(rounds.map((reading) => reading[metric]!)),
    }))
  );
}

/** What is wrong with a reading, or null. */
export function faultOf(reading: Reading, units: Readonly<Record<string, string>>): string | null {
  for (const metric of Object.keys(units)) {
    const value = reading[metric];
    if (typeof value !== "number" || !Number.isFinite(value)) {
      return `${metric} is ${value}, it should be a number`;
    }
    if (value < 0 && units[metric] !== "B") return `${metric} is ${value}, it should be 0 or more`;
    if (value === 0 && units[metric] === "ns") return `${metric} is 0, it should be more`;
  }
  return null;
}

/** Whether more of this unit is better. */
export function isGain(unit: string): boolean {
  return unit === "ratio" || unit.endsWith("/s");
}
