/**
 * Admission for Hono: `admit(options)` is a middleware that gets a request everything it needs in one step, or lets it wait
 * holding nothing, and keeps the grant until the response is over.
 *
 * @module
 */
export { admit, type AdmitControls, type AdmitMiddleware } from "./hono/admit.ts";
export type { HonoAdmitOptions, RefusalHook, RequestDemand, SkipTest } from "./hono/options.ts";
export type { RateLimitForm } from "./hono/rate_limit_fields.ts";
