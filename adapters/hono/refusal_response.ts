import { HTTPException } from "hono/http-exception";
import { Admission, AdmissionError, Demand } from "../../mod.ts";
import { checkOptionNames, type OptionNames } from "../option_names.ts";
import { show } from "../show.ts";
import { policiesOf } from "./policies.ts";
import {
  type Field,
  NO_SHORTAGE,
  RATE_LIMIT_FORMS,
  rateLimitFields,
  type RateLimitForm,
  type Shortage,
} from "./rate_limit_fields.ts";
import { type Refusal, refusalOf } from "./refusals.ts";

/** What is known of a refusal beside its error. */
export interface RefusalOptions {
  /** What was asked for. Its limits are told, and whether a quota or room is what was waited for too long. */
  readonly demand?: Demand;
  /** Who refused it. Asked for what is short when its line is full. */
  readonly admission?: Admission;
  /** In which form limits are told, false for not at all: `draft-12` when left out. */
  readonly standardHeaders?: RateLimitForm | false;
}

const OPTIONS: OptionNames<RefusalOptions> = { demand: true, admission: true, standardHeaders: true };

/**
 * The response that `admit` gives to a refusal, for routes that ask admission themselves and for `app.onError`: status,
 * `Retry-After`, a problem document, and with a demand the RateLimit fields. What `admit` has thrown is answered as it says.
 *
 * Null for every other error, which is for the app to answer: a bug, a demand that can never be granted, `signal.reason`. Without
 * a demand a wait that took too long is a 429 when the error knows a time, else a 503.
 *
 * @throws TypeError when an option is not as said.
 */
export function refusalResponse(error: unknown, options: RefusalOptions = {}): Response | null {
  const { demand, admission, standardHeaders = "draft-12" } = checked(options);
  if (error instanceof HTTPException && error.cause instanceof AdmissionError) return error.getResponse();
  if (!(error instanceof AdmissionError)) return null;
  const refusal = refusalOf(
    error,
    demand ?? null,
    () => demand === undefined || admission === undefined ? [] : shortNow(demand, admission),
  );
  const form = standardHeaders === false ? null : standardHeaders;
  return refusal === null ? null : problemResponse(refusal, refusalFields(refusal, demand ?? null, form));
}

/** The problem document of a refusal, with its fields. */
export function problemResponse({ problem }: Refusal, fields: readonly Field[]): Response {
  const headers = new Headers(fields.map(([name, value]): [string, string] => [name, value]));
  headers.set("Content-Type", "application/problem+json");
  return new Response(JSON.stringify(problem), { status: problem.status, headers });
}

/** `Retry-After` and the limits. */
export function refusalFields(refusal: Refusal, demand: Demand | null, form: RateLimitForm | null): Field[] {
  const { retryAfterS } = refusal;
  const limits = demand === null ? [] : limitFields(demand, form, refusal);
  return retryAfterS === null ? limits : [["Retry-After", String(retryAfterS)], ...limits];
}

/** The limits of a demand as they stand. Whoever refuses may be out of service: then nothing is told. */
export function limitFields(
  demand: Demand,
  form: RateLimitForm | null,
  shortage: Shortage = NO_SHORTAGE,
): Field[] {
  try {
    return form === null ? [] : rateLimitFields(form, policiesOf(demand), shortage);
  } catch {
    return [];
  }
}

/** The accounts that are short now. */
export function shortNow(demand: Demand, admission: Admission): string[] {
  return admission.explain(demand).accounts.filter((view) => view.isShort).map((view) => view.account);
}

function checked(options: RefusalOptions): RefusalOptions {
  checkOptionNames("Cannot answer a refusal:", options, OPTIONS);
  const { demand, admission, standardHeaders = false } = options;
  if (demand !== undefined && !(demand instanceof Demand)) throw wrong("demand", demand, "a Demand");
  if (admission !== undefined && !(admission instanceof Admission)) {
    throw wrong("admission", admission, "an Admission");
  }
  if (standardHeaders !== false && !RATE_LIMIT_FORMS.includes(standardHeaders)) {
    throw wrong("standardHeaders", standardHeaders, `${RATE_LIMIT_FORMS.map(show).join(", ")} or false`);
  }
  return options;
}

function wrong(option: string, value: unknown, what: string): TypeError {
  return new TypeError(`Cannot answer a refusal: ${option} is ${show(value)}, it should be ${what}`);
}
