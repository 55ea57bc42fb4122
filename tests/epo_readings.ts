// EPO's router in a state, and what its tests read off it.

import { EPORateLimiter, type EPORateLimiterOptions, type EPOService } from "../mod.ts";
import type { World } from "./scenario.ts";
import { FAILURE } from "./window_readings.ts";

/** All services, in their order. */
export const SERVICES: readonly EPOService[] = ["SEARCH", "RETRIEVAL", "INPADOC", "IMAGES", "OTHER"];

/** A window whose circuit opens at the first failure, for 100 ms. */
export const TOUCHY = { maxThrottle: 0, failuresAtMaxToBlock: 1, initialCooldownMs: 100 } as const;

export function routerOf(world: World, windows: EPORateLimiterOptions["windows"] = {}): EPORateLimiter {
  return new EPORateLimiter({ clock: world.clock, windows });
}

/** So many amounts of one service. */
export function times(service: EPOService, count: number): EPOService[] {
  return new Array<EPOService>(count).fill(service);
}

/** Slots in use, window by window. */
export function inUse(epo: EPORateLimiter): number[] {
  return epo.buckets.map((window) => window.currentInUse);
}

/** Throttles, window by window. */
export function throttles(epo: EPORateLimiter): number[] {
  return epo.buckets.map((window) => window.throttle);
}

export function fail(epo: EPORateLimiter, service: EPOService, count = 1): void {
  for (let i = 0; i < count; i++) epo.onRateLimitError(FAILURE, service);
}
