// A token bucket: tokens and requests per minute, two levels that refill by the clock. The window is a minute stretched by
// the throttle. A reading never changes anything but the cache, so an answer does not depend on how often it was asked.

import {
  NEVER_REQUESTS,
  NEVER_TOKENS,
  NO,
  RECOVERY_TICKS,
  SUCCESSES_PER_STEP,
  THROTTLE_MAX,
  THROTTLE_RECOVERY_DOWN,
  THROTTLE_STEP_DOWN,
  THROTTLE_STEP_UP,
  TICKS_PER_MINUTE,
  YES,
} from "../layout";
import { Bucket, Level } from "../records";
import { refill, refilledFraction, refilledWhole, ticksUntil } from "./level";

function tokensOf(bucket: Bucket): Level {
  return changetype<Level>(changetype<usize>(bucket) + offsetof<Bucket>("tokenCap"));
}

function requestsOf(bucket: Bucket): Level {
  return changetype<Level>(changetype<usize>(bucket) + offsetof<Bucket>("requestCap"));
}

export function bucketInit(bucket: Bucket, tpm: f64, rpm: f64, now: f64): void {
  bucket.tokenCap = <i64> tpm;
  bucket.tokenWhole = <i64> tpm;
  bucket.requestCap = <i64> rpm;
  bucket.requestWhole = <i64> rpm;
  bucket.window = TICKS_PER_MINUTE;
  bucket.anchor = now;
  bucket.lastSlowDown = -Infinity;
  bucket.seenAt = NaN;
}

/** Fills the cache with both levels at `now`. A clock that stands still or steps back changes nothing. */
function read(bucket: Bucket, now: f64): void {
  if (bucket.seenAt == now) return;
  const elapsed = <i64> max(0, now - bucket.anchor);
  refill(tokensOf(bucket), elapsed, bucket.window);
  bucket.tokensSeen = <f64> refilledWhole;
  refill(requestsOf(bucket), elapsed, bucket.window);
  bucket.requestsSeen = <f64> refilledWhole;
  bucket.seenAt = now;
}

/** Moves the anchor to `now`, exactly. */
function settleAt(bucket: Bucket, now: f64): void {
  bucket.seenAt = NaN;
  if (now <= bucket.anchor) return;
  const elapsed = <i64> (now - bucket.anchor);
  settleLevel(tokensOf(bucket), elapsed, bucket.window);
  settleLevel(requestsOf(bucket), elapsed, bucket.window);
  bucket.anchor = now;
}

function settleLevel(level: Level, elapsed: i64, window: i64): void {
  refill(level, elapsed, window);
  level.whole = refilledWhole;
  level.fraction = refilledFraction;
}

export function bucketTokens(bucket: Bucket, now: f64): f64 {
  read(bucket, now);
  return bucket.tokensSeen;
}

export function bucketInUse(bucket: Bucket, now: f64): f64 {
  refill(tokensOf(bucket), <i64> max(0, now - bucket.anchor), bucket.window);
  return <f64> (bucket.tokenCap - refilledWhole - (refilledFraction > 0 ? 1 : 0));
}

export function bucketRequests(bucket: Bucket, now: f64): f64 {
  read(bucket, now);
  return bucket.requestsSeen;
}

export function bucketFits(bucket: Bucket, mine: f64, mineCount: f64, ahead: f64, aheadCount: f64, now: f64): i32 {
  if (mine > <f64> bucket.tokenCap) return NEVER_TOKENS;
  if (mineCount > <f64> bucket.requestCap) return NEVER_REQUESTS;
  read(bucket, now);
  return bucket.tokensSeen >= mine + ahead && bucket.requestsSeen >= mineCount + aheadCount ? YES : NO;
}

/** The tick at which that much is there by the clock alone, `now` when it is there already, Infinity when never. */
export function bucketEarliest(bucket: Bucket, tokens: f64, requests: f64, now: f64): f64 {
  if (tokens > <f64> bucket.tokenCap || requests > <f64> bucket.requestCap) return Infinity;
  read(bucket, now);
  if (bucket.tokensSeen >= tokens && bucket.requestsSeen >= requests) return now;
  const forTokens = ticksUntil(tokensOf(bucket), <i64> tokens, bucket.window);
  const forRequests = ticksUntil(requestsOf(bucket), <i64> requests, bucket.window);
  return bucket.anchor + max(forTokens, forRequests);
}

export function bucketTake(bucket: Bucket, tokens: f64, requests: i32, now: f64): void {
  settleAt(bucket, now);
  bucket.tokenWhole -= <i64> tokens;
  bucket.requestWhole -= <i64> requests;
  assert(bucket.tokenWhole >= 0 && bucket.requestWhole >= 0);
}

export function bucketGive(bucket: Bucket, tokens: f64, requests: i32, now: f64): void {
  settleAt(bucket, now);
  credit(tokensOf(bucket), <i64> tokens);
  credit(requestsOf(bucket), <i64> requests);
}

function credit(level: Level, amount: i64): void {
  level.whole += amount;
  clip(level);
}

function clip(level: Level): void {
  if (level.whole < level.cap) return;
  level.whole = level.cap;
  level.fraction = 0;
}

/** Charges tokens beyond what was reserved: into debt down to one cap below zero, and never upwards. */
export function bucketCharge(bucket: Bucket, tokens: f64, now: f64): void {
  settleAt(bucket, now);
  const level = tokensOf(bucket);
  const charged = max(level.whole - <i64> tokens, -level.cap);
  if (charged < level.whole) level.whole = charged;
}

/** Sets new caps: levels are cut down to them, never raised. Whether a cap grew. */
export function bucketConfigure(bucket: Bucket, tpm: f64, rpm: f64, now: f64): bool {
  settleAt(bucket, now);
  const grew = tpm > <f64> bucket.tokenCap || rpm > <f64> bucket.requestCap;
  bucket.tokenCap = <i64> tpm;
  bucket.requestCap = <i64> rpm;
  clip(tokensOf(bucket));
  clip(requestsOf(bucket));
  return grew;
}

export function bucketSlowDown(bucket: Bucket, increments: f64, now: f64): void {
  bucket.lastSlowDown = now;
  const raised = <f64> bucket.throttle + increments * THROTTLE_STEP_UP;
  setThrottle(bucket, <i32> min(raised, <f64> THROTTLE_MAX), now);
}

/** Whether the throttle was relaxed. */
export function bucketSucceed(bucket: Bucket, now: f64): bool {
  if (bucket.throttle == 0) return false;
  const isQuiet = now - bucket.lastSlowDown >= <f64> RECOVERY_TICKS;
  bucket.successes++;
  if (!isQuiet && bucket.successes < SUCCESSES_PER_STEP) return false;
  bucket.successes = 0;
  const step = isQuiet ? THROTTLE_RECOVERY_DOWN : THROTTLE_STEP_DOWN;
  setThrottle(bucket, max(0, bucket.throttle - step), now);
  return true;
}

/** The past is settled at the old rate; fractions of a unit are carried over, cut down to the new window. */
function setThrottle(bucket: Bucket, throttle: i32, now: f64): void {
  settleAt(bucket, now);
  const window = <i64> (TICKS_PER_MINUTE / 10) * <i64> (10 + throttle);
  bucket.tokenFraction = bucket.tokenFraction * window / bucket.window;
  bucket.requestFraction = bucket.requestFraction * window / bucket.window;
  bucket.window = window;
  bucket.throttle = throttle;
}
