// The options of an admitted fetch, and the estimate that it makes when it is given none.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { HttpConnectionGate, InvalidStateError, ModelSpec, RateLimiterFactory } from "../mod.ts";
import {
  admittedFetch,
  type AdmittedFetchOptions,
  estimateTokens,
  type OutgoingRequest,
} from "../adapters/fetch.ts";
import { chat, CHAT_URL, completion, errorOf, FetchWorld } from "./fetch_world.ts";

describe("The default estimate", () => {
  const model = (fields: object = {}) => new ModelSpec({ id: "gpt", tpm: 1000, ...fields });
  const request = (
    json: Record<string, unknown>,
    bodyBytes: number | null = 300,
    path = "/v1/chat/completions",
  ): OutgoingRequest => ({
    url: new URL(path, CHAT_URL),
    method: "POST",
    headers: new Headers(),
    json,
    bodyBytes,
    model: "gpt",
  });

  it("is a token for three bytes, and the ceiling of the answer, once for each answer", () => {
    for (
      const [json, tokens] of [
        [{ max_tokens: 50 }, 150],
        [{ max_completion_tokens: 60, max_tokens: 50 }, 160],
        [{ max_output_tokens: 70 }, 170],
        [{ max_tokens: 50, n: 3 }, 250],
        [{ max_tokens: 50, n: 2, best_of: 4 }, 300],
        [{ max_tokens: 0 }, 100],
        [{}, 4196],
        [{ max_tokens: "50", n: 1e9 * 1e9 }, 4196],
        [{ max_tokens: -1, n: 0 }, 4196],
        [{ max_tokens: 2 ** 40 }, 2 ** 31 - 1],
      ] as [Record<string, unknown>, number][]
    ) {
      assert.equal(estimateTokens(request(json), model()), tokens, JSON.stringify(json));
    }
    assert.equal(estimateTokens(request({}, 1), model({ maxOutputTokens: 1000 })), 1001);
    assert.equal(estimateTokens(request({}, 1), model({ maxOutputTokens: 9000 })), 4097);
  });

  it("has no answer for embeddings and decisions", () => {
    assert.equal(estimateTokens(request({}, 300, "/v1/embeddings"), model()), 100);
    const embeddings = { providerKey: "openai-embeddings", maxContextTokens: 1000, maxOutputTokens: 1000 };
    assert.equal(estimateTokens(request({}, 301), model(embeddings)), 101);
  });

  it("refuses a body whose length nobody knows, with a word about what would do", () => {
    assert.throws(() => estimateTokens(request({}, null), model()), {
      name: "RangeError",
      message: /api\.test.*estimate/,
    });
  });
});

describe("The options of an admitted fetch", () => {
  const world = new FetchWorld();
  const good: AdmittedFetchOptions = { admission: world.admission, provider: "openai" };

  it("are refused at once when they are not as said, each by its name", () => {
    for (
      const [option, value, type] of [
        ["admission", {}, TypeError],
        ["admission", undefined, TypeError],
        ["provider", "closedai", RangeError],
        ["models", {}, TypeError],
        ["models", [{ id: "" }], TypeError],
        ["models", [{ id: "a", tpm: 1, wireModelId: "x" }, { id: "b", tpm: 1, wireModelId: "x" }], TypeError],
        ["models", [{ id: "a" }], RangeError],
        ["admit", { timeoutMs: -8 }, RangeError],
        ["admit", { timeoutMs: "8" }, TypeError],
        ["admit", { maxHoldMs: NaN }, RangeError],
        ["admit", { failFast: 1 }, TypeError],
        ["accounts", {}, TypeError],
        ["http", {}, TypeError],
        ["http", world.bucket, TypeError],
        ["demand", 5, TypeError],
        ["estimate", 5, TypeError],
        ["count", "all", TypeError],
        ["learn", 1, TypeError],
        ["admit", 5, TypeError],
        ["maxRetries", 1.5, RangeError],
        ["maxRetries", -1, RangeError],
        ["maxRetries", "3", TypeError],
        ["maxPauseMs", NaN, RangeError],
        ["pauseMs", 5, TypeError],
        ["fetch", {}, TypeError],
        ["clock", {}, TypeError],
        ["logger", {}, TypeError],
      ] as [string, unknown, ErrorConstructor][]
    ) {
      assert.throws(() => admittedFetch({ ...good, [option]: value }), (error: Error) => {
        assert.ok(error instanceof type, `${option}: ${error}`);
        assert.match(
          error.message,
          new RegExp(option === "provider" ? "closedai" : option === "models" ? "models|id" : option),
        );
        return true;
      });
    }
    for (const none of [undefined, null, 5]) {
      assert.throws(() => admittedFetch(none as unknown as AdmittedFetchOptions), TypeError);
    }
  });

  it("BEY-60 that are refused leave no account behind, and the message names the place", () => {
    const accounts = new RateLimiterFactory();
    for (
      const [options, message] of [
        [{ models: [{ id: "a", tpm: 60 }, { id: "b" }] }, /: models\[1\] \("b"\) has no tpm, it should/],
        [{ models: [{ id: "a", tpm: 60 }, { id: "b", tpm: -1 }] }, /: models\[1\] will not do\. .*tpm is -1/],
        [
          { models: [{ id: "a", tpm: 60 }], admit: { timeoutMs: -8 } },
          /: admit\.timeoutMs is -8, it should be 0/,
        ],
        [{ models: [{ id: "a", tpm: 60 }], maxRetries: -1 }, /: maxRetries is -1/],
        [
          { provider: undefined },
          /^Cannot make an admitted fetch: provider is undefined, it should be one of openai, .*anthropic/,
        ],
        [
          { clock: {} },
          /^Cannot make an admitted fetch: clock is an object of class Object, it should be a Clock/,
        ],
      ] as [object, RegExp][]
    ) {
      const made = () => admittedFetch({ ...good, http: null, accounts, ...options } as AdmittedFetchOptions);
      assert.throws(made, { message });
      assert.deepEqual(accounts.accounts, []);
    }
  });

  it("need no tpm for a model whose bucket there is, and make the accounts of a list at once", () => {
    const accounts = new RateLimiterFactory({ clock: world.clock });
    accounts.updateLimits("learned", { tpm: 600, rpm: 6 });
    world.fetch(() => completion(), {
      accounts,
      models: [{ id: "learned" }, { id: "new", tpm: 60 }, { id: "judge", maxConcurrent: 2 }],
    });
    const names = accounts.accounts.map(({ limiterName, capacity }) => `${limiterName} ${capacity}`);
    assert.deepEqual(names, ["learned 600", "new 60", "judge 2"]);
    assert.deepEqual(world.logs, []);
  });

  it("of a second fetch with other numbers for a model are told to the logger, what was learned is not", () => {
    const world = new FetchWorld();
    const make = (model: object) => world.fetch(() => completion(), { models: [model as { id: string }] });
    const [gpt, judge] = [{ id: "gpt", tpm: 60_000, rpm: 600 }, { id: "judge", maxConcurrent: 2 }];
    for (const model of [gpt, gpt, judge, judge, { id: "gpt" }]) make(model);
    world.accounts.updateLimits("gpt", { tpm: 90_000, rpm: 900 });
    make(gpt);
    assert.deepEqual(world.logs, []);
    make({ id: "gpt", tpm: 90_000, rpm: 600 });
    make({ id: "judge", maxConcurrent: 3 });
    assert.deepEqual(world.logs, [
      'warn The limits of "gpt" stay tpm 60000, rpm 600: its account was made before, tpm 90000, rpm 600 is not read',
      'warn The limits of "judge" stay maxConcurrent 2: its account was made before, maxConcurrent 3 is not read',
    ]);
  });

  it("BEY-53 without accounts beside an Admission on a clock of its own: the error says what to give", async () => {
    const models = [{ id: "clockless", tpm: 60 }];
    const fetch = world.fetch(() => completion(), { models, accounts: new RateLimiterFactory() });
    const error = await errorOf(fetch(CHAT_URL, chat({ model: "clockless" })));
    assert.ok(error instanceof InvalidStateError);
    assert.match(
      error.message,
      /"clockless".* another clock .* accounts: new RateLimiterFactory\(\{ clock \}\)/,
    );
  });

  it("are few: an Admission and a provider do", async () => {
    const factory = new RateLimiterFactory({ clock: world.clock });
    const own = admittedFetch({ ...good, accounts: factory, fetch: () => Promise.resolve(completion(5)) });
    const gate = factory.limiter(HttpConnectionGate);
    const response = await own(CHAT_URL, chat());
    assert.equal(gate.currentInUse, 1);
    await response.text();
    assert.equal(gate.currentInUse, 0);
  });
});
