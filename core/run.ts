import type { RateLimiter } from "./account.ts";
import { ModelGate } from "./accounts/model_gate.ts";
import { TokenBucketRateLimiter } from "./accounts/token_bucket.ts";
import type { DemandSnapshot, Entry } from "./entry.ts";
import { AdmissionError } from "./errors.ts";
import { messageOf } from "./faults.ts";
import { demandOf, type Grant } from "./grant.ts";
import { show } from "./invariant.ts";
import type { Logger } from "./logger.ts";
import { statusOf } from "./models/causes.ts";
import { isQuotaExhausted } from "./models/quota_exhausted_error.ts";
import { ExternalServiceError } from "./models/upstream_errors.ts";
import { UpstreamFailure } from "./models/upstream_failure.ts";
import { runNested } from "./nesting.ts";
import type { AdmitOptions } from "./options.ts";
import { cancelled } from "./parking.ts";

/** What the work of `run` is given. */
export type Work<R> = (grant: Grant) => R | PromiseLike<R>;

/** Statuses that speak of the request, not of the service: no limit needs to hear of them. */
const CALLER_FAULTS: readonly number[] = [400, 401, 403, 404, 413, 422];

/**
 * Works under a grant, tells the accounts how it went while the permits are still held, and settles. What the work throws is
 * thrown; a settlement that fails after good work is thrown too, after failed work it is logged.
 */
export async function workUnder<R>(
  grant: Grant,
  work: Work<R>,
  { signal, context }: AdmitOptions,
  logger: Logger,
): Promise<R> {
  const demand = demandOf(grant);
  const audience = { demand, logger };
  if (signal?.aborted || context?.isCancelled) {
    grant.rollback();
    throw signal?.aborted ? signal.reason : cancelled().error;
  }
  let result: R;
  try {
    result = await runNested(demand, grant, () => work(grant)) as R;
  } catch (error) {
    tellFailure(audience, error);
    settleQuietly(grant, logger);
    throw error;
  }
  tellSuccess(audience);
  grant.release();
  return result;
}

/** Who hears how work went. */
export interface Audience {
  readonly demand: DemandSnapshot;
  /** Hears of an account that fails to hear. */
  readonly logger: Logger;
  /** The accounts that may hear; all of the demand when left out. */
  readonly only?: ReadonlySet<RateLimiter<unknown>>;
}

/** Tells of a success. */
export function tellSuccess(audience: Audience): void {
  tellAll(audience, (entry) => entry.limiter.onSuccess?.(entry.amounts[0]));
}

/** Tells of a failure of an upstream service; of any other error nobody hears. */
export function tellFailure(audience: Audience, error: unknown): void {
  const failure = serviceFailure(error);
  if (failure === null) return;
  tellAll(audience, (entry) => entry.limiter.onRateLimitError?.(failure, entry.amounts[0]));
}

/**
 * The failure of an upstream service, or null when the error itself is none. What this library throws is one only when it is an
 * ExternalServiceError; what others throw, when it carries a status that speaks of the service.
 */
function serviceFailure(error: unknown): UpstreamFailure | null {
  if (error instanceof ExternalServiceError) return UpstreamFailure.from(error);
  if (error instanceof AdmissionError || isQuotaExhausted(error)) return null;
  const status = statusOf(error);
  return status < 400 || CALLER_FAULTS.includes(status) ? null : UpstreamFailure.from(error);
}

/** Buckets and gates of models hear from whoever saw the response. What an account throws keeps nobody else from hearing. */
function tellAll({ demand, logger, only }: Audience, tell: (entry: Entry) => unknown): void {
  for (const entry of demand.entries) {
    if (only?.has(entry.limiter) === false) continue;
    const key: unknown = entry.key;
    if (key instanceof TokenBucketRateLimiter || key instanceof ModelGate) continue;
    const failed = (fault: unknown) =>
      logger.error(
        `Account ${show(entry.key.limiterName)} failed while it was told of an outcome: ${messageOf(fault)}`,
      );
    try {
      const told = tell(entry);
      if (told instanceof Promise) told.catch(failed);
    } catch (fault) {
      failed(fault);
    }
  }
}

function settleQuietly(grant: Grant, logger: Logger): void {
  try {
    grant.release();
  } catch (fault) {
    logger.error(`A grant could not be settled after its work failed: ${messageOf(fault)}`);
  }
}
