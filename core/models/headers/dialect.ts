import type { LogFields } from "../../logger.ts";
import type { RateLimitInfoFields } from "../rate_limit_info.ts";
import type { HeaderView } from "./header_view.ts";

/** What an answer says: a RateLimitInfo without the model and the time. */
export type Facts = Omit<RateLimitInfoFields, "model" | "capturedAt">;

/** A failed answer as a dialect reads it. What is read in `body` may throw: see `quietly`. */
export interface Failure {
  /** 0 when no HTTP answer came. */
  readonly status: number;
  readonly headers: HeaderView;
  readonly message: unknown;
  readonly body: unknown;
}

/** How one provider tells its limits. Null stands for an answer that says nothing. */
export interface Dialect {
  success(headers: HeaderView): Facts | null;
  error(failure: Failure): Facts | null;
  /** What else it says that a log is glad of; null for what is absent. */
  log(headers: HeaderView): LogFields;
}

/** Whether at least one of the two limits is known. */
export function hasLimit({ tokensLimit, requestsLimit }: Facts): boolean {
  return (tokensLimit ?? requestsLimit ?? null) !== null;
}
