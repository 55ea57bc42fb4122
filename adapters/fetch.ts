/**
 * A `fetch` with admission, for clients of model providers: quotas are respected before a request is sent.
 *
 * @module
 */
export { admittedFetch } from "./fetch/admitted_fetch.ts";
export type { AdmittedFetchOptions } from "./fetch/options.ts";
export type { Fetch, OutgoingRequest } from "./fetch/outgoing.ts";
export { estimateTokens } from "./fetch/estimate_tokens.ts";
export { countedTokens, type ResponseUsage } from "./fetch/counted_tokens.ts";
