import { type Axis, ColumnSampler } from "../replay/columns.ts";
import { Occupancy } from "../replay/occupancy.ts";
import { type Played, SPAN_MS } from "./scenario.ts";

/** What a run of the scenario shows. Columns are averages over time. */
export interface Measured {
  /** Places whose job works: a job that needs its place only, and one of the model. */
  readonly plainAtWork: Float64Array;
  readonly modelAtWork: Float64Array;
  /** Places whose job waits for tokens. */
  readonly hostages: Float64Array;
  /** Jobs that need only a place, and wait. */
  readonly plainWaiting: Float64Array;
  /** The most hostages at any instant. */
  readonly mostHostages: number;
  /** The most jobs at any instant that needed only a place, and waited. */
  readonly mostPlainWaiting: number;
  /** The longest wait of a job that needs only a place, in ms, counted up to the end of the span. */
  readonly longestPlainWaitMs: number;
}

const PLAIN = 0;
const MODEL = 1;
const HOSTAGE = 2;
const WAITING = 3;

/** Measures a run, in columns of the axis, whose ticks are milliseconds here. */
export function measure(jobs: readonly Played[], axis: Axis): Measured {
  const occupancy = new Occupancy(4);
  for (const job of jobs) {
    occupancy.add(job.tokens > 0 ? MODEL : PLAIN, inSpan(job.beginMs), inSpan(job.endMs));
    occupancy.add(HOSTAGE, inSpan(job.placeMs), inSpan(job.beginMs));
    if (job.tokens === 0) occupancy.add(WAITING, job.arrivalMs, inSpan(job.beginMs));
  }
  const samplers = Array.from({ length: 4 }, () => new ColumnSampler(axis));
  occupancy.walk(({ fromTicks, toTicks, counts }) =>
    samplers.forEach((sampler, channel) => sampler.add(fromTicks, toTicks, counts[channel] ?? 0))
  );
  const [plain, model, hostage, waiting] = samplers as [
    ColumnSampler,
    ColumnSampler,
    ColumnSampler,
    ColumnSampler,
  ];
  return {
    plainAtWork: plain.mean,
    modelAtWork: model.mean,
    hostages: hostage.mean,
    plainWaiting: waiting.mean,
    mostHostages: Math.max(...hostage.peak),
    mostPlainWaiting: Math.max(...waiting.peak),
    longestPlainWaitMs: Math.max(
      ...jobs.filter((job) => job.tokens === 0).map((job) => inSpan(job.beginMs) - job.arrivalMs),
    ),
  };
}

function inSpan(ms: number): number {
  return Math.min(ms, SPAN_MS);
}
