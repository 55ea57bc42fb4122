// For tests of header readers: what they say about one model at one moment.

import assert from "node:assert/strict";
import {
  type FailedAnswer,
  headerReader,
  type HeaderSource,
  type ProviderKey,
  RateLimitInfo,
} from "../mod.ts";
import { ManualClock } from "../testing/mod.ts";

const WALL_MS = Date.UTC(2025, 7, 21, 12, 40, 0);
/** When everything is read. */
export const clock: ManualClock = new ManualClock(0, WALL_MS);

/** What a success of that provider says. */
export function success(provider: ProviderKey, headers: HeaderSource): RateLimitInfo | null {
  return headerReader(provider, { clock }).onSuccess("catalog-id", headers);
}

/** What a failure of that provider says. */
export function failure(provider: ProviderKey, answer: FailedAnswer): RateLimitInfo | null {
  return headerReader(provider, { clock }).onError("catalog-id", answer);
}

/** Fails unless it is an info with these numbers, and no others. */
export function assertSays(info: RateLimitInfo | null, says: Partial<RateLimitInfo>): void {
  assert.deepEqual(
    info,
    new RateLimitInfo({ model: "catalog-id", capturedAt: WALL_MS, type: "CAPACITY", ...says }),
  );
}
