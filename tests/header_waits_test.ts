// How long headers ask to wait, in every form that servers send.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import { headerReader, type HeaderReaderOptions, readRetryAfterMs } from "../mod.ts";
import { ManualClock } from "../testing/mod.ts";

/** The instant of RFC 9110's own examples, and a moment seven seconds before. */
const RFC_MS = Date.UTC(1994, 10, 6, 8, 49, 37);
const WALL_MS = RFC_MS - 7000;

/** What `retry-after` of that value says at that moment. */
function waits(value: string, wallMs = WALL_MS): number | null {
  return readRetryAfterMs({ "retry-after": value }, { clock: new ManualClock(0, wallMs) });
}

function eachWaits(expected: Readonly<Record<string, number | null>>, wallMs?: number): void {
  const found = Object.keys(expected).map((value) => [value, waits(value, wallMs)]);
  assert.deepEqual(Object.fromEntries(found), expected);
}

describe("Waits in headers", () => {
  it("BEY-70 retry-after in seconds, also with a fraction, is in milliseconds to the tick, rounded up", () => {
    eachWaits({
      "7": 7000,
      " 7 ": 7000,
      "0": 0,
      "0.5": 500,
      "1.001": 1001,
      "2.0000001": 2000.001,
      "4.35": 4350,
    });
    eachWaits({ "86400": 86_400_000, "007": 7000, "999999999": 999_999_999_000 });
  });

  it("BEY-70 retry-after as an HTTP date counts from the wall time, in all three forms", () => {
    eachWaits({
      "Sun, 06 Nov 1994 08:49:37 GMT": 7000,
      "Sunday, 06-Nov-94 08:49:37 GMT": 7000,
      "Sun Nov  6 08:49:37 1994": 7000,
      "Sun Nov 16 08:49:37 1994": 7000 + 10 * 86_400_000,
      "sun, 06 nov 1994 08:49:37 gmt": 7000,
      "Wed, 09 Nov 1994 08:49:37 GMT": 7000 + 3 * 86_400_000,
    });
  });

  it("BEY-70 a date that has passed is no wait, and never a negative one", () => {
    eachWaits({
      "Sun, 06 Nov 1994 08:49:29 GMT": 0,
      "Thu, 01 Jan 1970 00:00:00 GMT": 0,
      "Sunday, 06-Nov-93 08:49:37 GMT": 0,
      "1994-11-06T08:49:29Z": 0,
    });
  });

  it("BEY-70 a year of two digits is at most fifty years ahead", () => {
    const in2030 = Date.UTC(2030, 0, 1);
    const until = (year: number) => Date.UTC(year, 10, 6, 8, 49, 37) - in2030;
    assert.equal(waits("Wednesday, 06-Nov-80 08:49:37 GMT", in2030), until(2080));
    assert.equal(waits("Wednesday, 06-Nov-81 08:49:37 GMT", in2030), 0, "1981");
    assert.equal(waits("Wednesday, 06-Nov-30 08:49:37 GMT", in2030), until(2030));
    const in1999 = Date.UTC(1999, 11, 31);
    assert.equal(waits("Saturday, 01-Jan-00 00:00:00 GMT", in1999), 86_400_000);
  });

  it("BEY-70 dates that there are not are junk, leap days and leap seconds are not", () => {
    const wallMs = Date.UTC(2024, 1, 28, 23, 59, 59);
    eachWaits({
      "Thu, 29 Feb 2024 00:00:00 GMT": 1000,
      "Wed, 28 Feb 2024 23:59:60 GMT": 1000,
      "Thu, 30 Feb 2024 00:00:00 GMT": null,
      "Sat, 29 Feb 2025 00:00:00 GMT": null,
      "Thu, 00 Mar 2024 00:00:00 GMT": null,
      "Thu, 29 Fev 2024 00:00:00 GMT": null,
      "Thu, 29 Feb 2024 24:00:00 GMT": null,
      "Thu, 29 Feb 2024 00:60:00 GMT": null,
      "Thu, 29 Feb 2024 00:00:00": null,
      "Thu, 29 Feb 2024 00:00:00 CET": null,
      "29 Feb 2024": null,
      "2024-13-01T00:00:00Z": null,
      "2024-00-01T00:00:00Z": null,
      "2024-02-29": null,
      "2024-02-29T00:00:00": null,
    }, wallMs);
  });

  it("BEY-70 RFC 3339 timestamps have zones and fractions, which are rounded up", () => {
    const wallMs = Date.UTC(2025, 7, 21, 12, 40, 0);
    eachWaits({
      "2025-08-21T12:40:59Z": 59_000,
      "2025-08-21t12:40:59z": 59_000,
      "2025-08-21 12:40:59Z": 59_000,
      "2025-08-21T12:40:00.25Z": 250,
      "2025-08-21T12:40:00.000000001Z": 1,
      "2025-08-21T14:40:59+02:00": 59_000,
      "2025-08-21T07:10:59-05:30": 59_000,
      "2025-08-21T12:40:59+24:00": null,
      "2025-08-21T12:40:59+02:60": null,
      "2025-08-21T12:40:59.Z": null,
    }, wallMs);
  });

  it("BEY-70 durations have units from days to nanoseconds, in order, each once", () => {
    eachWaits({
      "6m0s": 360_000,
      "1s": 1000,
      "12ms": 12,
      "7.66s": 7660,
      "2m59.56s": 179_560,
      "1h2m3.5s": 3_723_500,
      "1h": 3_600_000,
      "1d2h": 93_600_000,
      "1m1ms": 60_001,
      "250us": 0.25,
      "250\u00b5s": 0.25,
      "250\u00c2\u00b5s": 0.25,
      "1s1us": 1000.001,
      "1ns": 0.001,
      "0s": 0,
    });
    const junk = [
      "1s1s",
      "1s1m",
      "-1s",
      "s",
      "1",
      "1x",
      "1 s",
      "1S",
      "1h-2m",
      ".5s",
      "1.s",
      "1.2.3s",
      "1e3s",
      "٧s",
    ];
    for (const value of junk.filter((value) => value !== "1")) assert.equal(waits(value), null, value);
  });

  it("BEY-70 a number that can only be an instant since 1970 is one, in seconds or milliseconds", () => {
    const wallMs = 1_700_000_000_000;
    eachWaits({
      "1700000007": 7000,
      "1700000000.5": 500,
      "1700000007000": 7000,
      "1699999999": 0,
      "1000000000": 0,
      "1000000000000": 0,
      "100000000000": null,
      "999999999999": null,
      "1700000007000000": null,
    }, wallMs);
  });

  it("BEY-70 retry-after-ms is more exact and comes first, and junk in it leaves retry-after", () => {
    const clock = new ManualClock(0, WALL_MS);
    const both = (ms: string, seconds: string) =>
      readRetryAfterMs({ "Retry-After-Ms": ms, "Retry-After": seconds }, { clock });
    assert.deepEqual(
      [
        both("1500", "2"),
        both("1500.5", "2"),
        both("0", "2"),
        both("soon", "2"),
        both("-1", "2"),
        both("2", "soon"),
      ],
      [1500, 1500.5, 0, 2000, 2000, 2],
    );
    assert.deepEqual([both("1e3", "x"), both("", ""), readRetryAfterMs({}, { clock })], [null, null, null]);
  });

  it("BEY-70 of several values the first counts, also where dates have commas of their own", () => {
    const date = "Sun, 06 Nov 1994 08:49:37 GMT";
    const headers = new Headers([["retry-after", date], ["retry-after", "9"]]);
    assert.equal(readRetryAfterMs(headers, { clock: new ManualClock(0, WALL_MS) }), 7000);
    eachWaits({
      "7, 9": 7000,
      "7,9": 7000,
      "x, 9": null,
      ", 9": null,
      "Sunday, 06-Nov-94 08:49:37 GMT, 9": 7000,
    });
  });

  it("reads the machine's wall time when it is given no clock, and refuses what is none", () => {
    const inAnHour = new Date(Date.now() + 3_600_000).toUTCString();
    const wait = readRetryAfterMs(new Headers({ "retry-after": inAnHour })) ?? 0;
    assert.ok(wait > 3_500_000 && wait <= 3_600_000, `${wait} ms`);
    const none = { clock: {} } as HeaderReaderOptions;
    assert.throws(() => readRetryAfterMs({}, none), { name: "TypeError", message: /clock is/ });
    assert.throws(() => headerReader("openai", none), { name: "TypeError", message: /clock is/ });
    assert.throws(() => headerReader("nobody" as "openai"), {
      name: "RangeError",
      message: /"nobody".*anthropic/,
    });
  });
});

describe("Waits that are written and read again", () => {
  const instant = fc.integer({ min: 0, max: Date.UTC(2200, 0, 1) / 1000 }).map((seconds) => seconds * 1000);

  it("BEY-70 dates of both standards come back as the instant they name", () => {
    fc.assert(fc.property(instant, instant, fc.integer({ min: 0, max: 999 }), (at, wallMs, fraction) => {
      const until = Math.max(0, at - wallMs);
      assert.equal(waits(new Date(at).toUTCString(), wallMs), until);
      assert.equal(waits(new Date(at + fraction).toISOString(), wallMs), Math.max(0, at + fraction - wallMs));
    }));
  });

  it("BEY-70 durations come back to the microsecond, in seconds and in parts", () => {
    fc.assert(fc.property(fc.integer({ min: 0, max: 4e14 }), (micros) => {
      const [seconds, rest] = [Math.floor(micros / 1e6), micros % 1e6];
      const fraction = String(rest).padStart(6, "0");
      if (seconds < 1e9) assert.equal(waits(`${seconds}.${fraction}`), micros / 1000);
      assert.equal(waits(`${seconds}.${fraction}s`), micros / 1000);
      const parts = `${Math.floor(seconds / 3600)}h${Math.floor(seconds / 60) % 60}m${
        seconds % 60
      }s${rest}us`;
      assert.equal(waits(parts), micros / 1000, parts);
    }));
  });
});
