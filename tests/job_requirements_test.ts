// What a job declares, and the demand that it makes.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  CountingGate,
  Demand,
  type JobAccounts,
  JobRequirements,
  ModelBinding,
  type ModelSpecFields,
} from "../mod.ts";
import { Router } from "./custom_accounts.ts";
import { scenario, type World } from "./scenario.ts";
import { JobWorld } from "./scripted_jobs.ts";

const JUDGE: ModelSpecFields = { id: "judge", providerKey: "kev-decision", maxContextTokens: 8_000 };
const METERED: ModelSpecFields = { ...JUDGE, tpm: 15_000_000, rpm: 1_200 };
const GATED: ModelSpecFields = { ...JUDGE, id: "judge-large", maxConcurrent: 1 };
const LLM: ModelSpecFields = { id: "llm", tpm: 90_000, maxContextTokens: 100_000, maxOutputTokens: 8_000 };
const EMBEDDINGS: ModelSpecFields = {
  id: "embed",
  providerKey: "openai-embeddings",
  tpm: 1_000_000,
  maxContextTokens: 8_192,
  maxOutputTokens: 1,
};

function priced(model: ModelSpecFields, input: number, output?: number): ModelBinding {
  const binding = new ModelBinding(
    output === undefined ? { model, input } : { model, input, output, depth: "IMMEDIATE" },
  );
  binding.price();
  return binding;
}

/** Entries as `name [amounts]`; a unit permit is a dash. */
function lines(demand: Demand): string[] {
  return demand.entries.map(({ limiter, amounts }) => {
    const { limiterName = "router" } = limiter as { limiterName?: string };
    return `${limiterName} [${
      amounts.map((amount) => amount === undefined ? "-" : String(amount)).join(" ")
    }]`;
  });
}

/** A job world with the accounts that demands are made with. */
function open(world: World): { jobs: JobWorld; accounts: JobAccounts } {
  const jobs = new JobWorld(world);
  const { registry, http } = jobs;
  return {
    jobs,
    accounts: { bucket: (spec) => registry.bucket(spec), gate: (spec) => registry.gate(spec), http },
  };
}

describe("The demand of a job", () => {
  it(
    "BLD-01 PR-25 is empty when nothing was declared",
    scenario((world) => {
      const { accounts } = open(world);
      const requirements = new JobRequirements({ timeoutMs: 1 });
      assert.equal(requirements.isEmpty, true);
      assert.equal(requirements.demand(accounts).isEmpty, true);
    }),
  );

  it(
    "BLD-02 PR-24 has models, HTTP, limiters and databases in this order, whatever order they were declared in",
    scenario((world) => {
      const { jobs, accounts } = open(world);
      const requirements = new JobRequirements()
        .database(jobs.database("b"))
        .limiter(jobs.listener("y"), 3)
        .model(priced(METERED, 40))
        .database(jobs.database("a"))
        .limiter(world.gate("x", 5))
        .http()
        .model(priced(LLM, 100, 200));
      assert.deepEqual(lines(requirements.demand(accounts)), [
        "judge [40]",
        "llm [300]",
        "http [-]",
        "y [3]",
        "x [-]",
        "db:b [-]",
        "db:a [-]",
      ]);
    }),
  );

  it(
    "BLD-02 has all of an included demand between limiters and databases, amount for amount, and no HTTP for it",
    scenario((world) => {
      const { jobs, accounts } = open(world);
      const [y, x] = [jobs.listener("y"), world.gate("x", 5)];
      const more = new Demand().add(y, 3).add(x, 2).add(y, 4);
      const requirements = new JobRequirements().database(jobs.database("a")).include(more).include(more);
      requirements.limiter(world.gate("z", 5));
      assert.equal(new JobRequirements().include(more).isEmpty, false);
      assert.equal(new JobRequirements().include(new Demand()).isEmpty, true);
      more.add(world.gate("later", 1));
      const expected = ["z [-]", "y [3 4 3 4]", "x [- - - -]", "db:a [-]"];
      assert.deepEqual(lines(requirements.demand(accounts)), expected);
      assert.throws(() => requirements.include({} as Demand), {
        name: "TypeError",
        message: "Cannot declare a job: included demand is an object of class Object, it should be a Demand",
      });
    }),
  );

  it(
    "BLD-03 takes one permit of a model with maxConcurrent, and the priced tokens of any other",
    scenario((world) => {
      const { jobs, accounts } = open(world);
      const gated = new JobRequirements().model(priced(GATED, 40)).demand(accounts);
      assert.deepEqual(lines(gated), ["judge-large [-]", "http [-]"]);
      const { capacity } = gated.entries[0]!.key;
      assert.deepEqual([capacity, gated.entries[0]!.limiter.replenishment], [1, "RELEASE"]);
      assert.deepEqual(lines(new JobRequirements().model(priced(METERED, 40)).demand(accounts)), [
        "judge [40]",
        "http [-]",
      ]);
      assert.throws(() => jobs.registry.gate(METERED), /maxConcurrent/);
      assert.deepEqual(lines(new JobRequirements().model(priced(EMBEDDINGS, 500)).demand(accounts)), [
        "embed [500]",
        "http [-]",
      ]);
    }),
  );

  it(
    "BLD-04 is refused while a model is not resolved or not priced",
    scenario((world) => {
      const { accounts } = open(world);
      const binding = new ModelBinding({ grade: "fast", depth: "IMMEDIATE", input: 1, output: 1 });
      const requirements = new JobRequirements().model(binding);
      assert.throws(() => requirements.demand(accounts), { code: "invalid_state", message: /not resolved/ });
      binding.resolve(LLM);
      assert.throws(() => requirements.demand(accounts), { code: "invalid_state", message: /not priced/ });
      binding.price();
      assert.deepEqual(lines(requirements.demand(accounts)), ["llm [2]", "http [-]"]);
    }),
  );

  it(
    "BLD-05 PR-27 names the HTTP gate once: when it was declared, for any model, or when a limiter needs it",
    scenario((world) => {
      const { jobs, accounts } = open(world);
      const [plain, needy] = [jobs.listener("plain"), jobs.listener("needy")];
      needy.needsHttp = true;
      const none = new JobRequirements().limiter(plain).database(jobs.database("a"));
      assert.deepEqual(lines(none.demand(accounts)), ["plain [-]", "db:a [-]"]);
      const window = world.window("window", { maxRequests: 3, baseWindowMs: 1000 });
      assert.deepEqual(lines(new JobRequirements().limiter(window).demand(accounts)), [
        "http [-]",
        "window [-]",
      ]);
      const all = new JobRequirements().http().http().limiter(needy).model(priced(GATED, 1));
      assert.deepEqual(lines(all.demand(accounts)), ["judge-large [-]", "http [-]", "needy [-]"]);
      assert.deepEqual(lines(new JobRequirements().http().demand(accounts)), ["http [-]"]);
    }),
  );

  it(
    "BLD-06 PR-26 a limiter brings its amount, and declared again keeps its place with the new one",
    scenario((world) => {
      const { jobs, accounts } = open(world);
      const [a, b] = [jobs.listener("a"), jobs.listener("b")];
      const requirements = new JobRequirements().limiter(a, 1).limiter(b, "x").limiter(a, 3);
      assert.deepEqual(lines(requirements.demand(accounts)), ["a [3]", "b [x]"]);
      assert.deepEqual(lines(new JobRequirements().limiter(world.gate("gate", 5), 2).demand(accounts)), [
        "gate [- -]",
      ]);
      const [left, right] = [world.gate("left", 1), world.gate("right", 1)];
      const routed = new JobRequirements().limiter(new Router({ left, right }), "right").demand(accounts);
      assert.equal(routed.entries[0]!.key, right);
    }),
  );

  it(
    "BLD-07 a database brings one permit; declared again it keeps its place with the new use",
    scenario((world) => {
      const { jobs, accounts } = open(world);
      const [a, b] = [jobs.database("a"), jobs.database("b")];
      const requirements = new JobRequirements().database(a).database(b).database(a, { transaction: true });
      assert.deepEqual(lines(requirements.demand(accounts)), ["db:a [-]", "db:b [-]"]);
      assert.deepEqual(requirements.declared.databases.map(({ transaction }) => transaction), [true, false]);
    }),
  );

  it(
    "BLD-08 PR-23 two calls of one model are one entry of two amounts, and two requests",
    scenario(async (world) => {
      const { jobs, accounts } = open(world);
      const twice = priced(LLM, 100, 200);
      const requirements = new JobRequirements().model(priced(LLM, 10, 20)).model(twice).model(twice);
      const demand = requirements.demand(accounts);
      assert.deepEqual(lines(demand), ["llm [30 300 300]", "http [-]"]);
      await jobs.admission.admit(demand);
      const { availableTokens, availableRequests } = jobs.registry.bucket(LLM).status;
      assert.deepEqual([availableTokens, availableRequests], [90_000 - 630, 90 - 3]);
    }),
  );
});

describe("Declaring a job", () => {
  it(
    "PR-25 BLD-06 refuses what is no limiter, model or database, names it, and declares nothing",
    scenario((world) => {
      const jobs = new JobWorld(world);
      const requirements = new JobRequirements();
      for (const limiter of [null, undefined, {}, "gate"]) {
        assert.throws(() => requirements.limiter(limiter as never), {
          name: "TypeError",
          message: /limiter is/,
        });
      }
      assert.throws(() => requirements.limiter(world.gate("gate", 1), 0), RangeError);
      assert.throws(() => requirements.model({ input: 1 } as never), {
        name: "TypeError",
        message: /model is/,
      });
      for (const provider of [null, {}, new CountingGate("gate", 1), { ...jobs.database("a") }]) {
        assert.throws(() => requirements.database(provider as never), {
          name: "TypeError",
          message: /database is .*DBResourceProvider with acquire/,
        });
      }
      const gateless = Object.create(jobs.database("a"), { admission: { value: null } });
      assert.throws(() => requirements.database(gateless), /admission of a database is null/);
      for (const use of [{ readOnly: 1 }, { transaction: "yes" }]) {
        const declare = () => requirements.database(jobs.database("a"), use as never);
        assert.throws(declare, { name: "TypeError", message: /(readOnly|transaction) of a database is/ });
      }
      assert.equal(requirements.isEmpty, true);
    }),
  );

  it("BLD-13 a time limit is a finite number of ms above 0", () => {
    for (const timeoutMs of [0, -1, NaN, Infinity]) {
      assert.throws(() => new JobRequirements({ timeoutMs }), {
        name: "RangeError",
        message: /timeoutMs is/,
      });
    }
    assert.throws(() => new JobRequirements({ timeoutMs: "1" as never }), {
      name: "TypeError",
      message: /timeoutMs is "1"/,
    });
    assert.equal(new JobRequirements({ timeoutMs: 0.5 }).timeoutMs, 0.5);
    assert.equal(new JobRequirements().timeoutMs, null);
  });

  it(
    "BLD-01 what is declared is a frozen picture of one moment",
    scenario((world) => {
      const requirements = new JobRequirements().http();
      const { declared } = requirements;
      requirements.limiter(world.gate("gate", 1));
      assert.deepEqual([declared.limiters.length, requirements.declared.limiters.length], [0, 1]);
      for (const part of [declared, declared.models, declared.limiters, declared.databases]) {
        assert.ok(Object.isFrozen(part));
      }
    }),
  );
});
