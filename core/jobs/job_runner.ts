import type { Admission } from "../admission.ts";
import type { RateLimiter } from "../account.ts";
import { HttpConnectionGate } from "../accounts/http_connection_gate.ts";
import { checkedNumber } from "../checked_number.ts";
import { type Clock, isClock } from "../clock.ts";
import { untilClosed } from "../closing.ts";
import { createJobContext, type JobContext } from "../context.ts";
import { SpendCapError } from "../errors.ts";
import { show } from "../invariant.ts";
import { type Logger, safeLogger } from "../logger.ts";
import type { ModelBinding } from "../models/model_binding.ts";
import type { ModelSpecFields } from "../models/model_spec.ts";
import { RateLimiterFactory } from "../models/rate_limiter_factory.ts";
import { RateLimiterRegistry } from "../models/rate_limiter_registry.ts";
import { retryDelayMs } from "../models/retry_delay.ts";
import type { RetrySignal } from "../models/retry_signal.ts";
import { checkOptionNames, type OptionNames } from "../option_names.ts";
import { type AdmitOptions, checkAdmitOptions } from "../options.ts";
import { JobAttempt, type JobWork } from "./job_attempt.ts";
import { JobPauses } from "./job_pauses.ts";
import { demandFor, type JobAccounts, type JobDeclaration, JobRequirements } from "./job_requirements.ts";
import type { JobParts } from "./job_scope.ts";
import { JobStop } from "./job_stop.ts";
import { SpendGates } from "./spend_gate.ts";
import { attachCause } from "./suppressed.ts";

/** What the jobs of a runner have in common. */
export interface JobRunnerOptions {
  /** Where the accounts of models come from; the process's registry when left out. */
  accounts?: RateLimiterRegistry | RateLimiterFactory;
  /** The gate of the HTTP pool; the accounts' HttpConnectionGate when left out. */
  http?: RateLimiter<void>;
  /** Asked before each attempt that calls models, and told of each job's end; none when left out. */
  spendGates?: SpendGates;
  /** Chooses the model of a call that was declared without one. Asked once for each such binding. */
  resolveModel?: (
    binding: ModelBinding,
    context: JobContext,
  ) => ModelSpecFields | PromiseLike<ModelSpecFields>;
  /** How many times a job may be run again after retry signals, a whole number from 0; 3 when left out. */
  maxRetries?: number;
  /**
   * The pause before a job is run again, in ms, 0 or more, by the signal and the number of re-runs before; `retryDelayMs` when left
   * out. What the provider asks for is waited for in any case.
   */
  pauseMs?: (signal: RetrySignal, reruns: number) => number;
  /** Of time limits and pauses; the Admission's when left out. */
  clock?: Clock;
  /** The chance behind the pauses of `retryDelayMs`, from 0, below 1; `Math.random` when left out. */
  random?: () => number;
  /** Hears of each retry (`info`, with its fields) and of faults that end no job; silent when left out. */
  logger?: Logger;
}

/** What one job may be given. */
export interface JobOptions {
  /** Aborting it ends every wait of the job with `signal.reason`; work that runs hears of it through `scope.signal`. */
  signal?: AbortSignal;
  /**
   * The job's identity; one of its own when left out. Two jobs that run at the same time must not share one: where spend gates are
   * asked the second is refused.
   */
  context?: JobContext;
  /** How long, and how, each attempt waits for admission. */
  admit?: Pick<AdmitOptions, "timeoutMs" | "failFast" | "detached" | "maxHoldMs">;
}

const OPTIONS: OptionNames<JobRunnerOptions> = {
  accounts: true,
  http: true,
  spendGates: true,
  resolveModel: true,
  maxRetries: true,
  pauseMs: true,
  clock: true,
  random: true,
  logger: true,
};

const JOB_OPTIONS: OptionNames<JobOptions> = { signal: true, context: true, admit: true };

const ADMIT_OPTIONS: OptionNames<NonNullable<JobOptions["admit"]>> = {
  timeoutMs: true,
  failFast: true,
  detached: true,
  maxHoldMs: true,
};

/** One job while it runs. */
interface RunningJob extends JobParts {
  readonly options: AdmitOptions;
}

const DEFAULT_MAX_RETRIES = 3;

/**
 * Runs jobs: what a job declares is admitted whole, then its database handles are acquired, its work runs, and everything is given
 * back. Made once, for the jobs of a program.
 *
 * An attempt goes like this. The models are resolved and priced, and the spend gates asked; nothing is held yet. Admission grants
 * the demand, or the job waits holding nothing. Then handles are acquired in the order of declaration and transactions begun, the
 * work runs, the declared limiters hear how it went, each transaction is committed and awaited, the handles are closed and the
 * permits released. When the work fails, transactions are rolled back instead; when it never began, metered amounts come back too.
 */
export class JobRunner {
  readonly #admission: Admission;
  readonly #accounts: JobAccounts;
  readonly #spendGates: SpendGates;
  readonly #resolveModel: JobRunnerOptions["resolveModel"];
  readonly #pauses: JobPauses;
  readonly #clock: Clock;
  readonly #logger: Logger;

  /** A runner of jobs on this admission. @throws TypeError or RangeError naming what is not as said. */
  constructor(admission: Admission, options: JobRunnerOptions = {}) {
    checkOptionNames("Cannot make a JobRunner:", options, OPTIONS);
    const { accounts = new RateLimiterRegistry(), spendGates = new SpendGates() } = options;
    if (typeof admission?.admit !== "function") throw unfit("admission", admission, "an Admission");
    const { clock = admission.clock } = options;
    if (!(accounts instanceof RateLimiterRegistry) && !(accounts instanceof RateLimiterFactory)) {
      throw unfit("accounts", accounts, "a RateLimiterRegistry or a RateLimiterFactory");
    }
    if (!(spendGates instanceof SpendGates)) throw unfit("spendGates", spendGates, "a SpendGates");
    if (!isClock(clock)) throw unfit("clock", clock, "a Clock ({ now, wallNow, setTimer })");
    checkFunction("resolveModel", options.resolveModel);
    checkFunction("random", options.random);
    checkFunction("pauseMs", options.pauseMs);
    const { http = accounts.limiter(HttpConnectionGate) } = options;
    if (typeof http?.tryTake !== "function") throw unfit("http", http, "a gate such as HttpConnectionGate");
    this.#admission = admission;
    this.#accounts = { bucket: (spec) => accounts.bucket(spec), gate: (spec) => accounts.gate(spec), http };
    this.#spendGates = spendGates;
    this.#resolveModel = options.resolveModel;
    this.#clock = clock;
    this.#logger = safeLogger(options.logger);
    this.#pauses = new JobPauses({
      maxRetries: checkedNumber(
        "Cannot make a JobRunner: maxRetries",
        options.maxRetries ?? DEFAULT_MAX_RETRIES,
        { least: 0, most: Number.MAX_SAFE_INTEGER },
      ),
      pauseMs: options.pauseMs ?? pacedBy(options.random),
      clock,
      logger: this.#logger,
      admission,
    });
  }

  /** How many jobs are in a pause now, before they are run again: they hold nothing and stand in no line. */
  get pausedJobs(): number {
    return this.#pauses.count;
  }

  /**
   * Runs one job and answers what its work answers. Null requirements, and those that declare nothing, are an orchestrator's: they
   * are granted at once and hold nothing.
   *
   * Work that throws a RetrySignal is run again, at most `maxRetries` times over all signals: everything is closed before the
   * pause, which lasts at least as long as the provider said, and the next attempt is asked, admitted and begun afresh.
   *
   * When an attempt has run for `timeoutMs`, `scope.signal` aborts, the context is told, and its handles are being closed; after a
   * grace of a tenth of it, 500 ms to 30 s, they are aborted and closed by force. The permits come back once all has ended, after a
   * second such grace at the latest, and once; work that does not end by then goes on without them.
   *
   * A clean-up that fails after the job has failed is logged and attached to its error, as the array `suppressed`.
   *
   * It rejects, and never throws, with
   *
   * - TypeError, RangeError: an argument is wrong, or the job declares anything and has no `timeoutMs`.
   * - `signal.reason`, CancellationError: the job was aborted or cancelled, or admission was stopped, before its work began or in a
   *   pause.
   * - InvalidStateError, CorrectableError: a model was not resolved, a call is too large for it, or another job with the context's
   *   id is running and spend gates would take the two for one.
   * - what a spend gate refuses with, such as SpendCapError (its cause is the last signal when the job was to be run again); and all that `Admission.admit` rejects with.
   * - UncorrectableError: a provider failed (the cause is its error); the retry budget is used up (the cause is the last signal);
   *   or the work is done but not everything could be closed.
   * - JobTimeoutError: the time limit passed.
   * - anything else that the work throws, as it is.
   */
  async run<R>(
    requirements: JobRequirements | null,
    work: JobWork<R>,
    options: JobOptions = {},
  ): Promise<R> {
    const declared = checkedDeclaration(requirements);
    if (typeof work !== "function") {
      throw new TypeError(`Cannot run a job: work is ${show(work)}, it should be a function of its scope`);
    }
    checkOptionNames("Cannot run a job:", options, JOB_OPTIONS);
    const { signal, context = createJobContext(), admit = {} } = options;
    checkOptionNames("Cannot run a job: admit:", admit, ADMIT_OPTIONS);
    const admitOptions: AdmitOptions = { ...admit, context, ...(signal === undefined ? {} : { signal }) };
    checkAdmitOptions(admitOptions);
    checkIdentity(context);
    const spend = this.#spendGates.open(context);
    const stop = new JobStop(signal ?? null, context);
    try {
      return await this.#attempts({
        declared,
        accounts: this.#accounts,
        context,
        stop,
        spend,
        options: admitOptions,
      }, work);
    } finally {
      stop.dispose();
      spend.finish();
    }
  }

  async #attempts<R>(job: RunningJob, work: JobWork<R>): Promise<R> {
    let lastSignal: RetrySignal | null = null;
    for (let reruns = 0;; reruns++) {
      try {
        await this.#prepare(job);
      } catch (error) {
        // Refused only because it had to ask anew: whoever reads that should see why it had to.
        if (lastSignal !== null && error instanceof SpendCapError) attachCause(error, lastSignal);
        throw error;
      }
      const demand = demandFor(job.declared, job.accounts);
      const askedAt = this.#clock.now();
      const grant = await this.#admission.admit(demand, job.options);
      const attempt = new JobAttempt<R>(job, grant, { clock: this.#clock, logger: this.#logger });
      try {
        return await attempt.run(work, { attempt: reruns + 1, askedAt });
      } catch (error) {
        const { retrySignal } = attempt;
        if (retrySignal === null) throw error;
        lastSignal = retrySignal;
        await this.#pauses.before(retrySignal, { id: job.context.id, reruns, stop: job.stop });
      }
    }
  }

  /** Everything that comes before the job asks for admission: it holds nothing yet. */
  async #prepare({ declared, context, stop, spend }: RunningJob): Promise<void> {
    const admission = this.#admission;
    stop.check();
    for (const binding of declared.models) {
      if (!binding.isResolved && this.#resolveModel !== undefined) {
        const resolved = Promise.resolve(this.#resolveModel(binding, context));
        const model = await stop.follow(untilClosed(admission, resolved));
        // Another job with the same binding may have been faster.
        if (!binding.isResolved) binding.resolve(model);
      }
      binding.price();
    }
    await stop.follow(untilClosed(admission, spend.consult(declared.models)));
  }
}

/** The pauses of `retryDelayMs`. */
function pacedBy(random: (() => number) | undefined): (signal: RetrySignal, reruns: number) => number {
  const chance = random === undefined ? {} : { random };
  return (signal, reruns) => retryDelayMs(signal, { reruns, ...chance });
}

/** @throws TypeError when they are no requirements, or declare something and no time limit. */
function checkedDeclaration(requirements: JobRequirements | null): JobDeclaration {
  if (requirements === null || requirements === undefined) return new JobRequirements().declared;
  if (!(requirements instanceof JobRequirements)) {
    throw new TypeError(
      `Cannot run a job: requirements is ${show(requirements)}, it should be a JobRequirements or null`,
    );
  }
  if (requirements.isEmpty || requirements.timeoutMs !== null) return requirements.declared;
  throw new TypeError("Cannot run a job: it declares resources and has no timeoutMs, it should have one");
}

/** @throws TypeError when a context lacks what jobs, beyond admission, write and call. */
function checkIdentity({ id, metadata, signalTimeout }: JobContext): void {
  if (
    typeof id === "string" && typeof metadata === "object" && metadata !== null &&
    typeof signalTimeout === "function"
  ) {
    return;
  }
  throw new TypeError(
    "Cannot run a job: its context lacks id, metadata or signalTimeout(), it should be a JobContext",
  );
}

function checkFunction(name: string, value: unknown): void {
  if (value !== undefined && typeof value !== "function") throw unfit(name, value, "a function");
}

function unfit(what: string, value: unknown, remedy: string): TypeError {
  return new TypeError(`Cannot make a JobRunner: ${what} is ${show(value)}, it should be ${remedy}`);
}
