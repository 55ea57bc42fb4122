// What the Hono adapter refuses to be given, and what it does where it is given little.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Hono } from "hono";
import { admit } from "../adapters/hono.ts";
import { Admission, CountingGate, Demand } from "../mod.ts";

describe("Hono's admit and its options", () => {
  const demand = new Demand().add(new CountingGate("slot", 1));
  const admission = new Admission({ memory: null }).start();
  const wrong: [string, object, RegExp][] = [
    ["no demand", {}, /demand is undefined, it should be a Demand or a function/],
    ["a demand that is none", { demand: { add: 1 } }, /demand is an object of class Object/],
    ["an admission that is none", { demand, admission: {} }, /admission is .*, it should be an Admission/],
    ["maxQueue beside an admission", { demand, admission, maxQueue: 5 }, /give it to the Admission/],
    ["half a waiter", { demand, maxQueue: 1.5 }, /maxQueue is 1\.5, it should be a whole number/],
    ["a text for maxQueue", { demand, maxQueue: "9" }, /maxQueue is "9", it should be a number/],
    ["a negative wait", { demand, timeoutMs: -1 }, /timeoutMs is -1, it should be 0 or more/],
    ["a wait that is no number", { demand, timeoutMs: NaN }, /timeoutMs is NaN/],
    ["a text for timeoutMs", { demand, timeoutMs: "1s" }, /timeoutMs is "1s", it should be a number/],
    ["no time to hold", { demand, maxHoldMs: 0 }, /maxHoldMs is 0, it should be above 0/],
    ["a skip that is no function", { demand, skip: true }, /skip is true, it should be a function/],
    ["a hook that is none", { demand, onRefused: "no" }, /onRefused is "no", it should be a function/],
    ["an empty name", { demand, name: "" }, /name is "", it should be a non-empty string/],
    ["an unknown form", { demand, standardHeaders: "draft-5" }, /"draft-12", "draft-7", "draft-6" or false/],
    ["no flag", { demand, failFast: 1 }, /failFast is 1, it should be true or false/],
    ["another flag", { demand, headersOnSuccess: "y" }, /headersOnSuccess is "y"/],
    ["a clock that is none", { demand, clock: {} }, /clock is .*, it should be a Clock/],
    ["a logger that is none", { demand, logger: {} }, /logger is .*, it should be a Logger/],
  ];
  for (const [what, options, message] of wrong) {
    it(`refuses ${what} at once`, () => {
      assert.throws(() => admit(options as Parameters<typeof admit>[0]), (error) => {
        assert.ok(error instanceof TypeError || error instanceof RangeError);
        return message.test(error.message);
      });
    });
  }

  it("refuses options that are no object", () => {
    assert.throws(() => admit(null as never), /options are null, .*: demand, admission/);
  });

  it("BEY-22 makes an Admission of its own that takes 1,000 into its line, or as many as it is told", async () => {
    for (const [options, most] of [[{}, 1_000], [{ maxQueue: 2 }, 2]] as const) {
      const demand = new Demand().add(new CountingGate("slot", 1));
      const limited = admit({ demand, timeoutMs: Infinity, ...options });
      const app = new Hono().get("/", limited, (c) => c.text("in"));
      const held = await limited.admission.admit(demand);
      const waiting = Array.from({ length: most }, () => app.request("/"));
      await Promise.resolve();
      assert.equal((await app.request("/")).status, 503, `the ${most + 1}th is refused`);
      held.release();
      for (const response of await Promise.all(waiting)) assert.equal(response.status, 200);
    }
  });
});
