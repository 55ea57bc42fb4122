import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  type Clock,
  type ElasticWindowOptions,
  ElasticWindowRateLimiter,
  ElasticWindowStatus,
  type Logger,
  type Replenishment,
  UpstreamFailure,
} from "../mod.ts";
import { scenario } from "./scenario.ts";
import { blocked, fail, FAILURE, refusalOf, slots, THREE, TOUCHY } from "./window_readings.ts";

const NAMES = [
  "maxRequests",
  "baseWindowMs",
  "maxThrottle",
  "initialCooldownMs",
  "maxCooldownMs",
  "failuresAtMaxToBlock",
  "successesPerDecrease",
  "probeTimeoutMs",
  "throttleIncrement",
  "throttleDecrement",
  "recoveryMinutes",
  "recoveryMultiplier",
] as const;

/** Those that may be 0. */
const FROM_ZERO: readonly string[] = [
  "maxThrottle",
  "throttleIncrement",
  "throttleDecrement",
  "recoveryMinutes",
  "recoveryMultiplier",
];

function make(options: Record<string, unknown>): ElasticWindowRateLimiter {
  return new ElasticWindowRateLimiter("api", { ...THREE, ...options } as unknown as ElasticWindowOptions);
}

describe("A window's options", () => {
  it(
    "EW-01 what is left out has its default",
    scenario(async (world) => {
      const window = world.window("window", THREE);
      assert.equal(window.capacity, 3);
      assert.equal(window.effectiveWindowMs, 1000);
      fail(window, 11);
      assert.deepEqual([window.throttle, window.cooldownRemainingMs], [9, 30_000]);
      for (let i = 0; i < 3; i++) window.onSuccess();
      assert.equal(window.throttle, 8.8);
      await world.clock.advance(300_000);
      window.onSuccess();
      assert.equal(window.throttle, 8.3);
      window.tryTake(slots(1), []);
      await world.clock.advance(3_599_999.999);
      assert.equal(refusalOf(() => window.fits(slots(1), [])).code, "circuit_blocked");
      await world.clock.advance(0.001);
      assert.equal(window.fits(slots(1), []), true, "a probe has an hour");
    }),
  );

  it(
    "EW-02 they are read once, at construction",
    scenario((world) => {
      const options = { maxRequests: 2, baseWindowMs: 1000, throttleIncrement: 1 };
      const window = world.window("window", options);
      Object.assign(options, { maxRequests: 50, baseWindowMs: 5, throttleIncrement: 7 });
      assert.equal(window.capacity, 2);
      fail(window);
      assert.deepEqual([window.throttle, window.effectiveWindowMs], [1, 2000]);
      assert.equal(refusalOf(() => window.fits(slots(3), [])).code, "uncorrectable");
    }),
  );

  it("EW-03 impossible ones are refused in a fixed order, by an error that names option, value and what would do", () => {
    for (const name of NAMES) {
      for (const value of [NaN, Infinity, -Infinity, -1, ...(FROM_ZERO.includes(name) ? [] : [0])]) {
        assert.throws(() => make({ [name]: value }), (error: Error) => {
          assert.equal(error.name, "RangeError", `${name} ${value}`);
          assert.match(error.message, new RegExp(`"api": ${name} is ${value}, it should be `));
          return true;
        });
      }
      for (const value of ["3", null, {}, 3n]) {
        assert.throws(() => make({ [name]: value }), {
          name: "TypeError",
          message: new RegExp(`${name} is `),
        });
      }
      if (FROM_ZERO.includes(name)) make({ [name]: 0 });
    }
    for (const name of ["maxRequests", "baseWindowMs", "failuresAtMaxToBlock", "successesPerDecrease"]) {
      assert.throws(() => make({ [name]: 1.5 }), /whole number/);
    }
    assert.throws(() => make({ maxRequests: 4_194_305 }), /1 to 4194304/);
    assert.throws(() => make({ initialCooldownMs: 500, maxCooldownMs: 499 }), {
      name: "RangeError",
      message: /maxCooldownMs is 499, it should be at least initialCooldownMs, which is 500/,
    });
    make({ initialCooldownMs: 500, maxCooldownMs: 500 });
    const ordered = NAMES.slice(0, 8);
    for (const [at, name] of ordered.entries()) {
      const wrong = Object.fromEntries(ordered.slice(at).map((each) => [each, -1]));
      assert.throws(() => make(wrong), new RegExp(`: ${name} is -1`));
    }
  });

  it("EW-03 a missing name, missing options, and a clock or a logger that is none are refused", () => {
    for (const name of [undefined, null, "", 3]) {
      const message = name === "" ? /name is ""/ : /name is /;
      assert.throws(() => new ElasticWindowRateLimiter(name as unknown as string, THREE), {
        name: "TypeError",
        message,
      });
    }
    for (const options of [undefined, null, 3]) {
      assert.throws(
        () => new ElasticWindowRateLimiter("api", options as unknown as ElasticWindowOptions),
        TypeError,
      );
    }
    assert.throws(() => make({ clock: {} as Clock }), /clock/);
    assert.throws(() => make({ logger: {} as Logger }), /logger/);
  });
});

describe("What a window refuses with", () => {
  it(
    "EW-40 it names account, nominal rate, last failure and seconds left, and tells a model not to retry",
    scenario(async (world) => {
      const window = world.window("PubMed", {
        ...TOUCHY,
        maxRequests: 10,
        initialCooldownMs: 30_500,
        maxCooldownMs: 60_000,
      });
      fail(window);
      window.onRateLimitError(
        new UpstreamFailure({ statusCode: 503, service: "eutils", retryAfterSeconds: 7 }),
      );
      await world.clock.advance(400.5);
      const cooling = refusalOf(() => window.fits(slots(1), []));
      assert.match(cooling.message, /^PubMed \(10 requests \/ 1s\)/);
      assert.match(cooling.message, /Cooldown is active: 30 seconds remain/);
      assert.match(cooling.message, /Do not retry this tool family now/);
      assert.match(cooling.message, /HTTP 503 from eutils \(server asked for 7s\)$/);
      assert.deepEqual([cooling.code, cooling.retryAfterMs], ["circuit_blocked", 30_100]);
      await world.clock.advance(30_099.5);
      window.tryTake(slots(1), []);
      const probing = refusalOf(() => window.fits(slots(1), []));
      assert.match(probing.message, /^PubMed \(10 requests \/ 1s\)/);
      assert.match(probing.message, /single probe/);
      assert.match(probing.message, /Do not retry this tool family now/);
      assert.match(probing.message, /HTTP 503 from eutils/);
      assert.deepEqual([probing.code, probing.retryAfterMs], ["circuit_blocked", null], "nobody knows when");
    }),
  );

  it(
    "EW-41 the window's length is told in whole minutes, else whole seconds, else ms",
    scenario((world) => {
      const told = (baseWindowMs: number) =>
        /requests \/ (\w+)/.exec(
          refusalOf(() => blocked(world, { baseWindowMs }).fits(slots(1), [])).message,
        )![1];
      assert.equal(told(60_000), "1min");
      assert.equal(told(3_600_000), "60min");
      assert.equal(told(90_000), "90s");
      assert.equal(told(1000), "1s");
      assert.equal(told(250), "250ms");
      assert.equal(told(1250), "1250ms");
    }),
  );
});

describe("What a window says of itself", () => {
  it(
    "EW-44 its category is elastic_window, its kind TIME, it needs the HTTP gate, and its numbers are slots",
    scenario((world) => {
      const window = world.window("window", THREE);
      assert.equal(window.limiterName, "window");
      assert.equal(window.limiterCategory, "elastic_window");
      assert.equal(window.replenishment, "TIME");
      assert.equal(window.requiresHttpConnection, true);
      assert.equal(window.accountFor(), window);
      window.tryTake(slots(2), []);
      assert.deepEqual([window.capacity, window.currentInUse], [3, 2]);
    }),
  );

  it("ACC-11 EW-44 a subclass that overrides its kind or its need of the HTTP gate cannot be made", () => {
    class Offline extends ElasticWindowRateLimiter {
      override get requiresHttpConnection(): boolean {
        return false;
      }
    }
    class Held extends ElasticWindowRateLimiter {
      override get replenishment(): Replenishment {
        return "RELEASE";
      }
    }
    class Grandchild extends Held {}
    const FieldHeld = class extends ElasticWindowRateLimiter {
      constructor() {
        super("field", THREE);
        Object.defineProperty(this, "replenishment", { value: "RELEASE" });
      }
    };
    assert.throws(() => new Offline("offline", THREE), {
      name: "TypeError",
      message: /Offline overrides requiresHttpConnection/,
    });
    assert.throws(() => new Held("held", THREE), {
      name: "TypeError",
      message: /Held overrides replenishment/,
    });
    assert.throws(() => new Grandchild("grandchild", THREE), TypeError);
    assert.throws(() => new FieldHeld(), TypeError, "a field is refused when it is set");
    class Plain extends ElasticWindowRateLimiter {}
    assert.equal(new Plain("plain", THREE).requiresHttpConnection, true);
  });

  it("EW-45 the default name is the class name without RateLimiter at its end", () => {
    class SuffixedRateLimiter extends ElasticWindowRateLimiter {
      constructor() {
        super(ElasticWindowRateLimiter.defaultName(new.target), THREE);
      }
    }
    class Whole extends ElasticWindowRateLimiter {
      constructor() {
        super(ElasticWindowRateLimiter.defaultName(new.target), THREE);
      }
    }
    assert.equal(new SuffixedRateLimiter().limiterName, "Suffixed");
    assert.equal(new Whole().limiterName, "Whole");
    assert.equal(ElasticWindowRateLimiter.defaultName({ name: "RateLimiter" }), "RateLimiter");
    assert.equal(ElasticWindowRateLimiter.defaultName({ name: "RateLimiterProxy" }), "RateLimiterProxy");
    assert.equal(ElasticWindowRateLimiter.defaultName(ElasticWindowRateLimiter), "ElasticWindow");
  });

  it(
    "EW-46 the indicator is blocked, else probing, else the stretch to one decimal, else null",
    scenario(async (world) => {
      const window = world.window("window", { ...THREE, maxThrottle: 1.5, failuresAtMaxToBlock: 2 });
      assert.equal(window.statusIndicator, null);
      fail(window);
      assert.equal(window.statusIndicator, "throttle:2.0x");
      fail(window);
      assert.equal(window.statusIndicator, "throttle:2.5x");
      fail(window);
      assert.equal(window.statusIndicator, "blocked");
      await world.clock.advance(30_000);
      assert.equal(window.statusIndicator, "blocked");
      window.tryTake(slots(1), []);
      assert.equal(window.statusIndicator, "probing");
      window.onSuccess();
      assert.equal(window.statusIndicator, "throttle:2.5x");
    }),
  );

  it(
    "EW-47 STA-05 the status holds slots, throttle, window and circuit, and its summary names them",
    scenario(async (world) => {
      const summary = new ElasticWindowStatus(5, 2, 1, 2000, "HEALTHY").summary();
      for (const part of ["2/5", "1.0", "2000ms", "HEALTHY"]) assert.ok(summary.includes(part), summary);
      const window = world.window("window", { maxRequests: 5, baseWindowMs: 1000 });
      window.tryTake(slots(3), []);
      fail(window);
      const { status } = window;
      assert.deepEqual(status, new ElasticWindowStatus(5, 2, 1, 2000, "HEALTHY"));
      await world.clock.advance(2000);
      assert.equal(status.availablePermits, 2, "a snapshot");
      assert.equal(window.status.availablePermits, 5);
    }),
  );

  it("a logger hears of failures, and when the circuit opens and closes", () => {
    const lines: string[] = [];
    const log = (level: string) => (message: string) => void lines.push(`${level} ${message}`);
    const logger = { info: log("INFO"), warn: log("WARN"), error: log("ERROR") };
    let nowMs = 0;
    const clock: Clock = { now: () => nowMs, wallNow: () => 0, setTimer: () => ({ cancel: () => {} }) };
    const window = new ElasticWindowRateLimiter("api", { ...TOUCHY, clock, logger });
    window.onRateLimitError(FAILURE);
    nowMs = 100;
    window.tryTake(slots(1), []);
    window.onSuccess();
    window.onSuccess();
    assert.deepEqual(lines, [
      "WARN api: HTTP 429 from search: slow down",
      "WARN api: circuit open for 100 ms",
      "INFO api: circuit closed",
    ]);
  });
});
