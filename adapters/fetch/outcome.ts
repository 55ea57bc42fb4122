import {
  type Demand,
  type DemandEntry,
  type Logger,
  ModelGate,
  TokenBucketRateLimiter,
  type UpstreamFailure,
} from "../../mod.ts";

/** Tells the accounts of a demand that a response came. Call it while their permits are held. */
export function tellSuccess(demand: Demand, logger: Logger | undefined): void {
  tellEach(demand, logger, ({ limiter, amounts }) => limiter.onSuccess?.(amounts[0]));
}

/** Tells the accounts of a demand that the service failed. Call it while their permits are held. */
export function tellFailure(demand: Demand, logger: Logger | undefined, failure: UpstreamFailure): void {
  tellEach(demand, logger, ({ limiter, amounts }) => limiter.onRateLimitError?.(failure, amounts[0]));
}

/** Buckets and gates of models hear of weights instead (UF-26). What one account throws keeps no other from hearing. */
function tellEach(demand: Demand, logger: Logger | undefined, tell: (entry: DemandEntry) => unknown): void {
  for (const entry of demand.entries) {
    const key: unknown = entry.key;
    if (key instanceof TokenBucketRateLimiter || key instanceof ModelGate) continue;
    const name = entry.key.limiterName;
    attempt(logger, `tell ${name} of an outcome`, () => tell(entry));
  }
}

/** Does something of which the caller of fetch must not suffer: what it throws, or rejects with, is logged. */
export function attempt(logger: Logger | undefined, deed: string, act: () => unknown): void {
  const failed = (fault: unknown) => {
    try {
      const reason = fault instanceof Error ? fault.message : String(fault);
      logger?.error(`Cannot ${deed}: ${reason}`);
    } catch {
      // A logger that fails is nobody's business here (BEY-12).
    }
  };
  try {
    const result = act();
    if (result instanceof Promise) result.catch(failed);
  } catch (fault) {
    failed(fault);
  }
}
