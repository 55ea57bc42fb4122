import { bounded, causesOf, fieldOf, statusOf } from "./causes.ts";
import { show } from "../invariant.ts";
import { checkOptionNames, type OptionNames } from "../option_names.ts";
import { retryAfterHeader } from "./retry_after_header.ts";

/** Longest detail that is kept, in UTF-16 units. */
const MAX_DETAIL = 1000;

/** What an upstream said when a request failed. */
export interface UpstreamFailureFields {
  /** HTTP status, 0 when no answer came. */
  statusCode: number;
  /** The service that failed, null or blank when unknown. */
  service?: string | null;
  /** What the server said, blank when nothing. Cut to 1,000 UTF-16 units. */
  detail?: string;
  /** Seconds the server asked to wait, 0 when it did not say. */
  retryAfterSeconds?: number;
}

const FIELDS: OptionNames<UpstreamFailureFields> = {
  statusCode: true,
  service: true,
  detail: true,
  retryAfterSeconds: true,
};

/** An upstream's failed answer: status, service, detail, and how long it asked to wait. Immutable. */
export class UpstreamFailure implements Required<UpstreamFailureFields> {
  /** HTTP status, 0 when no answer came. */
  readonly statusCode: number;
  /** The service that failed, or null. */
  readonly service: string | null;
  /** What the server said, blank when nothing. */
  readonly detail: string;
  /** Seconds the server asked to wait, 0 when it did not say. */
  readonly retryAfterSeconds: number;

  /**
   * Takes what is known.
   *
   * @throws RangeError when the status is not a whole number from 0 to 999 or the seconds are negative or not finite,
   * TypeError when the detail is no string.
   */
  constructor(fields: UpstreamFailureFields) {
    checkOptionNames("Cannot make an UpstreamFailure:", fields, FIELDS);
    const { statusCode, service = null, detail = "", retryAfterSeconds = 0 } = fields;
    if (!Number.isInteger(statusCode) || statusCode < 0 || statusCode > 999) {
      throw new RangeError(
        `Cannot make an UpstreamFailure: statusCode is ${
          show(statusCode)
        }, it should be a whole number from 0 (no answer) to 999`,
      );
    }
    if (!Number.isFinite(retryAfterSeconds) || retryAfterSeconds < 0) {
      throw new RangeError(
        `Cannot make an UpstreamFailure: retryAfterSeconds is ${
          show(retryAfterSeconds)
        }, it should be a finite number from 0 (not said)`,
      );
    }
    if (typeof detail !== "string") {
      throw new TypeError(`Cannot make an UpstreamFailure: detail is ${show(detail)}, it should be a string`);
    }
    this.statusCode = statusCode;
    this.service = service;
    this.detail = bounded(detail, MAX_DETAIL);
    this.retryAfterSeconds = retryAfterSeconds;
    Object.freeze(this);
  }

  /**
   * Reads a failure off an error and its causes: status and detail from the first that carries an HTTP status, the wait from
   * the first that carries one (`retryAfterSeconds`, or response headers), the service from the error itself. Never throws.
   */
  static from(error: unknown): UpstreamFailure {
    const chain = causesOf(error);
    const outer = chain[0];
    const http = chain.find((carrier) => statusOf(carrier) > 0);
    const throttled = chain.find((carrier) => secondsOf(carrier) > 0);
    return new UpstreamFailure({
      statusCode: http === undefined ? 0 : statusOf(http),
      service: textOf(outer, "service"),
      detail: detailOf(http ?? outer),
      retryAfterSeconds: throttled === undefined ? 0 : secondsOf(throttled),
    });
  }

  /** One line: `HTTP 429 from search: slow down (server asked for 42s)`; what is not known is left out. */
  summary(): string {
    const status = this.statusCode === 0 ? "no response" : `HTTP ${this.statusCode}`;
    const service = this.service === null || this.service.trim() === "" ? "" : ` from ${this.service}`;
    const detail = this.detail.trim() === "" ? "" : `: ${this.detail}`;
    const wait = this.retryAfterSeconds === 0 ? "" : ` (server asked for ${this.retryAfterSeconds}s)`;
    return status + service + detail + wait;
  }
}

function secondsOf(carrier: object): number {
  const seconds = fieldOf(carrier, "retryAfterSeconds");
  return typeof seconds === "number" && Number.isFinite(seconds) && seconds > 0
    ? seconds
    : retryAfterHeader(carrier);
}

function detailOf(carrier: object | undefined): string {
  return textOf(carrier, "detail") ?? textOf(carrier, "message") ?? "";
}

function textOf(carrier: object | undefined, key: string): string | null {
  const text = fieldOf(carrier, key);
  return typeof text === "string" ? text : null;
}
