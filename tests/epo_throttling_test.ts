// What EPO says of its load and of robots, read off its answers.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import { epoFailure, EPORateLimiter, type EPOService, type HeaderSource } from "../mod.ts";
import { epoThrottling, MAX_VALUE_CHARS } from "../core/accounts/services/epo_throttling.ts";
import { fail, routerOf, SERVICES, throttles } from "./epo_readings.ts";
import { scenario } from "./scenario.ts";

const NAME = "X-Throttling-Control";
const IDLE =
  "idle (images=green:200, inpadoc=green:60, other=green:1000, retrieval=green:200, search=green:30)";
const MIXED =
  "overloaded (images=black:0, inpadoc=red:5, other=green:1000, retrieval=yellow:50, search=red:2)";

/** What a value says, as `search=red`. */
function said(value: string): string[] {
  return [...epoThrottling({ [NAME]: value })].map(([service, colour]) => `${service}=${colour}`);
}

describe("EPO's throttling header", () => {
  it(
    "US-17 green counts as a success of the service's window, yellow, red and black as pressure without failure",
    scenario((world) => {
      const epo = routerOf(world);
      for (const service of SERVICES) fail(epo, service);
      assert.deepEqual(throttles(epo), [2, 1, 1, 1, 1]);
      epo.readThrottling({ [NAME]: MIXED });
      assert.deepEqual(throttles(epo), [4, 2, 2, 2, 1]);
      for (let i = 0; i < 2; i++) epo.readThrottling({ [NAME]: IDLE });
      assert.deepEqual(throttles(epo), [4, 2, 2, 2, 0.8], "the third green was OTHER's alone");
      epo.readThrottling({ [NAME]: IDLE });
      assert.deepEqual(throttles(epo), [3.8, 1.8, 1.8, 1.8, 0.8]);
      for (let i = 0; i < 50; i++) epo.readThrottling({ [NAME]: "overloaded (search=black:0)" });
      const search = epo.accountFor("SEARCH");
      assert.deepEqual([search.throttle, search.circuitState], [9, "HEALTHY"]);
    }),
  );

  it(
    "US-17 green settles a probe, and wakes whoever waits on the window that relaxed",
    scenario(async (world) => {
      const epo = routerOf(world, { SEARCH: { maxThrottle: 0, failuresAtMaxToBlock: 1 } });
      fail(epo, "SEARCH");
      await world.clock.advance(60_000);
      epo.tryTake(["SEARCH"], []);
      let wakes = 0;
      epo.onCapacityChange(() => void wakes++);
      epo.readThrottling({ [NAME]: "idle (search=green:30)" });
      assert.deepEqual([epo.accountFor("SEARCH").circuitState, wakes], ["HEALTHY", 1]);
    }),
  );

  it("US-17 is found in what fetch, Map and node:http have, in any spelling, and the first one counts", () => {
    const first = "idle (search=green:30)";
    const then = "busy (search=red:5)";
    const carriers: HeaderSource[] = [
      new Headers([["Content-Type", "text/xml"], [NAME, first]]),
      new Headers([[NAME, first], [NAME, then], [NAME, "busy (images=red:1)"]]),
      new Map([["x-throttling-control", first]]),
      { "content-type": "text/xml", "x-throttling-control": first },
      { "a": "b", "X-THROTTLING-control": first, [NAME]: then },
      { "X-Throttling-Control": [first, then] },
      { "x-throttling-control": first, [NAME]: then },
    ];
    for (const headers of carriers) assert.deepEqual([...epoThrottling(headers)], [["SEARCH", "green"]]);
  });

  it("US-17 is split at commas and parentheses; names and colours are read in any case, with spaces around", () => {
    assert.deepEqual(said(IDLE), [
      "IMAGES=green",
      "INPADOC=green",
      "OTHER=green",
      "RETRIEVAL=green",
      "SEARCH=green",
    ]);
    assert.deepEqual(said(MIXED), [
      "IMAGES=black",
      "INPADOC=red",
      "OTHER=green",
      "RETRIEVAL=yellow",
      "SEARCH=red",
    ]);
    assert.deepEqual(said("search=green:30,retrieval=red:5"), ["SEARCH=green", "RETRIEVAL=red"]);
    assert.deepEqual(said("idle( SEARCH = Green : 30 ,\tImages=RED)"), ["SEARCH=green", "IMAGES=red"]);
  });

  it("US-17 leaves out other services, other colours and whatever it does not understand", () => {
    const nothing = [
      "",
      "idle",
      "()",
      "((((,,,,))))",
      "idle (register=green:30, search=blue:30, images=orange:5, =green:1, other=, inpadoc)",
      "search green:30",
      "search=green=red:30",
      "search:30=green",
      "searchgreen",
      "ſearch=green:30",
      "__proto__=green:1, constructor=red:1",
      "\u0000search\u0000=\u0007green:30",
    ];
    for (const value of nothing) assert.deepEqual(said(value), [], value);
    assert.deepEqual(said("search=purple:1, search=red:1, search=green:1"), ["SEARCH=red"]);
  });

  it("US-17 headers that are none, or of other kinds, change nothing", () => {
    const epo = new EPORateLimiter();
    const junk: unknown[] = [
      null,
      undefined,
      0,
      "X-Throttling-Control: search=red:1",
      [],
      [null, 5, "x-throttling-control", [], [NAME], [NAME, "search=red:1"]],
      {
        get: () => {
          throw new Error("no headers");
        },
      },
      { [NAME]: 7 },
      { [NAME]: [] },
      { [NAME]: undefined },
      { [NAME]: { toString: () => "search=red:1" } },
      { "X-Throttling-Contro1": "search=red:1" },
      Object.create(null),
    ];
    for (const headers of junk) epo.readThrottling(headers as HeaderSource);
    assert.deepEqual(throttles(epo), [0, 0, 0, 0, 0]);
  });

  it("US-17 reads no more than it says of a long value or a long list, and hears a service once", () => {
    const pad = (length: number, end: string) => " ".repeat(length - end.length) + end;
    assert.deepEqual(said(pad(MAX_VALUE_CHARS, "search=red")), ["SEARCH=red"]);
    assert.deepEqual(said(pad(MAX_VALUE_CHARS + 1, "search=red")), []);
    const behind = (count: number) => {
      const others = Array.from({ length: count }, (_, at) => [`x-${at}`, "1"]);
      return Object.fromEntries([...others, [NAME, "search=red:1"]]);
    };
    assert.deepEqual([epoThrottling(behind(999)).size, epoThrottling(behind(1000)).size], [1, 0]);
    const epo = new EPORateLimiter();
    epo.readThrottling({ [NAME]: "search=red:1,".repeat(1000) });
    assert.deepEqual(throttles(epo), [2, 0, 0, 0, 0]);
  });

  it("US-17 never throws and never hears what is not there, whatever the value", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        "search",
        "images",
        "other",
        "=",
        ":",
        "(",
        ")",
        ",",
        "green",
        "red",
        "black",
        "\u0000",
        "\n",
      ),
      fc.string({ unit: "binary", maxLength: 5 }),
    );
    fc.assert(fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      const value = pieces.join("");
      const heard = epoThrottling({ [NAME]: value });
      for (const [service, colour] of heard) {
        assert.match(value.toLowerCase(), new RegExp(`${service.toLowerCase()}\\s*=\\s*${colour}`, "u"));
      }
    }));
  });
});

describe("A failure of EPO", () => {
  const body = "<fault>\n  <code>CLIENT.RobotDetected</code>\u0007<message>You are a robot</message></fault>";

  it("US-18 a 403 that says robot is a 429 without a time to wait", () => {
    const failure = epoFailure({ statusCode: 403, body, service: "SEARCH", retryAfterSeconds: 30 });
    assert.deepEqual({ ...failure }, {
      statusCode: 429,
      service: "epo:search",
      detail: "<fault> <code>CLIENT.RobotDetected</code> <message>You are a robot</message></fault>",
      retryAfterSeconds: 0,
    });
    for (const mark of ["RobotDetected", "CLIENT.Robot"]) {
      assert.equal(epoFailure({ statusCode: 403, body: `... ${mark} ...` }).statusCode, 429, mark);
    }
  });

  it("US-18 any other answer stays as it was", () => {
    assert.equal(epoFailure({ statusCode: 403, body: "client.robot is not it" }).statusCode, 403);
    assert.equal(epoFailure({ statusCode: 400, body }).statusCode, 400);
    const { statusCode, service, detail, retryAfterSeconds } = epoFailure({
      statusCode: 503,
      body: "busy",
      retryAfterSeconds: 30,
    });
    assert.deepEqual([statusCode, service, detail, retryAfterSeconds], [503, "epo", "busy", 30]);
    assert.equal(epoFailure({ statusCode: 0 }).summary(), "no response from epo");
  });

  it("US-18 a body may be anything: it is searched to a bound and quoted to a shorter one", () => {
    for (const junk of [null, 5, {}, undefined]) {
      assert.equal(epoFailure({ statusCode: 403, body: junk as unknown as string }).detail, "");
    }
    const long = epoFailure({ statusCode: 403, body: `${"x".repeat(10_000)}RobotDetected` });
    assert.deepEqual([long.statusCode, long.detail], [429, "x".repeat(200)]);
    const far = epoFailure({ statusCode: 403, body: `${"x".repeat(65_530)}RobotDetected` });
    assert.equal(far.statusCode, 403);
  });

  it("US-18 what its caller got wrong is refused by name", () => {
    assert.throws(() => epoFailure({ statusCode: NaN }), {
      name: "RangeError",
      message: /statusCode is NaN/,
    });
    assert.throws(() => epoFailure({ statusCode: 403, service: "robots" as EPOService }), {
      name: "RangeError",
      message: /service is "robots"/,
    });
  });
});
