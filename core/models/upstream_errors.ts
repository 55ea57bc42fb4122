import { AdmissionError, CorrectableError, UncorrectableError } from "../errors.ts";
import {
  causeOption,
  factsOf,
  messageOf,
  type UpstreamErrorFacts,
  type UpstreamErrorFields,
} from "./upstream_error_facts.ts";

/**
 * A service failed: 429, 5xx, a status without a class of its own, or no answer at all (status 0). Custom limiters of the job
 * hear of it. Code `external_service`.
 */
export class ExternalServiceError extends AdmissionError implements UpstreamErrorFacts {
  /** The name of the class. */
  override readonly name: string = "ExternalServiceError";
  /** HTTP status, 0 when no answer came. */
  readonly status: number;
  /** The service that failed, or null. */
  readonly service: string | null;
  /** Without query string, fragment and credentials; or null. */
  readonly endpoint: string | null;
  /** What the server said, cut to 1,000 UTF-16 units; blank when nothing. */
  readonly detail: string;
  /** Seconds that the server asked to wait, 0 when it did not say. */
  readonly retryAfterSeconds: number;

  /** Takes what is known of the failure. @throws TypeError or RangeError when a field is not as said. */
  constructor(fields: UpstreamErrorFields) {
    const facts = factsOf(fields);
    super("external_service", messageOf(facts), causeOption(fields));
    this.status = facts.status;
    this.service = facts.service;
    this.endpoint = facts.endpoint;
    this.detail = facts.detail;
    this.retryAfterSeconds = facts.retryAfterSeconds;
  }
}

/** The request is at fault, and its author can mend it: 400, 404, 413, 422. No limiter hears of it. Code `correctable`. */
export class UpstreamRequestError extends CorrectableError implements UpstreamErrorFacts {
  /** The name of the class. */
  override readonly name: string = "UpstreamRequestError";
  /** HTTP status, 0 when no answer came. */
  readonly status: number;
  /** The service that failed, or null. */
  readonly service: string | null;
  /** Without query string, fragment and credentials; or null. */
  readonly endpoint: string | null;
  /** What the server said, cut to 1,000 UTF-16 units; blank when nothing. */
  readonly detail: string;
  /** Seconds that the server asked to wait, 0 when it did not say. */
  readonly retryAfterSeconds: number;

  /** Takes what is known of the failure. @throws TypeError or RangeError when a field is not as said. */
  constructor(fields: UpstreamErrorFields) {
    const facts = factsOf(fields);
    super(messageOf(facts), causeOption(fields));
    this.status = facts.status;
    this.service = facts.service;
    this.endpoint = facts.endpoint;
    this.detail = facts.detail;
    this.retryAfterSeconds = facts.retryAfterSeconds;
  }
}

/** The service does not accept who asks: 401, 403. No limiter hears of it. Code `uncorrectable`. */
export class UpstreamAuthError extends UncorrectableError implements UpstreamErrorFacts {
  /** The name of the class. */
  override readonly name: string = "UpstreamAuthError";
  /** HTTP status, 0 when no answer came. */
  readonly status: number;
  /** The service that failed, or null. */
  readonly service: string | null;
  /** Without query string, fragment and credentials; or null. */
  readonly endpoint: string | null;
  /** What the server said, cut to 1,000 UTF-16 units; blank when nothing. */
  readonly detail: string;
  /** Seconds that the server asked to wait, 0 when it did not say. */
  readonly retryAfterSeconds: number;

  /** Takes what is known of the failure. @throws TypeError or RangeError when a field is not as said. */
  constructor(fields: UpstreamErrorFields) {
    const facts = factsOf(fields);
    super(messageOf(facts), causeOption(fields));
    this.status = facts.status;
    this.service = facts.service;
    this.endpoint = facts.endpoint;
    this.detail = facts.detail;
    this.retryAfterSeconds = facts.retryAfterSeconds;
  }
}
