import type { Clock, Grant, Logger } from "../../mod.ts";
import { show } from "../show.ts";

/** Fewest holds among which settled ones are looked for. */
const CROWD = 64;

/** The grants that requests of one middleware keep, oldest first. */
export class Holds {
  readonly #open = new Map<Grant, Hold>();
  readonly #clock: Clock;
  readonly #maxHoldMs: number;
  readonly #logger: Logger | null;
  /** Nothing is due before it: all are held equally long, so it is that of the oldest or of one that ended since. */
  #dueMs = Infinity;
  /** Settled ones are looked for when there are so many: twice those that were left, so that it costs each request nothing. */
  #crowd = CROWD;

  constructor(clock: Clock, maxHoldMs: number, logger: Logger | null) {
    this.#clock = clock;
    this.#maxHoldMs = maxHoldMs;
    this.#logger = logger;
  }

  /** How many keep a grant that is not settled: an app may give back early, and on Workers the clock gives up who is gone. */
  get heldCount(): number {
    this.#forgetSettled();
    return this.#open.size;
  }

  /** How many it remembers: at most twice as many as are held, and a few. */
  get size(): number {
    return this.#open.size;
  }

  /** Takes back what was held for too long; answers the instant, so that a request reads the clock once. */
  sweep(): number {
    const nowMs = this.#clock.now();
    if (this.#open.size >= this.#crowd) this.#forgetSettled();
    if (nowMs < this.#dueMs) return nowMs;
    this.#dueMs = Infinity;
    for (const hold of this.#open.values()) {
      if (hold.dueMs > nowMs) {
        this.#dueMs = hold.dueMs;
        break;
      }
      if (hold.grant.isSettled) {
        this.#open.delete(hold.grant);
        continue;
      }
      this.#logger?.warn(`A grant was taken back: its response was not over within ${this.#maxHoldMs} ms`);
      hold.end();
    }
    return nowMs;
  }

  /** Holds a grant from an instant on, or from now on. */
  open(grant: Grant, nowMs: number = this.#clock.now()): Hold {
    const hold = new Hold(this, grant, nowMs + this.#maxHoldMs);
    this.#open.set(grant, hold);
    if (this.#dueMs === Infinity) this.#dueMs = hold.dueMs;
    return hold;
  }

  /** Leaves the end of a grant's hold to the app: answers what ends it. */
  keep(grant: Grant | undefined): () => void {
    const hold = grant === undefined ? undefined : this.#open.get(grant);
    if (hold === undefined) return () => {};
    hold.isKept = true;
    return () => hold.end();
  }

  #forgetSettled(): void {
    for (const grant of this.#open.keys()) {
      if (grant.isSettled) this.#open.delete(grant);
    }
    this.#crowd = Math.max(CROWD, 2 * this.#open.size);
  }

  /** Called by a hold when it ends, once. A fault of an account must not break a response that is made already. */
  close({ grant }: Hold): void {
    this.#open.delete(grant);
    if (grant.isSettled) return;
    try {
      grant.release();
    } catch (fault) {
      const what = fault instanceof Error ? fault.message : show(fault);
      this.#logger?.error(`A grant could not be settled after its response: ${what}`);
    }
  }
}

/** One grant while its request needs it. */
export class Hold {
  readonly grant: Grant;
  /** When it has been held for too long. */
  readonly dueMs: number;
  readonly #holds: Holds;
  #isOver = false;
  /** Whether the app ends it itself. */
  isKept = false;

  constructor(holds: Holds, grant: Grant, dueMs: number) {
    this.#holds = holds;
    this.grant = grant;
    this.dueMs = dueMs;
  }

  /** Releases the grant, the first time; later calls do nothing. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#holds.close(this);
  }
}
