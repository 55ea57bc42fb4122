import { AdmissionError } from "../errors.ts";
import { show } from "../invariant.ts";

/** A part of a job: `execute` is its own work, the others are verbs of a database provider. */
export type JobPart = "acquire" | "begin" | "execute" | "commit" | "rollback" | "close";

/** What is known of a job whose time was up. */
export interface JobTimeoutFacts {
  /** The id of its context; null when left out. */
  readonly job?: string | null;
  /** Its time limit, ms. */
  readonly timeoutMs: number;
  /** What it was at. */
  readonly part: JobPart;
  /** The name of the database provider that it was at, or null. */
  readonly provider: string | null;
}

/**
 * A job ran longer than its `timeoutMs`. Its handles were closed and its permits given back, by force if need be. Whether a commit
 * that it was at took place is not known. Code `job_timeout`.
 */
export class JobTimeoutError extends AdmissionError implements Required<JobTimeoutFacts> {
  /** The name of the class. */
  override readonly name = "JobTimeoutError";
  /** The id of the job's context, or null where it is not known. */
  readonly job: string | null;
  /** The job's time limit, ms. */
  readonly timeoutMs: number;
  /** What the job was at when its time was up. */
  readonly part: JobPart;
  /** The name of the database provider that it was at, or null. */
  readonly provider: string | null;

  /** The cause is the error that the job was cleaning up after, when there was one. */
  constructor(facts: JobTimeoutFacts, options?: { cause?: unknown }) {
    const { job = null, timeoutMs, part, provider } = facts;
    const where = provider === null ? part : `${part} on provider ${show(provider)}`;
    super(
      "job_timeout",
      `${
        job === null ? "The job" : `Job ${show(job)}`
      } ran longer than its timeoutMs of ${timeoutMs} ms; it was at ${where}`,
      options,
    );
    this.job = job;
    this.timeoutMs = timeoutMs;
    this.part = part;
    this.provider = provider;
  }
}
