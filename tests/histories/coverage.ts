// What a run of histories has met, and the laws that it must not break.

import assert from "node:assert/strict";
import { type AdmissionError, type LimiterEvent, QueueFullError, TimeoutError } from "../../mod.ts";
import type { Patience } from "./operations.ts";

/** What a run of histories has met, for the coverage floor. */
export type Coverage = Map<string, number>;

export function cover(coverage: Coverage, what: string): void {
  coverage.set(what, (coverage.get(what) ?? 0) + 1);
}

const VERBS = ["fits", "tryTake", "earliestFit", "give"] as const;

/** Counts what an account outside the kernel is asked, as `meter fits`. */
export function counted<T extends object>(name: string, account: T, coverage: Coverage): T {
  const members = account as Record<string, (...args: unknown[]) => unknown>;
  for (const verb of VERBS) {
    const own = members[verb]!.bind(account);
    members[verb] = (...args) => {
      cover(coverage, `${name} ${verb}`);
      return own(...args);
    };
  }
  return account;
}

/** Who failed, and how: time limits by their length. */
export function outcomeOf(error: AdmissionError, { timeoutMs, failFast }: Patience): string {
  const failed = `failed ${error.code ?? error.name}`;
  if (error instanceof QueueFullError) {
    return `${failed}, ${error.message.includes("maxQueue") ? "line" : "table"}`;
  }
  if (!(error instanceof TimeoutError)) return failed;
  if (timeoutMs === 0) return `${failed} at once`;
  if (failFast && error.waitedMs === 0) return `${failed} fast`;
  return `${failed} after ${timeoutMs < 30_000 ? "little" : "long"}`;
}

/** Per account, what was held has left: HELD = GRANTED_FROM_HOLD + REJECTED of those held; the last count is 0. */
export function checkBalance(events: readonly LimiterEvent[]): void {
  const last = new Map<string, number>();
  for (const event of events) last.set(event.limiterName, event.waiters);
  for (const [name, waiters] of last) assert.equal(waiters, 0, `${name} still counts waiters`);
}
