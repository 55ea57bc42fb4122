// The pool of subprocess tools: its options, and clients that are dropped when they idle.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  Demand,
  InvalidStateError,
  STDIOEndpoint,
  STDIOEndpoints,
  type STDIOEndpointsOptions,
} from "../mod.ts";
import { permits } from "./custom_accounts.ts";
import { scenario, type World } from "./scenario.ts";

const FILES = new STDIOEndpoint({ command: "npx", args: ["-y", "files"], name: "files" });
const SEARCH = new STDIOEndpoint({ command: "npx", args: ["-y", "search"], name: "search" });

const CLOSED = {
  name: "UncorrectableError",
  code: "uncorrectable",
  account: "mcp:files",
  message: /shut down/,
};

/** A pool whose clients are numbered, with a log of what is opened and closed. */
function pool(world: World, options: STDIOEndpointsOptions<number> = {}) {
  const log: string[] = [];
  let opened = 0;
  const endpoints = new STDIOEndpoints<number>({
    clock: world.clock,
    open: ({ name }) => {
      log.push(`open ${name}`);
      return ++opened;
    },
    close: (client) => void log.push(`close ${client}`),
    ...options,
  });
  return { endpoints, log };
}

describe("A pool of endpoints", () => {
  it("ST-02 refuses options that are none, naming option and value", () => {
    const wrong: readonly [object, string][] = [
      [{ capacity: 0 }, "RangeError"],
      [{ capacity: "3" }, "TypeError"],
      [{ endpointCapacity: -1 }, "RangeError"],
      [{ endpointCapacity: NaN }, "RangeError"],
      [{ idleTimeoutMs: -1 }, "RangeError"],
      [{ idleTimeoutMs: NaN }, "RangeError"],
      [{ sweepIntervalMs: 0 }, "RangeError"],
      [{ sweepIntervalMs: Infinity }, "RangeError"],
      [{ open: 5 }, "TypeError"],
      [{ close: "x" }, "TypeError"],
      [{ clock: {} }, "TypeError"],
      [{ logger: {} }, "TypeError"],
    ];
    for (const [options, name] of wrong) {
      const message = new RegExp(Object.keys(options)[0]!);
      assert.throws(() => new STDIOEndpoints(options as STDIOEndpointsOptions<never>), { name, message });
    }
  });

  it(
    "ST-05 drops the client of an endpoint without permits in use that was last active before the cutoff",
    scenario(async (world) => {
      world.admission();
      const { endpoints, log } = pool(world);
      const [files, search] = [endpoints.limiter(FILES), endpoints.limiter(SEARCH)];
      assert.deepEqual([await endpoints.client(FILES), await endpoints.client(SEARCH)], [1, 2]);
      files.tryTake(permits(1), []);
      search.tryTake(permits(1), []);
      search.give(permits(1));
      const active = world.clock.wallNow();
      assert.equal(endpoints.sweep(active), 0, "not strictly before");
      assert.equal(await endpoints.client(SEARCH), 2, "it is kept");
      assert.equal(endpoints.sweep(active + 1), 1, "files is in use");
      await world.settle();
      assert.deepEqual(log, ["open files", "open search", "close 2"]);
      assert.equal(await endpoints.client(SEARCH), 3, "a new one");
      assert.equal(endpoints.limiter(SEARCH), search, "the account stays");
      files.give(permits(1));
      assert.equal(endpoints.sweep(Infinity), 2);
      assert.equal(endpoints.sweep(Infinity), 0);
    }),
  );

  it(
    "ST-02 ST-05 comes every 60 s while there is a client, and drops what has idled for 300 s",
    scenario(async (world) => {
      world.admission();
      const { endpoints, log } = pool(world);
      assert.equal(world.clock.pendingTimers, 0);
      await endpoints.client(FILES);
      await endpoints.client(SEARCH);
      const use = (endpoint: STDIOEndpoint) => {
        endpoints.limiter(endpoint).tryTake(permits(1), []);
        endpoints.limiter(endpoint).give(permits(1));
      };
      await world.clock.advance(119_999);
      use(FILES);
      await world.clock.advance(1);
      use(SEARCH);
      await world.clock.advance(299_999);
      assert.deepEqual(log.slice(2), [], "nobody idled for 300 s at the sweep of 360 s");
      await world.clock.advance(1);
      assert.deepEqual(log.slice(2), ["close 1"], "at 420 s the one idled for 300.001 s, the other for 300");
      await world.clock.advance(60_000);
      assert.deepEqual(log.slice(2), ["close 1", "close 2"]);
      assert.equal(world.clock.pendingTimers, 0, "nothing is left to sweep");
    }),
  );

  it(
    "ST-05 does not keep a client that failed to open, and survives one that does not close",
    scenario(async (world) => {
      world.admission();
      const warnings: string[] = [];
      const logger = { info: () => {}, warn: (message: string) => warnings.push(message), error: () => {} };
      let isUp = false;
      const { endpoints } = pool(world, {
        logger,
        open: () => isUp ? 7 : Promise.reject(new Error("no such program")),
        close: () => Promise.reject(new Error("it hangs")),
      });
      await assert.rejects(endpoints.client(FILES), /no such program/);
      isUp = true;
      assert.equal(await endpoints.client(FILES), 7);
      await world.clock.advance(600_000);
      assert.deepEqual(warnings, ["mcp:files: its client did not close: it hangs"]);
      await assert.rejects(new STDIOEndpoints().client(FILES), InvalidStateError);
    }),
  );

  it(
    "ST-06 shutdown closes and forgets every endpoint's account and client; the gate over all survives",
    scenario(async (world) => {
      const { endpoints, log } = pool(world);
      const admission = world.admission();
      const [files, all] = endpoints.accounts(FILES);
      const search = endpoints.limiter(SEARCH);
      await endpoints.client(FILES);
      const grant = await admission.admit(new Demand().add(files).add(all));
      await endpoints.shutdown();
      assert.deepEqual([files.isClosed, search.isClosed, log], [true, true, ["open files", "close 1"]]);
      assert.equal(world.clock.pendingTimers, 0);
      await assert.rejects(admission.admit(new Demand().add(files).add(all)), CLOSED);
      admission.release(grant);
      assert.deepEqual([files.currentInUse, all.currentInUse], [0, 0]);
      const [anew, same] = endpoints.accounts(FILES);
      assert.deepEqual([anew === files, anew.isClosed, same === all], [false, false, true]);
      assert.ok(await admission.admit(new Demand().add(anew).add(same)));
      assert.equal(await endpoints.client(FILES), 2);
      await endpoints.shutdown();
    }),
  );
});
