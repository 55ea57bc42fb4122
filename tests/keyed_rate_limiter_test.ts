// KeyedRateLimiter by itself: whose account is whose, what is refused, and what stands beyond the most keys.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  Admission,
  CorrectableError,
  CountingGate,
  Demand,
  ElasticWindowRateLimiter,
  healthTable,
  InvalidStateError,
  type KeyedAccount,
  KeyedRateLimiter,
  type KeyedRateLimiterOptions,
  KeysFullError,
  TokenBucketRateLimiter,
} from "../mod.ts";
import { ManualClock } from "../testing/mod.ts";

function gates(maxKeys = 10, options: Partial<KeyedRateLimiterOptions<CountingGate>> = {}) {
  const made: (string | number)[] = [];
  const keyed = new KeyedRateLimiter(
    "users",
    (key: string | number) => {
      made.push(key);
      return new CountingGate(`user ${key}`, 2);
    },
    { maxKeys, ...options },
  );
  return { keyed, made };
}

/** Takes a permit of so many keys. */
function occupy(
  keyed: KeyedRateLimiter<string | number, CountingGate>,
  keys: readonly (string | number)[],
): void {
  for (const key of keys) assert.equal(keyed.accountFor(key).tryTake([undefined], []), true);
}

describe("The accounts of a keyed limiter", () => {
  it("are made once for each key, which is compared as a Map compares", () => {
    const { keyed, made } = gates();
    for (const key of ["a", "b", "a", 1, "1", "", 0, -0, Infinity]) {
      assert.equal(keyed.accountFor(key), keyed.accountFor(key));
    }
    assert.deepEqual(made, ["a", "b", 1, "1", "", 0, Infinity]);
    assert.equal(keyed.size, 7);
    assert.notEqual(keyed.accountFor(1), keyed.accountFor("1"));
  });

  it("limit each key by itself", () => {
    const { keyed } = gates();
    const admission = new Admission({ memory: null });
    const both = new Demand().add(keyed, "a", 2);
    const grant = admission.tryAdmit(both)!;
    assert.equal(admission.tryAdmit(new Demand().add(keyed, "a")), null);
    assert.notEqual(admission.tryAdmit(new Demand().add(keyed, "b")), null);
    grant.release();
    assert.notEqual(admission.tryAdmit(both), null);
  });

  it("are buckets, windows and gates, also several kinds in one limiter", () => {
    const clock = new ManualClock();
    const make = (key: string): KeyedAccount => {
      if (key === "bucket") return new TokenBucketRateLimiter(key, { tpm: 60, rpm: 60, clock });
      if (key === "window") {
        return new ElasticWindowRateLimiter(key, { maxRequests: 3, baseWindowMs: 99, clock });
      }
      return new CountingGate(key, 2);
    };
    const keyed = new KeyedRateLimiter("mixed", make, { maxKeys: 3 });
    const demand = new Demand().add(keyed, "bucket", 7).add(keyed, "window", 2).add(keyed, "gate");
    new Admission({ memory: null, clock }).tryAdmit(demand);
    assert.deepEqual(keyed.accounts().map((account) => account.currentInUse), [7, 2, 1]);
  });

  it("are listed up to a number, for tables that stay short", () => {
    const { keyed } = gates(1000);
    occupy(keyed, [...Array(500).keys()]);
    assert.equal(keyed.accounts().length, 100);
    assert.equal(keyed.accounts(Infinity).length, 500);
    assert.deepEqual(keyed.accounts(2).map((account) => account.limiterName), ["user 0", "user 1"]);
    assert.deepEqual(keyed.accounts(0), []);
    assert.match(healthTable(keyed.accounts(1)), /^user 0 +semaphore +1\/2 +50%/m);
    assert.throws(() => keyed.accounts(-1), /most is -1/);
  });

  it("are all disposed with it, and nothing is answered from then on", async () => {
    const { keyed } = gates();
    const admission = new Admission({ memory: null });
    const demand = new Demand().add(keyed, "a");
    using _grant = await admission.admit(demand);
    keyed.dispose();
    keyed[Symbol.dispose]();
    assert.equal(keyed.size, 0);
    assert.throws(() => keyed.accountFor("a"), InvalidStateError);
    assert.throws(() => admission.tryAdmit(demand), InvalidStateError);
  });

  it("may be disposed one by one: the next who asks for the key gets another", () => {
    const { keyed, made } = gates();
    keyed.accountFor("a").dispose();
    keyed.accountFor("a").fits([undefined], []);
    assert.deepEqual(made, ["a", "a"]);
  });
});

describe("A key", () => {
  it("is a string or a number: nothing that tells nobody apart", () => {
    const { keyed, made } = gates();
    for (const key of [undefined, null, NaN, {}, Symbol("a"), true, 1n]) {
      assert.throws(() => keyed.accountFor(key as string), (error: TypeError) => {
        assert.ok(error instanceof TypeError);
        return /"users".*it is (undefined|null|NaN|an object|Symbol|true|1n)/.test(error.message);
      });
      assert.throws(() => new Demand().add(keyed, key as string), TypeError);
    }
    assert.deepEqual(made, []);
  });

  it("has at most 256 characters: what a client sends beyond is refused and not kept", () => {
    const { keyed, made } = gates();
    keyed.accountFor("x".repeat(256));
    assert.throws(() => keyed.accountFor("x".repeat(257)), CorrectableError);
    assert.throws(() => keyed.accountFor("x".repeat(1_000_000)), {
      code: "correctable",
      message: /1000000 char/,
    });
    assert.equal(made.length, 1);
  });

  it("keeps its characters, lone halves of pairs too", () => {
    const { keyed, made } = gates();
    const odd = ["\ud83d", "\udca9", "\ud83d\udca9", "\u0000", '"\\'];
    for (const key of odd) assert.equal(keyed.accountFor(key), keyed.accountFor(key));
    assert.deepEqual(made, odd);
  });
});

describe("More keys than there may be", () => {
  it("are refused while all are in use, and nothing is made for them", () => {
    const { keyed, made } = gates(3);
    occupy(keyed, ["a", "b", "c"]);
    assert.throws(() => new Demand().add(keyed, "d"), (error: KeysFullError) => {
      const { code, limiter, maxKeys, retryAfterMs } = error;
      assert.deepEqual([code, limiter, maxKeys, retryAfterMs], ["keys_full", "users", 3, null]);
      return error instanceof KeysFullError;
    });
    assert.deepEqual(made, ["a", "b", "c"]);
    occupy(keyed, ["a"]);
    keyed.accountFor("b").give([undefined]);
    occupy(keyed, ["d"]);
    assert.equal(keyed.size, 3);
    assert.throws(() => keyed.accountFor("b"), KeysFullError);
  });

  it("or share one account with each other", () => {
    const { keyed, made } = gates(2, { beyond: "share" });
    occupy(keyed, ["a", "b"]);
    assert.equal(keyed.overflow, null);
    assert.equal(keyed.accountFor("c"), keyed.accountFor("d"));
    assert.equal(keyed.accountFor("e"), keyed.overflow);
    assert.deepEqual(made, ["a", "b", "c"]);
    assert.equal(keyed.size, 2);
    keyed.accountFor("a").give([undefined]);
    assert.notEqual(keyed.accountFor("d"), keyed.overflow);
  });

  it("which is one that the user gave, and stays the user's", () => {
    const overflow = new CountingGate("others", 50);
    const { keyed } = gates(1, { beyond: "share", overflow });
    occupy(keyed, ["a"]);
    assert.equal(keyed.accountFor("b"), overflow);
    assert.deepEqual(keyed.accounts().map((account) => account.limiterName), ["others", "user a"]);
    keyed.dispose();
    assert.equal(overflow.tryTake([undefined], []), true);
  });

  it("find a place as soon as one of the sixteen that a newcomer looks at is at rest", () => {
    const { keyed } = gates(100);
    occupy(keyed, [...Array(100).keys()]);
    keyed.accountFor(50).give([undefined]);
    let refused = 0;
    for (; refused < 100; refused++) {
      try {
        keyed.accountFor("new");
        break;
      } catch (error) {
        assert.ok(error instanceof KeysFullError);
      }
    }
    assert.ok(refused <= 6, `${refused} were refused before a round was over`);
  });
});
