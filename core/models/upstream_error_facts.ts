import { bounded } from "./causes.ts";
import { checkedNumber } from "../checked_number.ts";
import { show } from "../invariant.ts";
import { checkOptionNames, type OptionNames } from "../option_names.ts";
import { UpstreamFailure } from "./upstream_failure.ts";

/** Longest endpoint that is reported, in UTF-16 units. */
const MAX_ENDPOINT = 500;

const STATUSES = { least: 0, most: 999 };

/** What is known of a failed request when its error is made. All of it ends up in the error. */
export interface UpstreamErrorFields {
  /** HTTP status from 1 to 999, 0 when no answer came. */
  readonly status: number;
  /** The service that failed, null when left out. */
  readonly service?: string | null;
  /** The address that was asked; query string, fragment and credentials are dropped. Null when left out. */
  readonly endpoint?: string | URL | null;
  /** What the server said; cut to 1,000 UTF-16 units. Blank when left out. */
  readonly detail?: string;
  /** Seconds, from 0, that the server asked to wait; 0, or left out, when it did not say. */
  readonly retryAfterSeconds?: number;
  /** The error behind it. */
  readonly cause?: unknown;
}

const FIELDS: OptionNames<UpstreamErrorFields> = {
  status: true,
  service: true,
  endpoint: true,
  detail: true,
  retryAfterSeconds: true,
  cause: true,
};

/** The facts that every error of an upstream carries. */
export interface UpstreamErrorFacts {
  /** HTTP status, 0 when no answer came. */
  readonly status: number;
  /** The service that failed, or null. */
  readonly service: string | null;
  /** Without query string, fragment and credentials, at most 500 UTF-16 units. */
  readonly endpoint: string | null;
  /** At most 1,000 UTF-16 units, blank when the server said nothing. */
  readonly detail: string;
  /** Seconds that the server asked to wait, 0 when it did not say. */
  readonly retryAfterSeconds: number;
}

/** Facts as the errors keep them. @throws TypeError or RangeError when a field is not as said. */
export function factsOf(fields: UpstreamErrorFields): UpstreamErrorFacts {
  checkOptionNames("Cannot make an upstream's error:", fields, FIELDS);
  const { service = null, detail = "", retryAfterSeconds = 0 } = fields;
  const status = checkedNumber("Cannot make an upstream's error: status", fields.status, STATUSES);
  const failure = new UpstreamFailure({ statusCode: status, service, detail, retryAfterSeconds });
  return {
    status,
    service: failure.service,
    endpoint: endpointOf(fields.endpoint),
    detail: failure.detail,
    retryAfterSeconds: failure.retryAfterSeconds,
  };
}

/** The text of an error with these facts. */
export function messageOf(facts: UpstreamErrorFacts): string {
  const { status, endpoint, ...said } = facts;
  const summary = new UpstreamFailure({ ...said, statusCode: status }).summary();
  return `The upstream failed: ${summary}${endpoint === null ? "" : `, at ${endpoint}`}`;
}

/** The cause as Error takes it: an error without one has no such member. */
export function causeOption(fields: UpstreamErrorFields): { cause?: unknown } {
  return "cause" in fields ? { cause: fields.cause } : {};
}

/** Query strings carry keys and personal data, and so do the credentials of an address. */
function endpointOf(endpoint: string | URL | null | undefined): string | null {
  if (endpoint === undefined || endpoint === null) return null;
  if (typeof endpoint !== "string" && !(endpoint instanceof URL)) {
    throw new TypeError(
      `Cannot make an upstream's error: endpoint is ${show(endpoint)}, it should be a string or a URL`,
    );
  }
  const path = String(endpoint).slice(0, 2 * MAX_ENDPOINT).split(/[?#]/, 1)[0] ?? "";
  return bounded(path.replace(/^([a-z][a-z\d+.-]*:)?\/\/[^/]*@/i, "$1//"), MAX_ENDPOINT);
}
