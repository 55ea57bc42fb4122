// Accounts that are made once: for each class, and for each model.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  AbstractRateLimiter,
  CountingGate,
  HttpConnectionGate,
  type LimiterClass,
  ModelSpec,
  type ModelSpecFields,
  RateLimiterFactory,
  type TokenBucketCaps,
  TokenBucketRateLimiter,
} from "../mod.ts";
import { ScriptedLimiter } from "../testing/mod.ts";
import { Router } from "./custom_accounts.ts";
import { scenario, type World } from "./scenario.ts";

/** A class where TypeScript would not let it through. */
function asClass(type: unknown): LimiterClass<CountingGate> {
  return type as LimiterClass<CountingGate>;
}

/** Asks for the account of a class that cannot be one; answers the error. */
function refusal(factory: RateLimiterFactory, type: unknown): Error {
  let found: unknown = null;
  assert.throws(() => factory.limiter(asClass(type)), (error: Error) => {
    assert.equal((found = error, error.name), "UncorrectableError");
    return true;
  });
  return found as Error;
}

class Search extends CountingGate {
  static made = 0;

  constructor(name = "search") {
    super(name, 3);
    Search.made++;
  }
}

/** Takes anything at all in its place. */
class Loose extends CountingGate {
  constructor(...rest: unknown[]) {
    super("loose", 1 + rest.length);
  }
}

function factoryOf(world: World): RateLimiterFactory {
  return new RateLimiterFactory({ clock: world.clock });
}

describe("The accounts of classes", () => {
  it("RF-01 there is one for each class, made without arguments when first asked for, until clear", () => {
    const factory = new RateLimiterFactory();
    const before = Search.made;
    const search: Search = factory.limiter(Search);
    assert.equal(factory.limiter(Search), search);
    assert.deepEqual([search.limiterName, Search.made - before], ["search", 1]);
    class Other extends Search {}
    assert.notEqual(factory.limiter(Other), search, "a subclass has its own");
    assert.deepEqual([factory.limiter(HttpConnectionGate).capacity, factory.limiter(Loose).capacity], [
      1000,
      1,
    ]);
    factory.clear();
    assert.notEqual(factory.limiter(Search), search);
    assert.notEqual(new RateLimiterFactory().limiter(Search), factory.limiter(Search));
  });

  it("RF-02 a class whose constructor takes parameters is refused by name, without being constructed", () => {
    let runs = 0;
    class Needy extends CountingGate {
      constructor(name: string, capacity: number) {
        runs++;
        super(name, capacity);
      }
    }
    const error = refusal(new RateLimiterFactory(), Needy);
    assert.match(error.message, /Needy.*no no-arg constructor.*2 parameters/);
    assert.ok(error.cause instanceof TypeError);
    assert.equal(runs, 0);
    assert.match(refusal(new RateLimiterFactory(), class extends Needy {}).message, /an|name/);
    assert.match(refusal(new RateLimiterFactory(), ScriptedLimiter).message, /ScriptedLimiter.*no-arg/);
  });

  it("RF-02 what is abstract, no account or no class is refused, and nothing of it runs that is no constructor", () => {
    const factory = new RateLimiterFactory();
    abstract class Shape extends CountingGate {
      constructor() {
        if (new.target === Shape) throw new TypeError("Shape is abstract");
        super("shape", 1);
      }
    }
    assert.match(refusal(factory, Shape).message, /Shape: Shape is abstract/);
    assert.match(refusal(factory, AbstractRateLimiter).message, /AbstractRateLimiter: .*no fits\(\)/);
    // @ts-expect-error: It is half an account, as one written without types may be.
    class Half extends AbstractRateLimiter<void> {
      fits = () => true;
      tryTake = () => true;
    }
    assert.match(refusal(factory, Half).message, /Half: .*no give\(\)/);
    assert.match(refusal(factory, Map).message, /Map: .*no account/);
    const fail = () => assert.fail("it was called");
    const method = { fail() {} }.fail;
    for (const none of [fail, method, async () => {}, null, undefined, "Search", {}, 5]) {
      assert.match(refusal(factory, none).message, /it is no class/);
    }
    assert.match(refusal(factory, fail).message, /of fail:/);
  });

  it("RF-03 a constructor that fails is refused with what it threw as the cause, and the next look tries again", () => {
    const faults: unknown[] = [new Error("no API key is set"), "a string", null];
    class Moody extends CountingGate {
      constructor() {
        if (faults.length > 0) throw faults[0];
        super("moody", 1);
      }
    }
    const factory = new RateLimiterFactory();
    assert.match(refusal(factory, Moody).message, /Moody: no API key is set/);
    while (faults.length > 0) {
      const error = refusal(factory, Moody);
      assert.equal(error.cause, faults[0], "as it was thrown");
      assert.deepEqual(factory.accounts, []);
      faults.shift();
    }
    assert.equal(factory.limiter(Moody), factory.limiter(Moody));
    class Ouroboros extends CountingGate {
      constructor() {
        factory.limiter(Ouroboros);
        super("ouroboros", 1);
      }
    }
    assert.match(refusal(factory, Ouroboros).message, /asks the factory for its own class/);
  });
});

describe("The buckets of models", () => {
  it("RF-04 there is one for each id: a second spec of that id gets it, and its numbers are not read", () => {
    const factory = new RateLimiterFactory();
    const bucket = factory.bucket(new ModelSpec({ id: "same-id", rpm: 10, tpm: 1000 }));
    assert.ok(bucket instanceof TokenBucketRateLimiter);
    assert.equal(factory.bucket(new ModelSpec({ id: "same-id", rpm: 99, tpm: 9999 })), bucket);
    assert.equal(factory.bucket({ id: "same-id" }), bucket, "not even for want of a tpm");
    assert.deepEqual([bucket.capacity, bucket.status.maxRequests], [1000, 10]);
  });

  it("RF-05 a bucket is named after the id and starts with tpm and rpm, or a thousandth of tpm for want of rpm", () => {
    const factory = new RateLimiterFactory();
    const caps = (spec: ModelSpecFields) => {
      const { limiterName, status } = factory.bucket(spec);
      return [limiterName, status.maxRequests, status.maxTokens];
    };
    assert.deepEqual(caps({ id: "a", rpm: 7, tpm: 90_000 }), ["a", 7, 90_000]);
    assert.deepEqual(caps({ id: "b", rpm: 0, tpm: 120_000 }), ["b", 120, 120_000]);
    assert.deepEqual(caps({ id: "c", tpm: 1999 }), ["c", 1, 1999]);
  });

  it("BEY-63 a spec with no rpm and tpm below 1000 starts with one request, and one without tpm gets no bucket", () => {
    const factory = new RateLimiterFactory();
    assert.equal(factory.bucket({ id: "small", tpm: 999 }).status.maxRequests, 1);
    assert.equal(factory.bucket({ id: "tiny", tpm: 1 }).fits([1], []), true);
    assert.throws(() => factory.bucket({ id: "gated", maxConcurrent: 3 }), {
      name: "RangeError",
      message: /"gated": its tpm is 0, it should be 1 or more/,
    });
    assert.deepEqual(factory.accounts.map(({ limiterName }) => limiterName), ["small", "tiny"]);
  });

  it("RF-07 variants that share a wire id but not an id have buckets of their own", () => {
    const factory = new RateLimiterFactory();
    const variants = ["gpt:fast", "gpt:batch"].map((id) => ({ id, wireModelId: "gpt", tpm: 1000 }));
    const [fast, batch] = variants.map((spec) => factory.bucket(spec));
    assert.notEqual(fast, batch);
    fast!.tryTake([1000], []);
    assert.equal(batch!.currentInUse, 0);
  });

  it(
    "RF-09 updateLimits changes the bucket in place, throttle kept, or makes one of the pair",
    scenario(async (world) => {
      const factory = factoryOf(world);
      const spec = new ModelSpec({ id: "gpt", rpm: 10, tpm: 1000 });
      const bucket = factory.bucket(spec);
      bucket.record429();
      factory.updateLimits(spec, { rpm: 50, tpm: 5000 });
      assert.equal(factory.bucket(spec), bucket);
      assert.deepEqual([bucket.capacity, bucket.status.maxRequests, bucket.throttle], [5000, 50, 0.5]);
      factory.updateLimits("unseen", { rpm: 20, tpm: 2000 });
      assert.equal(factory.bucket({ id: "unseen", rpm: 1, tpm: 1000 }).capacity, 2000);
      assert.equal(factory.bucket({ id: "unseen" }).status.maxRequests, 20);
      await world.clock.advance(60_000);
      assert.equal(bucket.capacity, 5000);
    }),
  );

  it("RF-10 a pair with a number that is not above 0 is ignored, and makes no bucket", () => {
    const factory = new RateLimiterFactory();
    factory.updateLimits("unseen", { rpm: 0, tpm: 9000 });
    assert.deepEqual(factory.accounts, []);
    const bucket = factory.bucket({ id: "unseen", rpm: 10, tpm: 1000 });
    for (const [rpm, tpm] of [[10, 0], [-1, 9000], [NaN, 9000], [10, Infinity], [0.5, 9000]] as const) {
      factory.updateLimits("unseen", { rpm, tpm });
    }
    assert.deepEqual([bucket.capacity, bucket.status.maxRequests], [1000, 10]);
    for (const limits of [{ rpm: "10", tpm: 9000 }, { rpm: 10 }, { rpm: 0, tpm: null }]) {
      assert.throws(() => factory.updateLimits("unseen", limits as unknown as TokenBucketCaps), {
        name: "TypeError",
        message: /"unseen": [rt]pm is/,
      });
    }
    assert.throws(() => factory.updateLimits("", { rpm: 1, tpm: 1 }), TypeError);
  });

  it("RF-13 a spec that replaces another tells its numbers through updateLimits; reading specs anew changes nothing", () => {
    const factory = new RateLimiterFactory();
    const bucket = factory.bucket({ id: "gpt", rpm: 10, tpm: 1000 });
    const learned = new ModelSpec({ id: "gpt", rpm: 30, tpm: 3000 });
    factory.bucket(learned);
    assert.equal(bucket.capacity, 1000, "a catalog read anew leaves the bucket as it is");
    factory.updateLimits(learned, learned);
    assert.deepEqual([bucket.capacity, bucket.status.maxRequests], [3000, 30]);
    const silent = new ModelSpec({ id: "gpt", tpm: 9000 });
    factory.updateLimits(silent, silent);
    assert.deepEqual(
      [bucket.capacity, bucket.status.maxRequests],
      [3000, 30],
      "an rpm of 0 changes no bucket",
    );
  });
});

describe("The gates of models, and all of it", () => {
  it("RF-08 there is one gate for each id, and none for a spec without maxConcurrent", () => {
    const factory = new RateLimiterFactory();
    const gate = factory.gate({ id: "kev", maxConcurrent: 2 });
    assert.equal(factory.gate(new ModelSpec({ id: "kev", maxConcurrent: 9 })), gate);
    assert.deepEqual([gate.limiterName, gate.capacity], ["kev", 2]);
    for (const id of ["kev", "gpt"]) {
      assert.throws(() => factory.gate({ id, tpm: 1000 }), { name: "TypeError", message: /maxConcurrent/ });
    }
    assert.deepEqual(factory.accounts, [gate]);
  });

  it("RF-12 clear empties classes, buckets and gates, and what was made goes on working", () => {
    const factory = new RateLimiterFactory();
    const made = [
      factory.bucket({ id: "gpt", tpm: 1000 }),
      factory.gate({ id: "kev", maxConcurrent: 1 }),
      factory.limiter(Search),
    ] as const;
    assert.deepEqual(factory.accounts, [made[2], made[0], made[1]]);
    factory.clear();
    assert.deepEqual(factory.accounts, []);
    const anew = [
      factory.bucket({ id: "gpt", tpm: 2000 }),
      factory.gate({ id: "kev", maxConcurrent: 2 }),
      factory.limiter(Search),
    ] as const;
    made.forEach((account, index) => assert.notEqual(account, anew[index]));
    assert.deepEqual([anew[0].capacity, anew[1].capacity, made[0].fits([1000], [])], [2000, 2, true]);
  });

  it(
    "gives its buckets and gates its clock and logger, and leaves routers out of its accounts",
    scenario(async (world) => {
      const heard: string[] = [];
      const hear = (message: string) => heard.push(message);
      const factory = new RateLimiterFactory({
        clock: world.clock,
        logger: { info: hear, warn: hear, error: hear },
      });
      const bucket = factory.bucket({ id: "gpt", rpm: 6, tpm: 6000 });
      bucket.tryTake([6000], []);
      await world.clock.advance(1000);
      assert.equal(bucket.status.availableTokens, 100);
      factory.updateLimits("gpt", { rpm: 6, tpm: 600 });
      assert.match(heard.join(), /Updated rate limits for gpt/);
      class Routes extends Router {
        constructor() {
          super({});
        }
      }
      factory.limiter(Routes);
      assert.deepEqual(factory.accounts, [bucket]);
      assert.throws(() => new RateLimiterFactory({ logger: {} as never }), TypeError);
      assert.throws(() => new RateLimiterFactory({ clock: {} as never }), TypeError);
    }),
  );
});
