import { serviceWindow, type ServiceWindowOptions } from "./service_window.ts";
import { ElasticWindowRateLimiter } from "../elastic_window.ts";

const NAME = "uspto-odp";

/**
 * The Open Data Portal of the USPTO: 1 request in any 250 ms, named `uspto-odp`. An amount is one slot.
 *
 * The portal allows a key 4 to 15 requests a second, depending on the call, and never two at the same time; it asks to wait 5
 * seconds after a 429, and has weekly quotas (https://data.uspto.gov/apis/api-rate-limits, as quoted in April 2026 in
 * https://github.com/mims-harvard/ToolUniverse/issues/159). A window does not know how long a call takes: put a `CountingGate`
 * of 1 beside it where calls may take longer than 250 ms. A faster call may have a shorter window: `{ baseWindowMs: 67 }`.
 */
export class UsptoOdpRateLimiter extends ElasticWindowRateLimiter {
  /**
   * An empty window for one key.
   *
   * @param options of the window; none is needed.
   * @throws TypeError or RangeError naming the option, its value and what would do.
   */
  constructor(options: ServiceWindowOptions = {}) {
    super(NAME, serviceWindow(NAME, { maxRequests: 1, baseWindowMs: 250 }, options));
  }
}
