// What the suites say that ship for authors of accounts and providers, when something is wrong.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  dbResourceProviderContract,
  ManualClock,
  rateLimiterContract,
  type TestRunner,
} from "../testing/mod.ts";
import { Slots } from "./custom_accounts.ts";

describe("What a suite says", () => {
  const cases = (make: () => Slots): Map<string, () => void | Promise<void>> => {
    const found = new Map<string, () => void | Promise<void>>();
    const runner: TestRunner = {
      describe: (_, body) => body(),
      it: (name, body) => void found.set(name, body),
    };
    rateLimiterContract(
      "a",
      () => ({ account: make(), clock: new ManualClock(), amount: 1, room: 3 }),
      runner,
    );
    return found;
  };

  it("names the value that was answered, and what it should be", async () => {
    const boundless = cases(() => Object.assign(new Slots("slots", 3), { capacity: Infinity }));
    await assert.rejects(
      async () => await boundless.get("says what an amount debits, by a name that stays")!(),
      {
        name: "ContractError",
        message: "capacity: it is Infinity, it should be a finite number",
      },
    );
    const odd = cases(() => Object.assign(new Slots("slots", 3), { currentInUse: "2" }));
    await assert.rejects(async () => await odd.get("says what an amount debits, by a name that stays")!(), {
      message: 'currentInUse: it is "2", it should be a finite number, 0 or more',
    });
  });

  it("wants a runner, and a function that makes subjects", () => {
    const make = () => ({ account: new Slots("slots", 3), clock: new ManualClock(), amount: 1, room: 3 });
    for (const runner of [undefined, null, {}, { it }, describe]) {
      assert.throws(() => rateLimiterContract("a", make, runner as never), {
        name: "TypeError",
        message:
          /^Cannot run rateLimiterContract: the runner is .*it should be \{ describe, it \} of a test runner/,
      });
      assert.throws(() => dbResourceProviderContract(runner as never, {} as never), {
        name: "TypeError",
        message: /^Cannot run dbResourceProviderContract: the runner is /,
      });
    }
    assert.throws(() => rateLimiterContract("a", new Slots("slots", 3) as never, { describe, it }), {
      name: "TypeError",
      message: /make is \[object Object\], it should be a function that makes a fresh subject/,
    });
  });
});
