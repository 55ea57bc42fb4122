import type { RateLimiter } from "../account.ts";
import { checkedNumber } from "../checked_number.ts";
import type { DBResourceProvider } from "../database/db_resource_provider.ts";
import { Demand } from "../demand.ts";
import { show } from "../invariant.ts";
import { type ModelAccounts, ModelBinding } from "../models/model_binding.ts";
import { checkOptionNames, type OptionNames } from "../option_names.ts";

/** How long a job may run. */
export interface JobRequirementsOptions {
  /**
   * Milliseconds that each attempt may take from its grant until its handles are closed, above 0 and finite; the wait for
   * admission does not count. A job that declares anything must have one.
   */
  readonly timeoutMs?: number;
}

/** How a job uses a database. */
export interface DatabaseUse {
  /** Tells the connection that the job will not write. False when left out. */
  readonly readOnly?: boolean;
  /** Opens a transaction before the work, commits it after it, and rolls it back when the job fails. False when left out. */
  readonly transaction?: boolean;
}

/** A custom limiter of a job, and what the job takes of it at once. */
export interface DeclaredLimiter {
  /** The account. */
  readonly limiter: RateLimiter<unknown>;
  /** Undefined for one unit permit. */
  readonly amount: unknown;
}

/** A database of a job. */
export interface DeclaredDatabase extends Required<DatabaseUse> {
  /** Whose permit and handle the job gets. */
  readonly provider: DBResourceProvider<unknown>;
}

/** What a job declares, at one moment; each list in the order of declaration. Frozen. */
export interface JobDeclaration {
  /** Calls of models. */
  readonly models: readonly ModelBinding[];
  /** Whether HTTP was declared by itself. */
  readonly http: boolean;
  /** Each limiter once. */
  readonly limiters: readonly DeclaredLimiter[];
  /** The amounts of included demands. */
  readonly included: readonly DeclaredLimiter[];
  /** Each provider once, with its use. */
  readonly databases: readonly DeclaredDatabase[];
  /** Milliseconds, or null. */
  readonly timeoutMs: number | null;
}

/** The accounts behind what jobs declare. */
export interface JobAccounts extends ModelAccounts {
  /** The gate of the HTTP pool. */
  readonly http: RateLimiter<void>;
}

const OPTIONS: OptionNames<JobRequirementsOptions> = { timeoutMs: true };
const USE: OptionNames<DatabaseUse> = { readOnly: true, transaction: true };

const PROVIDER_VERBS = [
  "acquire",
  "begin",
  "commit",
  "awaitCompletion",
  "rollback",
  "close",
  "abort",
] as const;

/**
 * Everything that a job needs, declared before it runs: calls of models, places in the HTTP pool, limits of other services, and
 * databases. What is added after a job was started with it is for later jobs.
 */
export class JobRequirements {
  /** Milliseconds that each attempt may take, or null. */
  readonly timeoutMs: number | null;
  readonly #models: ModelBinding[] = [];
  readonly #limiters = new Map<RateLimiter<unknown>, unknown>();
  readonly #included: DeclaredLimiter[] = [];
  readonly #databases = new Map<DBResourceProvider<unknown>, DeclaredDatabase>();
  #http = false;

  /** Declares nothing yet. @throws TypeError or RangeError when `timeoutMs` is not as said. */
  constructor(options: JobRequirementsOptions = {}) {
    checkOptionNames("Cannot declare a job:", options, OPTIONS);
    const { timeoutMs = null } = options;
    this.timeoutMs = timeoutMs === null ? null : checkedTimeout(timeoutMs);
  }

  /** Declares a call of a model, and with it a place in the HTTP pool. Declared twice, it is two calls. @throws TypeError. */
  model(binding: ModelBinding): this {
    if (!(binding instanceof ModelBinding)) throw unfit("model", binding, "a ModelBinding");
    this.#models.push(binding);
    return this;
  }

  /** Declares one place in the HTTP pool, however often it is called. */
  http(): this {
    this.#http = true;
    return this;
  }

  /**
   * Declares an amount on an account of one's own choice, as `Demand.add` takes it. Declared again, the limiter keeps its place
   * and the new amount counts.
   *
   * @throws as `Demand.add`; nothing was declared then.
   */
  limiter(limiter: RateLimiter<void>, count?: number): this;
  /** The same for an account whose amounts are no unit permits. */
  limiter<T>(limiter: RateLimiter<T>, amount: NoInfer<T>): this;
  limiter(limiter: RateLimiter<unknown>, amount?: unknown): this {
    new Demand().add(limiter, amount);
    this.#limiters.set(limiter, amount);
    return this;
  }

  /**
   * Declares all that a demand names now, amount for amount, beside what else is declared. Its accounts hear how the work went, as
   * limiters do; a place in the HTTP pool is taken only if the demand names one.
   *
   * @throws TypeError when it is no Demand.
   */
  include(demand: Demand): this {
    if (!(demand instanceof Demand)) throw unfit("included demand", demand, "a Demand");
    for (const { limiter, amounts } of demand.entries) {
      for (const amount of amounts) this.#included.push(Object.freeze({ limiter, amount }));
    }
    return this;
  }

  /**
   * Declares a permit of a database and a handle on it. Declared again, the provider keeps its place and the new use counts.
   *
   * @throws TypeError when it is no provider, or the use is not as said.
   */
  database(provider: DBResourceProvider<unknown>, use: DatabaseUse = {}): this {
    checkProvider(provider);
    checkOptionNames("Cannot declare the database of a job:", use, USE);
    const { readOnly = false, transaction = false } = use;
    for (const [name, flag] of Object.entries({ readOnly, transaction })) {
      if (typeof flag !== "boolean") throw unfit(`${name} of a database`, flag, "true or false");
    }
    this.#databases.set(provider, Object.freeze({ provider, readOnly, transaction }));
    return this;
  }

  /** Whether nothing was declared: such a job only gives orders to others. */
  get isEmpty(): boolean {
    const declared = [this.#models.length, this.#limiters.size, this.#included.length, this.#databases.size];
    return !this.#http && declared.every((count) => count === 0);
  }

  /** What is declared now. */
  get declared(): JobDeclaration {
    return Object.freeze({
      models: Object.freeze([...this.#models]),
      http: this.#http,
      limiters: Object.freeze(
        [...this.#limiters].map(([limiter, amount]) => Object.freeze({ limiter, amount })),
      ),
      included: Object.freeze([...this.#included]),
      databases: Object.freeze([...this.#databases.values()]),
      timeoutMs: this.timeoutMs,
    });
  }

  /**
   * What the job asks of admission: the accounts of its models, the HTTP gate once if anything needs it, its limiters and included demands, the gates of
   * its databases, each in the order of declaration. It is another demand each time.
   *
   * @throws InvalidStateError when a model is not resolved or not priced; and as `Demand.add` and the accounts do.
   */
  demand(accounts: JobAccounts): Demand {
    return demandFor(this.declared, accounts);
  }
}

/** The demand of a declaration. */
export function demandFor(declared: JobDeclaration, accounts: JobAccounts): Demand {
  const { models, limiters, included, databases } = declared;
  const demand = new Demand();
  for (const binding of models) binding.addTo(demand, accounts);
  const needsHttp = declared.http || models.length > 0 ||
    limiters.some(({ limiter }) => limiter.requiresHttpConnection === true);
  if (needsHttp) demand.add(accounts.http);
  for (const { limiter, amount } of [...limiters, ...included]) demand.add(limiter, amount);
  for (const { provider } of databases) demand.add(provider.admission);
  return demand;
}

function checkedTimeout(timeoutMs: number): number {
  const what = "Cannot declare a job: timeoutMs";
  checkedNumber(what, timeoutMs, { least: 0, most: Number.MAX_VALUE, isWhole: false });
  if (timeoutMs > 0) return timeoutMs;
  throw new RangeError(`${what} is ${timeoutMs}, it should be more than 0`);
}

function checkProvider(provider: DBResourceProvider<unknown>): void {
  const missing = PROVIDER_VERBS.find((verb) => typeof provider?.[verb] !== "function");
  if (missing !== undefined) throw unfit("database", provider, `a DBResourceProvider with ${missing}()`);
  const { admission } = provider;
  if (typeof admission?.tryTake !== "function") {
    throw unfit("admission of a database", admission, "a DatabaseGate");
  }
}

function unfit(what: string, value: unknown, remedy: string): TypeError {
  return new TypeError(`Cannot declare a job: ${what} is ${show(value)}, it should be ${remedy}`);
}
