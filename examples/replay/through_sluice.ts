import {
  Admission,
  CountingGate,
  Demand,
  type Grant,
  TokenBucketRateLimiter,
  UncorrectableError,
} from "../../mod.ts";
import { ManualClock } from "../../testing/mod.ts";
import { EventHeap } from "./event_heap.ts";
import { ACCOUNT_NAMES, type Job, type Progress, type Replay } from "./job.ts";
import { serviceTicks } from "./service_time.ts";
import { arrivalTicksOf, TICKS_PER_MS, tokensOf, type TraceRow } from "./trace.ts";

/** A replay through Sluice. */
export interface SluiceRun {
  /** One record per request, in file order. */
  readonly jobs: readonly Job[];
  /** The most waiters the Admission had at the end of any instant. */
  readonly longestLine: number;
  /** The most places of the HTTP gate that were in use. */
  readonly httpPeak: number;
  /** The most database permits that were in use. */
  readonly dbPeak: number;
}

/**
 * Sends the traffic through a real Admission on a virtual clock. Each request is a job that demands its tokens of the
 * model's bucket, one HTTP place and one database permit in one step, and holds them for its service time. At one
 * instant, releases come before arrivals, and those in file order; a grant is timed in the continuation of `admit`.
 */
export function runThroughSluice(replay: Replay, onProgress: Progress = () => {}): Promise<SluiceRun> {
  return new Run(replay, onProgress).run();
}

interface Passage {
  readonly row: TraceRow;
  readonly arrivalTicks: number;
  readonly tokens: number;
  grant: Grant | null;
  grantedTicks: number | null;
  releasedTicks: number | null;
  refused: string | null;
  waits: ReadonlyMap<string, number>;
}

const NO_WAITS: ReadonlyMap<string, number> = new Map();

class Run {
  readonly #clock = new ManualClock();
  readonly #admission = new Admission({ memory: null, clock: this.#clock }).start();
  readonly #model: TokenBucketRateLimiter;
  readonly #http: CountingGate;
  readonly #db: CountingGate;
  readonly #jobs: readonly Passage[];
  readonly #endings = new EventHeap<Passage>();
  readonly #onProgress: Progress;
  #done = 0;
  #longestLine = 0;
  #httpPeak = 0;
  #dbPeak = 0;
  #failure: unknown = null;

  constructor({ trace, limits }: Replay, onProgress: Progress) {
    const [model, http, db] = ACCOUNT_NAMES;
    this.#model = new TokenBucketRateLimiter(model, { tpm: limits.tpm, rpm: limits.rpm, clock: this.#clock });
    this.#http = new CountingGate(http, limits.http);
    this.#db = new CountingGate(db, limits.db);
    this.#onProgress = onProgress;
    this.#jobs = trace.rows.map((row) => ({
      row,
      arrivalTicks: arrivalTicksOf(row),
      tokens: tokensOf(row),
      grant: null,
      grantedTicks: null,
      releasedTicks: null,
      refused: null,
      waits: NO_WAITS,
    }));
  }

  async run(): Promise<SluiceRun> {
    let arrived = 0;
    let now = -1;
    while (this.#done < this.#jobs.length) {
      now = this.#nextTicks(now, this.#jobs[arrived]?.arrivalTicks ?? Infinity);
      await this.#clock.advanceTo(now / TICKS_PER_MS);
      while (this.#endings.nextTicks === now) this.#end();
      for (let job = this.#jobs[arrived]; job?.arrivalTicks === now; job = this.#jobs[++arrived]) {
        this.#arrive(job);
      }
      await this.#clock.advanceTo(now / TICKS_PER_MS);
      if (this.#failure !== null) throw this.#failure;
      this.#lookAround();
    }
    this.#admission.stop();
    return {
      jobs: this.#jobs,
      longestLine: this.#longestLine,
      httpPeak: this.#httpPeak,
      dbPeak: this.#dbPeak,
    };
  }

  /**
   * The next instant at which anything happens: an arrival, an ending, or the Admission's own timer. All that was due
   * by the previous instant has happened, so it is later than that.
   */
  #nextTicks(previousTicks: number, arrivalTicks: number): number {
    const timerTicks = Math.max(
      previousTicks + 1,
      Math.round((this.#clock.nextTimerMs ?? Infinity) * TICKS_PER_MS),
    );
    const next = Math.min(arrivalTicks, this.#endings.nextTicks, timerTicks);
    if (next < Infinity) return next;
    throw new Error(`${this.#jobs.length - this.#done} jobs wait, and nothing will ever happen again`);
  }

  #arrive(job: Passage): void {
    const demand = new Demand().add(this.#model, job.tokens).add(this.#http).add(this.#db);
    this.#admission.admit(demand).then(
      (grant) => this.#begin(job, grant),
      (reason) => this.#refuse(job, reason),
    );
  }

  #begin(job: Passage, grant: Grant): void {
    const now = Math.round(this.#clock.now() * TICKS_PER_MS);
    job.grant = grant;
    job.grantedTicks = now;
    job.releasedTicks = now + serviceTicks(job.row);
    job.waits = grant.waitTimesMs;
    this.#endings.push(job.releasedTicks, job);
  }

  #refuse(job: Passage, reason: unknown): void {
    if (!(reason instanceof UncorrectableError)) this.#failure = reason;
    else job.refused = reason.message;
    this.#tellProgress();
  }

  #end(): void {
    const job = this.#endings.pop();
    if (job === null || job.grant === null) return;
    this.#admission.release(job.grant);
    job.grant = null;
    this.#tellProgress();
  }

  #tellProgress(): void {
    this.#done += 1;
    this.#onProgress(this.#done);
  }

  /** Notes the peaks, and makes sure of the promise that the report rests on: who waits holds nothing. */
  #lookAround(): void {
    const atWork = this.#endings.size;
    if (this.#http.currentInUse !== atWork || this.#db.currentInUse !== atWork) {
      const held = `${this.#http.currentInUse} HTTP places and ${this.#db.currentInUse} database permits`;
      throw new Error(`${held} are in use while ${atWork} jobs are at work`);
    }
    this.#longestLine = Math.max(this.#longestLine, this.#admission.queueSize);
    this.#httpPeak = Math.max(this.#httpPeak, this.#http.currentInUse);
    this.#dbPeak = Math.max(this.#dbPeak, this.#db.currentInUse);
  }
}
