import { Demand, TokenBucketRateLimiter } from "../../mod.ts";
import { ManualClock } from "../../testing/mod.ts";

/** Places in the HTTP pool that all jobs share. */
export const PLACES = 8;
/** Tokens a minute of the one model: a full bucket, and 400 more each second. */
export const TPM = 24_000;
/** What is looked at, in ms. Jobs come during all of it. */
export const SPAN_MS = 60_000;

const MODEL_JOBS = { atMs: 10_000, count: 40, tokens: 1_000, workMs: 1_000 };
const PLAIN_JOBS = { everyMs: 100, workMs: 200 };

/** A job of the scenario. All need a place; those of the model need tokens as well. */
export interface Job {
  readonly arrivalMs: number;
  /** 0 for a job that needs its place only. */
  readonly tokens: number;
  readonly workMs: number;
}

/** What became of a job, in ms; Infinity for what has not happened when the span is over. */
export interface Played extends Job {
  placeMs: number;
  beginMs: number;
  endMs: number;
}

/** What a way of admitting jobs shares with the scenario. */
export interface World {
  readonly clock: ManualClock;
  readonly model: TokenBucketRateLimiter;
}

/** A way of admitting: runs one job, telling when it has its place (`hasPlace`) and when it has everything (`work`). */
export type Way = (world: World) => (job: Job, steps: Steps) => Promise<void>;

/** What a job tells of itself. */
export interface Steps {
  readonly hasPlace: () => void;
  /** Works; call it when the job has all that it needs. */
  readonly work: () => Promise<void>;
}

/** A demand for a job's tokens. */
export function tokensOf(job: Job, { model }: World): Demand {
  return job.tokens > 0 ? new Demand().add(model, job.tokens) : new Demand();
}

/**
 * Plays the scenario: every 100 ms a job that needs only a place, for 200 ms; and after ten seconds forty jobs at once that
 * need a place and 1,000 tokens each, for a second. It runs on a ManualClock, so it is over soon and always the same.
 *
 * @returns what became of each job, in order of arrival.
 */
export async function play(way: Way): Promise<Played[]> {
  const clock = new ManualClock();
  const run = way({ clock, model: new TokenBucketRateLimiter("model", { tpm: TPM, rpm: 600, clock }) });
  const jobs = makeJobs().map((job) => ({ ...job, placeMs: Infinity, beginMs: Infinity, endMs: Infinity }));
  let failure: unknown = null;
  for (const job of jobs) {
    const steps = stepsOf(job, clock);
    clock.setTimer(job.arrivalMs, () => void run(job, steps).catch((error: unknown) => failure = error));
  }
  await clock.advance(SPAN_MS);
  if (failure !== null) throw failure;
  return jobs;
}

function makeJobs(): Job[] {
  const plain = Array.from({ length: SPAN_MS / PLAIN_JOBS.everyMs }, (_, index) => ({
    arrivalMs: index * PLAIN_JOBS.everyMs,
    tokens: 0,
    workMs: PLAIN_JOBS.workMs,
  }));
  const burst = Array.from({ length: MODEL_JOBS.count }, () => ({
    arrivalMs: MODEL_JOBS.atMs,
    tokens: MODEL_JOBS.tokens,
    workMs: MODEL_JOBS.workMs,
  }));
  return [...plain, ...burst].sort((one, other) => one.arrivalMs - other.arrivalMs);
}

function stepsOf(job: Played, clock: ManualClock): Steps {
  return {
    hasPlace: () => job.placeMs = clock.now(),
    work: async () => {
      job.beginMs = clock.now();
      await new Promise<void>((resolve) => clock.setTimer(job.workMs, resolve));
      job.endMs = clock.now();
    },
  };
}
