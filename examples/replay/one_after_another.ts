import { EventHeap } from "./event_heap.ts";
import { ExactBucket } from "./exact_bucket.ts";
import { FifoLine } from "./fifo_line.ts";
import type { Replay, SteppingJob } from "./job.ts";
import { serviceTicks } from "./service_time.ts";
import { arrivalTicksOf, tokensOf, type TraceRow } from "./trace.ts";

/**
 * The baseline: the same traffic where each job takes what it needs one after another, as code with plain semaphores
 * does. First an HTTP place, then tokens and a request of the quota, then a database permit; each resource has a fair
 * first-in-first-out line of its own, and what a job has it keeps while it waits for the next. A request that can never
 * have its tokens learns so when it asks for them, and gives its place back.
 *
 * It is a discrete-event simulation on the same virtual clock and with the same service times as the replay through
 * Sluice. At one instant, releases come before arrivals, and those in file order.
 * @returns one record per request, in file order
 */
export function runOneAfterAnother(replay: Replay): SteppingJob[] {
  return new Simulation(replay).run();
}

interface Stepping {
  readonly row: TraceRow;
  readonly arrivalTicks: number;
  httpTicks: number;
  tokensTicks: number | null;
  dbTicks: number | null;
  releasedTicks: number;
}

class Simulation {
  readonly #jobs: Stepping[];
  readonly #endings = new EventHeap<Stepping>();
  readonly #httpLine = new FifoLine<Stepping>();
  readonly #tokenLine = new FifoLine<Stepping>();
  readonly #dbLine = new FifoLine<Stepping>();
  readonly #tokenBucket: ExactBucket;
  readonly #requestBucket: ExactBucket;
  #httpFree: number;
  #dbFree: number;
  #quotaTicks = Infinity;

  constructor({ trace, limits }: Replay) {
    this.#jobs = trace.rows.map((row) => ({
      row,
      arrivalTicks: arrivalTicksOf(row),
      httpTicks: 0,
      tokensTicks: null,
      dbTicks: null,
      releasedTicks: 0,
    }));
    this.#tokenBucket = new ExactBucket(limits.tpm);
    this.#requestBucket = new ExactBucket(limits.rpm);
    this.#httpFree = limits.http;
    this.#dbFree = limits.db;
  }

  run(): SteppingJob[] {
    let arrived = 0;
    while (true) {
      const arrivalTicks = this.#jobs[arrived]?.arrivalTicks ?? Infinity;
      const now = Math.min(arrivalTicks, this.#endings.nextTicks, this.#quotaTicks);
      if (now === Infinity) return this.#jobs;
      while (this.#endings.nextTicks === now) this.#end();
      for (let job = this.#jobs[arrived]; job?.arrivalTicks === now; job = this.#jobs[++arrived]) {
        this.#httpLine.push(job);
      }
      this.#moveOn(now);
    }
  }

  #end(): void {
    this.#endings.pop();
    this.#httpFree += 1;
    this.#dbFree += 1;
  }

  /** Lets everybody take the steps that can be taken now; a refusal frees an HTTP place, so look until nothing moves. */
  #moveOn(now: number): void {
    let hasRefused = true;
    while (hasRefused) {
      this.#takeHttp(now);
      hasRefused = this.#takeTokens(now);
    }
    this.#takeDb(now);
  }

  #takeHttp(now: number): void {
    while (this.#httpFree > 0) {
      const job = this.#httpLine.shift();
      if (job === null) return;
      this.#httpFree -= 1;
      job.httpTicks = now;
      this.#tokenLine.push(job);
    }
  }

  #takeTokens(now: number): boolean {
    let hasRefused = false;
    this.#quotaTicks = Infinity;
    for (let job = this.#tokenLine.head; job !== null; job = this.#tokenLine.head) {
      const tokens = tokensOf(job.row);
      const readyTicks = Math.max(
        this.#tokenBucket.readyTicks(now, tokens),
        this.#requestBucket.readyTicks(now, 1),
      );
      if (readyTicks > now && readyTicks < Infinity) {
        this.#quotaTicks = readyTicks;
        break;
      }
      this.#tokenLine.shift();
      if (readyTicks === Infinity) {
        job.releasedTicks = now;
        this.#httpFree += 1;
        hasRefused = true;
        continue;
      }
      this.#tokenBucket.take(now, tokens);
      this.#requestBucket.take(now, 1);
      job.tokensTicks = now;
      this.#dbLine.push(job);
    }
    return hasRefused;
  }

  #takeDb(now: number): void {
    while (this.#dbFree > 0) {
      const job = this.#dbLine.shift();
      if (job === null) return;
      this.#dbFree -= 1;
      job.dbTicks = now;
      job.releasedTicks = now + serviceTicks(job.row);
      this.#endings.push(job.releasedTicks, job);
    }
  }
}
