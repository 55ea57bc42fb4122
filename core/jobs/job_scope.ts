import { TokenBucketRateLimiter } from "../accounts/token_bucket.ts";
import { checkedNumber } from "../checked_number.ts";
import type { JobContext } from "../context.ts";
import type { DBManagedResource, DBResourceProvider } from "../database/db_resource_provider.ts";
import { InvalidStateError } from "../errors.ts";
import type { Grant } from "../grant.ts";
import { show } from "../invariant.ts";
import type { ModelAccount } from "../models/client_feedback.ts";
import type { ModelBinding } from "../models/model_binding.ts";
import type { Cost } from "./cost.ts";
import type { JobHandles } from "./job_handles.ts";
import type { JobAccounts, JobDeclaration } from "./job_requirements.ts";
import type { JobSpend } from "./job_spend.ts";
import type { JobStop } from "./job_stop.ts";

/** What the parts of a job have in common. */
export interface JobParts {
  readonly declared: JobDeclaration;
  readonly accounts: JobAccounts;
  readonly context: JobContext;
  readonly stop: JobStop;
  readonly spend: JobSpend;
}

const TOKENS = { least: 0, most: Number.MAX_SAFE_INTEGER };

/** What the work of a job is given, anew for each attempt. Made by JobRunner only. */
export class JobScope {
  /** What admission granted. The runner settles it; work that knows that nothing went upstream may roll it back itself. */
  readonly grant: Grant;
  /** 1, and one more for each time that the job was run again. */
  readonly attempt: number;
  readonly #job: JobParts;
  readonly #handles: JobHandles;
  /** What was told of the calls on each bucket. */
  readonly #told = new Map<TokenBucketRateLimiter, { calls: number; tokens: number; isKnown: boolean }>();

  /** For JobRunner. */
  constructor(job: JobParts, own: { grant: Grant; attempt: number; handles: JobHandles }) {
    this.#job = job;
    this.grant = own.grant;
    this.attempt = own.attempt;
    this.#handles = own.handles;
  }

  /** The job's identity and cancellation. */
  get context(): JobContext {
    return this.#job.context;
  }

  /** Aborts when the job's caller leaves, its context is cancelled or its time is up. Pass it to every request. */
  get signal(): AbortSignal {
    return this.#job.stop.signal;
  }

  /** The declared calls of models, resolved and priced, in the order of declaration. */
  get models(): readonly ModelBinding[] {
    return this.#job.declared.models;
  }

  /** The account that a declared call was admitted on, for `callUpstream`. @throws InvalidStateError when it was not declared. */
  account(binding: ModelBinding): ModelAccount {
    if (!this.models.includes(binding)) {
      throw new InvalidStateError(
        `Cannot tell the account of ${
          show(binding)
        }: the job did not declare it, call JobRequirements.model() before`,
      );
    }
    const { accounts } = this.#job;
    const { model } = binding;
    return model.maxConcurrent === null ? accounts.bucket(model) : accounts.gate(model);
  }

  /**
   * Says what a declared call was billed, in tokens: less than was reserved for it goes back to the bucket at once, more is
   * charged, as `Grant.settle` does. Calls that share a bucket are one entry of the grant, so there it happens when the last of them
   * was told. An unknown usage (null, undefined, NaN) counts as what was reserved. A model with a gate has nothing to settle.
   *
   * @throws InvalidStateError when the call was not declared, or the grant was rolled back; TypeError or RangeError when `actual` is
   * not a whole number, 0 or more.
   */
  settle(binding: ModelBinding, actual: number | null | undefined): void {
    if (!this.models.includes(binding)) {
      throw new InvalidStateError(
        `Cannot settle ${
          show(binding)
        }: the job did not declare that call, call JobRequirements.model() before`,
      );
    }
    const bucket = this.account(binding);
    if (!(bucket instanceof TokenBucketRateLimiter)) return;
    const isKnown = actual !== null && actual !== undefined && !Number.isNaN(actual);
    const what = `Cannot settle a call of ${show(binding.model.id)}: actual`;
    const billed = isKnown ? checkedNumber(what, actual, TOKENS) : binding.reservation.total;
    const told = this.#told.get(bucket) ?? { calls: 0, tokens: 0, isKnown: false };
    told.calls++;
    told.tokens += billed;
    told.isKnown ||= isKnown;
    this.#told.set(bucket, told);
    const calls = this.models.filter((each) => this.account(each) === bucket).length;
    if (told.calls === calls && told.isKnown) {
      this.grant.settle(bucket, told.tokens + this.#besideCalls(bucket));
    }
  }

  /** Tokens that the job declared on a bucket beside its calls: nobody tells of these. */
  #besideCalls(bucket: TokenBucketRateLimiter): number {
    const { limiters, included } = this.#job.declared;
    const amounts = [...limiters, ...included].filter(({ limiter }) => limiter === bucket);
    return amounts.reduce((sum, { amount }) => sum + Number(amount), 0);
  }

  /** The job's handle of a provider: `scope.resource(db).unwrap()`. @throws InvalidStateError when it was not declared. */
  resource<T>(provider: DBResourceProvider<T>): DBManagedResource<T> {
    const handle = this.#handles.of(provider);
    if (handle !== undefined) return handle as DBManagedResource<T>;
    throw new InvalidStateError(
      `Cannot give out a handle of provider ${
        show(provider?.name)
      }: the job did not declare it, call JobRequirements.database() before`,
    );
  }

  /** Adds what a call cost; null, for a model without prices, adds nothing. @throws TypeError, or InvalidStateError after the end. */
  recordCost(cost: Cost | null): void {
    this.#job.spend.record(cost);
  }
}
