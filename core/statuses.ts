/** What every status offers. Statuses are immutable snapshots. */
export interface LimiterStatus {
  /** One line that names the numbers. */
  summary(): string;
}

/** A counting gate at one moment. */
export class SemaphoreLimiterStatus implements LimiterStatus {
  /** Permits in all. */
  readonly maxConcurrent: number;
  /** Permits free now; below 0 while running work exceeds a lowered capacity. */
  readonly availablePermits: number;
  /** Wall time, ms since 1970, of the event-loop turn of the last take or give; at first, of construction. */
  readonly lastActivity: number;

  /** For accounts of your own: the fields in their order, taken as they are. Frozen. */
  constructor(maxConcurrent: number, availablePermits: number, lastActivity: number) {
    this.maxConcurrent = maxConcurrent;
    this.availablePermits = availablePermits;
    this.lastActivity = lastActivity;
    Object.freeze(this);
  }

  /** Permits in use. */
  get activeCount(): number {
    return this.maxConcurrent - this.availablePermits;
  }

  summary(): string {
    return `${this.activeCount}/${this.maxConcurrent} active, ${this.availablePermits} free`;
  }
}

/** A token bucket at one moment, in whole requests and tokens. */
export class TokenBucketStatus implements LimiterStatus {
  /** Requests per minute. */
  readonly maxRequests: number;
  /** Requests that may be made now, 0 or more. */
  readonly availableRequests: number;
  /** Tokens per minute. */
  readonly maxTokens: number;
  /** 0 or more; a debt shows as 0. */
  readonly availableTokens: number;
  /** Wall time of this snapshot, ms since 1970. */
  readonly lastRefill: number;

  /** For accounts of your own: the fields in their order, taken as they are. Frozen. */
  constructor(
    maxRequests: number,
    availableRequests: number,
    maxTokens: number,
    availableTokens: number,
    lastRefill: number,
  ) {
    this.maxRequests = maxRequests;
    this.availableRequests = availableRequests;
    this.maxTokens = maxTokens;
    this.availableTokens = availableTokens;
    this.lastRefill = lastRefill;
    Object.freeze(this);
  }

  /** Whether one request of that many tokens would fit. */
  hasCapacity(tokens: number): boolean {
    return this.availableRequests >= 1 && this.availableTokens >= tokens;
  }

  summary(): string {
    const requests = `${this.availableRequests}/${this.maxRequests} requests`;
    return `${requests}, ${this.availableTokens}/${this.maxTokens} tokens available`;
  }
}

/** What the circuit of an elastic window does: let through, refuse, or wait for the answer to one probe. */
export type CircuitState = "HEALTHY" | "BLOCKED" | "PROBING";

/** An elastic window at one moment. */
export class ElasticWindowStatus implements LimiterStatus {
  /** Slots in the window. */
  readonly maxRequests: number;
  /** Slots free now. */
  readonly availablePermits: number;
  /** How much longer than its base the window is: 0 nominal. */
  readonly throttleCoefficient: number;
  /** Length of the window as it is stretched, in whole ms. */
  readonly effectiveWindowMs: number;
  /** What the circuit did at that moment. */
  readonly circuitState: CircuitState;

  /** For accounts of your own: the fields in their order, taken as they are. Frozen. */
  constructor(
    maxRequests: number,
    availablePermits: number,
    throttleCoefficient: number,
    effectiveWindowMs: number,
    circuitState: CircuitState,
  ) {
    this.maxRequests = maxRequests;
    this.availablePermits = availablePermits;
    this.throttleCoefficient = throttleCoefficient;
    this.effectiveWindowMs = effectiveWindowMs;
    this.circuitState = circuitState;
    Object.freeze(this);
  }

  summary(): string {
    const slots = `${this.availablePermits}/${this.maxRequests} slots available`;
    const window = `window ${this.effectiveWindowMs}ms, throttle ${this.throttleCoefficient.toFixed(1)}`;
    return `${slots}, ${window}, circuit ${this.circuitState}`;
  }
}
