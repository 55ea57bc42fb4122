import {
  checkedEPOService,
  EPO_SERVICES,
  epoLimiterName,
  type EPOService,
  isEPOService,
} from "./epo_service.ts";
import { epoThrottling } from "./epo_throttling.ts";
import { serviceWindow, type ServiceWindowOptions } from "./service_window.ts";
import { ElasticWindowRateLimiter } from "../elastic_window.ts";
import type { ElasticWindowOptions } from "../window_options.ts";
import type { RateLimiter, Replenishment } from "../../account.ts";
import type { Clock } from "../../clock.ts";
import { show } from "../../invariant.ts";
import type { Logger } from "../../logger.ts";
import type { HeaderSource } from "../../models/headers/header_view.ts";
import type { UpstreamFailure } from "../../models/upstream_failure.ts";
import { checkOptionNames, type OptionNames } from "../../option_names.ts";

/** How an EPO router is made. */
export interface EPORateLimiterOptions {
  /** Options of single windows, by service; what is left out is the service's own. */
  windows?: Readonly<Partial<Record<EPOService, Omit<ServiceWindowOptions, "clock" | "logger">>>>;
  /** The clock of all windows; the system's when left out. It must be the Admission's own. */
  clock?: Clock;
  /** Hears of failures and circuits of all windows; silent when left out. */
  logger?: Logger;
}

const OPTIONS: OptionNames<EPORateLimiterOptions> = { windows: true, clock: true, logger: true };

/** One window's part of a question. */
interface Share {
  readonly window: ElasticWindowRateLimiter;
  readonly mine: readonly void[];
  readonly ahead: readonly void[];
}

const MINUTE = { baseWindowMs: 60_000 } as const;

/** A search is dear to EPO: its window gives way twice as fast, and is closed for longer at first but never for an hour. */
const DEFAULTS: Readonly<Record<EPOService, ElasticWindowOptions>> = {
  SEARCH: {
    ...MINUTE,
    maxRequests: 6,
    throttleIncrement: 2,
    initialCooldownMs: 60_000,
    maxCooldownMs: 600_000,
  },
  RETRIEVAL: { ...MINUTE, maxRequests: 30 },
  INPADOC: { ...MINUTE, maxRequests: 20 },
  IMAGES: { ...MINUTE, maxRequests: 30 },
  OTHER: { ...MINUTE, maxRequests: 60 },
};

/**
 * EPO's Open Patent Services: a router that leads each amount, a service, to that service's window. SEARCH has 6 requests in
 * any 60 s, RETRIEVAL 30, INPADOC 20, IMAGES 30, OTHER 60; the windows are named `epo:search` and so on.
 *
 * EPO says in each response what a service allows at the moment: while idle 30 searches, 200 retrievals, 60 of INPADOC, 200
 * images and 1,000 others a minute, while busy 15, 100, 45, 100 and 1,000, as public clients log it; the header is described
 * in https://link.epo.org/web/ops_v3.2_documentation_-_version_1.3.18_en.pdf. The defaults stay below both. To use more, make
 * it with `{ windows: { SEARCH: { maxRequests: 15 } } }`, and hand every response to `readThrottling`. Quotas of bytes a week
 * are not counted here.
 *
 * Admission asks a router as it asks a custom account, bucket by bucket, and of several Admissions that share it only the
 * last to be wired is woken before a computed instant. `add(epo.accountFor("SEARCH"))` takes the same slot without either.
 */
export class EPORateLimiter implements RateLimiter<EPOService> {
  readonly #windows: ReadonlyMap<EPOService, ElasticWindowRateLimiter>;
  #held: () => number = () => 0;

  /**
   * Five empty windows, named `epo:search` and so on.
   *
   * @param options of all windows, and of single ones; none is needed.
   * @throws TypeError or RangeError naming the option, its value and what would do.
   */
  constructor(options: EPORateLimiterOptions = {}) {
    assertOptions(options);
    this.#windows = new Map(EPO_SERVICES.map((service) => [service, openWindow(service, options)]));
  }

  /** The clock alone brings slots back. */
  get replenishment(): Replenishment {
    return "TIME";
  }

  /** True: work under a window goes through the shared HTTP pool. */
  get requiresHttpConnection(): boolean {
    return true;
  }

  /** The five windows, in the order in which they are asked: for `health`, and for what each says of itself. */
  get buckets(): readonly ElasticWindowRateLimiter[] {
    return [...this.#windows.values()];
  }

  /** How many callers wait on the windows now; one that two windows hold counts twice. */
  get waiters(): number {
    return this.#held();
  }

  /** The window of a service. @throws TypeError or RangeError when it is none. */
  accountFor(service: EPOService): ElasticWindowRateLimiter {
    return this.#windows.get(checkedEPOService("Cannot lead an amount to a window of EPO: it is", service))!;
  }

  /**
   * Asks the windows that `mine` names, in order, up to the first that says no; what is ahead on a service counts there alone.
   *
   * @throws UncorrectableError as the first window that refuses, TypeError or RangeError when `mine` has something else than a
   * service.
   */
  fits(mine: readonly EPOService[], ahead: readonly EPOService[]): boolean {
    return this.#shares(mine, ahead).every((share) => share.window.fits(share.mine, share.ahead));
  }

  /**
   * Takes from all windows or from none: when one says no, those before it get theirs back, and a probe that was just taken
   * is free again. When one refuses instead, what the others gave stays taken: the caller has to give it back. No demand comes
   * to that: its entries name one window each.
   *
   * @throws as `fits`.
   */
  tryTake(mine: readonly EPOService[], ahead: readonly EPOService[]): boolean {
    const taken: Share[] = [];
    for (const share of this.#shares(mine, ahead)) {
      if (!share.window.tryTake(share.mine, share.ahead)) {
        for (const each of taken) each.window.give(each.mine);
        return false;
      }
      taken.push(share);
    }
    return true;
  }

  /** Returns slots service by service, newest first. @throws TypeError or RangeError before anything is returned. */
  give(amounts: readonly EPOService[]): void {
    for (const { window, mine } of this.#shares(amounts, [])) window.give(mine);
  }

  /** The latest of the instants of the windows that `mine` names; null when one names none, or nothing is asked. */
  earliestFit(mine: readonly EPOService[], ahead: readonly EPOService[]): number | null {
    let latest: number | null = null;
    for (const share of this.#shares(mine, ahead)) {
      const instant = share.window.earliestFit(share.mine, share.ahead);
      if (instant === null) return null;
      latest = Math.max(latest ?? instant, instant);
    }
    return latest;
  }

  /** Installs the wake on every window, where it takes the place of one that was installed there. */
  onCapacityChange(wake: (() => void) | null): void {
    for (const window of this.#windows.values()) window.onCapacityChange(wake);
  }

  /** Keeps the view for `waiters`. */
  observeHeld(held: () => number): void {
    this.#held = held;
  }

  /** Tells the service's window of a success; without a service nobody hears. */
  onSuccess(service?: EPOService): void {
    if (service !== undefined) this.accountFor(service).onSuccess();
  }

  /** Tells the service's window of a failure; without a service nobody hears. */
  onRateLimitError(failure: UpstreamFailure, service?: EPOService): void {
    if (service !== undefined) this.accountFor(service).onRateLimitError(failure);
  }

  /**
   * Reads `X-Throttling-Control` off a response of any status: green counts as a success of that service's window, yellow, red
   * and black as pressure that is no failure. A job's own success counts besides. Headers that say nothing, or something else,
   * change nothing; whatever they hold, it does not throw, and reads at most 1,000 names and 1,000 characters.
   */
  readThrottling(headers: HeaderSource | null | undefined): void {
    for (const [service, colour] of epoThrottling(headers)) {
      const window = this.accountFor(service);
      if (colour === "green") window.onSuccess();
      else window.onAdvisoryPressure();
    }
  }

  /** What is asked of each window that `mine` names. A head that named a window itself has amounts that are no services. */
  #shares(mine: readonly EPOService[], ahead: readonly unknown[]): Share[] {
    const what = "Cannot ask the windows of EPO: an amount is";
    const named = new Set(mine.map((amount) => checkedEPOService(what, amount)));
    return EPO_SERVICES.filter((service) => named.has(service)).map((service) => ({
      window: this.accountFor(service),
      mine: slots(mine, (amount) => amount === service),
      ahead: slots(ahead, (amount) => amount === service || !isEPOService(amount)),
    }));
  }
}

/** One slot for each amount that counts. */
function slots(amounts: readonly unknown[], counts: (amount: unknown) => boolean): void[] {
  return amounts.filter(counts).map(() => undefined);
}

/** @throws TypeError when options or windows are no objects, RangeError for a window of a service that is none. */
function assertOptions(options: EPORateLimiterOptions): void {
  const what = "Cannot make an EPORateLimiter:";
  checkOptionNames(what, options, OPTIONS);
  const { windows = {} } = options;
  if (typeof windows !== "object" || windows === null) {
    throw new TypeError(`${what} windows is ${show(windows)}, it should be an object of options by service`);
  }
  for (const service of Object.keys(windows)) checkedEPOService(`${what} windows has`, service);
}

function openWindow(
  service: EPOService,
  { windows = {}, ...shared }: EPORateLimiterOptions,
): ElasticWindowRateLimiter {
  const name = epoLimiterName(service);
  const { [service]: given = {} } = windows;
  const own = serviceWindow(name, DEFAULTS[service], given);
  return new ElasticWindowRateLimiter(name, serviceWindow(name, own, shared));
}
