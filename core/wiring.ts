import type { LimiterIdentity, RateLimiter } from "./account.ts";
import type { Entry } from "./entry.ts";
import type { KernelHost } from "./host.ts";
import { type Weak, weakly } from "./weak.ts";

/** Buckets of one router that the held view adds up before it looks for idle ones to drop. */
const PRUNE_ABOVE = 64;

/** What one account was given: the buckets it routes to, for the held view. */
interface Wiring {
  keys: Set<LimiterIdentity>;
  pruneAbove: number;
}

/**
 * Gives each account that is not built in the wake of this admission and a view of its own line, once for as long as the
 * account lives, and takes the wake back on stop. Accounts are held weakly: one per tenant may come and go.
 */
export class Wirings {
  readonly #host: KernelHost;
  readonly #wake: () => void;
  readonly #known = new WeakMap<RateLimiter<unknown>, Wiring>();
  #accounts: Weak<RateLimiter<unknown>>[] = [];
  #pruneAbove = PRUNE_ABOVE;

  constructor(host: KernelHost, wake: () => void) {
    this.#host = host;
    this.#wake = wake;
  }

  wire(entry: Entry): void {
    // A built-in account wakes lines by itself; its slot is its user's.
    this.wireAccount(entry.limiter, entry.key, !entry.isNative);
  }

  wireAccount(limiter: RateLimiter<unknown>, key: LimiterIdentity, needsWake = true): void {
    const known = this.#known.get(limiter);
    if (known !== undefined) return this.#addKey(known, key);
    const wiring: Wiring = { keys: new Set([key]), pruneAbove: PRUNE_ABOVE };
    if (needsWake) {
      // Remembered first: an account that throws in the middle of this may have the wake already.
      this.#remember(limiter);
      limiter.onCapacityChange(this.#wake);
    }
    limiter.observeHeld?.(() => this.#heldOn(wiring));
    this.#known.set(limiter, wiring);
  }

  /** Clears every wake slot. What an account throws here is collected and does not keep the others from being cleared. */
  clear(): unknown[] {
    const faults: unknown[] = [];
    for (const account of this.#accounts) {
      try {
        account.deref()?.onCapacityChange(null);
      } catch (fault) {
        faults.push(fault);
      }
    }
    this.#accounts = [];
    return faults;
  }

  #addKey(wiring: Wiring, key: LimiterIdentity): void {
    wiring.keys.add(key);
    if (wiring.keys.size <= wiring.pruneAbove) return;
    // A bucket with an empty line adds nothing; it is added again by the next demand that names it.
    for (const each of wiring.keys) {
      if (each !== key && this.#host.heldOn(each) === 0) wiring.keys.delete(each);
    }
    wiring.pruneAbove = Math.max(PRUNE_ABOVE, 2 * wiring.keys.size);
  }

  #heldOn(wiring: Wiring): number {
    let held = 0;
    for (const key of wiring.keys) held += this.#host.heldOn(key);
    return held;
  }

  #remember(limiter: RateLimiter<unknown>): void {
    this.#accounts.push(weakly(limiter));
    if (this.#accounts.length <= this.#pruneAbove) return;
    this.#accounts = this.#accounts.filter((account) => account.deref() !== undefined);
    this.#pruneAbove = Math.max(PRUNE_ABOVE, 2 * this.#accounts.length);
  }
}
