/** What an upstream said when a request failed. */
export interface UpstreamFailureFields {
  /** HTTP status, 0 when no answer came. */
  statusCode: number;
  /** The service that failed, null or blank when unknown. */
  service?: string | null;
  /** What the server said, blank when nothing. */
  detail?: string;
  /** Whole seconds the server asked to wait, 0 when it did not say. */
  retryAfterSeconds?: number;
}

/** An error somewhere in a cause chain that carries facts about an HTTP answer. All members are optional. */
interface FailureCarrier {
  statusCode?: unknown;
  status?: unknown;
  detail?: unknown;
  service?: unknown;
  retryAfterSeconds?: unknown;
  cause?: unknown;
  message?: unknown;
}

/** How many causes are followed; a cycle ends there as well. */
const MAX_CAUSES = 32;

/** An upstream's failed answer: status, service, detail, and how long it asked to wait. Immutable. */
export class UpstreamFailure implements Required<UpstreamFailureFields> {
  readonly statusCode: number;
  readonly service: string | null;
  readonly detail: string;
  readonly retryAfterSeconds: number;

  /** @throws RangeError when the status is not a whole number from 0 to 999 or the seconds are negative or not finite. */
  constructor(fields: UpstreamFailureFields) {
    const { statusCode, service = null, detail = "", retryAfterSeconds = 0 } = fields;
    if (!Number.isInteger(statusCode) || statusCode < 0 || statusCode > 999) {
      throw new RangeError(
        `Cannot make an UpstreamFailure: statusCode is ${statusCode}, it should be 0 (no answer) to 999`,
      );
    }
    if (!Number.isFinite(retryAfterSeconds) || retryAfterSeconds < 0) {
      throw new RangeError(
        `Cannot make an UpstreamFailure: retryAfterSeconds is ${retryAfterSeconds}, it should be 0 (not said) or more`,
      );
    }
    this.statusCode = statusCode;
    this.service = service;
    this.detail = detail;
    this.retryAfterSeconds = retryAfterSeconds;
    Object.freeze(this);
  }

  /**
   * Reads a failure off an error and its causes: status and detail from the first that carries an HTTP status, the wait from
   * the first that carries one, the service from the error itself.
   */
  static from(error: unknown): UpstreamFailure {
    const chain = causesOf(error);
    const outer = chain[0];
    const http = chain.find((carrier) => statusOf(carrier) > 0);
    const throttled = chain.find((carrier) => secondsOf(carrier) > 0);
    return new UpstreamFailure({
      statusCode: http === undefined ? 0 : statusOf(http),
      service: typeof outer?.service === "string" ? outer.service : null,
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

function causesOf(error: unknown): FailureCarrier[] {
  const chain: FailureCarrier[] = [];
  let at = error;
  while (typeof at === "object" && at !== null && chain.length < MAX_CAUSES) {
    chain.push(at as FailureCarrier);
    at = (at as FailureCarrier).cause;
  }
  return chain;
}

function statusOf(carrier: FailureCarrier): number {
  const status = carrier.statusCode ?? carrier.status;
  return typeof status === "number" && Number.isInteger(status) && status > 0 && status <= 999 ? status : 0;
}

function secondsOf(carrier: FailureCarrier): number {
  const seconds = carrier.retryAfterSeconds;
  return typeof seconds === "number" && Number.isFinite(seconds) && seconds > 0 ? seconds : 0;
}

function detailOf(carrier: FailureCarrier | undefined): string {
  if (typeof carrier?.detail === "string") return carrier.detail;
  return typeof carrier?.message === "string" ? carrier.message : "";
}
