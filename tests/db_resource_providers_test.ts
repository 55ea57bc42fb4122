// Where a program keeps its database providers, and the default one.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { afterEach, describe, it } from "@std/testing/bdd";
import { CountingDBResourceProvider, type DBResourceProvider, DBResourceProviders } from "../mod.ts";
import { environmentVariable } from "../core/database/environment.ts";

const NAME = "SLUICE_DATABASE_NAME";
const BOUND = "SLUICE_DATABASE_MAX_CONCURRENT";

class OtherProvider extends CountingDBResourceProvider {}

describe("DBResourceProviders", () => {
  it("DB-26 registers an instance once, and refuses another of that name", () => {
    const providers = new DBResourceProviders();
    const [orders, another] = [
      new CountingDBResourceProvider("orders", 2),
      new CountingDBResourceProvider("orders", 2),
    ];
    providers.register(orders);
    providers.register(orders);
    assert.throws(() => providers.register(another), { code: "invalid_state", message: /"orders"/ });
    assert.equal(providers.get("orders"), orders);
    assert.deepEqual(providers.names, ["orders"]);
  });

  it("DB-27 a miss names what is registered, and a wrong class both", () => {
    const providers = new DBResourceProviders();
    assert.throws(() => providers.get("orders"), { code: "invalid_state", message: /none is registered/ });
    for (const name of ["stock", "orders", "Zoo", "archive"]) {
      providers.register(new CountingDBResourceProvider(name, 1));
    }
    const { names } = providers;
    assert.deepEqual(names, ["Zoo", "archive", "orders", "stock"]);
    assert.throws(() => providers.get("customers", CountingDBResourceProvider), {
      code: "invalid_state",
      message: /"customers".*"Zoo", "archive", "orders", "stock"/,
    });
    assert.throws(() => providers.get("orders", OtherProvider), {
      code: "invalid_state",
      message: /"orders" as OtherProvider.*CountingDBResourceProvider/,
    });
    const found: CountingDBResourceProvider = providers.get("orders", CountingDBResourceProvider);
    assert.equal(found.name, "orders");
    assert.throws(() => providers.get("orders", "Counting" as never), TypeError);
    names.push("unknown");
    assert.equal(providers.names.length, 4, "the list is the asker's own");
  });

  it("DB-28 takes out the registered instance only", () => {
    const providers = new DBResourceProviders();
    const orders = new CountingDBResourceProvider("orders", 2);
    const another = new CountingDBResourceProvider("orders", 2);
    assert.equal(providers.unregister(orders), false);
    providers.register(orders);
    assert.equal(providers.unregister(another), false);
    assert.equal(providers.get("orders"), orders);
    assert.equal(providers.unregister(orders), true);
    assert.deepEqual(providers.names, []);
    providers.register(another);
    assert.equal(providers.get("orders"), another);
  });

  it("refuses what is no provider, naming what is missing", () => {
    const providers = new DBResourceProviders();
    const sound = new CountingDBResourceProvider("orders", 1);
    const wrong: [unknown, RegExp][] = [
      [null, /it is null/],
      ["orders", /it is "orders"/],
      [{ name: "orders", admission: sound.admission }, /without acquire\(\)/],
      [Object.create(sound, { abort: { value: undefined } }), /without abort\(\)/],
      [Object.create(sound, { name: { value: "" } }), /named ""/],
      [Object.create(sound, { admission: { value: null } }), /"orders" whose admission is null/],
    ];
    for (const [provider, message] of wrong) {
      assert.throws(() => providers.register(provider as DBResourceProvider<unknown>), {
        name: "TypeError",
        message,
      });
    }
    assert.deepEqual(providers.names, []);
  });

  it("keeps one for the process", () => {
    assert.ok(DBResourceProviders.ofProcess instanceof DBResourceProviders);
    assert.deepEqual(DBResourceProviders.ofProcess.names, []);
  });
});

describe("registerDefault", () => {
  const kept = [process.env[NAME], process.env[BOUND]];

  afterEach(() => {
    for (const [index, variable] of [NAME, BOUND].entries()) {
      const value = kept[index];
      if (value === undefined) delete process.env[variable];
      else process.env[variable] = value;
    }
  });

  it("DB-29 makes a counting provider of the settings' name and bound, once", () => {
    const providers = new DBResourceProviders();
    const made = providers.registerDefault({ name: "registry-default", maxConcurrent: 7, environment: {} });
    assert.equal(made?.name, "registry-default");
    assert.deepEqual([made?.admission.limiterName, made?.admission.capacity], ["db:registry-default", 7]);
    assert.equal(providers.get("registry-default", CountingDBResourceProvider), made);
    assert.throws(
      () => providers.registerDefault({ name: "registry-default", maxConcurrent: 7 }),
      { code: "invalid_state", message: /"registry-default"/ },
    );
    assert.equal(providers.get("registry-default"), made);
    assert.equal(providers.unregister(made!), true);
    assert.notEqual(providers.registerDefault({ name: "registry-default", maxConcurrent: 7 }), null);
  });

  it("DB-29 registers nothing and answers null while no bound is set", () => {
    const providers = new DBResourceProviders();
    for (const environment of [{}, { [NAME]: "orders" }, { [NAME]: "orders", [BOUND]: "" }]) {
      assert.equal(providers.registerDefault({ environment }), null);
    }
    assert.equal(providers.registerDefault({ name: "orders", environment: {} }), null);
    assert.deepEqual(providers.names, []);
  });

  it("DB-29 reads what is left out from the variables of the process", () => {
    const providers = new DBResourceProviders();
    delete process.env[NAME];
    delete process.env[BOUND];
    assert.equal(providers.registerDefault(), null);
    process.env[BOUND] = "7";
    const unnamed = providers.registerDefault();
    assert.deepEqual([unnamed?.name, unnamed?.admission.capacity], ["default", 7]);
    process.env[NAME] = "orders";
    assert.equal(providers.registerDefault()?.name, "orders");
    const mixed = providers.registerDefault({ name: "stock" });
    assert.deepEqual([mixed?.name, mixed?.admission.capacity], ["stock", 7]);
    const own = providers.registerDefault({ name: "archive", maxConcurrent: 3 });
    assert.equal(own?.admission.capacity, 3, "an option goes before its variable");
    assert.deepEqual(providers.names, ["archive", "default", "orders", "stock"]);
  });

  it("DB-29 a variable that is no bound is named, with its value and what would do", () => {
    const providers = new DBResourceProviders();
    for (
      const text of ["seven", "0", "-1", "1.5", "1e3", "0x10", " 7", "7 ", "2147483648", "9".repeat(400)]
    ) {
      assert.throws(() => providers.registerDefault({ environment: { [BOUND]: text } }), {
        name: "RangeError",
        message: /SLUICE_DATABASE_MAX_CONCURRENT is ".*a whole number from 1 to 2147483647, or not set/,
      });
    }
    for (const variable of [NAME, BOUND]) {
      assert.throws(() => providers.registerDefault({ environment: { [BOUND]: "7", [variable]: 7 } }), {
        name: "TypeError",
        message: new RegExp(`${variable} is 7, it should be a string`),
      });
    }
    const most = providers.registerDefault({ environment: { [BOUND]: "2147483647" } });
    assert.equal(most?.admission.capacity, 2 ** 31 - 1);
    assert.deepEqual(providers.names, ["default"]);
  });

  it("DB-29 an option that is none is named before anything is read or registered", () => {
    const providers = new DBResourceProviders();
    const wrong: [unknown, string, RegExp][] = [
      [null, "TypeError", /options are null/],
      [{ name: "" }, "TypeError", /name is "", it should be a non-empty string/],
      [{ name: 5 }, "TypeError", /name is 5/],
      [{ maxConcurrent: "7" }, "TypeError", /maxConcurrent is "7"/],
      [{ maxConcurrent: 0 }, "RangeError", /maxConcurrent is 0, it should be a whole number from 1/],
      [{ maxConcurrent: 2.5 }, "RangeError", /maxConcurrent is 2.5/],
      [{ environment: null }, "TypeError", /environment is null/],
    ];
    for (const [options, name, message] of wrong) {
      assert.throws(() => providers.registerDefault(options as never), { name, message });
    }
    assert.deepEqual(providers.names, []);
  });

  it("DB-29 without variables, or leave to read them, nothing is registered and nobody is asked", () => {
    const program = fileURLToPath(new URL("./fixtures/children/default_provider.ts", import.meta.url));
    const env = { NO_COLOR: "1", [BOUND]: "7" };
    const run = (args: string[]) => output([...args, program], env);
    if (process.versions["bun"] !== undefined) {
      assert.equal(run(["run"]), "7\n");
      return;
    }
    assert.equal(run(["run", "--no-check"]), "null\n");
    assert.equal(run(["run", "--no-check", `--allow-env=${NAME},${BOUND}`]), "7\n");
  });
});

/** As much of `Deno.Command` as it takes. */
type DenoCommand = new (path: string, options: { args: string[]; env: Record<string, string> }) => {
  outputSync(): { stdout: Uint8Array };
};

/** What a child prints. What Deno starts through node:child_process has all permissions of its parent, whatever its flags say. */
function output(args: string[], env: Record<string, string>): string {
  const { Deno } = globalThis as { Deno?: { Command: DenoCommand } };
  if (Deno === undefined) {
    return execFileSync(process.execPath, args, { encoding: "utf8", env: { ...process.env, ...env } });
  }
  const { stdout } = new Deno.Command(process.execPath, { args, env }).outputSync();
  return new TextDecoder().decode(stdout);
}

describe("A variable of the process", () => {
  const env = { [BOUND]: "7" };

  it("DB-29 is undefined where a runtime has no process, no variables, or throws", () => {
    const throws = Object.defineProperty({}, "env", {
      get: () => {
        throw new Error("no");
      },
    });
    for (const globals of [{}, { process: {} }, { process: { env: {} } }, { process: throws }]) {
      assert.equal(environmentVariable(BOUND, globals), undefined);
    }
    assert.equal(environmentVariable(BOUND, { process: { env } }), "7");
  });

  it("DB-29 is read on Deno only when that was granted before", () => {
    const deno = (state: string) => ({ permissions: { querySync: () => ({ state }) } });
    for (const state of ["prompt", "denied"]) {
      assert.equal(environmentVariable(BOUND, { Deno: deno(state), process: { env } }), undefined);
    }
    assert.equal(environmentVariable(BOUND, { Deno: deno("granted"), process: { env } }), "7");
    assert.equal(environmentVariable(BOUND, { Deno: {}, process: { env } }), "7");
  });
});
