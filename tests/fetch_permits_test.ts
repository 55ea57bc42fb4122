// How long a response keeps its permits, and what it is like.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  chat,
  CHAT_URL,
  completion,
  errorOf,
  events,
  FetchWorld,
  follow,
  pieces,
  withProvider,
} from "./fetch_world.ts";
import { runChild } from "./children.ts";

describe("The permits of a response", () => {
  it("PR-22, PR-24 and PR-27: a request takes its tokens, then a place in the HTTP pool, in one step", async () => {
    const world = new FetchWorld();
    const seen: string[] = [];
    const fetch = world.fetch(() => {
      seen.push(`${world.bucket.currentInUse} ${world.http.currentInUse}`);
      return completion();
    }, {
      demand: (demand) => void seen.push(demand.entries.map(({ key }) => key.limiterName).join()),
    });
    await (await fetch(CHAT_URL, chat())).text();
    assert.deepEqual(seen, ["gpt,http", "100 1"]);
    world.assertIdle();
  });

  for (
    const [how, use] of Object.entries<(response: Response) => Promise<unknown>>({
      "read as JSON": (response) => response.json(),
      "read as text": (response) => response.text(),
      "read as bytes": (response) => response.arrayBuffer(),
      "read as a blob": (response) => response.blob(),
      "read piece by piece": async (response) => {
        for await (const _ of response.body!);
      },
      "piped on": (response) => response.body!.pipeTo(new WritableStream()),
      "cancelled": (response) => response.body!.cancel(),
      "read into buffers of the reader's own": async (response) => {
        const reader = response.body!.getReader({ mode: "byob" });
        while (!(await reader.read(new Uint8Array(5))).done);
      },
      "left in a loop": async (response) => {
        for await (const _ of response.body!) break;
      },
    })
  ) {
    it(`are held until its body is ${how}`, async () => {
      const world = new FetchWorld();
      const response = await world.fetch(() => completion(50))(CHAT_URL, chat());
      await world.settle();
      assert.equal(world.http.currentInUse, 1);
      await use(response);
      world.assertIdle();
    });
  }

  it("come back at once where there is no body", async () => {
    const world = new FetchWorld();
    for (const status of [204, 304]) {
      const response = await world.fetch(() => new Response(null, { status }))(CHAT_URL, chat());
      assert.equal(response.status, status);
      world.assertIdle();
    }
  });

  it("come back once, whatever ends the use of the body, and however often", async () => {
    const world = new FetchWorld();
    const controller = new AbortController();
    const fetch = world.fetch(() => completion(50));
    const [one, two] = [
      await fetch(CHAT_URL, chat({}, { signal: controller.signal })),
      await fetch(CHAT_URL, chat()),
    ];
    assert.equal(world.http.currentInUse, 2);
    const reader = one.body!.getReader();
    controller.abort();
    assert.equal(world.http.currentInUse, 1, "an abort gives back at once, though nobody reads");
    await reader.cancel();
    await one.body!.cancel().catch(() => {});
    assert.equal(world.http.currentInUse, 1);
    await two.text();
    world.assertIdle();
  });

  it("are held for both of a response and its clone", async () => {
    const world = new FetchWorld();
    const response = await world.fetch(() => completion(50))(CHAT_URL, chat());
    const clone = response.clone();
    assert.equal(clone.url, response.url);
    const cancelled = response.body!.cancel();
    await world.settle();
    assert.equal(world.http.currentInUse, 1);
    assert.equal((await clone.json()).usage.total_tokens, 50);
    await cancelled;
    world.assertIdle();
  });

  it("come back once from a body that breaks while it is left, and nobody has to listen to that", async () => {
    const world = new FetchWorld();
    let fail = (_: Error) => {};
    const broken = new ReadableStream({
      pull: () => new Promise<void>((_, reject) => fail = reject),
      cancel: () => Promise.reject(new Error("gone")),
    });
    const response = await world.fetch(() => new Response(broken))(CHAT_URL, chat());
    const reader = response.body!.getReader();
    const reading = reader.read();
    await world.settle();
    const left = reader.cancel();
    fail(new Error("reset"));
    assert.deepEqual([(await reading).done, await left], [true, undefined]);
    world.assertIdle();
  });

  it("come back when the request fails, and the error is fetch's own", async () => {
    const world = new FetchWorld();
    const fault = new TypeError("no such thing");
    const fetch = world.fetch(() => Promise.reject(fault));
    assert.equal(await errorOf(fetch(CHAT_URL, chat())), fault);
    world.assertIdle();
  });

  it("come back when a response is collected unread, which also ends its request", () => {
    const { status, lines, errors } = runChild("drops_responses");
    assert.equal(status, 0, errors);
    assert.deepEqual(lines, ["held 20", "held 0, cancelled 20"]);
  });

  it("are not waited for by what needs none: the line moves on while a response is out", async () => {
    const world = new FetchWorld();
    world.http.setCapacity(1);
    const fetch = world.fetch(() => completion(50));
    const first = await fetch(CHAT_URL, chat());
    const second = follow(fetch(CHAT_URL, chat()));
    await world.settle();
    assert.equal(world.sent.length, 1, "the second waits for the first one's body");
    await first.text();
    await world.settle();
    assert.equal(world.sent.length, 2);
    await second.value!.text();
    world.assertIdle();
  });
});

describe("The response of an admitted fetch", () => {
  it("is the original in status, headers, address and bytes", async () => {
    await withProvider((_, response) => {
      response.writeHead(201, "Made", { "content-type": "text/plain", "x-own": "yes" });
      response.write(Uint8Array.of(0, 255, 10, 13));
      response.end(Uint8Array.of(0xc3, 0x28));
    }, async (url) => {
      const world = new FetchWorld();
      const [plain, own] = [await fetch(`${url}/a`), await world.fetch(() => fetch(`${url}/a`))(`${url}/a`)];
      for (const key of ["status", "statusText", "ok", "url", "redirected", "type", "bodyUsed"] as const) {
        assert.equal(own[key], plain[key], key);
      }
      assert.deepEqual(
        [...own.headers].filter(([name]) => name !== "date"),
        [...plain.headers].filter(([name]) => name !== "date"),
      );
      assert.deepEqual(new Uint8Array(await own.arrayBuffer()), new Uint8Array(await plain.arrayBuffer()));
      assert.equal(own.bodyUsed, true);
      const other = await world.fetch(() => fetch(`${url}/a`))(`${url}/a`);
      const clone = other.clone().clone();
      assert.deepEqual([clone.url, clone.status, clone.type], [plain.url, 201, plain.type]);
    });
  });

  it("has no empty pieces, which a stream of bytes does not take", async () => {
    const world = new FetchWorld();
    const response = await world.fetch(() => pieces(["", "a", "", "b", ""]).response)(CHAT_URL, chat());
    const lengths: number[] = [];
    for await (const piece of response.body!) lengths.push(piece.length);
    assert.deepEqual(lengths, [1, 1]);
    world.assertIdle();
  });

  it("is fetched as it is read: nothing is asked of the provider before the consumer asks", async () => {
    const world = new FetchWorld();
    const body = pieces(Array.from({ length: 50 }, (_, i) => events({ i })));
    const response = await world.fetch(() => body.response)(CHAT_URL, chat());
    await world.settle();
    assert.equal(body.asked(), 0);
    const reader = response.body!.getReader();
    for (let i = 1; i <= 3; i++) {
      await reader.read();
      await world.settle();
      assert.equal(body.asked(), i);
    }
    await reader.cancel();
    assert.equal(body.cancelled(), true);
    world.assertIdle();
  });

  it("breaks off as the original does, and gives the permits back", async () => {
    const world = new FetchWorld();
    const fault = new Error("the line went dead");
    const response = await world.fetch(() => pieces([events({ i: 1 })], undefined, fault).response)(
      CHAT_URL,
      chat(),
    );
    assert.equal(await errorOf(response.text()), fault);
    world.assertIdle();
  });

  it("does not share the memory of a chunk that is part of more", async () => {
    const world = new FetchWorld();
    const pool = new Uint8Array(100).fill(65);
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(pool.subarray(10, 13));
        controller.close();
      },
    });
    const response = await world.fetch(() => new Response(body))(CHAT_URL, chat());
    assert.equal(await response.text(), "AAA");
    assert.equal(pool.length, 100, "the rest of the buffer is still there");
  });
});
