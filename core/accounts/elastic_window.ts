import { base, NativeAccount } from "./native.ts";
import { checkName } from "./native_checks.ts";
import type { NativeClass } from "./native_class.ts";
import { getterOf } from "./native_verbs.ts";
import { type Tally, unitTally } from "./refusals.ts";
import {
  type CheckedWindowOptions,
  checkedWindowOptions,
  type ElasticWindowOptions,
} from "./window_options.ts";
import type { LimiterCategory, Replenishment } from "../account.ts";
import { toMs, toTicksUp, wholeMs } from "../clock.ts";
import { UncorrectableError } from "../errors.ts";
import { show } from "../invariant.ts";
import type { AccountRecord, Kernel } from "../kernel.ts";
import { type Logger, safeLogger } from "../logger.ts";
import { UpstreamFailure } from "../models/upstream_failure.ts";
import { type CircuitState, ElasticWindowStatus } from "../statuses.ts";
import {
  BLOCKED,
  COOLING_DOWN,
  HEALTHY,
  NEVER_PERMITS,
  PROBING,
  THROTTLE_UNITS,
} from "../../assembly/layout.ts";

const TICKS_PER_RECOVERY_MINUTE = 60_000_000;

/** Most units that one step of the throttle takes; more than any throttle has. */
const MAX_UNITS = 1_000_000;

/** What no subclass may change: a wrong answer would leak slots, or work outside the HTTP pool. */
const FINAL = ["replenishment", "requiresHttpConnection"] as const;

/**
 * So many requests in a span of time, as upstream services allow them. A slot is taken for the length of the window and comes
 * back by the clock alone, also when the work has ended. Failures stretch the window; when they go on at full stretch, a
 * circuit opens and refuses everyone for a cooldown, after which one job goes ahead as a probe.
 *
 * An amount is one slot. An announced instant is exact to 0.001 ms while the circuit is healthy, and an answer never depends
 * on how often the window was asked.
 */
export class ElasticWindowRateLimiter extends NativeAccount<void> {
  static readonly #native: NativeClass<ElasticWindowRateLimiter, void> = {
    prototype: ElasticWindowRateLimiter.prototype,
    readsClock: true,
    openRecord: (window, kernel) => window.#openRecord(kernel),
    tally: (window, amounts) => unitTally(window.limiterName, amounts, "slot"),
    refusal: (window, asked, verdict) => window.#refusal(asked, verdict),
    isLikeNew: (window) => window.#isLikeNew(),
  };

  readonly #options: CheckedWindowOptions;
  readonly #logger: Logger;
  #lastFailure: UpstreamFailure | null = null;
  /** Since the last success: at a maximum throttle of 0 failures count towards the circuit, and nothing else shows them. */
  #hasFailed = false;

  /**
   * An empty window at throttle 0, its circuit closed.
   *
   * @param name of the account; a subclass may pass its own, see `defaultName`.
   * @throws TypeError or RangeError when the name or an option is not as said, or a subclass overrides `replenishment` or
   * `requiresHttpConnection`.
   */
  constructor(name: string, options: ElasticWindowOptions) {
    checkName(new.target.name, name);
    const checked = checkedWindowOptions(name, options);
    super(name, ElasticWindowRateLimiter.#native, options.clock);
    this.#options = checked;
    this.#logger = safeLogger(options.logger);
    for (const property of FINAL) this.#seal(property);
  }

  /**
   * The name of a class without `RateLimiter` at its end: `Suffixed` for SuffixedRateLimiter. A subclass without a name of its
   * own calls `super(ElasticWindowRateLimiter.defaultName(new.target), ...)`. Minifiers change the names of classes.
   */
  static defaultName(type: { readonly name: string }): string {
    return type.name.replace(/RateLimiter$/, "") || type.name;
  }

  /** `elastic_window`. */
  override get limiterCategory(): LimiterCategory {
    return "elastic_window";
  }

  /** The clock alone brings slots back. Final. */
  override get replenishment(): Replenishment {
    return "TIME";
  }

  /** True: work under a window goes through the shared HTTP pool. Final. */
  override get requiresHttpConnection(): boolean {
    return true;
  }

  /** Slots in the window. */
  override get capacity(): number {
    return this.#options.maxRequests;
  }

  /** Slots whose stamps are younger than the window is long. */
  override get currentInUse(): number {
    return base.read(this, (record, kernel) => kernel.windowInUse(record, base.nowTicks(this)), 0);
  }

  /** Null when nominal, else `blocked`, `probing`, or for example `throttle:1.5x`. */
  override get statusIndicator(): string | null {
    const state = this.circuitState;
    if (state !== "HEALTHY") return state === "BLOCKED" ? "blocked" : "probing";
    return this.throttle === 0 ? null : `throttle:${(1 + this.throttle).toFixed(1)}x`;
  }

  /** Slots, throttle, length and circuit. Reading it changes nothing. */
  override get status(): ElasticWindowStatus {
    const { capacity, throttle, effectiveWindowMs, circuitState } = this;
    const free = capacity - this.currentInUse;
    return new ElasticWindowStatus(capacity, free, throttle, effectiveWindowMs, circuitState);
  }

  /** How much longer than its base the window is: 0 nominal, 1 twice as long. In thousandths. */
  get throttle(): number {
    return base.read(this, (record, kernel) => kernel.windowThrottle(record), 0) / THROTTLE_UNITS;
  }

  /** Length of the window as it is stretched now, in whole ms. */
  get effectiveWindowMs(): number {
    return base.read(this, (record, kernel) => kernel.windowLength(record), this.#options.baseWindowMs);
  }

  /** `BLOCKED` stands until a job takes the probe; a probe that timed out still reads `PROBING` until somebody asks. */
  get circuitState(): CircuitState {
    const circuit = base.read(this, (record, kernel) => kernel.windowCircuit(record), 0);
    if (circuit === BLOCKED) return "BLOCKED";
    return circuit === PROBING ? "PROBING" : "HEALTHY";
  }

  /** Whole ms until the cooldown is over, rounded down; 0 unless `BLOCKED`. */
  get cooldownRemainingMs(): number {
    return wholeMs(this.#cooldownTicks());
  }

  /** Pressure that is no failure, such as a warning header: the throttle goes up, the circuit stays. Wakes nobody. */
  onAdvisoryPressure(): void {
    base.call(this, (record, kernel) => kernel.windowAdvise(record, base.nowTicks(this)));
  }

  /**
   * One success upstream. It closes the circuit when it is the probe's; every third takes 0.2 off the throttle, each takes 0.5
   * off once five minutes passed without pressure (by default). A relaxation, or a closed circuit, wakes waiters once.
   */
  override onSuccess(): void {
    const before = this.circuitState;
    const bits = base.call(this, (record, kernel) => kernel.windowSucceed(record, base.nowTicks(this)));
    this.#hasFailed = false;
    if (before !== "HEALTHY" && this.circuitState === "HEALTHY") {
      this.#logger.info(`${this.limiterName}: circuit closed`);
    }
    base.wakeAll(this, bits);
  }

  /**
   * One failure upstream, whatever its status: the throttle goes up; failures at full throttle open the circuit, and a failed
   * probe opens it again for twice as long. Wakes nobody. The failure is named in refusals from now on.
   */
  override onRateLimitError(failure: UpstreamFailure): void {
    if (!(failure instanceof UpstreamFailure)) {
      throw new TypeError(
        `Cannot tell ${show(this.limiterName)} of a failure: it is ${
          show(failure)
        }, it should be an UpstreamFailure`,
      );
    }
    const before = this.circuitState;
    base.call(this, (record, kernel) => kernel.windowFail(record, base.nowTicks(this)));
    this.#lastFailure = failure;
    this.#hasFailed = true;
    this.#logger.warn(`${this.limiterName}: ${failure.summary()}`);
    if (before !== "BLOCKED" && this.circuitState === "BLOCKED") {
      this.#logger.warn(`${this.limiterName}: circuit open for ${this.cooldownRemainingMs} ms`);
    }
  }

  #isLikeNew(): boolean {
    if (this.#hasFailed) return false;
    const now = base.nowTicks(this);
    return base.call(
      this,
      (record, kernel) =>
        kernel.windowThrottle(record) === 0 && kernel.windowCircuit(record) === HEALTHY &&
        kernel.windowInUse(record, now) === 0,
    );
  }

  #openRecord(kernel: Kernel): AccountRecord {
    const options = this.#options;
    const record = kernel.openWindow(options.maxRequests, options.baseWindowMs);
    if (record === 0) return 0;
    kernel.setPacing(
      record,
      toUnits(options.throttleIncrement),
      toUnits(options.throttleDecrement),
      toUnits(options.throttleDecrement * options.recoveryMultiplier),
      toUnits(options.maxThrottle),
      options.successesPerDecrease,
      Math.ceil(options.recoveryMinutes * TICKS_PER_RECOVERY_MINUTE),
    );
    kernel.setCircuit(
      record,
      options.failuresAtMaxToBlock,
      spanTicks(options.initialCooldownMs),
      spanTicks(options.maxCooldownMs),
      spanTicks(options.probeTimeoutMs),
    );
    return record;
  }

  /** What never fits is uncorrectable; an open circuit is `circuit_blocked`, with a time only while its cooldown runs. */
  #refusal(asked: Tally, verdict: number): UncorrectableError {
    const account = this.limiterName;
    const rate = `${this.capacity} requests / ${shortSpan(this.#options.baseWindowMs)}`;
    if (verdict === NEVER_PERMITS) {
      const text = `${asked.count} requests can never fit ${
        show(account)
      }: it allows ${rate}. Split the demand.`;
      return new UncorrectableError(text, { account });
    }
    const leftTicks = this.#cooldownTicks();
    const isCooling = verdict === COOLING_DOWN;
    const why = isCooling
      ? `its upstream keeps failing. Cooldown is active: ${
        Math.floor(toMs(leftTicks) / 1000)
      } seconds remain.`
      : `a single probe is testing whether its upstream has recovered.`;
    const last = this.#lastFailure === null ? "" : ` Last failure: ${this.#lastFailure.summary()}`;
    return new UncorrectableError(
      `${account} (${rate}) refuses everyone: ${why} Do not retry this tool family now; use another way.${last}`,
      {
        account,
        code: "circuit_blocked",
        retryAfterMs: isCooling ? Math.ceil(toMs(leftTicks)) : null,
      },
    );
  }

  #cooldownTicks(): number {
    return base.read(this, (record, kernel) => kernel.windowCooldown(record, base.nowTicks(this)), 0);
  }

  /** A getter of a subclass is refused here, a field of a subclass by the engine when it is set. */
  #seal(property: (typeof FINAL)[number]): void {
    const own = Object.getOwnPropertyDescriptor(ElasticWindowRateLimiter.prototype, property)!;
    if (getterOf(this, property) !== own.get) {
      throw new TypeError(
        `Cannot make window ${
          show(this.limiterName)
        }: ${this.constructor.name} overrides ${property}, it should leave it as every window has it`,
      );
    }
    Object.defineProperty(this, property, { ...own, configurable: false });
  }
}

/** A throttle in the whole units of the kernel: rounded, but never down to nothing. */
function toUnits(throttle: number): number {
  if (throttle === 0) return 0;
  return Math.min(Math.max(1, Math.round(throttle * THROTTLE_UNITS)), MAX_UNITS);
}

function spanTicks(ms: number): number {
  return Math.max(1, toTicksUp(ms));
}

/** A span as people say it: `1min`, `90s`, `250ms`. */
function shortSpan(ms: number): string {
  if (ms % 60_000 === 0) return `${ms / 60_000}min`;
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`;
}
