import {
  Admission,
  type AdmitOptions,
  type Clock,
  type CountingGate,
  type Demand,
  type HeaderReader,
  headerReader,
  HttpConnectionGate,
  type Logger,
  ModelSpec,
  type ModelSpecFields,
  type ProviderKey,
  type RateLimiter,
  RateLimiterFactory,
  RateLimiterRegistry,
  retryDelayMs,
  type RetrySignal,
} from "../../mod.ts";
import { checkOptionNames, type OptionNames } from "../option_names.ts";
import { checkProvider, countedTokens, type ResponseUsage } from "./counted_tokens.ts";
import { estimateTokens } from "./estimate_tokens.ts";
import { checkedModels, openAccount } from "./models.ts";
import type { Fetch, OutgoingRequest } from "./outgoing.ts";
import { refused } from "./refused.ts";

/** What an admitted fetch may be given. */
export interface AdmittedFetchOptions {
  /** Where requests are admitted. It must be started. */
  readonly admission: Admission;
  /** Who answers: says how its headers are read, and which tokens it counts. */
  readonly provider: ProviderKey;
  /**
   * The models that are asked, by the name they have on the wire, or a function that finds the model of a request. A request takes
   * its tokens from the bucket of its model, or a permit from its gate when the model has `maxConcurrent`. A request that names
   * none takes neither, and so does one for which the function answers null; with a list, a name that is not in it is refused with
   * a CorrectableError, which tells the first twenty names. Left out, there are none. The accounts of a list are made at once. One
   * that there is already keeps its numbers; when the first list that named it had others, the logger is warned.
   */
  readonly models?: readonly ModelSpecFields[] | ((request: OutgoingRequest) => ModelSpecFields | null);
  /**
   * Where buckets and gates of models are kept, and caps that responses teach; the process's registry, on the system's clock, when
   * left out.
   */
  readonly accounts?: RateLimiterRegistry | RateLimiterFactory;
  /** The gate of the HTTP pool, which each request takes a place in; the accounts' HttpConnectionGate when left out, null for none. */
  readonly http?: CountingGate | null;
  /**
   * Adds to what a request asks for, or answers another demand instead. Accounts other than buckets and gates of models hear how
   * each attempt ended while its permits are held, so a window with a circuit may stand here.
   */
  readonly demand?: (demand: Demand, request: OutgoingRequest) => Demand | void;
  /** The tokens that a request may take, a whole number from 0 to 2^31 - 1; `estimateTokens` when left out. */
  readonly estimate?: (request: OutgoingRequest, model: ModelSpec) => number;
  /** The tokens that the provider counts for a usage, null when that is not known; `countedTokens` when left out. */
  readonly count?: (usage: ResponseUsage) => number | null;
  /** Whether the limits in headers become the caps of the model's bucket; true when left out, but for `openai-compatible`. */
  readonly learn?: boolean;
  /** How each attempt waits in line, or a function that says it for a request. The signal is the request's own. */
  readonly admit?:
    | Omit<AdmitOptions, "signal">
    | ((request: OutgoingRequest) => Omit<AdmitOptions, "signal">);
  /** Most times that a request is sent again, a whole number from 0; 3 when left out. */
  readonly maxRetries?: number;
  /** Longest pause before a request is sent again, in ms; a retry that would take longer is not made. 300,000 when left out. */
  readonly maxPauseMs?: number;
  /**
   * The pause before a request is sent again, in ms; `retryDelayMs` when left out. What the provider asks for is waited for in any
   * case.
   */
  readonly pauseMs?: (signal: RetrySignal, reruns: number) => number;
  /**
   * Sends requests; the global fetch, as it is at the time of the call, when left out. A response whose body is no stream of the
   * runtime's gives its permits back at once.
   */
  readonly fetch?: Fetch;
  /** The clock of pauses, and of instants in headers; the Admission's when left out. */
  readonly clock?: Clock;
  /** Hears of retries and faults; silent when left out. */
  readonly logger?: Logger;
}

const OPTIONS: OptionNames<AdmittedFetchOptions> = {
  admission: true,
  provider: true,
  models: true,
  accounts: true,
  http: true,
  demand: true,
  estimate: true,
  count: true,
  learn: true,
  admit: true,
  maxRetries: true,
  maxPauseMs: true,
  pauseMs: true,
  fetch: true,
  clock: true,
  logger: true,
};

const ADMIT_OPTIONS: OptionNames<Omit<AdmitOptions, "signal">> = {
  context: true,
  timeoutMs: true,
  failFast: true,
  detached: true,
  maxHoldMs: true,
};

/** Options with their defaults. */
export interface CheckedOptions {
  readonly admission: Admission;
  readonly modelOf: (request: OutgoingRequest) => ModelSpec | null;
  readonly accounts: RateLimiterRegistry | RateLimiterFactory;
  readonly http: CountingGate | null;
  readonly demand: (demand: Demand, request: OutgoingRequest) => Demand | void;
  readonly estimate: (request: OutgoingRequest, model: ModelSpec) => number;
  readonly count: (usage: ResponseUsage) => number | null;
  readonly learn: boolean;
  readonly admit: (request: OutgoingRequest) => Omit<AdmitOptions, "signal">;
  readonly maxRetries: number;
  readonly maxPauseMs: number;
  readonly pauseMs: (signal: RetrySignal, reruns: number) => number;
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly logger: Logger | undefined;
  readonly reader: HeaderReader;
}

/** Re-runs of a job when nobody says otherwise (UF-10). */
const DEFAULT_MAX_RETRIES = 3;
/** The end of the longest window that a pause is drawn from (UF-09). */
const DEFAULT_MAX_PAUSE_MS = 300_000;

/** @throws TypeError or RangeError naming the option, its value and what would do. */
export function checkedOptions(options: AdmittedFetchOptions): CheckedOptions {
  checkOptionNames("Cannot make an admitted fetch:", options, OPTIONS);
  const { admission, accounts = new RateLimiterRegistry(), provider } = options;
  if (!(admission instanceof Admission)) throw refused("admission", admission, "an Admission");
  const { clock = admission.clock } = options;
  if (!(accounts instanceof RateLimiterRegistry) && !(accounts instanceof RateLimiterFactory)) {
    throw refused("accounts", accounts, "a RateLimiterRegistry or a RateLimiterFactory");
  }
  if (typeof options.learn !== "boolean" && options.learn !== undefined) {
    throw refused("learn", options.learn, "true or false");
  }
  const { admit = {}, logger } = options;
  if (typeof admit !== "function") {
    checkOptionNames("Cannot make an admitted fetch: admit:", admit, ADMIT_OPTIONS);
  }
  if (
    logger !== undefined &&
    ![logger?.info, logger?.warn, logger?.error].every((level) => typeof level === "function")
  ) {
    throw refused("logger", logger, "an object with info, warn and error");
  }
  const models = checkedModels(options.models ?? (() => null), accounts);
  const checked: CheckedOptions = {
    admission,
    accounts,
    clock,
    logger,
    reader: checkedReader(provider, clock),
    modelOf: models.of,
    http: checkedGate(options.http === undefined ? accounts.limiter(HttpConnectionGate) : options.http),
    demand: checkedFunction("demand", options.demand, (demand) => demand),
    estimate: checkedFunction("estimate", options.estimate, estimateTokens),
    count: checkedFunction("count", options.count, (usage) => countedTokens(provider, usage)),
    learn: options.learn ?? provider !== "openai-compatible",
    admit: typeof admit === "function" ? admit : checkedWait(admit),
    maxRetries: checkedSpan("maxRetries", options.maxRetries ?? DEFAULT_MAX_RETRIES, true),
    maxPauseMs: checkedSpan("maxPauseMs", options.maxPauseMs ?? DEFAULT_MAX_PAUSE_MS, false),
    pauseMs: checkedFunction(
      "pauseMs",
      options.pauseMs,
      (signal, reruns) => retryDelayMs(signal, { reruns }),
    ),
    fetch: checkedFunction("fetch", options.fetch, (input, init) => fetch(input, init)),
  };
  // Accounts last: nothing is made for options that are refused.
  for (const spec of models.specs) openAccount(spec, checked);
  return checked;
}

/** @throws RangeError naming the provider, or TypeError naming the clock. */
function checkedReader(provider: ProviderKey, clock: Clock): HeaderReader {
  checkProvider("Cannot make an admitted fetch:", provider);
  try {
    return headerReader(provider, { clock });
  } catch {
    throw refused("clock", clock, "a Clock ({ now, wallNow, setTimer })");
  }
}

/** What `Admission.admit` would refuse at the first request. */
function checkedWait(admit: Omit<AdmitOptions, "signal">): CheckedOptions["admit"] {
  for (const name of ["timeoutMs", "maxHoldMs"] as const) {
    const ms = admit[name];
    if (ms !== undefined) checkedSpan(`admit.${name}`, ms, false);
  }
  for (const name of ["failFast", "detached"] as const) {
    const flag: unknown = admit[name];
    if (flag !== undefined && typeof flag !== "boolean") {
      throw refused(`admit.${name}`, flag, "true or false");
    }
  }
  return () => admit;
}

function checkedGate(gate: CountingGate | null): CountingGate | null {
  const { fits, replenishment } = (gate ?? {}) as Partial<RateLimiter<void>>;
  if (gate === null || (typeof fits === "function" && replenishment === "RELEASE")) return gate;
  throw refused("http", gate, "a CountingGate, or null for none");
}

function checkedFunction<F extends (...args: never[]) => unknown>(
  name: string,
  given: F | undefined,
  otherwise: F,
): F {
  if (given === undefined || typeof given === "function") return given ?? otherwise;
  throw refused(name, given, "a function");
}

function checkedSpan(name: string, value: number, isWhole: boolean): number {
  if (typeof value !== "number") throw refused(name, value, "a number");
  if (value >= 0 && (!isWhole || Number.isSafeInteger(value))) return value;
  throw new RangeError(
    `Cannot make an admitted fetch: ${name} is ${value}, it should be ${
      isWhole ? "a whole number from 0" : "0 or more"
    }`,
  );
}
