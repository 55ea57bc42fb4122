import type { LimiterCategory, LimiterIdentity } from "./account.ts";
import type { JobSnapshot } from "./context.ts";

/** What happened between a job and an account. */
export type LimiterEventType = "HELD" | "GRANTED_IMMEDIATE" | "GRANTED_FROM_HOLD" | "REJECTED" | "RELEASED";

/** Why a job was turned away. */
export type RejectReason = "cancelled" | "shutdown" | "circuit_blocked" | "aborted" | "timeout";

/** One transition on one account, reported by admission. Exactly twelve fields. */
export interface LimiterEvent {
  /** The job as it was when `admit` was called. */
  readonly snapshot: JobSnapshot;
  /** Wall time of the report, ms since 1970. */
  readonly timestamp: number;
  /** The account's name; two accounts may share one. */
  readonly limiterName: string;
  /** The account's kind. */
  readonly limiterCategory: LimiterCategory;
  /** The account's capacity at the report, in its own unit: permits, slots, tokens, bytes. */
  readonly capacity: number;
  /** After the movement. */
  readonly inUse: number;
  /** Waiters held on the account after the transition. */
  readonly waiters: number;
  /** What happened. */
  readonly type: LimiterEventType;
  /** From the first refusal by this account to its grant or rejection, in ms with fractions; otherwise 0. */
  readonly waitMs: number;
  /** Null unless `type` is REJECTED. */
  readonly rejectReason: RejectReason | null;
  /** The account's indicator at the report: null when nominal, else such as `blocked` or `throttle:1.5x`. */
  readonly statusIndicator: string | null;
  /** What was asked: the sum of numeric amounts, one for each other amount. */
  readonly amount: number;
}

/** Hears of every transition. What it throws, or a promise it returns rejects with, is dropped. */
export type EventSink = (event: LimiterEvent) => unknown;

/** What a transition says beyond the account's own numbers. */
export interface Transition {
  type: LimiterEventType;
  snapshot: JobSnapshot;
  waiters: number;
  amount: number;
  waitMs?: number;
  rejectReason?: RejectReason | null;
}

/** Builds the event; reads the account's numbers as they are now. */
export function limiterEvent(
  identity: LimiterIdentity,
  transition: Transition,
  timestamp: number,
): LimiterEvent {
  return {
    snapshot: transition.snapshot,
    timestamp,
    limiterName: identity.limiterName,
    limiterCategory: identity.limiterCategory,
    capacity: identity.capacity,
    inUse: identity.currentInUse,
    waiters: transition.waiters,
    type: transition.type,
    waitMs: transition.waitMs ?? 0,
    rejectReason: transition.rejectReason ?? null,
    statusIndicator: identity.statusIndicator,
    amount: transition.amount,
  };
}

/** Helpers for readers of events. */
export const LimiterEvents: {
  readonly amountOf: (amounts: readonly unknown[]) => number;
  readonly render: (event: LimiterEvent) => string;
} = {
  /** Numbers add up, anything else counts one: [300, 300] is 600, three unit permits are 3, nothing is 0. */
  amountOf(amounts: readonly unknown[]): number {
    let total = 0;
    for (const amount of amounts) total += typeof amount === "number" ? amount : 1;
    return total;
  },

  /** One line: `http HELD (64/64, waiters=3)`. */
  render(event: LimiterEvent): string {
    const use = `${event.inUse}/${event.capacity}`;
    switch (event.type) {
      case "HELD":
        return `${event.limiterName} HELD (${use}, waiters=${event.waiters})`;
      case "GRANTED_IMMEDIATE":
        return `${event.limiterName} GRANTED (${use})`;
      case "GRANTED_FROM_HOLD":
        return `${event.limiterName} GRANTED after ${Math.floor(event.waitMs)}ms`;
      case "REJECTED":
        return `${event.limiterName} REJECTED (${event.rejectReason})`;
      case "RELEASED":
        return `${event.limiterName} RELEASED (${use})`;
    }
  },
};
