/**
 * Admission for Hono: `admit(options)` is a middleware that gets a request everything it needs in one step, or lets it wait
 * holding nothing, and keeps the grant until the response is over. `refusalResponse` answers refusals that other code meets.
 *
 * @module
 */
export { admit, type AdmitControls, type AdmitMiddleware } from "./hono/admit.ts";
export type { HonoAdmitOptions, RefusalHook, RequestDemand, SkipTest } from "./hono/options.ts";
export { type RefusalOptions, refusalResponse } from "./hono/refusal_response.ts";
export type { RateLimitForm } from "./hono/rate_limit_fields.ts";
