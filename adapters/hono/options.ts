import type { Context } from "hono";
import { Admission, type AdmissionError, type Clock, Demand, type Logger, systemClock } from "../../mod.ts";
import { checkOptionNames, type OptionNames } from "../option_names.ts";
import { show } from "../show.ts";
import { RATE_LIMIT_FORMS, type RateLimitForm } from "./rate_limit_fields.ts";

/** What a request needs: one demand for all of them, or a function that makes it, which may be async. */
export type RequestDemand = Demand | ((c: Context) => Demand | Promise<Demand>);

/** Whether a request goes through without a grant. */
export type SkipTest = (c: Context) => boolean | Promise<boolean>;

/** Hears of a refusal; the response it answers, if any, is sent instead of the usual one. */
export type RefusalHook = (
  c: Context,
  error: AdmissionError,
) => Response | undefined | void | Promise<Response | undefined | void>;

/** What the middleware may be given. */
export interface HonoAdmitOptions<Name extends string = "grant"> {
  /** What each request needs. A function that throws, or answers anything but a Demand, is an error of the app: 500. */
  demand: RequestDemand;
  /** Who admits, started. Middlewares that share one share its line. Left out, the middleware makes and starts its own. */
  admission?: Admission;
  /** Most requests in the line of an Admission that the middleware makes: a whole number from 0, 1,000 when left out. */
  maxQueue?: number;
  /**
   * Longest wait in ms, 0 or more: 0 never waits, Infinity has no limit, 5,000 when left out: Bun closes a connection that
   * was silent for 10 s (https://bun.com/docs/runtime/http/server, idleTimeout), and clients and proxies give up in time too.
   */
  timeoutMs?: number;
  /** Whether a request that cannot be granted in time by the clock is refused at once instead; true when left out. */
  failFast?: boolean;
  /**
   * Longest time in ms for which a request keeps its grant, above 0; one hour when left out, Infinity for no limit. A later
   * request takes back what was held longer: it catches responses whose end the runtime never reports.
   */
  maxHoldMs?: number;
  /** Lets requests through without a grant; their variable is undefined. */
  skip?: SkipTest;
  /** Hears of every refusal, and may answer it. `c` carries `Retry-After` and the RateLimit fields already. */
  onRefused?: RefusalHook;
  /** The context's variable in which the grant stands: `grant` when left out. Middlewares in a row need a name each. */
  name?: Name;
  /** In which form limits are told, false for not at all: `draft-12` when left out. */
  standardHeaders?: RateLimitForm | false;
  /** Whether granted requests are told the limits too, which costs a few microseconds; false when left out. */
  headersOnSuccess?: boolean;
  /** The clock by which grants are held, and of an Admission that the middleware makes; the system's when left out. */
  clock?: Clock;
  /** Hears of grants taken back and of faults after the response; silent when left out. */
  logger?: Logger;
}

const OPTIONS: OptionNames<HonoAdmitOptions> = {
  demand: true,
  admission: true,
  maxQueue: true,
  timeoutMs: true,
  failFast: true,
  maxHoldMs: true,
  skip: true,
  onRefused: true,
  name: true,
  standardHeaders: true,
  headersOnSuccess: true,
  clock: true,
  logger: true,
};

/** Options with their defaults. */
export interface CheckedOptions {
  readonly demand: RequestDemand;
  readonly admission: () => Admission;
  readonly wait: { readonly timeoutMs: number; readonly failFast: boolean };
  readonly maxHoldMs: number;
  readonly skip: SkipTest | null;
  readonly onRefused: RefusalHook | null;
  readonly name: string;
  readonly form: RateLimitForm | null;
  readonly headersOnSuccess: boolean;
  readonly clock: Clock;
  readonly logger: Logger | null;
}

const MAX_QUEUE = 1_000;
const TIMEOUT_MS = 5_000;
const MAX_HOLD_MS = 3_600_000;

/** @throws TypeError or RangeError naming the option, its value and what would do. */
export function checkOptions(options: HonoAdmitOptions<string>): CheckedOptions {
  checkOptionNames("Cannot use admit:", options, OPTIONS);
  const { demand, skip, onRefused, name = "grant", clock = systemClock, logger } = options;
  const { failFast = true, headersOnSuccess = false, standardHeaders = "draft-12" } = options;
  if (typeof demand !== "function" && !(demand instanceof Demand)) {
    throw wrong("demand", demand, "a Demand or a function of the context that answers one");
  }
  checkFunction("skip", skip);
  checkFunction("onRefused", onRefused);
  checkFlag("failFast", failFast);
  checkFlag("headersOnSuccess", headersOnSuccess);
  if (typeof name !== "string" || name === "") throw wrong("name", name, "a non-empty string");
  if (standardHeaders !== false && !RATE_LIMIT_FORMS.includes(standardHeaders)) {
    throw wrong("standardHeaders", standardHeaders, `${RATE_LIMIT_FORMS.map(show).join(", ")} or false`);
  }
  if (typeof clock?.now !== "function") throw wrong("clock", clock, "a Clock ({ now, wallNow, setTimer })");
  if (logger !== undefined && typeof logger?.warn !== "function") {
    throw wrong("logger", logger, "a Logger ({ warn, info, error })");
  }
  return {
    demand,
    admission: admissionOf(options, clock),
    wait: { timeoutMs: checkedSpan("timeoutMs", options.timeoutMs ?? TIMEOUT_MS, 0), failFast },
    maxHoldMs: checkedSpan("maxHoldMs", options.maxHoldMs ?? MAX_HOLD_MS, Number.MIN_VALUE),
    skip: skip ?? null,
    onRefused: onRefused ?? null,
    name,
    form: standardHeaders === false ? null : standardHeaders,
    headersOnSuccess,
    clock,
    logger: logger ?? null,
  };
}

/** Who admits. Its own is made when it is needed first: where compiling is forbidden, a kernel is handed in before. */
function admissionOf(options: HonoAdmitOptions<string>, clock: Clock): () => Admission {
  const { admission, maxQueue, logger } = options;
  if (admission !== undefined) {
    if (!(admission instanceof Admission)) throw wrong("admission", admission, "an Admission");
    if (maxQueue !== undefined) {
      throw new TypeError("Cannot use admit: maxQueue is given beside admission, give it to the Admission");
    }
    return () => admission;
  }
  const most = maxQueue ?? MAX_QUEUE;
  if (typeof most !== "number") throw wrong("maxQueue", most, "a number");
  if (!(most >= 0) || (most !== Infinity && !Number.isInteger(most))) {
    throw new RangeError(
      `Cannot use admit: maxQueue is ${most}, it should be a whole number from 0, or Infinity`,
    );
  }
  let own: Admission | null = null;
  return () =>
    own ??= new Admission({ clock, maxQueue: most, ...(logger === undefined ? {} : { logger }) }).start();
}

function wrong(option: string, value: unknown, what: string): TypeError {
  return new TypeError(`Cannot use admit: ${option} is ${show(value)}, it should be ${what}`);
}

function checkFunction(option: string, value: unknown): void {
  if (value !== undefined && typeof value !== "function") throw wrong(option, value, "a function");
}

function checkFlag(option: string, value: unknown): void {
  if (typeof value !== "boolean") throw wrong(option, value, "true or false");
}

function checkedSpan(option: string, ms: number, least: number): number {
  if (typeof ms !== "number") throw wrong(option, ms, "a number of milliseconds");
  if (ms >= least) return ms;
  const range = least === 0 ? "0 or more" : "above 0";
  throw new RangeError(`Cannot use admit: ${option} is ${ms}, it should be ${range}, or Infinity`);
}
