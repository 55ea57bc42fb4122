import { CountingGate, type CountingGateOptions } from "./counting_gate.ts";
import { STDIOEndpoint } from "./stdio_endpoint.ts";
import { UncorrectableError } from "../errors.ts";
import { show } from "../invariant.ts";
import { type Logger, safeLogger } from "../logger.ts";
import type { UpstreamFailure } from "../models/upstream_failure.ts";
import { checkOptionNames, type OptionNames } from "../option_names.ts";

/** Calls at a time on one endpoint when nobody says otherwise. */
export const DEFAULT_ENDPOINT_CAPACITY = 10;

/** Further options of an endpoint's account. */
export interface STDIOEndpointRateLimiterOptions extends CountingGateOptions {
  /** Hears of upstream failures; silent when left out. */
  logger?: Logger;
}

const OPTIONS: OptionNames<STDIOEndpointRateLimiterOptions> = { clock: true, logger: true };

/**
 * How many calls may be under way on one STDIO endpoint. Once closed it refuses everyone; what is out can still be given
 * back. Because it refuses before its counter is asked it overrides verbs, so admission asks it as it asks a custom account.
 */
export class STDIOEndpointRateLimiter extends CountingGate {
  readonly #logger: Logger;
  #isClosed = false;

  /**
   * An open endpoint's account, no call under way.
   *
   * @param endpoint its logical name becomes the account's: `mcp:<logical name>`.
   * @param capacity calls at a time, a whole number from 1 to 2^31 - 1; the endpoint's own, or 10, when left out.
   * @throws InvalidStateError for an endpoint without a logical name; TypeError or RangeError for a wrong capacity.
   */
  constructor(
    endpoint: STDIOEndpoint,
    capacity?: number,
    options: STDIOEndpointRateLimiterOptions = {},
  ) {
    const { limiterName, maxConcurrent } = checkedEndpoint(endpoint);
    checkOptionNames("Cannot make an STDIOEndpointRateLimiter:", options, OPTIONS);
    const { clock } = options;
    super(
      limiterName,
      capacity ?? maxConcurrent ?? DEFAULT_ENDPOINT_CAPACITY,
      clock === undefined ? {} : { clock },
    );
    this.#logger = safeLogger(options.logger);
  }

  /** Whether `close` was called. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** `blocked` once closed, else null. */
  override get statusIndicator(): string | null {
    return this.#isClosed ? "blocked" : null;
  }

  /** As every gate, while open. @throws UncorrectableError once closed. */
  override fits(mine: readonly void[], ahead: readonly void[]): boolean {
    this.#assertOpen();
    return super.fits(mine, ahead);
  }

  /** As every gate, while open. @throws UncorrectableError once closed. */
  override tryTake(mine: readonly void[], ahead: readonly void[]): boolean {
    this.#assertOpen();
    return super.tryTake(mine, ahead);
  }

  /** Refuses everyone from now on; twice does nothing more. Wakes nobody: a parked demand is refused when it is next asked. */
  close(): void {
    this.#isClosed = true;
  }

  /** Logs what the upstream said. */
  override onRateLimitError(failure: UpstreamFailure): void {
    this.#logger.warn(`${this.limiterName}: ${failure.summary()}`);
  }

  #assertOpen(): void {
    if (!this.#isClosed) return;
    throw new UncorrectableError(
      `The endpoint of ${show(this.limiterName)} was shut down and takes no more calls. Use another tool.`,
      { account: this.limiterName },
    );
  }
}

/** @throws TypeError when it is no STDIOEndpoint. */
export function checkedEndpoint(endpoint: STDIOEndpoint): STDIOEndpoint {
  if (endpoint instanceof STDIOEndpoint) return endpoint;
  throw new TypeError(
    `Cannot find the account of an endpoint: it is ${show(endpoint)}, it should be an STDIOEndpoint`,
  );
}
