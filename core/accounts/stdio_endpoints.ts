import { CountingGate } from "./counting_gate.ts";
import type { STDIOEndpoint } from "./stdio_endpoint.ts";
import {
  checkedEndpoint,
  DEFAULT_ENDPOINT_CAPACITY,
  STDIOEndpointRateLimiter,
} from "./stdio_endpoint_rate_limiter.ts";
import { checkedNumber } from "../checked_number.ts";
import { type Clock, isClock, MAX_TIMER_MS, systemClock, type Timer } from "../clock.ts";
import { InvalidStateError } from "../errors.ts";
import { messageOf } from "../faults.ts";
import { show } from "../invariant.ts";
import { type Logger, safeLogger } from "../logger.ts";
import { checkOptionNames, type OptionNames } from "../option_names.ts";

/** Name of the gate that all endpoints share. */
export const STDIO_GATE_NAME = "mcp:stdio";

/** What a pool of STDIO endpoints may be given. */
export interface STDIOEndpointsOptions<Client> {
  /** Calls at a time over all endpoints: a whole number from 1 to 2^31 - 1; 20 when left out. */
  capacity?: number;
  /** Calls at a time on an endpoint that does not say itself: a whole number from 1 to 2^31 - 1; 10 when left out. */
  endpointCapacity?: number;
  /** How long a client may go unused, in ms: 0 or more; Infinity for ever; 300,000 when left out. */
  idleTimeoutMs?: number;
  /** Time between two looks for idle clients, in ms: 1 to 2^31 - 1; 60,000 when left out. */
  sweepIntervalMs?: number;
  /** Starts the subprocess and connects to it. */
  open?: (endpoint: STDIOEndpoint) => Client | Promise<Client>;
  /** Ends it. What it throws or rejects with is logged. */
  close?: (client: Client) => unknown;
  /** For `lastActivity` and the sweep; the system's clock when left out. */
  clock?: Clock;
  /** Hears of upstream failures and of clients that would not close; silent when left out. */
  logger?: Logger;
}

const OPTIONS: OptionNames<STDIOEndpointsOptions<never>> = {
  capacity: true,
  endpointCapacity: true,
  idleTimeoutMs: true,
  sweepIntervalMs: true,
  open: true,
  close: true,
  clock: true,
  logger: true,
};

interface Member<Client> {
  readonly limiter: STDIOEndpointRateLimiter;
  client: Promise<Client> | null;
}

/**
 * The STDIO endpoints of a process: one account each, one gate over all, and a client each that is dropped when it idles.
 * A timer looks for idle clients while there is a client; it keeps no process alive.
 */
export class STDIOEndpoints<Client = never> {
  /** Over all endpoints; it outlives `shutdown`. Named `mcp:stdio`. */
  readonly gate: CountingGate;
  readonly #options: Required<STDIOEndpointsOptions<Client>>;
  readonly #members = new Map<string, Member<Client>>();
  #timer: Timer | null = null;

  /**
   * A pool that knows no endpoint yet: each gets its account when it is first asked for.
   *
   * @throws TypeError or RangeError naming the option, its value and what would do.
   */
  constructor(options: STDIOEndpointsOptions<Client> = {}) {
    this.#options = checkedOptions(options);
    const { capacity, clock } = this.#options;
    this.gate = new CountingGate(STDIO_GATE_NAME, capacity, { clock });
  }

  /**
   * The endpoint's account, made when first asked for: with the endpoint's `maxConcurrent` as it is then, else the default.
   *
   * @throws InvalidStateError for an endpoint without a logical name.
   */
  limiter(endpoint: STDIOEndpoint): STDIOEndpointRateLimiter {
    return this.#member(endpoint).limiter;
  }

  /** The two accounts that a call on the endpoint takes: the endpoint's own, then the gate over all. */
  accounts(endpoint: STDIOEndpoint): readonly [STDIOEndpointRateLimiter, CountingGate] {
    return [this.limiter(endpoint), this.gate];
  }

  /**
   * The endpoint's client, opened when there is none. Call it under a grant of the endpoint's accounts: a client that nobody
   * has a permit for may be swept. One that fails to open is not kept.
   *
   * @throws InvalidStateError when the pool was made without `open`; rejects with what `open` throws.
   */
  client(endpoint: STDIOEndpoint): Promise<Client> {
    const member = this.#member(endpoint);
    if (member.client !== null) return member.client;
    const opening = Promise.resolve(endpoint).then(this.#options.open);
    member.client = opening;
    opening.catch(() => {
      if (member.client === opening) member.client = null;
    });
    this.#arm();
    return opening;
  }

  /**
   * Drops the client of every endpoint that has no permit in use and was last active before the cutoff, in ms of wall time.
   * Answers how many.
   */
  sweep(cutoffMs: number): number {
    let swept = 0;
    for (const member of this.#members.values()) {
      const { limiter, client } = member;
      if (client === null || limiter.currentInUse > 0 || limiter.status.lastActivity >= cutoffMs) continue;
      member.client = null;
      swept++;
      void this.#close(limiter.limiterName, client);
    }
    return swept;
  }

  /**
   * Closes every endpoint's account and client and forgets them; asked for again, they are made anew. Resolves when all
   * clients are closed.
   */
  async shutdown(): Promise<void> {
    const members = [...this.#members.values()];
    this.#members.clear();
    this.#timer?.cancel();
    this.#timer = null;
    for (const { limiter } of members) limiter.close();
    await Promise.all(
      members.map(({ limiter, client }) => client === null ? null : this.#close(limiter.limiterName, client)),
    );
  }

  #member(endpoint: STDIOEndpoint): Member<Client> {
    const known = this.#members.get(checkedEndpoint(endpoint).key);
    if (known !== undefined) return known;
    const { endpointCapacity, clock, logger } = this.#options;
    const capacity = endpoint.maxConcurrent ?? endpointCapacity;
    const member = {
      limiter: new STDIOEndpointRateLimiter(endpoint, capacity, { clock, logger }),
      client: null,
    };
    this.#members.set(endpoint.key, member);
    return member;
  }

  #arm(): void {
    const { clock, sweepIntervalMs } = this.#options;
    this.#timer ??= clock.setTimer(sweepIntervalMs, () => this.#look());
    this.#timer.unref?.();
  }

  #look(): void {
    this.#timer = null;
    const { clock, idleTimeoutMs } = this.#options;
    this.sweep(clock.wallNow() - idleTimeoutMs);
    if ([...this.#members.values()].some(({ client }) => client !== null)) this.#arm();
  }

  async #close(name: string, opening: Promise<Client>): Promise<void> {
    // A client that never opened has nothing to close, and whoever opened it was told.
    const client = await opening.then((client) => ({ client }), () => null);
    if (client === null) return;
    try {
      await this.#options.close(client.client);
    } catch (fault) {
      this.#options.logger.warn(
        `${name}: its client did not close: ${messageOf(fault)}`,
      );
    }
  }
}

function checkedOptions<Client>(
  options: STDIOEndpointsOptions<Client>,
): Required<STDIOEndpointsOptions<Client>> {
  const what = "Cannot make STDIOEndpoints:";
  checkOptionNames(what, options, OPTIONS);
  const {
    capacity = 20,
    endpointCapacity = DEFAULT_ENDPOINT_CAPACITY,
    idleTimeoutMs = 300_000,
    sweepIntervalMs = 60_000,
    open = noOpen,
    close = () => {},
    clock = systemClock,
  } = options;
  checkedNumber(`${what} capacity`, capacity, { least: 1, most: 2 ** 31 - 1 });
  checkedNumber(`${what} endpointCapacity`, endpointCapacity, { least: 1, most: 2 ** 31 - 1 });
  checkedNumber(`${what} idleTimeoutMs`, idleTimeoutMs, { least: 0, most: Infinity, isWhole: false });
  checkedNumber(`${what} sweepIntervalMs`, sweepIntervalMs, { least: 1, most: MAX_TIMER_MS, isWhole: false });
  for (const [option, fn] of Object.entries({ open, close })) {
    if (typeof fn !== "function") {
      throw new TypeError(`${what} ${option} is ${show(fn)}, it should be a function`);
    }
  }
  if (!isClock(clock)) {
    throw new TypeError(`${what} clock is ${show(clock)}, it should be a Clock ({ now, wallNow, setTimer })`);
  }
  const logger = safeLogger(options.logger);
  return { capacity, endpointCapacity, idleTimeoutMs, sweepIntervalMs, open, close, clock, logger };
}

function noOpen(): never {
  throw new InvalidStateError("Cannot open a client: the pool was made without open, it should be given one");
}
