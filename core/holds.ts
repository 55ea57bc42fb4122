import type { Clock, Timer } from "./clock.ts";
import { MAX_TIMER_MS } from "./clock.ts";
import { demandOf, type Grant } from "./grant.ts";
import type { Logger } from "./logger.ts";

/** A grant admitted with `maxHoldMs` that is not settled. */
export interface HeldGrant {
  /** Names of the accounts it holds, in demand order. */
  readonly accounts: readonly string[];
  /** Milliseconds since the grant. */
  readonly heldMs: number;
  /** What `admit` was given: after so many ms it is overdue. */
  readonly maxHoldMs: number;
  /** Whether it is held longer than that. */
  readonly isOverdue: boolean;
  /** The stack of the `admit` call. */
  readonly admittedAt: string;
}

interface Watch {
  grantedAtMs: number;
  maxHoldMs: number;
  admittedAt: string;
  timer: Timer | null;
}

/** Watches grants that were admitted with `maxHoldMs`, and reports those that are held too long. It takes nothing back. */
export class Holds {
  readonly #clock: Clock;
  readonly #logger: Logger;
  /** Null until a grant is watched: every settlement asks, and few admissions watch any. */
  #watches: Map<Grant, Watch> | null = null;

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  watch(grant: Grant, maxHoldMs: number, admittedAt: string): void {
    const watch: Watch = { grantedAtMs: this.#clock.now(), maxHoldMs, admittedAt, timer: null };
    this.#watches ??= new Map();
    this.#watches.set(grant, watch);
    this.#arm(grant, watch);
  }

  forget(grant: Grant): void {
    if (this.#watches === null) return;
    const watch = this.#watches.get(grant);
    if (watch === undefined) return;
    watch.timer?.cancel();
    this.#watches.delete(grant);
  }

  /** Oldest first. */
  get list(): HeldGrant[] {
    const now = this.#clock.now();
    return [...this.#watches ?? []].map(([grant, { grantedAtMs, maxHoldMs, admittedAt }]) => ({
      accounts: namesOf(grant),
      heldMs: now - grantedAtMs,
      maxHoldMs,
      isOverdue: now - grantedAtMs >= maxHoldMs,
      admittedAt,
    }));
  }

  #arm(grant: Grant, watch: Watch): void {
    const leftMs = watch.grantedAtMs + watch.maxHoldMs - this.#clock.now();
    if (leftMs === Infinity) return;
    watch.timer = this.#clock.setTimer(
      Math.min(Math.max(leftMs, 0), MAX_TIMER_MS),
      () => this.#look(grant, watch),
    );
    // A report is no reason to keep a process alive.
    watch.timer.unref?.();
  }

  #look(grant: Grant, watch: Watch): void {
    watch.timer = null;
    const heldMs = this.#clock.now() - watch.grantedAtMs;
    if (heldMs < watch.maxHoldMs) return this.#arm(grant, watch);
    const accounts = namesOf(grant);
    this.#logger.warn(
      `A grant on ${accounts.join(", ")} is held for ${
        Math.floor(heldMs)
      } ms, longer than ${watch.maxHoldMs}`,
      {
        accounts,
        heldMs,
        admittedAt: watch.admittedAt,
      },
    );
  }
}

function namesOf(grant: Grant): string[] {
  return demandOf(grant).entries.map((entry) => entry.key.limiterName);
}
