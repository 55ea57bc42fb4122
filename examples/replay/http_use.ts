import { type Axis, type Columns, ColumnSampler } from "./columns.ts";
import type { Job, SteppingJob } from "./job.ts";
import type { Limits } from "./limits.ts";
import { Occupancy } from "./occupancy.ts";
import { TICKS_PER_SECOND } from "./trace.ts";

/** One quantity over a whole run. */
export interface Load {
  readonly peak: number;
  /** The average over time, from the first arrival to the last release. */
  readonly average: number;
  /** The sum over time, in seconds: place-seconds for places. */
  readonly seconds: number;
  readonly columns: Columns;
}

/** How the line and the HTTP pool fared over a run. */
export interface HttpUse {
  /** Jobs that have come and do not work yet, wherever they wait. */
  readonly waiting: Load;
  /** HTTP places whose job has everything it needs. */
  readonly working: Load;
  /** HTTP places whose job waits for tokens of the quota. */
  readonly hostageToTokens: Load;
  /** HTTP places whose job waits for a database permit. */
  readonly hostageToDb: Load;
  /** Seconds in which every place was taken, and at least one by a job that waited for tokens. */
  readonly blockedSeconds: number;
}

/** What is measured, and over which time. */
export interface Measure {
  readonly axis: Axis;
  readonly limits: Limits;
}

/** Measures a run through Sluice, where a job that waits holds nothing. */
export function httpUseOfSluice(jobs: readonly Job[], measure: Measure): HttpUse {
  const occupancy = new Occupancy(CHANNEL_COUNT);
  for (const job of jobs) {
    if (job.grantedTicks === null || job.releasedTicks === null) continue;
    occupancy.add(WAITING, job.arrivalTicks, job.grantedTicks);
    occupancy.add(WORKING, job.grantedTicks, job.releasedTicks);
  }
  return measureOccupancy(occupancy, measure);
}

/** Measures a run that took its resources one after another. */
export function httpUseOfStepping(jobs: readonly SteppingJob[], measure: Measure): HttpUse {
  const occupancy = new Occupancy(CHANNEL_COUNT);
  for (const job of jobs) {
    const tokensTicks = job.tokensTicks ?? job.releasedTicks;
    const dbTicks = job.dbTicks ?? job.releasedTicks;
    occupancy.add(WAITING, job.arrivalTicks, dbTicks);
    occupancy.add(TO_TOKENS, job.httpTicks, tokensTicks);
    occupancy.add(TO_DB, tokensTicks, dbTicks);
    occupancy.add(WORKING, dbTicks, job.releasedTicks);
  }
  return measureOccupancy(occupancy, measure);
}

const WAITING = 0;
const WORKING = 1;
const TO_TOKENS = 2;
const TO_DB = 3;
const CHANNEL_COUNT = 4;

function measureOccupancy(occupancy: Occupancy, { axis, limits }: Measure): HttpUse {
  const meters = Array.from({ length: CHANNEL_COUNT }, () => new Meter(axis));
  let blockedTicks = 0;
  occupancy.walk(({ fromTicks, toTicks, counts }) => {
    meters.forEach((meter, channel) => meter.add(fromTicks, toTicks, counts[channel] ?? 0));
    const [, working = 0, toTokens = 0, toDb = 0] = counts;
    if (toTokens > 0 && working + toTokens + toDb >= limits.http) blockedTicks += toTicks - fromTicks;
  });
  const [waiting, working, hostageToTokens, hostageToDb] = meters.map((meter) => meter.load());
  if (!waiting || !working || !hostageToTokens || !hostageToDb) throw new Error("a channel has no meter");
  return { waiting, working, hostageToTokens, hostageToDb, blockedSeconds: blockedTicks / TICKS_PER_SECOND };
}

class Meter {
  readonly #axis: Axis;
  readonly #columns: ColumnSampler;
  #peak = 0;
  #sumTicks = 0;

  constructor(axis: Axis) {
    this.#axis = axis;
    this.#columns = new ColumnSampler(axis);
  }

  add(fromTicks: number, toTicks: number, count: number): void {
    if (count === 0) return;
    this.#peak = Math.max(this.#peak, count);
    this.#sumTicks += count * (toTicks - fromTicks);
    this.#columns.add(fromTicks, toTicks, count);
  }

  load(): Load {
    return {
      peak: this.#peak,
      average: this.#sumTicks / this.#axis.endTicks,
      seconds: this.#sumTicks / TICKS_PER_SECOND,
      columns: this.#columns,
    };
  }
}
