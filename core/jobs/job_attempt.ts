import { type Clock, toTicks, wholeMs } from "../clock.ts";
import { UncorrectableError } from "../errors.ts";
import { messageOf } from "../faults.ts";
import { demandOf, type Grant } from "../grant.ts";
import { dropFaults, type Logger } from "../logger.ts";
import { RetrySignal } from "../models/retry_signal.ts";
import { runNested } from "../nesting.ts";
import { type Audience, tellFailure, tellSuccess } from "../run.ts";
import { recordWait } from "./admission_waits.ts";
import { JobCourse } from "./job_course.ts";
import { JobHandles } from "./job_handles.ts";
import { type JobParts, JobScope } from "./job_scope.ts";
import { JobTimeoutError } from "./job_timeout_error.ts";
import { setLongTimer, settlesWithin } from "./long_timer.ts";
import { attachSuppressed } from "./suppressed.ts";

/** What a job does. */
export type JobWork<R> = (scope: JobScope) => R | PromiseLike<R>;

/** What an attempt needs beside its job. */
export interface AttemptTools {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How an attempt starts. */
export interface AttemptStart {
  /** 1, and one more for each re-run. */
  readonly attempt: number;
  /** The clock before `admit` was called, ms. */
  readonly askedAt: number;
}

const GRACE_PART = 0.1;
const LEAST_GRACE_MS = 500;
const MOST_GRACE_MS = 30_000;

/**
 * One attempt of a job, from its grant to the end of all that it holds. Either it ends by itself, or its time is up: then it is
 * cut off, does nothing more, and whoever cut it off closes and settles. So each is done once.
 */
export class JobAttempt<R> {
  readonly #job: JobParts;
  readonly #grant: Grant;
  readonly #tools: AttemptTools;
  readonly #course: JobCourse;
  readonly #handles: JobHandles;
  readonly #audience: Audience;
  #isStarted = false;
  #failure: unknown = undefined;
  #retrySignal: RetrySignal | null = null;

  constructor(job: JobParts, grant: Grant, tools: AttemptTools) {
    this.#job = job;
    this.#grant = grant;
    this.#tools = tools;
    this.#course = new JobCourse(job.context.id, tools.logger);
    this.#handles = new JobHandles(this.#course);
    const { limiters, included } = job.declared;
    const only = new Set([...limiters, ...included].map(({ limiter }) => limiter));
    this.#audience = { demand: demandOf(grant), logger: tools.logger, only };
  }

  /** What the work threw when the job is to be run again, else null. */
  get retrySignal(): RetrySignal | null {
    return this.#retrySignal;
  }

  /** Everything is closed and the grant is settled when the promise settles, whatever happened. */
  run(work: JobWork<R>, start: AttemptStart): Promise<R> {
    const { timeoutMs } = this.#job.declared;
    const course = this.#go(work, start);
    if (timeoutMs === null) return course;
    return new Promise((resolve, reject) => {
      const timer = setLongTimer(this.#tools.clock, timeoutMs, () => {
        this.#cutOff(timeoutMs, course).then(reject, reject);
      });
      const end = <V>(settle: (value: V) => void) => (value: V) => {
        timer.cancel();
        if (!this.#course.isCutOff) settle(value);
      };
      course.then(end(resolve), end(reject));
    });
  }

  async #go(work: JobWork<R>, { attempt, askedAt }: AttemptStart): Promise<R> {
    let result: R;
    try {
      await this.#open(askedAt);
      result = await this.#execute(work, attempt);
      await this.#handles.commitAll();
    } catch (error) {
      this.#course.check();
      this.#failure = error;
      await this.#giveUp();
      attachSuppressed(error, this.#course.faults);
      throw error;
    }
    await this.#close(false);
    const { faults } = this.#course;
    if (faults.length > 0) throw unclosed(faults);
    return result;
  }

  async #open(askedAt: number): Promise<void> {
    const { context, stop, declared } = this.#job;
    const wallMs = wholeMs(toTicks(this.#tools.clock.now()) - toTicks(askedAt));
    recordWait(context, { wallMs, waitTimesMs: this.#grant.waitTimesMs });
    await this.#handles.acquireAll(declared.databases, stop);
    await this.#handles.beginAll(stop);
    stop.check();
  }

  async #execute(work: JobWork<R>, attempt: number): Promise<R> {
    const scope = new JobScope(this.#job, { grant: this.#grant, attempt, handles: this.#handles });
    this.#course.enter("execute", null);
    this.#isStarted = true;
    let result: R;
    try {
      result = await runNested(this.#audience.demand, this.#grant, () => work(scope)) as R;
    } catch (error) {
      this.#course.check();
      if (error instanceof RetrySignal) this.#retrySignal = error;
      tellFailure(this.#audience, error);
      throw error;
    }
    this.#course.check();
    tellSuccess(this.#audience);
    return result;
  }

  /** Undoes what an attempt did that failed. */
  async #giveUp(): Promise<void> {
    await this.#handles.rollbackAll();
    await this.#close(!this.#isStarted);
  }

  async #close(isReversed: boolean): Promise<void> {
    await this.#handles.close(isReversed);
    // Cut off, it ended because of an abort, and others may still be closing.
    this.#course.check();
    this.#settle();
  }

  /** An attempt whose work never began spent nothing upstream, so metered amounts come back as well. */
  #settle(): void {
    try {
      if (this.#isStarted) this.#grant.release();
      else this.#grant.rollback();
    } catch (fault) {
      this.#course.note(fault);
    }
  }

  /** Time is up: asks everybody to end, waits for a grace, and then ends what is left by force. Answers how the job ended. */
  async #cutOff(timeoutMs: number, course: Promise<R>): Promise<JobTimeoutError> {
    const { context, stop } = this.#job;
    const { clock } = this.#tools;
    const { part, provider } = this.#course;
    const cause = this.#failure === undefined ? undefined : { cause: this.#failure };
    const error = new JobTimeoutError({ job: context.id, timeoutMs, part, provider }, cause);
    this.#course.cutOff();
    stop.stop(error);
    dropFaults(() => context.signalTimeout());
    const graceMs = Math.min(Math.max(timeoutMs * GRACE_PART, LEAST_GRACE_MS), MOST_GRACE_MS);
    const ended = Promise.allSettled([course, this.#handles.close(false)]);
    if (!await settlesWithin(clock, graceMs, ended)) {
      await settlesWithin(clock, graceMs, this.#handles.forceClose());
    }
    this.#settle();
    attachSuppressed(error, this.#course.faults);
    return error;
  }
}

function unclosed(faults: readonly unknown[]): UncorrectableError {
  const cause = faults.length === 1
    ? faults[0]
    : new AggregateError(faults, faults.map(messageOf).join("; "));
  return new UncorrectableError(
    `The job's work is done, but what it held could not be closed whole: ${messageOf(cause)}`,
    { cause },
  );
}
