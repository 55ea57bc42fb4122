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

/** What the work of a job is given, anew for each attempt. Made by JobRunner only. */
export class JobScope {
  /** What admission granted. The runner settles it; work that knows that nothing went upstream may roll it back itself. */
  readonly grant: Grant;
  /** 1, and one more for each time that the job was run again. */
  readonly attempt: number;
  readonly #job: JobParts;
  readonly #handles: JobHandles;

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
