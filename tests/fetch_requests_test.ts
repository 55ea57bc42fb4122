// What may be handed to an admitted fetch, what is made of it, and what is refused.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { CorrectableError } from "../mod.ts";
import type { OutgoingRequest } from "../adapters/fetch.ts";
import { refusalResponse } from "../adapters/hono.ts";
import { chat, CHAT_URL, completion, errorOf, FetchWorld } from "./fetch_world.ts";

/** What the functions in the options see of a request, and what was sent. */
async function seenOf(
  input: string | URL | Request,
  init?: RequestInit,
): Promise<{ view: OutgoingRequest; world: FetchWorld }> {
  const world = new FetchWorld();
  let view: OutgoingRequest | undefined;
  const fetch = world.fetch(() => completion(), {
    models: () => null,
    demand: (_, request) => void (view = request),
  });
  await (await fetch(input, init)).text();
  world.assertIdle();
  return { view: view ?? assert.fail(), world };
}

const JSON_TEXT = '{"model":"gpt","max_tokens":5}';
const POST = { method: "POST", headers: { "content-type": "application/json" } };

describe("A request", () => {
  for (
    const [name, input, init, bytes, model] of [
      ["a string with a string", CHAT_URL, { ...POST, body: JSON_TEXT }, 30, "gpt"],
      [
        "a URL object with bytes",
        new URL(CHAT_URL),
        { ...POST, body: new TextEncoder().encode(JSON_TEXT) },
        30,
        "gpt",
      ],
      [
        "a URL object with a buffer",
        new URL(CHAT_URL),
        { ...POST, body: new TextEncoder().encode(JSON_TEXT).buffer },
        30,
        "gpt",
      ],
      [
        "part of a buffer",
        CHAT_URL,
        { ...POST, body: new DataView(new TextEncoder().encode(`x${JSON_TEXT}x`).buffer, 1, 30) },
        30,
        "gpt",
      ],
      ["a Request", new Request(CHAT_URL, { ...POST, body: JSON_TEXT }), undefined, 30, "gpt"],
      [
        "a Request with another body",
        new Request(CHAT_URL, { ...POST, body: "{}" }),
        { body: JSON_TEXT },
        30,
        "gpt",
      ],
      [
        "a Request whose body is not JSON",
        new Request(CHAT_URL, { method: "POST", body: JSON_TEXT }),
        undefined,
        null,
        null,
      ],
      ["form fields", CHAT_URL, { method: "POST", body: new URLSearchParams({ model: "gpt" }) }, 9, null],
      ["a blob", CHAT_URL, { method: "POST", body: new Blob([JSON_TEXT]) }, 30, null],
      ["no body", CHAT_URL, undefined, 0, null],
      ["an empty body", CHAT_URL, { method: "POST", body: null }, 0, null],
      ["a text", CHAT_URL, { method: "POST", body: "hé" }, 3, null],
      ["JSON that is none", CHAT_URL, { ...POST, body: '{"model":"gpt"' }, 14, null],
      ["JSON that is a list", CHAT_URL, { ...POST, body: '[{"model":"gpt"}]' }, 17, null],
      ["JSON of a strange model", CHAT_URL, { ...POST, body: '{"model":{"id":1}}' }, 18, null],
      ["JSON too deep for a parser", CHAT_URL, { ...POST, body: "[".repeat(200_000) }, 200_000, null],
    ] as [string, string | URL | Request, RequestInit | undefined, number | null, string | null][]
  ) {
    it(`is read without being touched: ${name}`, async () => {
      const before = input instanceof Request ? input.clone() : null;
      const { view, world } = await seenOf(input, init);
      assert.deepEqual([view.url.href, view.bodyBytes, view.model], [CHAT_URL, bytes, model]);
      assert.equal(view.method, init?.method ?? (input instanceof Request ? input.method : "GET"));
      const plain = new Request(before ?? input, init);
      assert.equal(world.sent[0]!.headers.get("content-type"), plain.headers.get("content-type"));
      assert.equal(world.sent[0]!.body, await plain.text(), "what is sent is what fetch would send");
      if (input instanceof Request && bytes !== null) assert.equal(input.bodyUsed, false);
    });
  }

  it("keeps its form: files go as files, and what the runtime knows beyond fetch goes along", async () => {
    const form = new FormData();
    form.append("model", "whisper");
    form.append("file", new File(["sound"], "a.wav", { type: "audio/wav" }));
    let init: RequestInit & { dispatcher?: unknown } = {};
    const world = new FetchWorld();
    const own = world.fetch(() => assert.fail(), {
      fetch: (_, given) => {
        init = given!;
        return Promise.resolve(completion());
      },
    });
    const more = { dispatcher: { own: true }, keepalive: true };
    await (await own(CHAT_URL, { method: "POST", body: form, ...more } as RequestInit)).text();
    const sent = init.body as FormData;
    assert.deepEqual([...sent.keys()], ["model", "file"]);
    assert.equal(await (sent.get("file") as File).text(), "sound");
    assert.deepEqual([init.dispatcher, init.keepalive], [more.dispatcher, true]);
    form.delete("model");
    assert.equal(sent.has("model"), true);
  });

  it("is handed to a fetch of the caller's own as it came: no init where none was given", async () => {
    const world = new FetchWorld();
    const calls: unknown[][] = [];
    const own = world.fetch(() => assert.fail(), {
      fetch: (...args) => {
        calls.push(args);
        return Promise.resolve(new Response(null));
      },
    });
    await own(CHAT_URL);
    await own(new URL(CHAT_URL), { method: "POST", body: "x" });
    assert.deepEqual(calls[0], [CHAT_URL, undefined]);
    assert.ok(calls[1]![0] instanceof URL);
    assert.deepEqual(calls[1]![1], { method: "POST", body: "x" });
  });

  it("that fetch would refuse is refused as fetch does, before anything is asked", async () => {
    const world = new FetchWorld();
    const own = world.fetch(() => assert.fail());
    const used = new Request(CHAT_URL, { ...POST, body: JSON_TEXT });
    await used.text();
    for (
      const [input, init] of [
        ["no address", undefined],
        [CHAT_URL, { headers: { "a b": "c" } }],
        [used, undefined],
      ] as [string | Request, RequestInit | undefined][]
    ) {
      assert.ok(await errorOf(own(input, init)) instanceof TypeError);
    }
    assert.equal(world.bucket.currentInUse, 0);
    world.assertIdle();
  });

  it("of a model that is not listed is refused by name; one without a model takes the HTTP gate alone", async () => {
    const world = new FetchWorld();
    const own = world.fetch(() => completion());
    const error = await errorOf(own(CHAT_URL, chat({ model: "gtp" })));
    assert.ok(error instanceof CorrectableError);
    assert.equal(error.message, 'Cannot admit a request: its model is "gtp", it should be one of gpt');
    const answer = refusalResponse(error);
    assert.deepEqual([answer?.status, (await answer?.json()).detail], [422, error.message]);
    await (await own("https://api.test/v1/models")).text();
    assert.equal(world.bucket.currentInUse, 0);
    const open = world.fetch(() => completion(), {
      models: ({ model }) => model === "gpt" ? { id: "gpt", tpm: 1 } : null,
    });
    await (await open(CHAT_URL, chat({ model: "gtp" }))).text();
    assert.equal(world.bucket.currentInUse, 0);
    await (await open(CHAT_URL, chat())).text();
    assert.equal(world.bucket.currentInUse, 100);
  });

  it("rejects with what the functions in the options throw, and nothing stays taken", async () => {
    const fault = new Error("no");
    const fail = () => {
      throw fault;
    };
    for (const option of ["models", "estimate", "demand", "admit"] as const) {
      const world = new FetchWorld();
      assert.equal(
        await errorOf(world.fetch(() => assert.fail(), { [option]: fail })(CHAT_URL, chat())),
        fault,
      );
      assert.equal(world.bucket.currentInUse, 0);
      world.assertIdle();
    }
    const world = new FetchWorld();
    for (const estimate of [() => 1.5, () => NaN, () => "5" as unknown as number, () => -1]) {
      const error = await errorOf(world.fetch(() => assert.fail(), { estimate })(CHAT_URL, chat())) as Error;
      assert.match(error.message, /"gpt".*amount/);
    }
    const pauseMs = () => {
      throw fault;
    };
    assert.equal(
      await errorOf(world.fetch(() => new Response("", { status: 503 }), { pauseMs })(CHAT_URL, chat())),
      fault,
    );
    world.assertIdle();
  });

  it("whose demand or pauseMs answers something else rejects, with the answer in the message", async () => {
    const world = new FetchWorld();
    for (
      const [option, answer, message, type] of [
        ["demand", 5, /^Cannot admit a request: the answer of demand is 5, it should be a Demand/, TypeError],
        [
          "demand",
          Promise.resolve(),
          /demand is an object of class Promise, it should be .* not a promise/,
          TypeError,
        ],
        [
          "pauseMs",
          NaN,
          /^Cannot send a request again: the answer of pauseMs is NaN, it should be/,
          RangeError,
        ],
        ["pauseMs", -5, /pauseMs is -5, it should be a number of milliseconds, 0 or more/, RangeError],
        ["pauseMs", "10", /pauseMs is "10", it should be/, TypeError],
      ] as const
    ) {
      const down = world.fetch(() => new Response("", { status: 503 }), { [option]: () => answer });
      const error = await errorOf(down(CHAT_URL, chat()));
      assert.ok(error instanceof type, `${error}`);
      assert.match(error.message, message);
      world.assertIdle();
    }
  });

  it("waits in line as the options say, one by one or for all", async () => {
    const world = new FetchWorld();
    world.http.tryTake(Array(1000).fill(undefined), []);
    const all = world.fetch(() => assert.fail(), { admit: { timeoutMs: 0 } });
    assert.equal((await errorOf(all(CHAT_URL, chat())) as { code: string }).code, "timeout");
    const each = world.fetch(() => assert.fail(), {
      admit: ({ json }) => ({ timeoutMs: Number(json!["n"]) }),
    });
    const waiting = errorOf(each(CHAT_URL, chat({ n: 30 })));
    await world.clock.advance(29);
    assert.equal(world.admission.queueSize, 1);
    await world.clock.advance(1);
    assert.equal((await waiting as { waitedMs: number }).waitedMs, 30);
  });
});
