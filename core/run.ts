import { TokenBucketRateLimiter } from "./accounts/token_bucket.ts";
import type { DemandSnapshot, Entry } from "./entry.ts";
import { demandOf, type Grant } from "./grant.ts";
import { show } from "./invariant.ts";
import type { Logger } from "./logger.ts";
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
  if (signal?.aborted || context?.isCancelled) {
    grant.rollback();
    throw signal?.aborted ? signal.reason : cancelled().error;
  }
  let result: R;
  try {
    result = await runNested(demand, grant, () => work(grant)) as R;
  } catch (error) {
    tellFailure(demand, error, logger);
    settleQuietly(grant, logger);
    throw error;
  }
  tellAll(demand, logger, (entry) => entry.limiter.onSuccess?.(entry.amounts[0]));
  grant.release();
  return result;
}

function tellFailure(demand: DemandSnapshot, error: unknown, logger: Logger): void {
  const failure = serviceFailure(error);
  if (failure === null) return;
  tellAll(demand, logger, (entry) => entry.limiter.onRateLimitError?.(failure, entry.amounts[0]));
}

/** The failure of an upstream service, or null when the error itself carries no status of one. */
function serviceFailure(error: unknown): UpstreamFailure | null {
  if (typeof error !== "object" || error === null) return null;
  const { status, statusCode } = error as { status?: unknown; statusCode?: unknown };
  const code = statusCode ?? status;
  if (typeof code !== "number" || !Number.isInteger(code) || code < 400 || code > 999) return null;
  return CALLER_FAULTS.includes(code) ? null : UpstreamFailure.from(error);
}

/** Buckets hear from whoever saw the response. What an account throws keeps nobody else from hearing. */
function tellAll(demand: DemandSnapshot, logger: Logger, tell: (entry: Entry) => void): void {
  for (const entry of demand.entries) {
    if ((entry.key as unknown) instanceof TokenBucketRateLimiter) continue;
    try {
      tell(entry);
    } catch (fault) {
      logger.error(
        `Account ${show(entry.key.limiterName)} failed while it was told of an outcome: ${messageOf(fault)}`,
      );
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

function messageOf(fault: unknown): string {
  return fault instanceof Error ? fault.message : show(fault);
}
