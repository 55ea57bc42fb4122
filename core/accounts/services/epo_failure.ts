import { checkedEPOService, epoLimiterName, type EPOService } from "./epo_service.ts";
import { UpstreamFailure } from "../../models/upstream_failure.ts";
import { checkOptionNames, type OptionNames } from "../../option_names.ts";

/** What EPO answered to a request that failed. */
export interface EPOAnswer {
  /** HTTP status, 0 when no answer came. */
  readonly statusCode: number;
  /** The body as text, as far as it was read; blank when left out. */
  readonly body?: string;
  /** The service that was asked. */
  readonly service?: EPOService;
  /** Seconds the server asked to wait, 0 or left out when it did not say. */
  readonly retryAfterSeconds?: number;
}

const FIELDS: OptionNames<EPOAnswer> = {
  statusCode: true,
  body: true,
  service: true,
  retryAfterSeconds: true,
};

/** EPO refuses what it takes for a robot with a 403 whose body has one of these. */
const ROBOT_MARKS = ["RobotDetected", "CLIENT.Robot"] as const;
/** Most characters of a body that are searched; EPO's faults have a few hundred. */
const MAX_BODY_CHARS = 65_536;
/** Most characters of a body that are quoted. */
const MAX_DETAIL_CHARS = 200;

/**
 * The failure behind an answer of EPO, with the start of its body as detail. A 403 that says `RobotDetected` is EPO's way to say
 * "too many requests": it is reported as a 429 without a time to wait, so that the service's window hears of it.
 *
 * `Admission.run` tells the accounts when the work throws an error with these fields:
 * `throw Object.assign(new Error(failure.summary()), failure)`.
 *
 * @throws RangeError or TypeError when the status, the service or the seconds are not as said; the body may be anything.
 */
export function epoFailure(answer: EPOAnswer): UpstreamFailure {
  checkOptionNames("Cannot make a failure of EPO:", answer, FIELDS);
  const { statusCode, body, service, retryAfterSeconds } = answer;
  const text = typeof body === "string" ? body.slice(0, MAX_BODY_CHARS) : "";
  const isRobot = statusCode === 403 && ROBOT_MARKS.some((mark) => text.includes(mark));
  return new UpstreamFailure({
    statusCode: isRobot ? 429 : statusCode,
    service: service === undefined
      ? "epo"
      : epoLimiterName(checkedEPOService("Cannot make a failure of EPO: service is", service)),
    detail: text.slice(0, MAX_DETAIL_CHARS).replace(/[\s\p{Cc}]+/gu, " ").trim(),
    retryAfterSeconds: isRobot ? 0 : retryAfterSeconds ?? 0,
  });
}
