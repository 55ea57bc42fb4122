import type { Axis } from "./columns.ts";
import { type HttpUse, httpUseOfSluice, httpUseOfStepping } from "./http_use.ts";
import { ACCOUNT_NAMES, type Job, type Replay, type SteppingJob } from "./job.ts";
import { type QuotaUse, quotaUse, type Take } from "./quota_use.ts";
import { TICKS_PER_MS } from "./trace.ts";
import { summariseWaits, type WaitSummary } from "./waits.ts";

/** How one way of taking resources fared. */
export interface SideSummary {
  readonly grantedAtOnce: number;
  readonly refused: number;
  /** From arrival until the job had everything it needs. */
  readonly wait: WaitSummary;
  /** The wait on each account, in the order the accounts are taken. */
  readonly waitsOn: ReadonlyMap<string, WaitSummary>;
  readonly http: HttpUse;
}

/** What the table and the plot show. */
export interface Summary {
  readonly axis: Axis;
  readonly sluice: SideSummary;
  readonly stepping: SideSummary;
  readonly tokens: QuotaUse;
  readonly requests: QuotaUse;
}

/** Boils both runs of a replay down to numbers and curves. */
export function summarise(
  replay: Replay,
  runs: { sluice: readonly Job[]; stepping: readonly SteppingJob[]; columnCount: number },
): Summary {
  const axis = { endTicks: lastRelease(runs.sluice, runs.stepping), columnCount: runs.columnCount };
  const measure = { axis, limits: replay.limits };
  return {
    axis,
    sluice: { ...sideOfSluice(runs.sluice), http: httpUseOfSluice(runs.sluice, measure) },
    stepping: { ...sideOfStepping(runs.stepping), http: httpUseOfStepping(runs.stepping, measure) },
    tokens: quotaUse(takesOf(runs.sluice, (job) => job.tokens), { cap: replay.limits.tpm, axis }),
    requests: quotaUse(takesOf(runs.sluice, () => 1), { cap: replay.limits.rpm, axis }),
  };
}

function lastRelease(sluice: readonly Job[], stepping: readonly SteppingJob[]): number {
  let last = 1;
  for (const job of sluice) last = Math.max(last, job.releasedTicks ?? 0);
  for (const job of stepping) last = Math.max(last, job.releasedTicks);
  return last;
}

function sideOfSluice(jobs: readonly Job[]): Omit<SideSummary, "http"> {
  const granted = jobs.filter((job) => job.grantedTicks !== null);
  return {
    ...countsOf(jobs.length, granted.map((job) => waitMs(job.arrivalTicks, job.grantedTicks))),
    waitsOn: new Map(
      ACCOUNT_NAMES.map((name) => [name, summariseWaits(granted.map((job) => job.waits.get(name) ?? null))]),
    ),
  };
}

function sideOfStepping(jobs: readonly SteppingJob[]): Omit<SideSummary, "http"> {
  const granted = jobs.filter((job) => job.dbTicks !== null);
  return {
    ...countsOf(jobs.length, granted.map((job) => waitMs(job.arrivalTicks, job.dbTicks))),
    waitsOn: new Map([
      ["http", summariseWaits(granted.map((job) => waitMs(job.arrivalTicks, job.httpTicks)))],
      ["model", summariseWaits(granted.map((job) => waitMs(job.httpTicks, job.tokensTicks)))],
      ["db", summariseWaits(granted.map((job) => waitMs(job.tokensTicks, job.dbTicks)))],
    ]),
  };
}

function countsOf(
  jobCount: number,
  waitsMs: readonly (number | null)[],
): Omit<SideSummary, "http" | "waitsOn"> {
  const wait = summariseWaits(waitsMs);
  return { grantedAtOnce: waitsMs.length - wait.waited, refused: jobCount - waitsMs.length, wait };
}

/** Milliseconds between two instants, null when there are none. */
function waitMs(fromTicks: number | null, toTicks: number | null): number | null {
  const ticks = (toTicks ?? 0) - (fromTicks ?? 0);
  return ticks > 0 ? ticks / TICKS_PER_MS : null;
}

function takesOf(jobs: readonly Job[], amountOf: (job: Job) => number): Take[] {
  const takes: Take[] = [];
  for (const job of jobs) {
    if (job.grantedTicks !== null) takes.push({ ticks: job.grantedTicks, amount: amountOf(job) });
  }
  return takes.sort((a, b) => a.ticks - b.ticks);
}
