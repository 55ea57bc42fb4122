/**
 * Sluice: admission control. A job hands in everything it needs and gets all of it in one step, or waits holding nothing.
 *
 * @module
 */
export { Admission } from "./core/admission.ts";
export { Demand } from "./core/demand.ts";
export type { DemandEntry } from "./core/entry.ts";
export { Grant } from "./core/grant.ts";
export type { AccountView, Explanation } from "./core/explanation.ts";
export type { WaiterView, WaitView } from "./core/waiter_views.ts";
export type { HeldGrant } from "./core/holds.ts";
export type { Work } from "./core/run.ts";
export type { AdmissionOptions, AdmitOptions, MemoryAccount } from "./core/options.ts";
export {
  AbstractRateLimiter,
  type LimiterCategory,
  type LimiterIdentity,
  type RateLimiter,
  type Replenishment,
} from "./core/account.ts";
export type { NativeAccount } from "./core/accounts/native.ts";
export { CountingGate, type CountingGateOptions } from "./core/accounts/counting_gate.ts";
export {
  type TokenBucketCaps,
  type TokenBucketOptions,
  TokenBucketRateLimiter,
} from "./core/accounts/token_bucket.ts";
export { ModelGate } from "./core/accounts/model_gate.ts";
export { DatabaseGate } from "./core/accounts/database_gate.ts";
export { HttpConnectionGate } from "./core/accounts/http_connection_gate.ts";
export { STDIOEndpoint, type STDIOEndpointFields } from "./core/accounts/stdio_endpoint.ts";
export {
  STDIOEndpointRateLimiter,
  type STDIOEndpointRateLimiterOptions,
} from "./core/accounts/stdio_endpoint_rate_limiter.ts";
export { STDIOEndpoints, type STDIOEndpointsOptions } from "./core/accounts/stdio_endpoints.ts";
export {
  type KeyedAccount,
  KeyedRateLimiter,
  type KeyedRateLimiterOptions,
  type LimiterKey,
} from "./core/accounts/keyed_rate_limiter.ts";
export { ModelSpec, type ModelSpecFields } from "./core/models/model_spec.ts";
export type { ModelKind } from "./core/models/model_kind.ts";
export type { ModelPrices } from "./core/models/model_prices.ts";
export {
  outputBudget,
  type OutputBudgets,
  type OutputRung,
  thinkingBudget,
  type ThinkingBudgets,
  type ThinkingDepth,
  type ThinkingMode,
} from "./core/models/token_budgets.ts";
export {
  type ModelAccounts,
  ModelBinding,
  type ModelBindingOptions,
  type Reservation,
} from "./core/models/model_binding.ts";
export { callCost, type CallUsage, Cost, reservationCost } from "./core/jobs/cost.ts";
export { callUsage } from "./core/jobs/call_usage.ts";
export { type SpendGate, SpendGates, type SpendGatesOptions } from "./core/jobs/spend_gate.ts";
export type { JobSpend } from "./core/jobs/job_spend.ts";
export { CostLedger, type CostLedgerOptions } from "./core/jobs/cost_ledger.ts";
export {
  type DatabaseUse,
  type DeclaredDatabase,
  type DeclaredLimiter,
  type JobAccounts,
  type JobDeclaration,
  JobRequirements,
  type JobRequirementsOptions,
} from "./core/jobs/job_requirements.ts";
export { type JobOptions, JobRunner, type JobRunnerOptions } from "./core/jobs/job_runner.ts";
export type { JobWork } from "./core/jobs/job_attempt.ts";
export type { JobScope } from "./core/jobs/job_scope.ts";
export { type JobPart, JobTimeoutError, type JobTimeoutFacts } from "./core/jobs/job_timeout_error.ts";
export {
  type LimiterClass,
  RateLimiterFactory,
  type RateLimiterFactoryOptions,
} from "./core/models/rate_limiter_factory.ts";
export { RateLimiterRegistry } from "./core/models/rate_limiter_registry.ts";
export type { AnsweredCall } from "./core/models/learned_limits.ts";
export {
  RateLimitInfo,
  type RateLimitInfoFields,
  type RateLimitType,
} from "./core/models/rate_limit_info.ts";
export {
  type FailedAnswer,
  type HeaderReader,
  headerReader,
  type HeaderReaderOptions,
  type ProviderKey,
  readRetryAfterMs,
} from "./core/models/headers/header_reader.ts";
export type { HeaderSource } from "./core/models/headers/header_view.ts";
export type { DBManagedResource, DBResourceProvider } from "./core/database/db_resource_provider.ts";
export { AbstractDBResourceProvider } from "./core/database/abstract_db_resource_provider.ts";
export { CountingDBResourceProvider } from "./core/database/counting_db_resource_provider.ts";
export {
  type DBProviderClass,
  DBResourceProviders,
  type DefaultDBProviderOptions,
} from "./core/database/db_resource_providers.ts";
export { type AccountHealth, health, healthTable } from "./core/health.ts";
export { ElasticWindowRateLimiter } from "./core/accounts/elastic_window.ts";
export type { ElasticWindowOptions } from "./core/accounts/window_options.ts";
export type { ServiceWindowOptions } from "./core/accounts/services/service_window.ts";
export { PubMedRateLimiter } from "./core/accounts/services/pubmed_rate_limiter.ts";
export { UsptoOdpRateLimiter } from "./core/accounts/services/uspto_odp_rate_limiter.ts";
export { EPORateLimiter, type EPORateLimiterOptions } from "./core/accounts/services/epo_rate_limiter.ts";
export type { EPOService } from "./core/accounts/services/epo_service.ts";
export { type EPOAnswer, epoFailure } from "./core/accounts/services/epo_failure.ts";
export { type CircuitState, ElasticWindowStatus } from "./core/statuses.ts";
export { MemoryPressureGate } from "./core/accounts/memory_pressure_gate.ts";
export type { MemoryPressureGateOptions } from "./core/accounts/memory_gate_options.ts";
export { MemoryPressureStatus, type MemoryZone } from "./core/memory_status.ts";
export { type LimiterStatus, SemaphoreLimiterStatus, TokenBucketStatus } from "./core/statuses.ts";
export {
  type EventSink,
  type LimiterEvent,
  LimiterEvents,
  type LimiterEventType,
  type RejectReason,
} from "./core/events.ts";
export { clientAddress, type ClientAddressFacts } from "./core/client_address.ts";
export { createJobContext, type JobContext, type JobSnapshot } from "./core/context.ts";
export { type Caller, type Clock, systemClock, type Timer } from "./core/clock.ts";
export { setKernelModule } from "./core/kernel.ts";
export type { LogFields, Logger } from "./core/logger.ts";
export { UpstreamFailure, type UpstreamFailureFields } from "./core/models/upstream_failure.ts";
export type { UpstreamErrorFacts, UpstreamErrorFields } from "./core/models/upstream_error_facts.ts";
export {
  ExternalServiceError,
  UpstreamAuthError,
  UpstreamRequestError,
} from "./core/models/upstream_errors.ts";
export {
  UpstreamBadGatewayError,
  UpstreamBadRequestError,
  upstreamError,
  UpstreamForbiddenError,
  UpstreamNotFoundError,
  UpstreamRateLimitError,
  UpstreamServerError,
  UpstreamTooLargeError,
  UpstreamUnauthorizedError,
  UpstreamUnavailableError,
  UpstreamUnprocessableError,
} from "./core/models/upstream_error.ts";
export { checkedResponse, type CheckedResponseOptions } from "./core/models/checked_response.ts";
export { type PacingWindow, type RetryKind, RetrySignal } from "./core/models/retry_signal.ts";
export { retryDelayMs, type RetryDelayOptions } from "./core/models/retry_delay.ts";
export { QuotaExhaustedError } from "./core/models/quota_exhausted_error.ts";
export { classifyUpstreamFailure } from "./core/models/classify_upstream_failure.ts";
export { callUpstream, type ModelAccount, streamUpstream } from "./core/models/client_feedback.ts";
export {
  AdmissionError,
  CancellationError,
  CorrectableError,
  InvalidStateError,
  KeysFullError,
  NestedDemandError,
  QueueFullError,
  type RefusalFacts,
  SpendCapError,
  type SpendFacts,
  TimeoutError,
  UncorrectableError,
} from "./core/errors.ts";
