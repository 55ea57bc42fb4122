// Windows in a state, and what the window tests read off them.

import { type ElasticWindowOptions, type ElasticWindowRateLimiter, UpstreamFailure } from "../mod.ts";
import type { World } from "./scenario.ts";

/** Three slots a second. */
export const THREE: ElasticWindowOptions = { maxRequests: 3, baseWindowMs: 1000 };

/** A circuit that opens at the first failure, for 100 ms at first. */
export const TOUCHY: ElasticWindowOptions = {
  maxRequests: 5,
  baseWindowMs: 1000,
  maxThrottle: 0,
  failuresAtMaxToBlock: 1,
  initialCooldownMs: 100,
  maxCooldownMs: 10_000,
};

/** A failure whose summary is `HTTP 429 from search: slow down`. */
export const FAILURE: UpstreamFailure = new UpstreamFailure({
  statusCode: 429,
  service: "search",
  detail: "slow down",
});

/** So many amounts of one slot. */
export function slots(count: number): void[] {
  return new Array<void>(count).fill(undefined);
}

export function fail(window: ElasticWindowRateLimiter, times = 1): void {
  for (let i = 0; i < times; i++) window.onRateLimitError(FAILURE);
}

/** The throttle after each of so many successes. */
export function relax(window: ElasticWindowRateLimiter, successes: number): number[] {
  return Array.from({ length: successes }, () => {
    window.onSuccess();
    return window.throttle;
  });
}

/** A window whose circuit was just opened. */
export function blocked(world: World, options: Partial<ElasticWindowOptions> = {}): ElasticWindowRateLimiter {
  const window = world.window("window", { ...TOUCHY, ...options });
  fail(window);
  return window;
}

/** What the window refuses with. */
export function refusalOf(
  ask: () => unknown,
): { message: string; code: string; retryAfterMs: number | null } {
  try {
    ask();
  } catch (error) {
    const { message, code, retryAfterMs } = error as ReturnType<typeof refusalOf>;
    return { message, code, retryAfterMs };
  }
  throw new Error("the window refused nothing");
}
