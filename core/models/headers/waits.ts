import { instantMs } from "./instants.ts";

const NS_IN_MS = 1_000_000n;
const NS_IN_SECOND = 1_000_000_000n;
/** Waits are rounded up to whole ticks of 0.001 ms: nobody comes too early. */
const NS_IN_TICK = 1000n;
const TICKS_IN_MS = 1000;

/** Digits are bounded, so that an expression made of these looks at a value in a bounded number of steps. */
const AMOUNT = "(\\d{1,15})(?:\\.(\\d{1,9}))?";

/**
 * Units in the order in which they follow each other, with their nanoseconds. Go prints microseconds with a micro sign in
 * UTF-8, which `fetch` reads as Latin-1: two characters for one.
 */
const UNITS = [
  { sign: "d", ns: 86_400_000_000_000n },
  { sign: "h", ns: 3_600_000_000_000n },
  { sign: "m", ns: 60_000_000_000n },
  { sign: "s", ns: NS_IN_SECOND },
  { sign: "ms", ns: NS_IN_MS },
  { sign: "(?:u|\u00b5|\u00c2\u00b5)s", ns: 1000n },
  { sign: "ns", ns: 1n },
] as const;

const DURATION = new RegExp(`^${UNITS.map(({ sign }) => `(?:${AMOUNT}${sign})?`).join("")}$`);
const NUMBER = new RegExp(`^${AMOUNT}$`);

/** From here on a number is no wait in seconds (31 years) but an instant in seconds since 1970 (from 2001) ... */
const FIRST_EPOCH_SECONDS = 1e9;
/** ... to here (the year 5138); between here and the next it is neither ... */
const LAST_EPOCH_SECONDS = 1e11;
/** ... and from here on an instant in milliseconds since 1970 (from 2001). */
const FIRST_EPOCH_MS = 1e12;

/**
 * How long a value says to wait, in ms, 0 when what it names has passed, null when it says nothing of the kind. It is read
 * as seconds or an instant in seconds or milliseconds since 1970, by its size; as a duration such as `6m0s`, `12ms` or
 * `1h2m3.5s` (https://pkg.go.dev/time#Duration.String); or as an HTTP date or an RFC 3339 timestamp.
 *
 * @param text at most a few hundred characters.
 * @param wallMs ms since 1970 now, from which instants are counted.
 */
export function waitMs(text: string, wallMs: number): number | null {
  const number = scaled(text, NS_IN_MS);
  if (number !== null) return ofNumber(text, { number, wallMs });
  return durationMs(text) ?? until(instantMs(text, wallMs), wallMs);
}

/** A plain decimal number of milliseconds, or null. */
export function plainMs(text: string): number | null {
  return scaled(text, NS_IN_MS);
}

/** A duration with units, in ms, or null. */
export function durationMs(text: string): number | null {
  const parts = text === "" ? null : DURATION.exec(text);
  if (parts === null) return null;
  let ticks = 0;
  UNITS.forEach(({ ns }, index) => ticks += ticksOf(parts, 1 + 2 * index, ns));
  return usable(ticks / TICKS_IN_MS);
}

/** A plain decimal number of units, in ms. */
function scaled(text: string, unitNs: bigint): number | null {
  const parts = NUMBER.exec(text);
  return parts === null ? null : usable(ticksOf(parts, 1, unitNs) / TICKS_IN_MS);
}

function ofNumber(text: string, { number, wallMs }: { number: number; wallMs: number }): number | null {
  if (number >= FIRST_EPOCH_MS) return until(number, wallMs);
  if (number >= LAST_EPOCH_SECONDS) return null;
  const asSeconds = scaled(text, NS_IN_SECOND);
  return number >= FIRST_EPOCH_SECONDS ? until(asSeconds, wallMs) : asSeconds;
}

/**
 * Ticks of the amount whose whole digits are group `at` and whose fraction is the next; 0 where there is none. In whole
 * numbers, because 1.001 seconds are 1001 ms and 1.001 * 1000 is 1000.9999999999999.
 */
function ticksOf(parts: RegExpExecArray, at: number, unitNs: bigint): number {
  const fraction = parts[at + 1] ?? "";
  const digits = BigInt((parts[at] ?? "") + fraction);
  const divisor = BigInt(`1${"0".repeat(fraction.length)}`) * NS_IN_TICK;
  return Number((digits * unitNs + divisor - 1n) / divisor);
}

function until(instant: number | null, wallMs: number): number | null {
  return instant === null ? null : usable(Math.max(0, instant - wallMs));
}

/** What is beyond this is no number of milliseconds that anything can be done with. */
function usable(ms: number): number | null {
  return ms <= Number.MAX_SAFE_INTEGER ? ms : null;
}
