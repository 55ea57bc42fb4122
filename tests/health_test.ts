// The health of all accounts, as data and as a table.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  type AccountHealth,
  CountingGate,
  DatabaseGate,
  Demand,
  health,
  healthTable,
  HttpConnectionGate,
  KeyedRateLimiter,
  type LimiterIdentity,
  RateLimiterFactory,
  RateLimiterRegistry,
  STDIOEndpoint,
  STDIOEndpointRateLimiter,
} from "../mod.ts";
import { ScriptedLimiter, SwitchMemory } from "../testing/mod.ts";
import { permits } from "./custom_accounts.ts";
import { scenario, type World } from "./scenario.ts";

const FILES = new STDIOEndpoint({ command: "npx", args: ["files"], name: "files" });

/** A busy service: a dry bucket with two in line, a full pool, a closed endpoint, a heap. */
async function busy(world: World): Promise<LimiterIdentity[]> {
  const gpt = world.bucket("gpt", { tpm: 600_000, rpm: 600 });
  const http = new HttpConnectionGate(64);
  const db = new DatabaseGate("orders", 16);
  const files = new STDIOEndpointRateLimiter(FILES);
  const heap = Object.assign(new SwitchMemory(), { capacity: 4 * 2 ** 30, currentInUse: 1.5 * 2 ** 30 });
  gpt.record429();
  files.close();
  const admission = world.admission({ memory: heap });
  await admission.admit(new Demand().add(gpt, 450_000).add(http, 64).add(db, 3));
  world.follow(admission.admit(new Demand().add(gpt, 200_000)));
  world.follow(admission.admit(new Demand().add(gpt, 300_000).add(http)));
  await world.settle();
  return [gpt, http, db, files, heap];
}

/** An account that is none of ours. */
function stranger(fields: object): LimiterIdentity {
  const account = { limiterName: "odd", limiterCategory: "semaphore", capacity: 5, currentInUse: 1 };
  const status = { summary: () => "1/5" };
  return { ...account, statusIndicator: null, status, ...fields } as LimiterIdentity;
}

const TABLE = `
account    category                level  used  waiters  indicator
---------  ------------  ---------------  ----  -------  -------------
gpt        token_bucket  450,000/600,000   75%        2  throttle:1.5x
http       semaphore               64/64  100%        1  -
db:orders  semaphore                3/16   18%        0  -
mcp:files  semaphore                0/10    0%        0  blocked
memory     memory              1.5G/4.0G   37%        0  -
`;

describe("health", () => {
  it("reads a keyed limiter as the accounts of its keys, the oldest first", () => {
    const keyed = new KeyedRateLimiter("tenants", (key: string) => new CountingGate(`tenant:${key}`, 2), {
      maxKeys: 200,
    });
    for (const key of ["acme", "umbrella"]) keyed.accountFor(key).tryTake(permits(1), []);
    const gate = new CountingGate("http", 4);
    assert.deepEqual(health([keyed, gate]).map(({ name, inUse }) => [name, inUse]), [
      ["tenant:acme", 1],
      ["tenant:umbrella", 1],
      ["http", 0],
    ]);
    assert.equal(healthTable([keyed, gate]), healthTable([...keyed.accounts(), gate]));
    for (let key = 0; key < 150; key++) keyed.accountFor(`${key}`).tryTake(permits(1), []);
    assert.equal(health([keyed]).length, 100, "no more than accounts() lists");
  });

  it(
    "tells name, category, use, waiters, indicator and summary of each account, in the order given",
    scenario(async (world) => {
      const rows = health(await busy(world));
      const [gpt, http] = rows;
      assert.deepEqual(gpt, {
        name: "gpt",
        category: "token_bucket",
        inUse: 450_000,
        capacity: 600_000,
        waiters: 2,
        indicator: "throttle:1.5x",
        summary: "599/600 requests, 150000/600000 tokens available",
        fault: null,
      });
      assert.deepEqual([http!.inUse, http!.capacity, http!.waiters, http!.indicator], [64, 64, 1, null]);
      assert.deepEqual(rows.map(({ name }) => name), ["gpt", "http", "db:orders", "mcp:files", "memory"]);
      assert.equal(rows[3]!.indicator, "blocked");
    }),
  );

  it(
    "is a table with its columns aligned",
    scenario(async (world) => {
      assert.equal(`\n${healthTable(await busy(world))}\n`, TABLE);
      const [titles, rule, ...none] = healthTable([]).split("\n");
      assert.match(titles!, /^account {2}category {2}level {2}used {2}waiters {2}indicator$/);
      assert.deepEqual([rule!.length, none], [titles!.length, []]);
    }),
  );

  it(
    "BEY-11 changes nothing: a thousand looks, and everyone is granted at the same instants",
    scenario(async (world) => {
      const instants: unknown[] = [];
      for (const looks of [0, 1000]) {
        const bucket = world.bucket("gpt", { tpm: 6000, rpm: 60 });
        const gate = world.gate("gate", 2);
        const admission = world.admission();
        const start = world.clock.now();
        const calls = [3000, 4000, 3500].map((tokens) =>
          world.follow(admission.admit(new Demand().add(bucket, tokens).add(gate)))
        );
        for (let i = 0; i < 100; i++) {
          for (let look = 0; look < looks / 100; look++) healthTable([bucket, gate]);
          await world.clock.advance(777.777);
          if (i === 50) admission.release(calls[0]!.grant!);
        }
        instants.push(calls.map(({ settledAtMs }) => Math.round((settledAtMs! - start) * 1000)));
      }
      assert.deepEqual(instants[0], instants[1]);
    }),
  );

  it(
    "counts the waiters of all admissions, of custom accounts too, and none on a disposed one",
    scenario(async (world) => {
      const scripted = new ScriptedLimiter("scripted", "short");
      const gate = world.gate("gate", 1);
      const waiters = () => health([scripted, gate]).map(({ waiters }) => waiters);
      assert.deepEqual(waiters(), [0, 0]);
      const [here, there] = [world.admission(), world.admission()];
      const grant = await here.admit(new Demand().add(gate));
      const calls = [here, there, there].map((each) =>
        world.follow(each.admit(new Demand().add(scripted, 1).add(gate)))
      );
      await world.settle();
      assert.deepEqual(waiters(), [3, 3]);
      here.stop();
      assert.deepEqual(waiters(), [2, 2]);
      there.stop();
      here.release(grant);
      gate.dispose();
      await world.settle();
      const next = world.gate("next", 1);
      next.tryTake(permits(1), []);
      world.follow(world.admission().admit(new Demand().add(next)));
      await world.settle();
      assert.deepEqual(health([next])[0]!.waiters, 1, "it may well have the record that was freed");
      assert.deepEqual([waiters(), calls.every(({ error }) => error !== null)], [[0, 0], true]);
    }),
  );

  it(
    "reads what a registry made, whatever it is",
    scenario((world) => {
      world.admission();
      const registry = new RateLimiterRegistry(new RateLimiterFactory({ clock: world.clock }));
      registry.bucket({ id: "gpt", tpm: 1000 });
      registry.gate({ id: "kev", maxConcurrent: 3 });
      registry.limiter(HttpConnectionGate);
      assert.deepEqual(health(registry.accounts).map(({ name, capacity }) => `${name} ${capacity}`), [
        "http 1000",
        "gpt 1000",
        "kev 3",
      ]);
      assert.equal(health(new Set([new CountingGate("gate", 1)])).length, 1, "anything that can be iterated");
      for (const none of [null, undefined, 5, {}]) {
        assert.throws(() => health(none as unknown as []), {
          name: "TypeError",
          message: /array of accounts/,
        });
      }
    }),
  );

  it(
    "tells the fault of an account that cannot say something, and the others all the same",
    scenario((world) => {
      world.admission();
      const broken = Object.defineProperty(stranger({}), "currentInUse", {
        get: () => {
          throw new Error("the socket is gone");
        },
      });
      const rows = health([
        broken,
        stranger({ status: null }),
        stranger({ limiterName: undefined }),
        world.gate("gate", 2),
      ]);
      assert.deepEqual([rows[0]!.inUse, rows[0]!.capacity, rows[0]!.fault], [null, 5, "the socket is gone"]);
      assert.deepEqual([rows[1]!.inUse, rows[1]!.summary], [1, null]);
      assert.match(rows[2]!.fault!, /undefined/);
      assert.deepEqual([rows[3]!.name, rows[3]!.fault], ["gate", null]);
      const none = health([null, 5, "gate"] as unknown as LimiterIdentity[]);
      assert.ok(none.every(({ fault }) => fault !== null));
      assert.match(healthTable([broken]), /odd +semaphore +\?\/5 +- +0 +fault: the socket is gone$/m);
    }),
  );
});

describe("The table", () => {
  /** The cells of the only row. */
  function cells(fields: object): string[] {
    return healthTable([stranger(fields)]).split("\n")[2]!.split(/ {2,}/);
  }

  it("writes names as plain ASCII on one line, and bounds their width without making two the same", () => {
    const odd = ["naïve", "模型", "a\nb", "\u001b[31mred", "\u202egnp", "🙂", "tab\there", "\ud800"];
    const shown = [
      "na\\u{ef}ve",
      "\\u{6a21}\\u{578b}",
      "a\\u{a}b",
      "\\u{1b}[31mred",
      "\\u{202e}gnp",
      "\\u{1f642}",
    ];
    shown.push("tab\\u{9}here", "\\u{d800}");
    assert.deepEqual(odd.map((limiterName) => cells({ limiterName })[0]), shown);
    const long = ["a", "b"].map((end) => cells({ limiterName: `tenant-${"x".repeat(1e6)}-${end}` })[0]!);
    assert.deepEqual(long.map((name) => name.length), [32, 32]);
    assert.match(long[0]!, /^tenant-x+\.\.x+-a$/);
    assert.notEqual(long[0], long[1]);
    const exact = "n".repeat(32);
    assert.deepEqual(cells({ limiterName: exact })[0], exact);
  });

  it("no line is longer than 130 characters, whatever the accounts say", () => {
    const endless = "\u4f60".repeat(500);
    const accounts: AccountHealth[] = [];
    for (const number of [0, -1, 0.3, 2 ** 53, Infinity, -1e300, 1e-300]) {
      const odd = stranger({
        limiterName: endless,
        limiterCategory: endless,
        statusIndicator: endless,
        capacity: number,
        currentInUse: number,
      });
      accounts.push(...health([odd]));
      for (
        const line of healthTable([odd, stranger({ limiterCategory: "memory", capacity: number })]).split(
          "\n",
        )
      ) {
        assert.ok(line.length <= 130 && /^[ -~]*$/.test(line), line);
      }
    }
    assert.ok(accounts.every(({ name }) => name === endless), "the data has the name as it is");
  });

  it("shows numbers short: digits in groups, bytes as M or G, shares rounded down, none without a capacity", () => {
    const level = (currentInUse: number, capacity: number, limiterCategory = "x") =>
      cells({ currentInUse, capacity, limiterCategory }).slice(2, 4).join(" ");
    assert.equal(level(1234567, 9999999), "1,234,567/9,999,999 12%");
    assert.equal(level(0.25, 10.5), "0.3/10.5 2%");
    assert.equal(level(2.5e9, 5e9), "2.50e9/5.00e9 50%");
    assert.equal(level(63, 64), "63/64 98%");
    assert.equal(level(999, 1000), "999/1,000 99%");
    assert.equal(level(1500, 100), "1,500/100 >999%");
    assert.equal(level(3, 0), "3/0 -");
    assert.equal(level(NaN, 5), "?/5 -");
    assert.equal(level(300 * 2 ** 20, 1.25 * 2 ** 30, "memory"), "300M/1.3G 23%");
    assert.equal(level(12, 4096, "memory"), "12/4,096 0%");
  });
});
