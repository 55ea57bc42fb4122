import { AdmissionError } from "../errors.ts";
import { show } from "../invariant.ts";
import { UpstreamFailure } from "./upstream_failure.ts";

/** Why an upstream is asked again later: it said 429, it is overloaded (529), or a fault that may pass by itself. */
export type RetryKind = "RATE_LIMIT" | "OVERLOAD" | "TRANSIENT";

/** Whole milliseconds between which the first pause lies. */
export interface PacingWindow {
  /** The begin, which belongs to it. */
  readonly minMs: number;
  /** The end, which does not. */
  readonly maxMs: number;
}

interface Pacing extends PacingWindow {
  /** How many slow-downs it is worth to the bucket of its model. */
  readonly weight: number;
}

const PACING: Readonly<Record<RetryKind, Pacing>> = {
  RATE_LIMIT: { weight: 1, minMs: 5_000, maxMs: 30_000 },
  OVERLOAD: { weight: 3, minMs: 15_000, maxMs: 90_000 },
  TRANSIENT: { weight: 0, minMs: 5_000, maxMs: 30_000 },
};

/** Longest wait that is carried, so that sums stay exact: 31,000 years. */
const MOST_RETRY_AFTER_MS = 1e15;

/**
 * The job is to be run again after a pause (`retryDelayMs`), without its author hearing of it. There are these three kinds and
 * no others. Code `retry_signal`.
 */
export class RetrySignal extends AdmissionError {
  /** The name of the class. */
  override readonly name = "RetrySignal";
  /** Why. */
  readonly kind: RetryKind;
  /** Slow-downs for the model's bucket: 1 for RATE_LIMIT, 3 for OVERLOAD, 0 for TRANSIENT. */
  readonly weight: number;
  /** The base window of the pause: 5,000 to 30,000 ms, for OVERLOAD 15,000 to 90,000. */
  readonly window: PacingWindow;
  /** What the upstream said. */
  readonly failure: UpstreamFailure;
  /** Whole milliseconds, rounded up, that the upstream asked to wait; null when it did not say. */
  readonly retryAfterMs: number | null;

  /** The cause is the client's error. @throws TypeError when the kind is none of the three, or the failure no UpstreamFailure. */
  constructor(kind: RetryKind, failure: UpstreamFailure, options?: { cause?: unknown }) {
    if (!Object.hasOwn(PACING, kind)) {
      throw new TypeError(
        `Cannot make a RetrySignal: kind is ${show(kind)}, it should be RATE_LIMIT, OVERLOAD or TRANSIENT`,
      );
    }
    if (!(failure instanceof UpstreamFailure)) {
      throw new TypeError(
        `Cannot make a RetrySignal: failure is ${show(failure)}, it should be an UpstreamFailure`,
      );
    }
    super("retry_signal", `The upstream is to be asked again later: ${failure.summary()}`, options);
    const { weight, minMs, maxMs } = PACING[kind];
    this.kind = kind;
    this.weight = weight;
    this.window = Object.freeze({ minMs, maxMs });
    this.failure = failure;
    this.retryAfterMs = failure.retryAfterSeconds === 0
      ? null
      : Math.min(Math.ceil(failure.retryAfterSeconds * 1000), MOST_RETRY_AFTER_MS);
  }
}
