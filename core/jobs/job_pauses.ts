import type { Admission } from "../admission.ts";
import { checkedNumber } from "../checked_number.ts";
import type { Clock } from "../clock.ts";
import { checkOpen, untilClosed } from "../closing.ts";
import { UncorrectableError } from "../errors.ts";
import { show } from "../invariant.ts";
import type { Logger } from "../logger.ts";
import type { RetrySignal } from "../models/retry_signal.ts";
import type { JobStop } from "./job_stop.ts";
import { pause } from "./long_timer.ts";

/** How a runner paces jobs that are run again. */
export interface JobPacing {
  readonly maxRetries: number;
  readonly pauseMs: (signal: RetrySignal, reruns: number) => number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly admission: Admission;
}

/** A job between two attempts. */
export interface RetriedJob {
  readonly id: string;
  /** How many times it was run again before. */
  readonly reruns: number;
  readonly stop: JobStop;
}

/** The pauses of a runner's jobs. */
export class JobPauses {
  readonly #pacing: JobPacing;
  #count = 0;

  constructor(pacing: JobPacing) {
    this.#pacing = pacing;
  }

  /** How many jobs pause now. */
  get count(): number {
    return this.#count;
  }

  /**
   * Waits until a job may be run again.
   *
   * @throws when it may not: the reason why it should end, CancellationError once admission was stopped, or UncorrectableError.
   */
  async before(signal: RetrySignal, { id, reruns, stop }: RetriedJob): Promise<void> {
    const { maxRetries, clock, logger, admission } = this.#pacing;
    // Also when time was up while the attempt was cleaned up: that stops the job.
    stop.check();
    checkOpen(admission);
    const summary = signal.failure.summary();
    if (reruns >= maxRetries) {
      throw new UncorrectableError(
        `The upstream still fails, and the job's retry budget of ${maxRetries} is used up: ${summary}`,
        { cause: signal },
      );
    }
    const pauseMs = this.#pauseMs(signal, reruns);
    logger.info(
      `Job ${show(id)} pauses for ${pauseMs} ms and asks anew, retry ${
        reruns + 1
      } of ${maxRetries}: ${summary}`,
      { job: id, retry: reruns + 1, pauseMs, kind: signal.kind },
    );
    this.#count++;
    try {
      await pause(clock, pauseMs, (ended) => stop.follow(untilClosed(admission, ended)));
    } finally {
      this.#count--;
    }
  }

  #pauseMs(signal: RetrySignal, reruns: number): number {
    const answer = checkedNumber(
      "Cannot run a job again: the answer of pauseMs",
      this.#pacing.pauseMs(signal, reruns),
      { least: 0, most: Number.MAX_SAFE_INTEGER, isWhole: false },
    );
    return Math.max(answer, signal.retryAfterMs ?? 0);
  }
}
