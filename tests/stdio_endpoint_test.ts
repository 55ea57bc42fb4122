// Tools that run as subprocesses: what an endpoint is, and its account.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  Demand,
  InvalidStateError,
  STDIOEndpoint,
  type STDIOEndpointFields,
  STDIOEndpointRateLimiter,
  STDIOEndpoints,
  UncorrectableError,
  UpstreamFailure,
} from "../mod.ts";
import { ManualClock, rateLimiterContract } from "../testing/mod.ts";
import { permits } from "./custom_accounts.ts";
import { scenario } from "./scenario.ts";

const FILES = new STDIOEndpoint({ command: "npx", args: ["-y", "files"], name: "files" });
const SEARCH = new STDIOEndpoint({ command: "npx", args: ["-y", "search"], name: "search" });

const CLOSED = {
  name: "UncorrectableError",
  code: "uncorrectable",
  account: "mcp:files",
  message: /shut down/,
};

describe("An endpoint", () => {
  it("ST-03 names its account mcp:<logical name>, and has no name to give without one", () => {
    assert.equal(FILES.limiterName, "mcp:files");
    const nameless = new STDIOEndpoint({ command: "npx", args: ["files"] });
    const unnamed = {
      name: "InvalidStateError",
      code: "invalid_state",
      message: /"npx files".*logical name/,
    };
    assert.throws(() => nameless.limiterName, unnamed);
    assert.throws(() => new STDIOEndpointRateLimiter(nameless), unnamed);
    assert.throws(() => new STDIOEndpoints().limiter(nameless), unnamed);
  });

  it("ST-03 is known by command, arguments and the sorted environment, of which its id shows a short hash", () => {
    const of = (fields: Partial<STDIOEndpointFields>) =>
      new STDIOEndpoint({ command: "npx", args: ["files"], name: "files", ...fields });
    const env = of({ env: { TOKEN: "secret", MODE: "ro" } });
    assert.equal(of({}).id, "npx files");
    assert.match(env.id, /^npx files#[0-9a-f]{8}$/);
    assert.ok(!env.id.includes("secret"));
    assert.equal(env.id, of({ env: { MODE: "ro", TOKEN: "secret" } }).id);
    const endpoints = new STDIOEndpoints();
    assert.equal(endpoints.limiter(env), endpoints.limiter(of({ env: { MODE: "ro", TOKEN: "secret" } })));
    assert.equal(endpoints.limiter(of({})), endpoints.limiter(of({ name: "another name" })));
    const others = [
      of({}),
      env,
      of({ env: { TOKEN: "other", MODE: "ro" } }),
      of({ args: [] }),
      of({ args: ["files", "more"] }),
      of({ args: ["files more"] }),
      of({ command: "npx files", args: [] }),
    ];
    assert.equal(new Set(others.map((each) => endpoints.limiter(each))).size, others.length);
  });

  it("refuses what cannot be one, naming the field", () => {
    const wrong: readonly [object, string, RegExp][] = [
      [{}, "TypeError", /command is undefined/],
      [{ command: "" }, "TypeError", /command is ""/],
      [{ command: "npx", args: "files" }, "TypeError", /args is "files"/],
      [{ command: "npx", args: [5] }, "TypeError", /args is an array/],
      [{ command: "npx", env: { A: 5 } }, "TypeError", /env is an object/],
      [{ command: "npx", env: null }, "TypeError", /env is null/],
      [{ command: "npx", name: "" }, "TypeError", /name is ""/],
      [{ command: "npx", maxConcurrent: 0 }, "RangeError", /maxConcurrent is 0/],
      [{ command: "npx", maxConcurrent: NaN }, "RangeError", /maxConcurrent is NaN/],
      [{ command: "npx", maxConcurrent: "3" }, "TypeError", /maxConcurrent is "3"/],
    ];
    for (const [fields, name, message] of wrong) {
      assert.throws(() => new STDIOEndpoint(fields as STDIOEndpointFields), { name, message });
    }
    assert.throws(() => Object.assign(FILES, { command: "rm" }), TypeError);
    for (const none of [null, undefined, "files", {}]) {
      assert.throws(() => new STDIOEndpoints().limiter(none as unknown as STDIOEndpoint), {
        name: "TypeError",
        message: /should be an STDIOEndpoint/,
      });
    }
  });
});

describe("The accounts of STDIO calls", () => {
  it(
    "ST-01 a call takes a permit of its endpoint's account and one of the gate over all",
    scenario(async (world) => {
      const endpoints = new STDIOEndpoints();
      const admission = world.admission();
      const [own, all] = endpoints.accounts(FILES);
      const grant = await admission.admit(new Demand().add(own).add(all));
      assert.deepEqual([own.limiterName, all.limiterName], ["mcp:files", "mcp:stdio"]);
      assert.deepEqual([own.currentInUse, all.currentInUse], [1, 1]);
      assert.equal(endpoints.accounts(SEARCH)[1], all, "all endpoints share it");
      assert.deepEqual([own, all].map(({ requiresHttpConnection }) => requiresHttpConnection), [
        false,
        false,
      ]);
      admission.release(grant);
      assert.deepEqual([own.currentInUse, all.currentInUse], [0, 0]);
    }),
  );

  it("ST-02 there are 20 slots over all and 10 for each endpoint, unless said before its account is made", () => {
    const endpoints = new STDIOEndpoints();
    assert.deepEqual([endpoints.gate.capacity, endpoints.limiter(FILES).capacity], [20, 10]);
    const wide = { command: "npx", args: ["wide"], name: "wide" };
    assert.equal(endpoints.limiter(new STDIOEndpoint({ ...wide, maxConcurrent: 15 })).capacity, 15);
    assert.equal(
      endpoints.limiter(new STDIOEndpoint({ ...wide, maxConcurrent: 3 })).capacity,
      15,
      "too late",
    );
    const narrow = new STDIOEndpoints({ capacity: 4, endpointCapacity: 2 });
    assert.deepEqual([narrow.gate.capacity, narrow.limiter(FILES).capacity], [4, 2]);
    assert.deepEqual(
      [new STDIOEndpointRateLimiter(FILES).capacity, new STDIOEndpointRateLimiter(FILES, 4).capacity],
      [10, 4],
    );
  });
});

describe("A closed endpoint", () => {
  it(
    "ST-04 refuses before its counter is asked, also what could never fit or asks for nothing; gives still work",
    scenario((world) => {
      world.admission();
      const limiter = new STDIOEndpointRateLimiter(FILES, 2);
      limiter.tryTake(permits(2), []);
      limiter.close();
      limiter.close();
      for (const verb of ["fits", "tryTake"] as const) {
        for (const count of [0, 1, 3]) assert.throws(() => limiter[verb](permits(count), []), CLOSED);
      }
      assert.deepEqual([limiter.isClosed, limiter.statusIndicator, limiter.currentInUse], [
        true,
        "blocked",
        2,
      ]);
      limiter.give(permits(2));
      assert.equal(limiter.currentInUse, 0);
      assert.throws(() => limiter.give(permits(1)), InvalidStateError);
    }),
  );

  it(
    "ST-04 refuses new calls at once and parked ones when they are next asked, and takes back what is out",
    scenario(async (world) => {
      const limiter = new STDIOEndpointRateLimiter(FILES, 1);
      const admission = world.admission();
      const demand = new Demand().add(limiter);
      const running = await admission.admit(demand);
      const parked = world.follow(admission.admit(demand));
      await world.settle();
      limiter.close();
      await world.settle();
      assert.equal(admission.queueSize, 1, "nobody is woken");
      await assert.rejects(admission.admit(new Demand().add(limiter).add(world.gate("other", 1))), CLOSED);
      admission.release(running);
      await world.settle();
      assert.ok(parked.error instanceof UncorrectableError);
      assert.deepEqual([limiter.currentInUse, admission.queueSize], [0, 0]);
      assert.equal(world.count("REJECTED", "mcp:files"), 2);
    }),
  );

  it("ST-04 an open one logs what the upstream said, and nothing else comes of it", () => {
    const heard: string[] = [];
    const hear = (level: string) => (message: string) => heard.push(`${level} ${message}`);
    const logger = { info: hear("info"), warn: hear("warn"), error: hear("error") };
    const limiter = new STDIOEndpointRateLimiter(FILES, 2, { logger });
    limiter.onRateLimitError(new UpstreamFailure({ statusCode: 429, service: "files", detail: "slow down" }));
    limiter.onSuccess();
    assert.deepEqual(heard, ["warn mcp:files: HTTP 429 from files: slow down"]);
    assert.deepEqual([limiter.statusIndicator, limiter.fits(permits(2), [])], [null, true]);
  });
});

rateLimiterContract("STDIOEndpointRateLimiter", () => ({
  account: new STDIOEndpointRateLimiter(FILES, 3),
  clock: new ManualClock(),
  amount: undefined,
  room: 3,
  impossible: permits(4),
}), { describe, it });
